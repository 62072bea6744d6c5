"""Pictures of the window for the documentation, from a scripted run on the `egl` backend: `make screenshots`.

Every picture is drawn anew by the window itself; nothing is painted over.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from window_story import EPIC, FILES, PRICE, rules

from interlock.app import conducting
from interlock.domain.commands import AddTrack, StartTrack
from interlock.domain.gates import Gate
from interlock.domain.state import State
from interlock.domain.tickets import TicketSpec
from interlock.gui.shell import Window
from interlock.model_choice import scripted_rules
from interlock.projects import make_sample, open_project
from interlock.serving import Choice, Service
from interlock.windowing import make_window

ADA = "human:ada"
PATIENCE = 4_000  # frames


class Photographer:
    def __init__(self, out: Path, root: Path, theme: str = "dark") -> None:
        self.out = out
        project = open_project(root)
        make_sample(project, FILES)
        (root / "interlock.toml").write_text("[budgets]\nepic_usd = 5.0\n")
        project = open_project(root)
        self.service = Service(
            project,
            conducting(project, auto_queue=True, approve_all=False, workers=4),
            Choice(provider="scripted"),
            ADA,
            test_policy=False,
        )
        opened = self.service.open()
        maker = scripted_rules(rules(), PRICE)
        self.service.call(self._use(opened.use_model, maker))
        self.window: Window = make_window(self.service, ADA, backend="egl", settings=None, hooks=False, theme=theme)
        self.window.open()

    async def _use(self, use: Callable[..., None], maker: object) -> None:
        use(maker)

    @property
    def state(self) -> State:
        return self.service.desk.state  # pyright: ignore[reportOptionalMemberAccess]

    def shoot(self, name: str, settle: int = 20) -> None:
        self.window.run(frames=settle)
        taken = self.window.picture(self.out / f"{name}.png")
        self.window.draw_once()
        taken.result()
        print(f"  {name}.png", flush=True)

    def until(self, what: str, true: Callable[[State], bool], leave: tuple[str, ...] = ()) -> None:
        """Draw, and say yes to everything but what belongs to these tickets, until it is true."""
        asked: set[str] = set()
        for _ in range(PATIENCE):
            if true(self.state):
                return
            for approval in self.state.pending_approvals():
                mine = approval.ticket in leave and approval.kind != "spawn"
                if approval.id not in asked and not mine and approval.kind not in ("gate", "merge"):
                    asked.add(approval.id)
                    self.window.send.click(_button(approval.kind), approval.id)
            self.window.run(frames=2)
        raise SystemExit(f"never: {what}")

    def stop(self) -> None:
        self.service.stop()


def _button(kind: str) -> str:
    if kind == "tracks":
        return "btn_mma_accept_tracks"
    return f"btn_approve_{'mma_step' if kind == 'step' else kind}"


def main() -> None:
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screenshots").absolute()
    theme = sys.argv[2] if len(sys.argv) > 2 else "dark"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        os.environ["XDG_CONFIG_HOME"] = str(Path(folder) / "config")
        root = Path(folder) / "payments-api"
        root.mkdir()
        take = Photographer(out, root, theme)
        take.shoot("first-run")
        send = take.window.send
        send.set_value("mma_epic_input", EPIC)
        send.click("btn_mma_plan_epic")
        leave = ("T-009", "T-011")
        take.until("a track", lambda state: "retry-safe" in state.tracks and state.tracks["retry-safe"].total > 0)
        send.click("btn_mma_load_track", "retry-safe")

        def two_wait(state: State) -> bool:
            track = state.tracks["retry-safe"]
            waiting = {each.ticket for each in state.pending_approvals() if each.kind != "spawn"}
            done = track.counts.completed
            return done >= 7 and {"T-009", "T-011"} <= waiting

        take.until("two that wait", two_wait, leave)
        inbox = next(each for each in take.window.panels if each.name == "Inbox")
        by_ticket = {each.ticket: each.id for each in take.state.pending_approvals()}
        inbox._chosen = by_ticket["T-011"]  # pyright: ignore[reportAttributeAccessIssue]
        take.shoot("running")
        inbox._chosen = by_ticket["T-009"]  # pyright: ignore[reportAttributeAccessIssue]
        take.shoot("approval-with-diff")
        if len(sys.argv) > 3:  # the other panels, to be looked at
            for tab in ("timeline", "diagnostics", "message", "provider", "graph"):
                send.select_tab(tab)
                take.shoot(f"tab-{tab}")
        _blocked(take, by_ticket, leave)
        _done(take)
        _error(take)
        _many(take)
        take.stop()
    os._exit(0)


def _blocked(take: Photographer, by_ticket: dict[str | None, str], leave: tuple[str, ...]) -> None:
    send = take.window.send
    send.click("btn_worker_kill", "retry-safe/T-008")
    take.until("T-008 stops", lambda state: state.ticket("retry-safe", "T-008").status != "in_progress", leave)
    graph = next(each for each in take.window.panels if each.name == "Tickets")
    graph._chosen = "T-008"  # pyright: ignore[reportAttributeAccessIssue]
    take.shoot("blocked")
    graph._chosen = ""  # pyright: ignore[reportAttributeAccessIssue]
    del by_ticket


def _done(take: Photographer) -> None:
    take.window.send.click("btn_mma_start_track", "ledger")
    take.until("the ledger", lambda state: state.tracks["ledger"].status == "done", ("T-009", "T-011"))
    take.window.send.click("btn_mma_load_track", "ledger")
    take.window.send.click("btn_mma_land_track", "ledger")
    take.until("a landing", lambda state: any(a.kind == "merge" for a in state.pending_approvals()), ("T-009", "T-011"))
    inbox = next(each for each in take.window.panels if each.name == "Inbox")
    inbox._chosen = next(a.id for a in take.state.pending_approvals() if a.kind == "merge")  # pyright: ignore[reportAttributeAccessIssue]
    take.window.send.select_tab("usage")
    take.shoot("done")
    take.window.send.select_tab("graph")


def _error(take: Photographer) -> None:
    streams = next(each for each in take.window.panels if each.name == "Streams")
    before = streams.draw

    def fail(*_: object) -> None:
        raise ValueError("this mistake was planted for the picture")

    streams.draw = fail  # pyright: ignore[reportAttributeAccessIssue]
    take.window.send.click("btn_approve_spawn")
    take.shoot("error")
    streams.draw = before  # pyright: ignore[reportAttributeAccessIssue]
    take.window.guard.again("Streams")


def _many(take: Photographer) -> None:
    layers, wide = 25, 40
    names = [[f"T-{layer * wide + row:04d}" for row in range(wide)] for layer in range(layers)]
    tickets = tuple(
        TicketSpec(
            id=name,
            description=f"Part {row + 1} of layer {layer + 1}",
            assigned_to="shell",
            script="true",
            verify=(Gate("true"),),
            step_mode=layer > 0,
            depends_on=(names[layer - 1][row], names[layer - 1][(row * 7 + 3) % wide]) if layer else (),
        )
        for layer in range(layers)
        for row, name in enumerate(names[layer])
    )
    service = take.service
    assert service.opened is not None
    service.call(service.opened.submit(ADA, AddTrack("thousand", "A thousand tickets", "", tickets)))
    service.call(service.opened.submit(ADA, StartTrack("thousand")))
    take.window.send.click("btn_mma_load_track", "thousand")
    take.until("some are done", lambda state: state.tracks["thousand"].counts.completed >= 64, ("T-009", "T-011"))
    take.shoot("thousand-tickets", 40)


if __name__ == "__main__":
    main()

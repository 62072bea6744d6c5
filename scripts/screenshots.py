"""Pictures of the window for the documentation, from a scripted run on the `egl` backend: `make screenshots`.

The window draws every picture, without retouching; old pictures are removed. With `--story FILE` the journal of the run
is stored too, with evenly spaced times and without paths of this machine: the tests use it (tests/gui/stills.py).
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from window_story import EPIC, FILES, PRICE, QUESTION, rules

from interlock.assembly.build import conducting
from interlock.assembly.model_choice import scripted_rules
from interlock.assembly.project import export_rows, make_sample, open_project
from interlock.assembly.service import ModelSelection, Service
from interlock.assembly.window import make_window
from interlock.domain.messages.commands.test_history_commands import RecordTests
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.state.state import State
from interlock.domain.values.discussions import Quiet
from interlock.domain.values.gates import Gate
from interlock.domain.values.test_history import Assertion, Execution
from interlock.domain.values.tickets import TicketSpec
from interlock.gui.window.shell import Window
from interlock.policy.experience.suggesting import suggest
from interlock.policy.sources import shipped_rules
from interlock.views.rules.experience import Question
from interlock.views.rules.learned_rules import KeptRule

ADA = "human:ada"
PATIENCE = 4_000  # frames
WHOLE = ("first-run", "running", "approval-with-diff", "blocked", "done", "error", "thousand-tickets")
PANELS = (
    "dashboard",
    "inbox",
    "rules",
    "tickets",
    "streams",
    "discussion",
    "provider",
    "usage",
    "timeline",
    "tests",
    "diagnostics",
)
"""One picture of each panel, and of the whole window in each of these states."""

STORY_BEGINS = datetime(2026, 1, 1, 10, tzinfo=UTC)
STORY_STEP = timedelta(seconds=4)


class Photographer:
    def __init__(self, out: Path, root: Path, theme: str = "dark") -> None:
        self.out = out
        self.taken: set[str] = set()
        self.marks: dict[int, list[str]] = {}  # names of pictures by journal version
        project = open_project(root)
        make_sample(project, FILES)
        (root / "interlock.toml").write_text("[budgets]\nepic_usd = 5.0\n")
        self.project = project = open_project(root)
        self.service = Service(
            project,
            conducting(project, auto_queue=True, approve_all=False, workers=4),
            ModelSelection(provider="scripted"),
            ADA,
            test_policy=False,
        )
        self.opened = self.service.open()
        maker = scripted_rules(rules(), PRICE)
        self.opened.call(self._use(self.opened.workbench.use_model, maker))
        self.opened.desk.fixed["project_root"] = "/srv/ada/payments-api"
        self.window: Window = make_window(self.opened, ADA, backend="egl", settings=None, hooks=False, theme=theme)
        self.window.open()

    async def _use(self, use: Callable[..., None], maker: object) -> None:
        use(maker)

    @property
    def state(self) -> State:
        return self.opened.desk.state

    def panel(self, name: str) -> Any:
        return next(each for each in self.window.panels if each.name == name)

    def shoot(self, name: str, settle: int = 20, panel: str = "") -> None:
        """The whole window, or one panel of it."""
        self.window.run(frames=settle)
        widget = self.window.ui.shown.find(f"window.{panel}") if panel else None
        if panel and widget is None:
            raise SystemExit(f"the panel {panel} is not in sight")
        taken = self.window.picture(self.out / f"{name}.png", widget.rect if widget else None)
        self.window.draw_once()
        taken.result()
        self.taken.add(name)
        self.marks.setdefault(self.state.version, []).append(name)
        print(f"  {name}.png", flush=True)

    def of_panel(self, name: str, tab: str = "") -> None:
        if tab:
            self.window.send.select_tab(tab)
        self.shoot(f"panel-{name}", panel=name)

    def until(self, what: str, true: Callable[[State], bool], leave: tuple[str, ...] = ()) -> None:
        """Draw and approve every request, except those of the `leave` tickets, until the condition holds."""
        asked: set[str] = set()
        for _ in range(PATIENCE):
            if true(self.state):
                return
            for approval in self.state.pending_approvals():
                left_pending = approval.ticket in leave and approval.kind != "spawn"
                if approval.id not in asked and not left_pending and approval.kind not in ("gate", "merge"):
                    asked.add(approval.id)
                    self.window.send.click(_button(approval.kind), approval.id)
            self.window.run(frames=2)
        raise SystemExit(f"never: {what}")

    def keep_story(self, file: Path, until: int, folder: str) -> None:
        """Writes the journal; a line after each pictured version names its pictures."""
        lines: list[str] = []
        for version, row in enumerate(export_rows(self.project), 1):
            record = json.loads(row.replace(folder, "/srv/ada"))
            record["at"] = (STORY_BEGINS + version * STORY_STEP).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            del record["hash"]  # the hash of the unchanged row
            lines.append(json.dumps(record, ensure_ascii=False))
            lines += (json.dumps({"mark": name}) for name in self.marks.get(version, ()))
            if version == until:
                break
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def stop(self) -> None:
        self.service.stop()


def _button(kind: str) -> str:
    if kind == "tracks":
        return "btn_mma_accept_tracks"
    return f"btn_approve_{'mma_step' if kind == 'step' else kind}"


@contextmanager
def _folder() -> Generator[str]:
    """A folder with a fixed name, because pictures show it."""
    folder = Path(tempfile.gettempdir()) / "interlock-pictures"
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        raise SystemExit(f"{folder} is in the way: another run, or the rest of one") from None
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("out", type=Path, nargs="?", default=Path("docs/screenshots"))
    words.add_argument("--theme", default="dark")
    words.add_argument("--story", type=Path, help="keep the journal of the run here")
    asked = words.parse_args()
    out: Path = asked.out.absolute()
    with _folder() as folder:
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        os.environ["XDG_CONFIG_HOME"] = str(Path(folder) / "config")
        root = Path(folder) / "payments-api"
        root.mkdir()
        take = Photographer(out, root, asked.theme)
        take.shoot("first-run")
        _running(take)
        _panels(take)
        _blocked(take)
        _done(take)
        story = take.state.version
        _error(take)
        _many(take)
        assert take.taken == {*WHOLE, *(f"panel-{name}" for name in PANELS)}
        for old in out.glob("*.png"):
            if old.stem not in take.taken:
                old.unlink()
        if asked.story is not None:
            take.keep_story(asked.story, story, folder)
        take.stop()
    sys.stdout.flush()
    os._exit(0)


LEAVE = ("T-009", "T-011")


def _running(take: Photographer) -> None:
    send = take.window.send
    send.set_value("mma_epic_input", EPIC)
    send.click("btn_mma_plan_epic")
    take.until("a track", lambda state: "retry-safe" in state.tracks and state.tracks["retry-safe"].total > 0)
    send.click("btn_mma_load_track", "retry-safe")

    def two_wait(state: State) -> bool:
        track = state.tracks["retry-safe"]
        waiting = {each.ticket for each in state.pending_approvals() if each.kind != "spawn"}
        return track.counts.completed >= 7 and set(LEAVE) <= waiting

    take.until("two that wait", two_wait, LEAVE)
    by_ticket = {each.ticket: each.id for each in take.state.pending_approvals()}
    take.panel("Inbox")._chosen = by_ticket["T-011"]
    take.shoot("running")
    take.of_panel("dashboard")
    take.of_panel("tickets")
    take.panel("Inbox")._chosen = by_ticket["T-009"]
    take.shoot("approval-with-diff")
    take.of_panel("inbox")


def _panels(take: Photographer) -> None:
    """Pictures of the panels that are behind others."""
    send = take.window.send
    _rules(take)
    take.of_panel("rules", "rules")
    send.select_tab("inbox")
    take.until("T-008 speaks", lambda _: any("T-008" in key for key in take.window.feed.streams), LEAVE)
    take.panel("Streams")._chosen = next(key for key in take.window.feed.streams if "T-008" in key)
    take.of_panel("streams")
    take.panel("Streams")._chosen = "Everything"
    send.set_value("ai_input", QUESTION)
    send.click("btn_gen_send")

    def answered(state: State) -> bool:
        discussions = state.discussions_in_order()
        return bool(discussions) and isinstance(discussions[-1].stage, Quiet) and len(discussions[-1].messages) > 1

    take.until("an answer", answered, LEAVE)
    take.of_panel("discussion", "message")
    send.select_tab("streams")
    take.of_panel("provider", "provider")
    send.select_tab("dashboard")
    _tests(take)
    take.of_panel("tests", "tests")
    take.panel("Tests")._chosen = ""
    for name in ("timeline", "usage", "diagnostics"):
        take.of_panel(name, name)
    send.select_tab("graph")


def _rules(take: Photographer) -> None:
    """What a week of answers would suggest, and one rule that was accepted before it."""
    scripts = [
        *(f"pytest -q tests/test_{name}.py" for name in ("refunds", "store", "keys", "ledger", "refunds", "api")),
        *("ruff check src && pytest -q -x tests", "pytest -q tests | tail -20", "ruff check --fix src/refunds.py"),
        *("ruff check src", "make lint", "make lint", "make lint", "git push origin HEAD", "git push origin HEAD"),
        *(
            "git push origin HEAD",
            "sed -i s/retry/again/ src/api.py",
            "sed -i 12d src/api.py",
            "sed -i s/a/b/g src/keys.py",
        ),
    ]
    at = "2026-01-01T10:00:00Z"
    questions = [Question(f"A-{n}", "script", text, "approved", at) for n, text in enumerate(scripts, 11)]
    refused = Question("A-40", "script", "pytest -q --pdb tests", "rejected", at)
    panel = take.panel("Rules")
    panel._asked = True
    panel._found = suggest([*questions, refused], shipped_rules(), take.project.names.refusal)
    panel._kept = (
        KeptRule(1, "learned-npm", "allow", "exactly: npm test", False, 31, "2025-11-20", "2025-10-02", True),
    )


def _tests(take: Photographer) -> None:
    opened = take.opened
    ended = int(datetime.now(UTC).timestamp() * 1_000)

    def ran(number: int, name: str, status: Any, took: int, category: Any = "unit", **more: Any) -> Execution:
        at = ended - (9 - number) * 41_000
        times = {"queued_at_ms": at - took, "started_at_ms": at - took, "completed_at_ms": at}
        return Execution(
            test_id=f"{category}_{10_000_000 + number}",
            name=name,
            category=category,
            status=status,
            execution_time_ms=took,
            **times,
            **more,
        )

    wrong = Assertion("one refund for one key", False, "1", "2")
    runs = (
        ran(1, "tests.test_refunds::test_retry_storm", "failed", 412, assertions=(wrong,), error_message="1 != 2"),
        ran(2, "tests.test_refunds::test_partial", "passed", 38),
        ran(3, "tests.test_store::test_rows", "passed", 6),
        ran(4, "tests.test_refunds::test_retry_storm", "passed", 398),
        ran(5, "Click: button:Plan it", "passed", 121, "grpc"),
        ran(6, "Wait: exists:btn_mma_accept_tracks", "timeout", 5_000, "grpc", error_message="it never came"),
        ran(7, "Open Inbox and verify it loads", "passed", 268, "e2e"),
        ran(8, "tests.test_refunds::test_retry_storm", "failed", 431, assertions=(wrong,), error_message="1 != 2"),
    )
    opened.call(opened.workbench.submit("system", RecordTests(runs)))
    take.panel("Tests")._chosen = "unit_10000008"


def _blocked(take: Photographer) -> None:
    take.window.send.click("btn_worker_kill", "retry-safe/T-008")
    take.until("T-008 stops", lambda state: state.ticket("retry-safe", "T-008").status != "in_progress", LEAVE)
    graph = take.panel("Tickets")
    graph._chosen = "T-008"
    take.shoot("blocked")
    graph._chosen = ""


def _done(take: Photographer) -> None:
    take.window.send.click("btn_mma_start_track", "ledger")
    take.until("the ledger", lambda state: state.tracks["ledger"].status == "done", LEAVE)
    take.window.send.click("btn_mma_load_track", "ledger")
    take.window.send.click("btn_mma_land_track", "ledger")
    take.until("a landing", lambda state: any(a.kind == "merge" for a in state.pending_approvals()), LEAVE)
    take.panel("Inbox")._chosen = next(a.id for a in take.state.pending_approvals() if a.kind == "merge")
    take.window.send.select_tab("usage")
    take.shoot("done")
    take.window.send.select_tab("graph")


def _error(take: Photographer) -> None:
    streams = take.panel("Streams")
    before = streams.draw

    def fail(*_: object) -> None:
        raise ValueError("this mistake was planted for the picture")

    streams.draw = fail
    take.window.send.click("btn_approve_spawn")
    take.shoot("error")
    streams.draw = before
    take.window.guard.retry("Streams")


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
    opened = take.opened
    opened.call(opened.workbench.submit(ADA, AddTrack("thousand", "A thousand tickets", "", tickets)))
    opened.call(opened.workbench.submit(ADA, StartTrack("thousand")))
    take.window.send.click("btn_mma_load_track", "thousand")
    take.until("some are done", lambda state: state.tracks["thousand"].counts.completed >= 64, LEAVE)
    take.shoot("thousand-tickets", 40)


if __name__ == "__main__":
    main()

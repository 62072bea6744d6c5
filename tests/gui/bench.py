"""A real window on the null backend, with a real workbench (journal in memory) and simulated input."""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from imgui_bundle import imgui
from immutables import Map

from interlock.desk.authority import Authority
from interlock.desk.desk import Desk
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import Actor
from interlock.domain.review.changed_files import files_of
from interlock.domain.state.state import State
from interlock.domain.values.approvals import (
    Approval,
    GatePayload,
    MergePayload,
    Payload,
    ReviewPayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    UnknownPayload,
    digest,
)
from interlock.domain.values.epics import Epic, TrackPlan
from interlock.engine.bench.engine_thread import EngineThread
from interlock.errors import Rejected
from interlock.gui.data.frame import WindowFacts
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.recorded_widgets import Widget
from interlock.gui.window.backends import Backend
from interlock.gui.window.shell import Window, WindowDriver
from interlock.journal.memory import MemoryJournal
from interlock.ports.front import Following, Receipt
from tests.api.serving import ADA, Equipment, Front, Learned

_GLANCE = 20  # frames to draw before input: an approval that has just appeared cannot be answered
AT = "2026-01-01T00:00:00.000000Z"
GIT = """\
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,2 +1,2 @@ def a
 keep
-the old words
+the new words
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
"""
DIFF = "a.py [1] @@ -1,2 +1,2 @@ def a\n keep\n-old\n+new\na.py [2] @@ -9,1 +9,2 @@\n keep\n+more\n"


class Bench:
    def __init__(self, engine: EngineThread, front: Any, desk: Desk, window: Window) -> None:
        self.engine = engine
        self.front = front
        self.desk = desk
        self.window = window

    @property
    def state(self) -> State:
        return self.desk.state

    def submit(self, command: Command, actor: Actor = ADA) -> Receipt:
        return self.engine.call(self.front.submit(actor, command))

    def draw(self, frames: int = 3) -> None:
        for _ in range(frames):
            self.window.draw_once()

    def until(self, true: Callable[[], bool], frames: int = 2_000) -> None:
        """Draw until the condition holds: actions go to the engine's thread and come back."""
        pause = asyncio.run_coroutine_threadsafe
        for _ in range(frames):
            if true():
                return
            pause(asyncio.sleep(0.001), self.engine.loop).result()
            self.window.draw_once()
        raise AssertionError(f"it never came true; notes: {[note.text for note in self.window.send.notes]}")

    def show(self, tab: str) -> None:
        self.engine.call(_now(lambda: self.desk.select_tab(tab)))
        self.draw(4)

    def widget(self, name: str) -> Widget:
        widget = self.window.ui.shown.find(name)
        assert widget is not None, f"no widget {name!r}; there are {sorted(self.window.ui.shown.keys())}"
        return widget

    def reachable(self) -> set[str]:
        return self.window.ui.shown.keys()

    # ── input ────────────────────────────────────────────────────────────────────────────

    def click(self, name: str) -> None:
        self.draw(_GLANCE)
        x0, y0, x1, y1 = self.widget(name).rect
        io = imgui.get_io()
        io.add_mouse_pos_event((x0 + x1) / 2, (y0 + y1) / 2)
        self.draw(2)
        io.add_mouse_button_event(0, True)
        self.draw(2)
        io.add_mouse_button_event(0, False)
        self.draw(2)

    def press(self, key: imgui.Key) -> None:
        self.draw(_GLANCE)
        io = imgui.get_io()
        io.add_key_event(key, True)
        self.draw(2)
        io.add_key_event(key, False)
        self.draw(2)

    def write(self, text: str) -> None:
        for letter in text:
            imgui.get_io().add_input_character(ord(letter))
        self.draw(max(4, len(text) + 2))


class Rules:
    """A rule store in memory."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.everywhere = False

    async def rule_for(self, payload: Payload) -> str:
        match payload:
            case ScriptPayload(script) if "|" not in script:
                return f'[[policy]]\nprefix = ["{script.split()[0]}"]\n'
            case ToolPayload(tool=tool):
                return f'[[policy]]\ntool = "{tool}"\n'
            case _:
                raise Rejected("no rule can always allow this: it is more than one command")

    async def keep(self, rule: str, *, everywhere: bool) -> None:
        self.kept.append(rule)
        self.everywhere = everywhere


RULES = Rules()
LEARNED = Learned([])


class StillFront:
    """A fixed state; commands are only recorded."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.heard: list[Command] = []

    async def submit(self, actor: Actor, command: Command, submission: str = "") -> Receipt:
        self.heard.append(command)
        return Receipt(self.state.version, ())

    def follow(self, after: int) -> Following:
        raise NotImplementedError

    async def ask_landing(self, actor: Actor, track: str) -> Receipt:
        raise NotImplementedError

    async def say(self, actor: Actor, discussion: str, text: str, base_dir: str = "") -> Receipt:
        raise NotImplementedError


class StillEquipment(Equipment):
    def __init__(self) -> None:
        self.chosen: list[tuple[str, str, str]] = []
        self.file: dict[str, str] = {}
        self.desk = None
        self.ended: list[tuple[str, bool, str, str]] = []

    def clear_streams(self) -> None:
        pass

    def broken(self) -> str:
        return ""


@contextmanager
def windowed(
    state: State | None = None,
    *,
    sandbox: str = "bubblewrap",
    test_policy: bool = False,
    careful: bool = True,
    driver: WindowDriver | None = None,
    backend: Backend = "null",
    **more: Any,
) -> Generator[Bench]:
    """A window on a fixed state, or on a workbench without workers. `more` goes to the window."""
    engine = EngineThread()
    texts: dict[str, bytes] = {}

    async def make() -> tuple[Any, Desk]:
        front: Any = Front(MemoryJournal()) if state is None else StillFront(state)
        equipment: Any = Equipment(front) if state is None else StillEquipment()
        desk = Desk(front, equipment, {"project_root": "/p", "sandbox": sandbox}, {})
        if state is None:
            front.workbench.on_durable(desk.react)
        return front, desk

    front, desk = engine.call(make())

    async def kept_text(sha256: str) -> bytes | None:
        return front.journal.get_blob(sha256) if state is None else texts.get(sha256)

    def start(work: Coroutine[Any, Any, Any]) -> "Future[Any]":
        return engine.start(work)

    def sender(desk: Desk) -> Sender:
        return Sender(desk, Authority(ADA, answers=True, places=True), start, kept_text, RULES, LEARNED)

    place = WindowFacts("payments", "main", sandbox, test_policy=test_policy)
    window = Window(desk, place, sender, backend=backend, careful=careful, driver=driver, **more)
    if state is None:
        front.workbench.on_durable(lambda records, _: window.feed.records(records))
        front.streams.listen(window.feed.text)
    window.open()
    try:
        bench = Bench(engine, front, desk, window)
        bench.draw()
        yield bench
    finally:
        window.close()
        if state is None:
            engine.call(front.workbench.close())
        engine.stop()


async def _now(act: Callable[[], Any]) -> Any:
    return act()


# ── approvals of every kind ──────────────────────────────────────────────────────────────

ARGUMENTS = '{"path": "a.py"}'


def payloads(words: str = "make") -> dict[str, Payload]:
    from hashlib import sha256

    tool = ToolPayload(
        "c", "edit_file", ARGUMENTS, sha256(ARGUMENTS.encode()).hexdigest(), f"Edit {words}", 2, DIFF, "/work"
    )
    plain = ToolPayload("c", "fetch", ARGUMENTS, sha256(ARGUMENTS.encode()).hexdigest(), words, 0, "", "/work")
    return {
        "script": ScriptPayload(f"{words}\nmore", "/work", ("PATH",), "bubblewrap"),
        "tool": tool,
        "step": StepPayload(words, "shell", words),
        "spawn": SpawnPayload("tier3-worker", "m", words, words),
        "ask": plain,
        "tracks": TracksPayload("E-1", words, (TrackPlan("t", words, words),)),
        "gate": GatePayload(0, words, 5, 5, words),
        "merge": MergePayload("main", "0" * 40, "1" * 40, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
        "unknown": UnknownPayload(words, words),
        "review": ReviewPayload("b", "c", "t" * 40, GIT, files=files_of(GIT), summary=words, ran=(words,), parts=2),
    }


def asking_all(words: str = "make", times: int = 1) -> State:
    """A state with `times` pending approvals of every kind."""
    approvals: list[Approval] = []
    for _ in range(times):
        for kind, payload in payloads(words).items():
            approvals.append(
                Approval(
                    id=f"A-{len(approvals) + 1}",
                    kind=kind,  # pyright: ignore[reportArgumentType]
                    asker="worker:T-1/1",
                    track="demo",
                    ticket="T-1",
                    why=words,
                    payload=payload,
                    digest=digest(payload),
                    requested_at=AT,
                )
            )
    epic = Epic(id="E-1", text=words, status="proposed", created_at=AT, proposed=(TrackPlan("t", words, words),))
    return State(
        version=1,
        approvals=Map({approval.id: approval for approval in approvals}),
        pending=Map({number: approval.id for number, approval in enumerate(approvals, 1)}),
        epics=Map({"E-1": epic}),
    )


def names(widgets: Sequence[Widget]) -> set[str]:
    return {each.name for each in widgets}

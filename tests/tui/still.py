"""The terminal workbench on a fixed state, driven by keys; commands are only recorded."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval, Payload
from interlock.errors import InterlockError, Rejected
from interlock.ports.effects import Undone, UndoPlan
from interlock.ports.front import Receipt
from interlock.tui.app import Workbench
from interlock.tui.bench import Holder, Notify, Watcher
from interlock.tui.colours import Mode
from interlock.tui.lines.line_list import LineList

PATIENCE_S = 20
RULE = '[[policy]]\nprefix = ["make"]\n'


class StillBench:
    """Implements `Bench`. `refuses` is raised by every command; `edits` is what the editor returns."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.name, self.branch, self.hint = "payments", "main", ""
        self.holder = Holder(here=True, pid=1, sandbox="bubblewrap")
        self.notify: Notify = "auto"
        self.sent: list[HumanCommand] = []
        self.kept: list[tuple[str, bool]] = []
        self.refuses: InterlockError | None = None
        self.edits: Callable[[str], str | None] = lambda text: text + "# edited\n"
        self.texts: dict[str, str] = {}
        self.watcher: Watcher | None = None
        self.records: Sequence[Recorded] = ()

    async def submit(self, command: HumanCommand) -> Receipt:
        self.sent.append(command)
        if self.refuses is not None:
            raise self.refuses
        return Receipt(self.state.version, ())

    async def say(self, discussion: str, text: str) -> Receipt:
        raise Rejected("no model answers here")

    async def ask_landing(self, track: str) -> Receipt:
        raise Rejected(f"track {track} is not done")

    async def whole(self, approval: Approval) -> Approval:
        return approval

    async def text(self, sha256: str) -> str | None:
        return self.texts.get(sha256)

    async def history(self, most: int) -> Sequence[Recorded]:
        return self.records[-most:]

    async def always_rule(self, payload: Payload) -> str:
        return RULE

    async def keep_rule(self, rule: str, *, everywhere: bool = False) -> None:
        self.kept.append((rule, everywhere))

    async def undo_plan(self, *, redo: bool) -> UndoPlan:
        raise Rejected("nothing can be undone")

    async def undo(self, plan: UndoPlan) -> Undone:
        raise Rejected("nothing can be undone")

    def edit(self, text: str, suffix: str) -> str | None:
        return self.edits(text)

    def watch(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def close(self) -> None:
        pass

    def become(self, state: State) -> None:
        """The project has another state now."""
        self.state = state
        if self.watcher is not None:
            self.watcher.records(())


class Screen:
    """What a user sees, and the keys that they press."""

    def __init__(self, app: Workbench, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def lines(self) -> list[str]:
        """The whole screen as text."""
        width, height = self.app.size
        strips = self.app.screen._compositor.render_strips()
        return [strip.text[:width] for strip in strips][:height]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(*("space" if letter == " " else letter for letter in text))

    async def until(self, true: Callable[[], Any], what: str = "") -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not true():
                    await self.pilot.pause(0.01)
        except TimeoutError:
            raise AssertionError(f"it never came true: {what}\n{self.text}") from None

    async def shows(self, *words: str) -> None:
        await self.until(lambda: all(word in self.text for word in words), f"the screen shows {words}")

    async def hides(self, word: str) -> None:
        await self.until(lambda: word not in self.text, f"the screen does not show {word}")

    async def glance(self) -> None:
        """Looks at an approval long enough to answer it."""
        await self.pilot.pause(0.32)

    async def settle(self) -> None:
        """Until everything that was sent is answered, and no answer waits."""
        await self.until(lambda: self.app.send.held is None, "the answer is sent")
        await self.app.send.settled()
        await self.pilot.pause()

    def rows(self, lines: LineList) -> list[str]:
        return ["".join(span.text for span in lines.row_at(at, lines.cells).spans) for at in range(lines.count())]


@asynccontextmanager
async def shown(
    bench: Any, size: tuple[int, int] = (100, 40), mode: Mode = "true", pause_s: float = 0.02
) -> AsyncGenerator[Screen]:
    async def opening() -> Any:
        return bench

    app = Workbench(opening, mode, pause_s=pause_s)
    async with app.run_test(size=size) as pilot:
        screen = Screen(app, pilot)
        await screen.until(lambda: not app.picture.lost, "the project is open")
        await pilot.pause()
        yield screen


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)

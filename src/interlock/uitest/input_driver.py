"""Hands on the window: real input by the Dear ImGui Test Engine, one action after the other (SPEC U3).

Requests come from any thread; everything is done by the thread that draws. Clicks and typing are done in turn by one
registered test, which the engine runs between two frames. Looking (a condition, a list of widgets, a picture) needs no
input, so it goes on beside them: whoever waits for something never keeps another from doing it.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from imgui_bundle import hello_imgui, imgui  # pyright: ignore[reportMissingModuleSource]  native
from msgspec import Struct
from msgspec.structs import replace

from interlock.desk.authority import Authority
from interlock.gui.drawing.widgets import Rect, Widget, Widgets
from interlock.gui.window.shell import Window
from interlock.uitest.pending_effects import Done, Settling
from interlock.uitest.targets import Condition, Target, Verdict, find, judge, nearest, path_of, plain, tree

Button = Literal["left", "right", "double", "middle"]

_BUTTONS: dict[str, int] = {"left": 0, "right": 1, "middle": 2}
ACTION_S = 30.0  # for a click or a text: its turn, and what it set off, included
_FELT_FRAMES = 3  # for a click to arrive at its button
_TYPED_FRAMES = 60  # for a text to arrive in its input
_FACTS = 20  # lines of the journal that go with a failure
_ANSWERS = ("inbox.edit", "inbox.message", "inbox.hunk")
"""Keys of what an answer is made of, or begin with: a person who says yes must find them as that person left them."""


class Click(Struct, frozen=True):
    target: Target
    button: Button = "left"


class Type(Struct, frozen=True):
    target: Target
    text: str
    clear_first: bool = False


class Looked(Struct, frozen=True):
    """What a condition came to."""

    verdict: Verdict
    timed_out: bool = False
    logs: tuple[str, ...] = ()
    tree: str = ""
    near: tuple[str, ...] = ()


class _Asked:
    """An action on its way."""

    def __init__(self, action: Click | Type, by: Authority, started: Callable[[], None], deadline: float) -> None:
        self.action = action
        self.deadline = deadline
        self.by = by
        self.started = started
        self.future: Future[Done] = Future()


class _Watch:
    def __init__(self, condition: Condition, deadline: float, every_s: float) -> None:
        self.condition = condition
        self.deadline = deadline
        self.every_s = every_s
        self.next_at = 0.0
        self.future: Future[Looked] = Future()


class InputDriver:
    def __init__(self) -> None:
        self._window: Window | None = None
        self._engine: imgui.test_engine.TestEngine | None = None
        self._test: imgui.test_engine.Test | None = None
        self._asked: deque[_Asked] = deque()
        self._new: deque[Callable[[], None]] = deque()  # looks that wait for a frame begun after them
        self._ready: list[Callable[[], None]] = []
        self._arriving: deque[_Watch] = deque()
        self._watches: list[_Watch] = []
        self._idlers: list[tuple[Callable[[], bool], float, Future[bool]]] = []
        self._running = False
        self._closed = False
        self._settling = Settling(self._explained)
        self._person: Authority | None = None  # whose window it is, while a test has its hands on it
        self.frames = 0

    # ── from any thread ──────────────────────────────────────────────────────────────────

    def act(
        self, action: Click | Type, by: Authority, started: Callable[[], None], seconds: float = ACTION_S
    ) -> "Future[Done]":
        """`started` is called when its turn has come. Cancelling the future before that takes it back."""
        asked = _Asked(action, by, started, time.monotonic() + seconds)
        self._asked.append(asked)
        self._wake()
        return asked.future

    def watch(self, condition: Condition, seconds: float, every_s: float = 0.0) -> "Future[Looked]":
        """Until it is so, or so long."""
        watch = _Watch(condition, time.monotonic() + seconds, every_s)
        self._arriving.append(watch)
        self._wake()
        return watch.future

    def look_at(self, condition: Condition) -> "Future[Looked]":
        """How it is now."""
        future: Future[Looked] = Future()
        self._soon(future, lambda: self._looked(judge(self._widgets(), condition), condition))
        return future

    def widgets(self) -> "Future[Widgets]":
        future: Future[Widgets] = Future()
        self._soon(future, self._widgets)
        return future

    def picture(self, path: Path, rect: Rect | None = None) -> "Future[None]":
        """A frame drawn from now on goes into that file, or this part of it."""
        future: Future[None] = Future()

        def begin() -> None:
            assert self._window is not None
            try:
                self._window.picture(path, rect).add_done_callback(lambda taken: _pass_on(taken, future))
            except Exception as error:  # noqa: BLE001  goes to whoever asked
                _fail(future, error)

        self._new.append(begin)
        self._wake()
        return future

    def idle(self, seconds: float) -> "Future[bool]":
        """Until nothing is under way between the window and the workbench; False when that takes too long."""
        future: Future[bool] = Future()

        def quiet() -> bool:
            return self._window is not None and self._window.settled and not self._asked and not self._running

        deadline = time.monotonic() + seconds
        self._new.append(lambda: self._idlers.append((quiet, deadline, future)))
        self._wake()
        return future

    def _soon(self, future: "Future[Any]", work: Callable[[], Any]) -> None:
        self._new.append(lambda: _give(future, work))
        self._wake()

    def _wake(self) -> None:
        if self._window is not None:
            self._window.hurry()
        if self._closed:
            self.closed()

    # ── from the thread that draws ───────────────────────────────────────────────────────

    def attach(self, window: Window) -> None:
        engine = hello_imgui.get_imgui_test_engine()
        io = imgui.test_engine.get_io(engine)
        io.config_run_speed = imgui.test_engine.TestRunSpeed.fast
        io.config_restore_focus_after_tests = False  # what opened by a click stays open
        io.config_saved_settings = False
        io.config_mouse_draw_cursor = False
        io.config_capture_enabled = False  # pictures are taken by the window itself
        io.config_watchdog_warning = io.config_watchdog_kill_test = 1e9  # deadlines are ours
        test = imgui.test_engine.register_test(engine, "interlock", "hands")
        test.flags |= imgui.test_engine.TestFlags_.no_gui_warm_up.value  # it has no window of its own to warm up
        test.test_func = self._work
        self._window, self._engine, self._test = window, engine, test

    @property
    def busy(self) -> bool:
        return bool(self._asked or self._running or self._new or self._ready or self._arriving)

    @property
    def settling(self) -> bool:
        return bool(self._settling) and not self._running

    @property
    def watching(self) -> bool:
        return bool(self._watches or self._idlers or self._settling)

    def look(self) -> None:
        self.frames += 1
        ready, self._ready = self._ready, []
        while self._new:
            self._ready.append(self._new.popleft())
        for each in ready:
            each()
        if self._watches:
            self._check_watches()
        while self._arriving:
            self._watches.append(self._arriving.popleft())
        if self._idlers:
            self._check_idlers()
        engine, test = self._engine, self._test
        if engine is not None and test is not None:
            assert self._window is not None
            now = time.monotonic()
            self._settling.check(self._window.send, now)
            self._running = not imgui.test_engine.is_test_queue_empty(engine)
            if not self._running:
                self._let_go(self._window)
                if self._asked and not self._settling.recent(now):
                    self._running = True
                    imgui.test_engine.queue_test(engine, test)

    def _let_go(self, window: Window) -> None:
        """The person has the window back, and nothing of what the test pressed is left in it."""
        if self._person is not None:
            io = imgui.get_io()
            io.clear_events_queue()
            io.clear_input_keys()
            window.send.by, self._person = self._person, None

    def closed(self) -> None:
        self._closed = True
        gone = ConnectionError("the window was closed")
        self._settling.closed(gone)
        for asked in _taken(self._asked):
            _fail(asked.future, gone)
        for watch in (*_taken(self._arriving), *self._watches):
            _fail(watch.future, gone)
        self._watches = []
        for _, _, future in self._idlers:
            _fail(future, gone)
        self._idlers = []
        for each in (*self._ready, *_taken(self._new)):
            with suppress(Exception):
                each()

    def _widgets(self) -> Widgets:
        assert self._window is not None
        return self._window.ui.shown

    def _check_watches(self) -> None:
        now, widgets = time.monotonic(), self._widgets()
        left: list[_Watch] = []
        for watch in self._watches:
            late = now >= watch.deadline
            if now < watch.next_at and not late:
                left.append(watch)
                continue
            watch.next_at = now + watch.every_s
            verdict = judge(widgets, watch.condition)
            if verdict.holds:
                _give(watch.future, lambda verdict=verdict: Looked(verdict))
            elif late:
                _give(watch.future, lambda v=verdict, c=watch.condition: self._looked(v, c, timed_out=True))
            elif not watch.future.cancelled():
                left.append(watch)
        self._watches = left

    def _check_idlers(self) -> None:
        now = time.monotonic()
        left: list[tuple[Callable[[], bool], float, Future[bool]]] = []
        for quiet, deadline, future in self._idlers:
            if quiet():
                _give(future, lambda: True)
            elif now >= deadline:
                _give(future, lambda: False)
            elif not future.cancelled():
                left.append((quiet, deadline, future))
        self._idlers = left

    def _looked(self, verdict: Verdict, condition: Condition, *, timed_out: bool = False) -> Looked:
        if verdict.holds:
            return Looked(verdict)
        widgets = self._widgets()
        near = () if verdict.widget is not None else nearest(widgets, condition.target)
        return Looked(verdict, timed_out, self._facts(), tree(widgets), near)

    def _facts(self) -> tuple[str, ...]:
        """What happened last, as the journal tells it."""
        window = self._window
        assert window is not None
        facts = [f"{fact.at} {fact.whose} {fact.text}".strip() for fact in window.feed.facts[-_FACTS:]]
        return (*facts, *(f"notification: {note.text}" for note in window.send.notes))

    # ── between two frames: the engine's test ────────────────────────────────────────────

    def _work(self, ctx: imgui.test_engine.TestContext) -> None:
        """One action: the engine takes no input but its own until this returns, whatever a person does meanwhile."""
        while self._asked:
            asked = self._asked.popleft()
            if not asked.future.set_running_or_notify_cancel():
                continue
            try:
                asked.started()
                done, set_off = self._acted(ctx, asked)
            except Exception as error:  # noqa: BLE001  whoever asked must hear of it
                asked.future.set_exception(error)
                return
            if set_off:
                self._settling.add(done, set_off, time.monotonic(), asked.deadline, asked.future)
            else:  # nothing to wait for, not even a frame
                asked.future.set_result(done if done.success else self._explained(done))
            return

    def _acted(self, ctx: imgui.test_engine.TestContext, asked: _Asked) -> "tuple[Done, list[Future[Any]]]":
        window = self._window
        assert window is not None
        if self._person is None:
            self._person = window.send.by  # until `_let_go`
        window.send.by = asked.by
        set_off: list[Future[Any]] = []
        window.send.set_off = set_off
        try:
            match asked.action:
                case Click():
                    return self._click(ctx, window, asked.action), set_off
                case Type():
                    window.ui.meant = ""  # letters that miss their input are no shortcuts
                    return self._type(ctx, window, asked.action), set_off
        finally:
            window.send.set_off = None
            window.ui.meant = None

    def _explained(self, done: Done) -> Done:
        return replace(done, logs=self._facts(), tree=tree(self._widgets()))

    def _click(self, ctx: imgui.test_engine.TestContext, window: Window, click: Click) -> Done:
        found = find(self._widgets(), click.target)
        title = found.hidden or (found.widget.label if found.widget and found.widget.type == "window" else "")
        if title:
            return self._click_tab(ctx, title, click)
        if found.widget is None:
            return self._missing(click.target)
        widget = found.widget
        if not widget.enabled:
            return Done(False, f"{_named(widget)} is disabled", widget.name, path_of(widget))
        if _is_anothers(widget, window.send.by):
            return Done(False, f"it was refused: {window.send.by.why_not}", widget.name, path_of(widget))
        went = self._pressed(ctx, window, widget, click.button)
        if ctx.is_error():
            return Done(False, f"{_named(widget)} cannot be reached: {self._why()}", widget.name, path_of(widget))
        if not went:
            return Done(False, f"{_named(widget)} went away before it was pressed", widget.name, path_of(widget))
        more = f" (the first of {found.others + 1})" if found.others else ""
        return Done(True, f"clicked {_named(widget)}{more}", widget.name, path_of(widget))

    def _pressed(self, ctx: imgui.test_engine.TestContext, window: Window, widget: Widget, button: Button) -> bool:
        """Press that and nothing else, whatever has come into its place; whether it felt it, where it could."""
        ui = window.ui
        ui.meant, ui.pressed = widget.name, []
        try:
            self._press(ctx, widget, button)
            feels = widget.type in ("button", "row") and button in ("left", "double")
            for _ in range(_FELT_FRAMES if feels and not ctx.is_error() else 0):
                if widget.name in ui.pressed:
                    return True
                ctx.yield_()
            return not feels or widget.name in ui.pressed
        finally:
            ui.meant = None

    def _press(self, ctx: imgui.test_engine.TestContext, widget: Widget, button: Button) -> None:
        middle = _middle(widget.rect)
        if widget.id and widget.visible:
            ctx.mouse_move_to_pos(middle)
        if not widget.id or (widget.visible and imgui.internal.get_hovered_id() == widget.id):
            self._press_at(ctx, middle, button)  # nothing is over it: the shortest way
            return
        ref = imgui.test_engine.TestRef(widget.id)  # brings its window to the front, and scrolls to it
        if button == "double":
            ctx.item_double_click(ref)
        else:
            ctx.item_click(ref, _BUTTONS[button])

    def _press_at(self, ctx: imgui.test_engine.TestContext, at: imgui.ImVec2, button: Button) -> None:
        ctx.mouse_move_to_pos(at)
        if button == "double":
            ctx.mouse_double_click(0)
        else:
            ctx.mouse_click(_BUTTONS[button])

    def _click_tab(self, ctx: imgui.test_engine.TestContext, title: str, click: Click) -> Done:
        """A window is chosen by its tab, or by the bar that carries its title."""
        drawn = imgui.internal.find_window_by_name(title)
        rect = drawn.dc.dock_tab_item_rect
        if rect.max.x <= rect.min.x:  # in no dock
            rect = drawn.title_bar_rect()
        self._press_at(ctx, imgui.ImVec2((rect.min.x + rect.max.x) / 2, (rect.min.y + rect.max.y) / 2), click.button)
        for _ in range(4):
            if title not in self._widgets().hidden:
                return Done(True, f"clicked window:{title}", f"window.{title.lower()}", f"window:{title}")
            ctx.yield_()
        return Done(False, f"window:{title} did not come to the front", f"window.{title.lower()}", f"window:{title}")

    def _type(self, ctx: imgui.test_engine.TestContext, window: Window, typing: Type) -> Done:
        found = find(self._widgets(), typing.target)
        if found.widget is None:
            return self._missing(typing.target)
        widget = found.widget
        key, path = widget.name, path_of(widget)
        if widget.type != "input":
            return Done(False, f"{_named(widget)} is no input: nothing can be typed into it", key, path)
        if not widget.enabled:
            return Done(False, f"{_named(widget)} is disabled", key, path)
        if _is_anothers(widget, window.send.by):
            return Done(False, f"it was refused: {window.send.by.why_not}", key, path)
        wanted = typing.text if typing.clear_first else widget.value + typing.text
        ctx.item_click(imgui.test_engine.TestRef(widget.id))
        if typing.clear_first:
            ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.a.value)
            ctx.key_press(imgui.Key.delete.value)
        else:
            ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.end.value)
        if typing.text:
            ctx.key_chars(typing.text)
        shown = ""
        for _ in range(_TYPED_FRAMES):
            if ctx.is_error():
                return Done(False, f"{_named(widget)} cannot be reached: {self._why()}", key, path)
            now = self._widgets().find(widget.name)
            shown = now.value if now is not None else ""
            if shown == wanted:
                return Done(True, f"typed {len(typing.text):,} characters into {_named(widget)}", key, path)
            ctx.yield_()
        return Done(False, f"{_named(widget)} says {shown[:200]!r} and not {wanted[:200]!r}", key, path)

    def _missing(self, target: Target) -> Done:
        near = nearest(self._widgets(), target)
        return Done(False, f"there is no {target} now; the nearest: {', '.join(near) or 'nothing'}")

    def _why(self) -> str:
        """What the test engine says of its last error."""
        assert self._test is not None
        lines = self._test.output.log.buffer
        text = lines.c_str() if hasattr(lines, "c_str") else ""
        errors = [line for line in text.splitlines() if "rror" in line]
        return errors[-1].strip()[-300:] if errors else "something is over it"


def _is_anothers(widget: Widget, by: Authority) -> bool:
    """Part of an answer that this hand may not give."""
    return not by.answers and widget.key.startswith(_ANSWERS)


def _named(widget: Widget) -> str:
    return f"{widget.type}:{plain(widget.label)} [{widget.name}]"


def _middle(rect: Sequence[float]) -> imgui.ImVec2:
    return imgui.ImVec2((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2)


def _taken(waiting: "deque[Any]") -> list[Any]:
    found: list[Any] = []
    while waiting:
        found.append(waiting.popleft())
    return found


def _give(future: "Future[Any]", work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001  goes to whoever asked
        future.set_exception(error)


def _pass_on(taken: "Future[None]", future: "Future[None]") -> None:
    _give(future, taken.result)


def _fail(future: "Future[Any]", error: Exception) -> None:
    if not future.done() and future.set_running_or_notify_cancel():
        future.set_exception(error)

"""A workbench with a window: puts the window before a `Service`, and HTTP behind it where a test asks for that."""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlock.assembly.build import OpenWorkbench
from interlock.assembly.locations import user_settings
from interlock.assembly.project import Project, lasting_rule
from interlock.assembly.redaction import redactor
from interlock.assembly.service import Service
from interlock.desk.authority import Authority
from interlock.desk.desk import Desk
from interlock.domain.checks.test_history_texts import fit, restored
from interlock.domain.messages.commands.test_history_commands import RecordTests
from interlock.domain.values.test_history import Execution, History
from interlock.errors import InterlockError, JournalError
from interlock.policy.always_rules import append_rule

if TYPE_CHECKING:
    from interlock.gui.data.sending import Sender
    from interlock.gui.window.backends import Backend
    from interlock.gui.window.shell import Window
    from interlock.uitest.input_driver import InputDriver
    from interlock.uitest.server import HarnessServer

_HISTORY = 3_000  # records of the journal that the window begins with


class WindowFigures:
    """What the API says of the window."""

    def __init__(self, window: "Window") -> None:
        self._window = window

    def figures(self) -> tuple[float, float, float, float]:
        figures = self._window.figures
        return (figures.fps, figures.frame_time_ms, figures.input_lag_ms, figures.cpu)

    def broken_panels(self) -> dict[str, str]:
        return self._window.broken_panels()


class Rules:
    """What "always allow this" does, away from the threads that draw and conduct."""

    def __init__(self, project: Project) -> None:
        self._project = project

    async def rule_for(self, script: str, directory: str) -> str:
        return await asyncio.to_thread(lasting_rule, self._project, script, directory)

    async def keep(self, rule: str) -> None:
        await asyncio.to_thread(append_rule, user_settings(), rule)


def make_window(
    service: Service, person: str, *, backend: "Backend", settings: Path | None, hooks: bool, **more: Any
) -> "Window":
    """A window on an opened service; everything heavy is imported here and not before."""
    from interlock.gui.data.frame import WindowFacts
    from interlock.gui.data.sending import Sender
    from interlock.gui.window.shell import Window

    opened, desk, bench = service.opened, service.desk, service.bench
    assert opened is not None
    assert desk is not None
    assert bench is not None
    by = Authority(person, answers=True, places=True)

    def sender(desk: Desk) -> "Sender":
        return Sender(desk, by, service.start, bench.kept_text, Rules(service.project))

    place = WindowFacts(
        service.project.root.name,
        branch_of(service.project.root),
        opened.sandbox_level,
        test_policy=service.test_policy,
        hooks=hooks,
    )
    window = Window(desk, place, sender, backend=backend, settings=settings, broken=bench.broken, **more)
    service.call(_listen(window, opened, desk))
    return window


async def _listen(window: "Window", opened: OpenWorkbench, desk: Desk) -> None:
    """On the engine's loop: nothing is missed between the history and what follows it."""
    feed = window.feed
    version = opened.state.version
    opened.workbench.on_durable(lambda records, _: feed.records(records))
    opened.streams.listen(feed.text)
    opened.streams.on_clear(feed.clear)
    desk.listen(lambda _name, _data: feed.changed())
    for key, text in opened.streams.all().items():
        feed.text(key, text)
    after = max(0, version - _HISTORY)
    while after < version and (records := await opened.workbench.since(after)):
        feed.records(tuple(records))
        after = records[-1].version


def serve_beside(service: Service, window: "Window", port: int, told: Callable[[int], None]) -> threading.Thread:
    """HTTP starts on a thread of its own, after the first frame; where it cannot, the window says so."""

    def start() -> None:
        try:
            told(service.serve_http(port, WindowFigures(window)))
        except (InterlockError, OSError) as error:
            window.send.note(f"HTTP does not start: {error}")
            window.wake()

    thread = threading.Thread(target=start, name="hooks", daemon=True)
    thread.start()
    return thread


def harness_beside(
    service: Service, window: "Window", hands: "InputDriver", port: int, told: Callable[[int], None]
) -> "Beside":
    """The gRPC harness, as `serve_beside`; what it returns ends it."""
    return Beside(lambda: _harness(service, window, hands, port), window, "the test harness", told)


def _harness(service: Service, window: "Window", hands: "InputDriver", port: int) -> "HarnessServer":
    from interlock.uitest.actions import Acting
    from interlock.uitest.artifacts import Artifacts
    from interlock.uitest.executions import Executions
    from interlock.uitest.server import HarnessServer
    from interlock.uitest.service import Harness

    opened = service.opened
    assert opened is not None
    redact = redactor(os.environ)

    def record(execution: Execution) -> None:
        fitted = fit(execution, redact)
        if fitted.text is not None:
            service.call(opened.workbench.keep(fitted.text))
        service.call(opened.submit(f"test:{execution.test_id}", RecordTests((fitted.execution,))))

    def whole(execution: Execution) -> Execution:
        if execution.whole is None:
            return execution
        try:
            return restored(execution, opened.fetch(execution.whole.sha256))
        except (OSError, JournalError):
            return execution

    def history() -> History:
        return opened.state.tests

    artifacts = Artifacts(service.project.folder / "artifacts", lambda: window.draws_pixels)
    executions = Executions(history, record)
    acting = Acting(hands, executions, artifacts, answers=service.test_policy)
    server = HarnessServer(
        Harness(hands, acting, executions, artifacts, history, whole), port, service.project.folder / "run"
    )
    server.start()
    return server


class Beside:
    """Starts something on a thread of its own, after the first frame; where it cannot, the window says so."""

    def __init__(
        self, start: "Callable[[], HarnessServer]", window: "Window", what: str, told: Callable[[int], None]
    ) -> None:
        self._made: HarnessServer | None = None

        def run() -> None:
            try:
                self._made = start()
                told(self._made.port)
            except (InterlockError, OSError) as error:
                window.send.note(f"{what} does not start: {error}")
                window.wake()

        self._thread = threading.Thread(target=run, name=what, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._thread.join()
        if self._made is not None:
            self._made.stop()


def end_with(service: Service, window: "Window") -> None:
    """Whoever asks the workbench to end closes the window too."""
    assert service.opened is not None
    service.start(service.opened.stop_asked.wait()).add_done_callback(lambda _: window.end())


def branch_of(root: Path) -> str:
    """As git's own file says it; empty where that cannot be read."""
    try:
        head = (root / ".git" / "HEAD").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else head[:10]

"""A window on an open service, and HTTP or the test harness beside it."""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlock.assembly.lasting_rules import keep_rule, lasting_rule
from interlock.assembly.open_workbench import OpenWorkbench
from interlock.assembly.project import Project
from interlock.assembly.secrets.redaction import redactor
from interlock.assembly.service import OpenService
from interlock.desk.authority import Authority
from interlock.desk.desk import Desk
from interlock.domain.checks.test_history_texts import fit, restored
from interlock.domain.messages.commands.test_history_commands import RecordTests
from interlock.domain.values.approvals import Payload
from interlock.domain.values.test_history import Execution, History
from interlock.errors import InterlockError, JournalError
from interlock.identity.careful import read_plain

if TYPE_CHECKING:
    from interlock.gui.data.sending import Sender
    from interlock.gui.window.backends import Backend
    from interlock.gui.window.shell import Window
    from interlock.uitest.input_driver import InputDriver
    from interlock.uitest.server import HarnessServer

_HISTORY = 3_000  # records that the window loads at its start


class WindowFigures:
    """The window's figures for the API."""

    def __init__(self, window: "Window") -> None:
        self._window = window

    def figures(self) -> tuple[float, float, float, float]:
        figures = self._window.figures
        return (figures.fps, figures.frame_time_ms, figures.input_lag_ms, figures.cpu)

    def broken_panels(self) -> dict[str, str]:
        return self._window.broken_panels()


class Rules:
    """Writes the rules of "always allow this", in a thread of its own."""

    def __init__(self, project: Project) -> None:
        self._project = project

    async def rule_for(self, payload: Payload) -> str:
        return await asyncio.to_thread(lasting_rule, self._project, payload)

    async def keep(self, rule: str, *, everywhere: bool) -> None:
        await asyncio.to_thread(keep_rule, self._project, rule, everywhere=everywhere)


def make_window(
    service: OpenService, person: str, *, backend: "Backend", settings: Path | None, hooks: bool, **more: Any
) -> "Window":
    """A window on an open service. The GUI's modules are imported only here: they are slow to load."""
    from interlock.gui.data.frame import WindowFacts
    from interlock.gui.data.sending import Sender
    from interlock.gui.window.shell import Window

    workbench, desk, services = service.workbench, service.desk, service.services
    by = Authority(person, answers=True, places=True)

    def sender(desk: Desk) -> "Sender":
        return Sender(desk, by, service.start, services.kept_text, Rules(service.project), services.learned)

    place = WindowFacts(
        service.project.root.name,
        branch_of(service.project.root),
        workbench.sandbox_level,
        test_policy=service.test_policy,
        hooks=hooks,
        hint=workbench.hint,
    )
    window = Window(desk, place, sender, backend=backend, settings=settings, broken=services.broken, **more)
    workbench.window.read = WindowFigures(window).figures
    service.call(_listen(window, workbench, desk))
    return window


async def _listen(window: "Window", opened: OpenWorkbench, desk: Desk) -> None:
    """Runs on the engine's loop, so no record is missed between the history and the subscription."""
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


def serve_beside(
    service: OpenService, window: "Window", port: int, on_port: Callable[[int], None], *, page: bool = False
) -> threading.Thread:
    """Starts HTTP on a thread of its own, after the first frame; a failure is shown in the window."""

    def start() -> None:
        try:
            on_port(service.serve_http(port, WindowFigures(window), page=page))
        except (InterlockError, OSError) as error:
            window.send.note(f"HTTP does not start: {error}")
            window.wake()

    thread = threading.Thread(target=start, name="hooks", daemon=True)
    thread.start()
    return thread


def harness_beside(
    service: OpenService, window: "Window", driver: "InputDriver", port: int, on_port: Callable[[int], None]
) -> "Beside":
    """Starts the gRPC harness as `serve_beside` does; the returned object stops it."""
    return Beside(lambda: _harness(service, window, driver, port), window, "the test harness", on_port)


def _harness(service: OpenService, window: "Window", driver: "InputDriver", port: int) -> "HarnessServer":
    from interlock.uitest.actions import Actions
    from interlock.uitest.artifacts import Artifacts
    from interlock.uitest.executions import Executions
    from interlock.uitest.server import HarnessServer
    from interlock.uitest.service import Harness

    opened = service.workbench
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
    actions = Actions(driver, executions, artifacts, answers=service.test_policy)
    server = HarnessServer(
        Harness(driver, actions, executions, artifacts, history, whole), port, service.project.folder / "run"
    )
    server.start()
    return server


class Beside:
    """Starts a server on a thread of its own, after the first frame; a failure is shown in the window."""

    def __init__(
        self, start: "Callable[[], HarnessServer]", window: "Window", what: str, on_port: Callable[[int], None]
    ) -> None:
        self._server: HarnessServer | None = None

        def run() -> None:
            try:
                self._server = start()
                on_port(self._server.port)
            except (InterlockError, OSError) as error:
                window.send.note(f"{what} does not start: {error}")
                window.wake()

        self._thread = threading.Thread(target=run, name=what, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._thread.join()
        if self._server is not None:
            self._server.stop()


def end_with(service: OpenService, window: "Window") -> None:
    """A request to end the workbench closes the window too."""
    service.start(service.workbench.stop_asked.wait()).add_done_callback(lambda _: window.end())


def branch_of(root: Path) -> str:
    """The branch in `.git/HEAD`; empty if it cannot be read."""
    try:
        head = read_plain(root / ".git" / "HEAD", 65536).decode().strip()
    except (OSError, ValueError):
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else head[:10]

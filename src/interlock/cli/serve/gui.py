"""`interlock gui`, and `interlock` alone: the desktop window."""

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Literal

from interlock.assembly.build import conducting
from interlock.assembly.service import ModelSelection, OpenService, Service
from interlock.assembly.window import Beside, end_with, harness_beside, make_window, serve_beside
from interlock.cli.arguments import ModelArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.model_choices import note_unused_settings, with_agent, with_tool_rounds
from interlock.cli.terminal.output import paint, say
from interlock.cli.terminal.sessions import actor, project_of
from interlock.cli.terminal.signals import end_in_order, held
from interlock.domain.values.autonomy import Autonomy
from interlock.errors import JournalInUse, Misconfigured

CLOSING_S = 1.6
"""The most time for closing; an unfinished shutdown is harmless, because the journal is already durable."""


class GuiArgs(ModelArgs, frozen=True):
    backend: Literal["desktop", "null", "egl"]
    theme: Literal["dark", "light"]
    enable_test_hooks: bool
    page: bool
    port: int
    enable_test_harness: bool
    test_harness_port: int
    test_policy: bool
    auto_queue: bool
    workers: int | None
    autonomy: Autonomy | None
    screenshot: str | None
    frames: int


def gui(args: GuiArgs) -> int:
    with held():
        from interlock.gui.window.backends import check

        check(args.backend)
    if args.screenshot and args.backend == "null":
        raise Misconfigured("--screenshot needs pixels: use --backend egl")
    if args.script and args.provider != "scripted":
        raise Misconfigured("--script goes with --provider scripted")
    end_in_order(once=True)
    project = with_agent(with_tool_rounds(project_of(args), args.max_tool_rounds), args)
    note_unused_settings(project)
    conduct = conducting(
        project, auto_queue=args.auto_queue, approve_all=False, workers=args.workers, autonomy=args.autonomy
    )
    choice = ModelSelection(args.provider or "", args.model or "", args.script or "")
    service = Service(project, conduct, choice, actor(), test_policy=args.test_policy)
    reason = "the window was closed"
    try:
        try:
            opened = service.open()
        except JournalInUse as busy:
            raise JournalInUse(f"{busy}; end that process first, or use its window", busy.pid) from None
        _show(args, opened)
    except KeyboardInterrupt:
        reason = "interrupted"
    except BaseException:
        _stop(service, "the window did not open")
        raise
    _stop(service, reason)
    with suppress(OSError):  # the terminal may be closed
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(DONE)  # do not wait for threads of libraries and of the graphics driver


def _show(args: GuiArgs, service: OpenService) -> None:
    settings = service.project.state_dir / "window.ini" if args.backend == "desktop" else None
    driver = None
    if args.enable_test_harness:
        from interlock.uitest.input_driver import InputDriver

        driver = InputDriver()
    window = make_window(
        service,
        actor(),
        backend=args.backend,
        settings=settings,
        hooks=args.enable_test_hooks or args.page,
        theme=args.theme,
        driver=driver,
    )
    end_with(service, window)
    window.open()
    if args.screenshot:
        for _ in range(args.frames - 1):
            window.draw_once()
        taken = window.picture(Path(args.screenshot).absolute())
        window.draw_once()
        try:
            taken.result()
        except OSError as error:
            raise Misconfigured(f"{args.screenshot} cannot be written: {error.strerror}") from error
        return
    if args.test_policy:
        say(
            paint("TEST POLICY: the drive token and the test harness may answer approvals.", "bad", sys.stderr),
            sys.stderr,
        )

    def http_started(port: int) -> None:
        say(f"HTTP hooks at http://127.0.0.1:{port}")
        if args.page:
            say("the page: interlock open, or with the right to answer approvals: interlock open --approve")
        sys.stdout.flush()

    def harness_started(port: int) -> None:
        say(f"test harness at 127.0.0.1:{port}")
        sys.stdout.flush()

    beside: list[Beside] = []

    def start_servers() -> None:
        if args.enable_test_hooks or args.page:
            serve_beside(service, window, args.port, http_started, page=args.page)
        if driver is not None:
            beside.append(harness_beside(service, window, driver, args.test_harness_port, harness_started))

    try:
        window.run(start_servers)
    finally:
        for server in beside:
            server.stop()


def _stop(service: Service, reason: str) -> None:
    """Stop the service, but wait at most CLOSING_S: a hanging task must not keep the window open."""
    closing = threading.Thread(target=service.stop, args=(reason,), daemon=True)
    closing.start()
    closing.join(CLOSING_S)

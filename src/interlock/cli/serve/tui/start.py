"""`interlock tui`, and `interlock` alone where no window can be opened: the workbench in a terminal."""

import asyncio
import os
import sys
from typing import TYPE_CHECKING

from interlock.cli.serve.tui.args import TuiArgs
from interlock.cli.terminal.exits import DONE, ERROR
from interlock.errors import Misconfigured

if TYPE_CHECKING:
    from interlock.tui.bench import Bench


def tui(args: TuiArgs) -> int:
    if args.script and args.provider != "scripted":
        raise Misconfigured("--script goes with --provider scripted")
    if args.plain:
        from interlock.cli.serve.tui.plain import plain

        return plain(args)
    if why := unfit_terminal():
        raise Misconfigured(
            f"{why}: 'interlock tui --plain' prints lines and asks by line, 'interlock approvals' answers from scripts"
        )
    return _show(args)


def unfit_terminal() -> str:
    """Why no full screen can be drawn here; empty if one can."""
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):  # the screen goes to stderr
        return "the terminal workbench needs a terminal on standard input, output and error"
    if os.environ.get("TERM", "") in ("", "dumb", "unknown"):
        return "this terminal cannot draw a full screen (TERM is dumb or not set)"
    return ""


def _show(args: TuiArgs) -> int:
    """The first screen is drawn before the project is opened: importing and opening take longer."""
    from interlock.tui.app import Workbench
    from interlock.tui.colours import colour_mode

    async def opening() -> "Bench":
        loop = asyncio.get_running_loop()
        return await asyncio.to_thread(_opened, args, loop)

    app = Workbench(opening, colour_mode(os.environ))
    try:
        app.run()
    finally:
        if app.bench is not None:
            app.bench.close()
    if app.failure is not None:
        raise app.failure
    return ERROR if app.return_code else DONE


def _opened(args: TuiArgs, loop: asyncio.AbstractEventLoop) -> "Bench":
    from interlock.cli.serve.tui.bench import TuiBench

    bench = TuiBench(args, loop)
    bench.start()
    return bench

"""`interlock verify`: run one shell command as a gate in the current folder. Typing it counts as approval."""

import asyncio
import sys

from interlock.assembly.locations import current_folder, root_of
from interlock.assembly.project import verify_command
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import BLOCKED, DONE
from interlock.cli.terminal.output import paint, say, say_json, warn_sandbox_off
from interlock.cli.terminal.signals import wake_main_thread_for_signals
from interlock.domain.values.gates import GateResult
from interlock.views.display import one_line, safe


class VerifyArgs(CommandArgs, frozen=True):
    command: str
    timeout: float | None


def verify(args: VerifyArgs) -> int:
    wake_main_thread_for_signals()
    folder = str(current_folder().resolve() if args.project is None else root_of(args.project))
    result = asyncio.run(verify_command(args.command, folder, args.timeout, before=_begin))
    if args.json:
        say_json(_as_dict(result))
    else:
        _print(result)
    return DONE if result.passed else BLOCKED


def _begin(level: str) -> None:
    if level == "off":
        warn_sandbox_off()
    if sys.stderr.isatty():
        say(paint("running; Ctrl-C stops it", "dim", sys.stderr), sys.stderr)


def _as_dict(result: GateResult) -> dict[str, object]:
    return {
        "passed": result.passed,
        "status": result.status,
        "timed_out": result.timed_out,
        "exit_code": result.exit_code,
        "stdout": result.stdout,
        "stderr": result.stderr,
        "duration_ms": result.duration_ms,
        "command": result.command,
        "explanation": result.explanation,
    }


def _print(result: GateResult) -> None:
    for name, text in (("stdout", result.stdout), ("stderr", result.stderr)):
        if text.strip():
            say(paint(f"── {name}", "dim"))
            say(safe(text).rstrip("\n"))
    mark = paint("✓ passed", "good") if result.passed else paint(f"✗ {result.status.replace('_', ' ')}", "bad")
    say(f"{mark} after {result.duration_ms / 1000:.1f} s: {one_line(result.command)}")
    why = result.explanation or ("" if result.passed else f"exit code {result.exit_code}")
    if why:
        say(f"  {safe(why)}")

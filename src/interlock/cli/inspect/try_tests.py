"""`interlock try`: find out how the project's tests are run, install what they need, and run them in the sandbox."""

import asyncio
import sys

from interlock.assembly.environment import Trial, accept, as_keys, detected, is_configured, proposal, try_tests
from interlock.assembly.locations import root_of
from interlock.assembly.project import Project, believed, open_project
from interlock.cli.arguments import CommandArgs
from interlock.cli.inspect.project_words import beside_lines, missing_lines, part_lines, settings_text
from interlock.cli.terminal.exits import APPROVAL, BLOCKED, DONE
from interlock.cli.terminal.output import confirmed, paint, say, say_json
from interlock.cli.terminal.signals import wake_main_thread_for_signals
from interlock.cli.terminal.trial_steps import TrialSteps
from interlock.detection.found import Detected
from interlock.views.display import one_line, safe


class TryArgs(CommandArgs, frozen=True):
    command: str | None
    timeout: float | None
    yes: bool


def try_(args: TryArgs) -> int:
    wake_main_thread_for_signals()
    project = open_project(root_of(args.project))
    believed(project)
    if not is_configured(project) and (code := _configure(project, args)) is not None:
        return code
    shown = TrialSteps(quiet=args.json)
    trial = asyncio.run(
        try_tests(
            open_project(project.root),
            args.command,
            timeout_s=args.timeout or 600,
            progress=shown.step,
            on_output=shown.output,
            begins=shown.begin,
        )
    )
    shown.end()
    if not trial.result.passed:
        trial = _with_missing(trial, detected(project))
    if args.json:
        say_json(_as_dict(trial))
    else:
        _print(trial, is_gate=args.command is None)
    return DONE if trial.result.passed else BLOCKED


def _configure(project: Project, args: TryArgs) -> int | None:
    """Shows what was found, and writes the proposal if the person accepts it; an exit code ends the command."""
    found = detected(project)
    proposed = proposal(found)
    out = sys.stderr if args.json else sys.stdout
    for line in part_lines(found):
        say(line, out)
    for line in missing_lines(found):
        say(paint(line, "bad", out), out)
    if args.command and not (proposed.prepare or proposed.setup):
        return None
    if not (proposed.prepare or proposed.tests):
        say("Interlock does not recognise how this project's tests are run.", out)
        say("Name the command: interlock try 'make test'; or set [workspace] tests in interlock.toml", out)
        return BLOCKED
    say("", out)
    say(
        "Proposed for interlock.toml (prepare has network; it sees the project and none of your other files):",
        out,
    )
    say(paint(safe(settings_text(as_keys(proposed))), "dim", out), out)
    for line in beside_lines(found):
        say(paint(line, "dim", out), out)
    if not args.yes and not confirmed("Write this, and run it? [y/N] "):
        say("Nothing was written. Accept it with: interlock try --yes", out)
        return APPROVAL
    accept(project, proposed)
    return None


def _with_missing(trial: Trial, found: Detected) -> Trial:
    """What the machine lacks comes first: the output seldom names it."""
    missing = ((f"missing: {one.what}", one.remedy) for one in found.missing)
    return Trial(trial.result, (*missing, *trial.reasons))


def _as_dict(trial: Trial) -> dict[str, object]:
    result = trial.result
    return {
        "passed": result.passed,
        "status": result.status,
        "exit_code": result.exit_code,
        "command": result.command,
        "duration_ms": result.duration_ms,
        "stdout": result.stdout,
        "stderr": result.stderr,
        "explanation": result.explanation,
        "tools": list(result.tools or ()),
        "reasons": [{"what": what, "remedy": remedy} for what, remedy in trial.reasons],
    }


def _print(trial: Trial, *, is_gate: bool) -> None:
    result = trial.result
    if result.stderr.strip():
        say(paint("── stderr", "dim"))
        say(safe(result.stderr).rstrip("\n"))
    mark = paint("✓ passed", "good") if result.passed else paint(f"✗ {result.status.replace('_', ' ')}", "bad")
    say(f"{mark} after {result.duration_ms / 1000:.1f} s: {one_line(result.command)}")
    if why := result.explanation or ("" if result.passed else f"exit code {result.exit_code}"):
        for line in safe(why).splitlines():
            say(f"  {line}")
    if result.tools:
        say(paint(f"  with {safe(', '.join(result.tools))}", "dim"))
    for what, remedy in trial.reasons:
        say(f"  {paint('•', 'warn')} {safe(what)}")
        say(f"    {safe(remedy)}")
    if result.passed and is_gate:
        say('These tests are now a gate: write "verify": ["tests"] into a ticket, or :: verify:"tests" into a command.')

"""`interlock init`, `interlock doctor` and `interlock --version`."""

import asyncio
import platform
import shutil
import sys
from pathlib import Path

from msgspec import to_builtins

from interlock.assembly.environment import detected, is_configured, services_check
from interlock.assembly.locations import current_folder, root_of
from interlock.assembly.model_choice import first_provider
from interlock.assembly.project import (
    Project,
    SandboxReport,
    exclude_from_git,
    journal_report,
    make_project,
    open_project,
    sandbox_report,
    standing,
    unused_settings,
)
from interlock.cli.arguments import CommandArgs, NoArgs
from interlock.cli.inspect.project_words import missing_lines, part_lines
from interlock.cli.terminal.exits import DONE, ERROR
from interlock.cli.terminal.output import paint, say, say_json
from interlock.cli.terminal.sessions import open_session
from interlock.detection.found import Detected
from interlock.errors import Misconfigured, Unavailable
from interlock.version import VERSION
from interlock.views.display import counted, safe


def version(args: NoArgs) -> int:
    say(f"interlock {VERSION}")
    return DONE


def init(args: CommandArgs) -> int:
    root = Path(args.project) if args.project else current_folder()
    if not root.is_dir():
        raise Misconfigured(f"{root} is not a folder")
    project = open_project(root.resolve())
    existed = project.is_initialised
    make_project(project)
    with open_session(project):
        pass
    how = "private" if (project.folder / "private.git").exists() else "repository"
    try:
        how = asyncio.run(exclude_from_git(project))
    except Unavailable as error:
        say(f"git may show {', '.join(project.not_in_git)} as new: {safe(str(error))}", sys.stderr)
    if args.json:
        say_json({"root": str(project.root), "created": not existed, "git": how})
        return DONE
    say(f"{project.root} is a project{' already' if existed else ''}: its journal is in .interlock/")
    if how != "repository":
        say("the folder is no git repository with a commit: Interlock keeps a private one elsewhere")
    say("next: interlock run --tickets FILE.json")
    return DONE


def doctor(args: CommandArgs) -> int:
    project = open_project(root_of(args.project))
    sandbox = asyncio.run(sandbox_report(project))
    checks: list[tuple[str, bool, str]] = [
        ("interlock", True, VERSION),
        ("python", sys.version_info >= (3, 11), platform.python_version()),
        ("git", shutil.which("git") is not None, sandbox.git or "not found: install git"),
        ("sandbox", sandbox.works, _describe(sandbox)),
    ]
    provider = first_provider(project.settings.provider.name)
    checks.append(("model", True, provider or "no provider has a key yet: 'interlock models list' names the keys"))
    if (services := services_check(project, sandbox.level)) is not None:
        checks.append(("services", *services))
    if note := unused_settings(project):
        checks.append(("settings", True, note))
    found = standing(project)
    if not found.counts:
        checks.append(("folder", False, safe(found.sentence)))
    elif project.is_initialised:
        report = journal_report(project)
        checks.append(
            ("journal", report.ok, f"{counted(report.rows, 'row')}, unbroken" if report.ok else report.problem)
        )
    ok = all(good for _, good, _ in checks)
    made_with = detected(project)
    if args.json:
        shown = {name: {"ok": good, "detail": detail} for name, good, detail in checks}
        about = {"made_with": to_builtins(made_with), "next": next_step(project, made_with)}
        say_json({"ok": ok, **shown, "promises": sandbox.promises, "missing": sandbox.missing, "project": about})
        return DONE if ok else ERROR
    for name, good, detail in checks:
        say(f"{paint('✓' if good else '✗', 'good' if good else 'bad')} {name:10} {detail}")
    if made_with.parts:
        say()
        say("This project:")
        for line in (*part_lines(made_with), *missing_lines(made_with)):
            say(f"  {line}")
        say(f"  next: {next_step(project, made_with)}")
    say()
    say("A command that Interlock runs for a ticket or a gate:")
    for promise in sandbox.promises:
        say(f"  {promise}")
    for promise in sandbox.missing:
        say(f"  {paint('does not hold here', 'bad')}: {promise}")
    return DONE if ok else ERROR


def next_step(project: Project, found: Detected) -> str:
    """What to do for the project's tests."""
    if found.missing:
        return found.missing[0].remedy
    if is_configured(project):
        return "interlock try runs the project's tests in the sandbox"
    if any(part.tests or part.prepare for part in found.parts):
        return "interlock try proposes settings, installs packages and runs the project's tests in the sandbox"
    return "interlock try 'COMMAND' runs tests in the sandbox; no test command was found"


def _describe(sandbox: SandboxReport) -> str:
    if not sandbox.works:
        return sandbox.reason
    level = f"{sandbox.level} with fewer promises" if sandbox.missing else sandbox.level
    return f"{level}, because {sandbox.reason}" if sandbox.reason else level

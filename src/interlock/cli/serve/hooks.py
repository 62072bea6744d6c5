"""`interlock hooks`: put the question to a person into other agents' settings, and prove that it holds there."""

import asyncio
import difflib
import os
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace

from interlock.assembly.project import Project
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import APPROVAL, BLOCKED, DONE
from interlock.cli.terminal.output import confirmed, paint, say, say_json, table
from interlock.cli.terminal.sessions import folder_of
from interlock.errors import Misconfigured
from interlock.hooks.agents import AGENTS, Agent, AgentName, Scope
from interlock.hooks.codex_trust import CodexHook, CodexServer
from interlock.hooks.files import Record, Records, apply, read_text
from interlock.hooks.installing import Change, our_commands, with_hook, without_hook
from interlock.hooks.self_test import SelfTest, Tester
from interlock.identity.standing import user_state_folder
from interlock.sandbox.levels.unconfined import UnconfinedSandbox

_NEVER_TRUSTED = "not trusted in Codex, so not used: start codex here, type /hooks, and trust it"

_UNREAD = (
    "Codex does not use this hook yet: it reads a project's file only in a folder that is trusted there."
    " Start codex here, trust the folder, and install again"
)


class HookArgs(CommandArgs, frozen=True):
    agent: AgentName


class InstallArgs(HookArgs, frozen=True):
    user: bool
    yes: bool
    undo: bool


class _Place:
    """An agent's file in one scope."""

    def __init__(self, agent: Agent, scope: Scope, project: Project) -> None:
        self.agent = agent
        self.file = agent.file(scope, project.root, os.environ)
        self.root = project.root if scope == "project" else None
        self.folder = str(project.root)
        self._records = Records(user_state_folder() / "hooks")
        self.record = self._records.read(agent.name, self.file)

    def text(self) -> str | None:
        return read_text(self.file, self.root)

    def is_at(self, path: str) -> bool:
        return os.path.realpath(path) == os.path.realpath(self.file)

    def keep(self, record: Record) -> None:
        self.record = record
        self._records.write(self.agent.name, self.file, record)


def install(args: InstallArgs) -> int:
    place = _Place(AGENTS[args.agent], "user" if args.user else "project", folder_of(args))
    try:
        change = _planned(place, undo=args.undo)
    except Misconfigured as error:
        raise Misconfigured(f"{place.file} cannot be used: {error}") from error
    codex = _codex() if args.agent == "codex" else None
    unchanged = change.before == change.after
    if not args.json:
        _show(place, change, undo=args.undo)
    if not args.yes and not (unchanged and args.undo) and not (not args.json and confirmed("write this? [y/N] ")):
        say("nothing was written; to write it: --yes", sys.stderr)
        return APPROVAL
    if not unchanged:
        apply(place.file, change, place.root)
    place.keep(replace(place.record, piece="" if args.undo else change.piece))
    notes = asyncio.run(_settle_codex(place, codex, undo=args.undo)) if args.agent == "codex" else []
    if not args.undo:
        notes += place.agent.limits
    if args.json:
        say_json({"agent": args.agent, "file": str(place.file), "installed": not args.undo, "notes": notes})
        return DONE
    say(f"{'taken out of' if args.undo else 'written to'} {place.file}" if not unchanged else "nothing to change")
    for note in notes:
        say(f"- {note}")
    if not args.undo:
        say(f"to prove that a denied call does not run: interlock hooks test {args.agent}")
    return DONE


def test(args: HookArgs) -> int:
    agent = AGENTS[args.agent]
    program = _program(agent)
    tester = Tester(agent, program, own_program(), UnconfinedSandbox(), os.environ.get("PATH", os.defpath))
    if not args.json:
        say(f"{agent.title} at {program}, with a scripted vendor on this machine; this takes up to a minute")
    result = asyncio.run(tester.run())
    if args.json:
        say_json({**asdict(result), "passed": result.passed, "limits": agent.limits})
    else:
        _show_test(agent, result)
    return DONE if result.passed else BLOCKED


def list_(args: CommandArgs) -> int:
    project = folder_of(args)
    rows = [_row(_Place(agent, scope, project), scope) for agent in AGENTS.values() for scope in ("project", "user")]
    if args.json:
        say_json({"hooks": rows})
        return DONE
    table(("agent", "scope", "state", "file"), [(r["agent"], r["scope"], r["state"], r["file"]) for r in rows])
    return DONE


def own_program() -> tuple[str, ...]:
    """The words that start this Interlock from any folder and with any PATH."""
    started = os.path.abspath(sys.argv[0])
    if os.path.basename(started) == "interlock" and os.access(started, os.X_OK):
        return (started,)
    return (sys.executable, "-m", "interlock.cli.main")


def _planned(place: _Place, *, undo: bool) -> Change:
    text = place.text()
    if not undo:
        return with_hook(place.agent, text, own_program(), place.record.piece)
    return Change(None, None) if text is None else without_hook(place.agent, text, place.record.piece)


def _show(place: _Place, change: Change, *, undo: bool) -> None:
    before, after = ((text or "").splitlines() for text in (change.before, change.after))
    for line in difflib.unified_diff(before, after, str(place.file), str(place.file), lineterm="", n=2):
        say(paint(line, {"+": "good", "-": "bad"}.get(line[:1])))
    if place.agent.name == "codex" and not undo:
        say("Codex itself then adds to its config.toml: the trust in this hook, and unified_exec_tty = false.")
    if place.agent.name == "codex" and undo and place.record != Record():
        say("Codex itself then removes what the installation added to its config.toml.")


async def _settle_codex(place: _Place, codex: CodexServer | None, *, undo: bool) -> list[str]:
    """Trust in Codex follows the installation. Returns what the person must still do."""
    record = place.record
    if codex is None:
        return [] if undo else [f"there is no program codex on PATH; the hook is {_NEVER_TRUSTED}"]
    try:
        if undo:
            if record.trusted_key:
                await codex.forget(place.folder, record.trusted_key)
            if record.closed_input:
                await codex.set_terminal_input(place.folder, None)
            place.keep(Record())
            return []
        if not _input_is_set(codex.env):
            await codex.set_terminal_input(place.folder, False)
            place.keep(record := replace(record, closed_input=True))
        hook = await _listed(place, codex)
        if hook is None:
            return [_UNREAD]
        if hook.trust != "trusted":
            await codex.trust(place.folder, hook)
            place.keep(replace(record, trusted_key=hook.key))
            hook = await _listed(place, codex)
    except Misconfigured as error:
        return [f"{error}; the hook is {_NEVER_TRUSTED}"]
    return [] if hook is not None and hook.trust == "trusted" and hook.enabled else [f"the hook is {_NEVER_TRUSTED}"]


async def _listed(place: _Place, codex: CodexServer) -> CodexHook | None:
    """The installed hook as Codex sees it."""
    text = place.text() or ""
    ours = set(our_commands(place.agent, text)) if text else set[str]()
    hooks = await codex.hooks(place.folder)
    return next((hook for hook in hooks if hook.command in ours and place.is_at(hook.source)), None)


def _input_is_set(env: Any) -> bool:
    """Whether the person has decided about the terminal input of Codex's programs already."""
    file = AGENTS["codex"].file("user", Path("/"), env).with_name("config.toml")
    try:
        features: Any = tomllib.loads(file.read_text()).get("features", {})
    except (OSError, ValueError):
        return False
    return isinstance(features, dict) and features.get("unified_exec_tty") is False  # pyright: ignore[reportUnknownMemberType]


def _row(place: _Place, scope: Scope) -> dict[str, str]:
    try:
        text = place.text()
        commands = our_commands(place.agent, text) if text is not None else []
        state = "not installed"
        if commands:
            current = place.agent.entry(own_program())["hooks"][0]["command"]
            state = "installed" if commands == [current] else "installed by another Interlock: install again"
            if place.agent.name == "codex":
                state = asyncio.run(_codex_state(place, state))
    except Misconfigured as error:
        state = f"unreadable: {error}"
    return {"agent": place.agent.name, "scope": scope, "state": state, "file": str(place.file)}


async def _codex_state(place: _Place, state: str) -> str:
    codex = _codex()
    if codex is None:
        return f"{state}; codex is not on PATH"
    try:
        hook = await _listed(place, codex)
    except Misconfigured as error:
        return f"{state}; {error}"
    used = hook is not None and hook.trust == "trusted" and hook.enabled
    return f"{state}, trusted" if used else f"{state}, {_NEVER_TRUSTED}"


def _codex() -> CodexServer | None:
    program = shutil.which(AGENTS["codex"].program)
    return CodexServer(UnconfinedSandbox(), os.path.abspath(program), dict(os.environ)) if program else None


def _program(agent: Agent) -> str:
    found = shutil.which(agent.program)
    if found is None:
        raise Misconfigured(f"there is no program {agent.program!r} on PATH; npm has it as {agent.package}")
    return os.path.abspath(found)


def _show_test(agent: Agent, result: SelfTest) -> None:
    sentences = {"deny": "denied", "allow": "allowed", "missing": "Interlock missing"}
    rows: list[tuple[str, ...]] = []
    colours: list[str | None] = []
    for report in result.tools:
        done = "it ran" if report.happened else "it did not run"
        if not report.offered:
            done = "not offered by this version"
        rows.append((report.tool, report.model, sentences[report.mode], done, "right" if report.right else "WRONG"))
        colours.append("good" if report.right else "bad")
    table(("tool", "model", "the hook", "the call", ""), rows, colours)
    say(f"{agent.title} {result.version}: {'a denied call does not run' if result.passed else 'NOT PROVED'}")
    for limit in agent.limits:
        say(f"- {limit}")
    if result.not_asked:
        say(f"- offered and not asked about, because they only read: {', '.join(result.not_asked)}")

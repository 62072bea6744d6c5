"""`interlock tools call`: one tool call of a person, on the project's own files.

A tool that changes something is called in a discussion of its own, whose model makes exactly this call. So the rules,
the approval with its preview, the journal and the undo are those of every discussion.
"""

import asyncio
import sys
from contextlib import suppress
from secrets import token_hex
from typing import Any

import msgspec

from interlock.assembly.build import conducting
from interlock.assembly.model_choice import scripted_rules
from interlock.assembly.project import Project, kept_text, read_state
from interlock.assembly.tools.own_tools import listed_tools, read_with
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.asking.prompts import Prompts
from interlock.cli.terminal.exits import APPROVAL, BLOCKED, DONE, ERROR
from interlock.cli.terminal.model_choices import note_unused_settings
from interlock.cli.terminal.output import say, say_json
from interlock.cli.terminal.sessions import LocalSession, Session, folder_of, project_of
from interlock.cli.work.tracks import read_text
from interlock.domain.messages.commands.discussion_commands import StartDiscussion, StopTurn
from interlock.domain.messages.events.discussion_events import DiscussionStarted, DiscussionToolFinished
from interlock.domain.values.approvals import Approval
from interlock.domain.values.discussions import Quiet, Thinking, Unsure, Waiting
from interlock.errors import BadValue, InterlockError, Rejected, Unavailable
from interlock.ports.model import Message
from interlock.views.display import one_line, safe
from interlock.views.inbox import approval_dict

_WAITS = (
    "it needs an approval, and there is no terminal to ask in; run it in a terminal, or add a rule (docs/policy.md)"
)


class CallArgs(CommandArgs, frozen=True):
    name: str
    words: tuple[str, ...]
    arguments: str | None


def call(args: CallArgs) -> int:
    given = _arguments(args)
    project = folder_of(args)
    note_unused_settings(project)
    tools = asyncio.run(listed_tools(project))
    spec = next((spec for spec in tools.offered(changing=True) if spec.name == args.name), None)
    if problem := tools.problem(args.name, given):
        raise BadValue(problem)
    if spec is not None and not spec.changes:
        outcome = asyncio.run(read_with(project, args.name, given))
        return _report(args, outcome.text, failed=outcome.failed, by="policy:reading")
    return _change(args, project_of(args), given)


def _arguments(args: CallArgs) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if args.arguments is not None:
        text = read_text("-") if args.arguments == "-" else args.arguments
        try:
            given = msgspec.json.decode(text, type=dict[str, Any])
        except msgspec.MsgspecError as error:
            raise BadValue(f"--args must be a JSON object: {error}") from None
    for word in args.words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise BadValue(f"{word!r} is no argument; write KEY=VALUE")
        if key in given:
            raise BadValue(f"the argument {key!r} is given twice")
        given[key] = value
    return given


def _change(args: CallArgs, project: Project, given: dict[str, Any]) -> int:
    answering = [one.id for one in read_state(project).discussions_in_order() if isinstance(one.stage, Thinking)]
    if answering:  # its own model would not be there to continue it
        raise Rejected(f"discussion {answering[0]} is still answering; first: interlock chat --in {answering[0]}")
    mark = token_hex(8)
    rules: list[dict[str, Any]] = [
        {"match": mark, "times": 1, "tool_calls": [{"name": args.name, "args": given}]},
        {"match": "", "reply": "The call has ended."},
    ]
    conduct = conducting(project, auto_queue=False, approve_all=False, workers=None, focus=())
    with LocalSession(project, conduct, model=scripted_rules(rules, {})) as session:
        since = session.state.version
        receipt = session.submit(StartDiscussion(one_line(f"tools call {args.name}", 80)))
        name = next(r.event.discussion for r in receipt.records if isinstance(r.event, DiscussionStarted))
        session.say(name, f"A person calls the tool {args.name} from the command line ({mark}).")
        try:
            return _follow(args, session, project, name, since)
        except BaseException:
            _stop(session, name)
            raise


def _follow(args: CallArgs, session: Session, project: Project, name: str, since: int) -> int:
    prompts = Prompts()
    finished: DiscussionToolFinished | None = None
    for batch in session.follow(since, works=True):
        for recorded in batch:
            if isinstance(recorded.event, DiscussionToolFinished) and recorded.event.discussion == name:
                finished = finished or recorded.event
        stage = session.state.discussion(name).stage
        if isinstance(stage, Quiet):
            break
        if isinstance(stage, Waiting | Unsure):
            asked = session.state.approval(stage.approval)
            if not prompts.possible or args.json:
                _stop(session, name)
                return _report_waiting(args, asked)
            prompts.ask(session, asked)
    if finished is None:
        stage = session.state.discussion(name).stage
        if isinstance(stage, Quiet) and stage.error.startswith("aborted"):
            return _report(args, f"{args.name}: {stage.error}", failed=True, by="", refused="aborted")
        raise Unavailable(stage.error if isinstance(stage, Quiet) and stage.error else "the call did not end")
    text = msgspec.json.decode(kept_text(project, finished.message.sha256), type=Message).text
    return _report(args, text, failed=finished.failed, by=finished.by, refused=finished.refused)


def _stop(session: Session, name: str) -> None:
    """Ends the turn, and withdraws its question: another process would continue it with its own model."""
    with suppress(InterlockError):
        session.submit(StopTurn(name, "the command has ended"))


def _report_waiting(args: CallArgs, asked: Approval) -> int:
    if args.json:
        say_json({"tool": args.name, "error": _WAITS, "pending_approvals": [approval_dict(asked)]})
    say(f"{args.name}: {_WAITS}", sys.stderr)
    return APPROVAL


def _report(args: CallArgs, text: str, *, failed: bool, by: str, refused: str = "") -> int:
    if args.json:
        say_json({"tool": args.name, "failed": failed, "refused": refused or None, "allowed_by": by, "text": text})
    else:
        shown = text.removesuffix("\n")
        say(safe(shown) if sys.stdout.isatty() else shown, sys.stderr if failed else sys.stdout)
    return BLOCKED if refused else ERROR if failed else DONE

"""`interlock approvals …`."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from interlock.assembly.lasting_rules import keep_rule, lasting_rule, rule_file
from interlock.assembly.project import Project, kept_text, read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import say, say_json, table
from interlock.cli.terminal.prompts import describe
from interlock.cli.terminal.sessions import open_session, project_of
from interlock.cli.work.landing import finish_answered, open_with_gates
from interlock.domain.checks.deadlines import is_overdue
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.values.approvals import Answered, Approval, Decision, ScriptPayload, ToolPayload
from interlock.errors import JournalError, Misconfigured, Rejected
from interlock.views.display import one_line, safe
from interlock.views.inbox import (
    approval_dict,
    approval_status,
    approval_title,
    cut_texts,
    list_approvals,
    with_whole_texts,
)


class ListArgs(CommandArgs, frozen=True):
    state: Literal["pending", "answered", "withdrawn", "all"]
    limit: int
    offset: int


class ShowArgs(CommandArgs, frozen=True):
    approval: str


class AnswerArgs(CommandArgs, frozen=True):
    approval: str
    decision: Decision
    edit: str | None
    edit_context: str | None
    hunks: str | None
    always: bool
    everywhere: bool
    message: str


def list_(args: ListArgs) -> int:
    state = read_state(project_of(args))
    approvals = list_approvals(state, args.state, args.offset, args.limit or None)
    if args.json:
        say_json([approval_dict(approval) for approval in approvals])
        return DONE
    if not approvals:
        say("no pending approvals" if args.state == "pending" else "none")
        return DONE
    now = datetime.now(UTC).isoformat()
    table(
        ("ID", "KIND", "STATE", "TICKET", "WHAT"),
        [
            (
                a.id,
                a.kind,
                "overdue" if is_overdue(a, now) else approval_status(a),
                f"{a.track}/{a.ticket}" if a.ticket else a.track,
                one_line(approval_title(a), 80),
            )
            for a in approvals
        ],
    )
    return DONE


def show(args: ShowArgs) -> int:
    project = project_of(args)
    approval = read_state(project).approval(args.approval)
    approval = with_whole_texts(approval, _stored_texts(project, approval))
    if args.json:
        say_json(approval_dict(approval))
    else:
        for line in describe(approval):
            say(line)
    return DONE


def _stored_texts(project: Project, approval: Approval) -> dict[str, str]:
    """The texts of which the approval holds only the beginning; a removed text is left out."""
    texts: dict[str, str] = {}
    for blob in cut_texts(approval):
        try:
            texts[blob.sha256] = kept_text(project, blob.sha256).decode(errors="replace")
        except JournalError as error:
            say(f"warning: {error}", sys.stderr)
    return texts


def answer(args: AnswerArgs) -> int:
    hunks = _numbers(args.hunks) if args.hunks else None
    edited, context = _text(args.edit), _text(args.edit_context)
    project = project_of(args)
    if args.everywhere and not args.always:
        raise Rejected("--everywhere says where the rule of --always counts; give both")
    landing = _approves_landing(project, args)
    with open_with_gates(project) if landing else open_session(project) as session:
        rule = _rule(session.state.approval(args.approval), args, project) if args.always else ""
        if rule:
            where = "for all projects" if args.everywhere else "for this project"
            file = rule_file(project, everywhere=args.everywhere)
            say(f"new rule {where} in {safe(str(file))}:\n\n{safe(rule)}", sys.stderr)
        session.submit(AnswerApproval(args.approval, args.decision, edited, args.message, hunks, context))
        approval = session.state.approval(args.approval)
        if args.json:
            say_json(approval_dict(approval))
        elif isinstance(approval.state, Answered):
            say(f"{approval.id}: {approval.state.decision} by {approval.state.by}")
        code = finish_answered(session, approval.track, "nothing" if args.json else "words") if landing else DONE
    if rule:
        keep_rule(project, rule, everywhere=args.everywhere)
    if not args.json and session.state.running and not session.state.conductor.on:
        say("'interlock resume' continues the work")
    return code


def _approves_landing(project: Project, args: AnswerArgs) -> bool:
    """A landing that is approved is carried out by this command, if no other process holds the project."""
    approval = read_state(project).approvals.get(args.approval)
    return approval is not None and approval.kind == "merge" and args.decision == "approve"


def _rule(approval: Approval, args: AnswerArgs, project: Project) -> str:
    """The narrowest rule that allows this. Raises Rejected if no rule can, or if it would have no effect."""
    payload = approval.payload
    whole = args.decision == "approve" and not args.edit and not args.hunks
    if not isinstance(payload, ScriptPayload | ToolPayload) or not whole:
        raise Rejected("--always is for approving a script or a tool call as it is")
    return lasting_rule(project, payload)


def _text(file: str | None) -> str | None:
    if not file:
        return None
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{file} cannot be read: {error}") from error


def _numbers(text: str) -> tuple[int, ...]:
    """`1,3` → (1, 3)"""
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise Rejected(f"--hunks takes numbers like 1,3, not {text!r}") from None

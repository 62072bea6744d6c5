"""`interlock approvals …`."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from interlock.assembly.lasting_rules import keep_rule, lasting_rule, rule_file
from interlock.assembly.project import Project, kept_text, read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.asking.diff_lines import parts_from
from interlock.cli.terminal.asking.payload_lines import describe
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import say, say_json, table
from interlock.cli.terminal.sessions import open_session, project_of
from interlock.cli.work.answering.many_answers import AnswerManyArgs, answer_many, equal_to, refuse_for_many
from interlock.cli.work.landing import finish_answered, open_with_gates
from interlock.domain.checks.deadlines import is_overdue
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.review.comments import comment_from
from interlock.domain.values.approvals import Answered, Approval
from interlock.errors import JournalError, Misconfigured, Rejected
from interlock.views.answer_sets import Alike, grouped, set_line
from interlock.views.answers.actions import can_be_always
from interlock.views.autonomy import offer
from interlock.views.display import one_line, safe
from interlock.views.inbox import (
    approval_dict,
    approval_status,
    approval_title,
    cut_texts,
    with_whole_texts,
)
from interlock.views.outlook.urgency import Order, ordered_approvals
from interlock.wire import to_plain


class ListArgs(CommandArgs, frozen=True):
    state: Literal["pending", "answered", "withdrawn", "all"]
    order: Order
    limit: int
    offset: int


class ShowArgs(CommandArgs, frozen=True):
    approval: str


class AnswerArgs(AnswerManyArgs, frozen=True):
    edit: str | None
    edit_context: str | None
    hunks: str | None
    always: bool
    everywhere: bool
    comment: tuple[str, ...]


def list_(args: ListArgs) -> int:
    state = read_state(project_of(args))
    approvals, urgency = ordered_approvals(state, args.state, args.order, args.offset, args.limit or None)
    if args.json:
        say_json([{**approval_dict(one), "urgency": to_plain(urgency.get(one.id))} for one in approvals])
        return DONE
    if not approvals:
        say("no pending approvals" if args.state == "pending" else "none")
        return DONE
    if args.state == "pending" and (spared := offer(state)):
        say(f"{spared.sentence}; 'interlock autonomy review' switches it on", sys.stderr)
    now = datetime.now(UTC).isoformat()
    alike_groups = grouped(approvals) if args.state == "pending" else [Alike((one,)) for one in approvals]
    table(
        ("ID", "KIND", "STATE", "TICKET", "WHAT", "WHY FIRST"),
        [
            (
                a.id,
                a.kind,
                "overdue" if is_overdue(a, now) else approval_status(a),
                f"{a.track}/{a.ticket}" if a.ticket else a.track,
                one_line(approval_title(a), 80) + equal_to(others),
                urgency[a.id].reason if a.id in urgency else "",
            )
            for a, *others in (alike.approvals for alike in alike_groups)
        ],
    )
    return DONE


def show(args: ShowArgs) -> int:
    project = project_of(args)
    state = read_state(project)
    approval = state.approval(args.approval)
    approval = with_whole_texts(approval, _stored_texts(project, approval))
    if args.json:
        say_json(approval_dict(approval))
    else:
        for line in (*describe(approval), *filter(None, [set_line(state, approval)])):
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
    if args.is_many:
        refuse_for_many(
            edit=args.edit, edit_context=args.edit_context, hunks=args.hunks, always=args.always, comment=args.comment
        )
        return answer_many(project_of(args), args)
    edited, context = _text(args.edit), _text(args.edit_context)
    comments = tuple(comment_from(text) for text in args.comment)
    project = project_of(args)
    if args.everywhere and not args.always:
        raise Rejected("--everywhere says where the rule of --always counts; give both")
    landing = _approves_landing(project, args)
    with open_with_gates(project) if landing else open_session(project) as session:
        rule = _rule(session.state.approval(args.approval[0]), args, project) if args.always else ""
        if rule:
            where = "for all projects" if args.everywhere else "for this project"
            file = rule_file(project, everywhere=args.everywhere)
            say(f"new rule {where} in {safe(str(file))}:\n\n{safe(rule)}", sys.stderr)
        hunks = parts_from(args.hunks, session.state.approval(args.approval[0]).payload) if args.hunks else None
        session.submit(AnswerApproval(args.approval[0], args.decision, edited, args.message, hunks, context, comments))
        approval = session.state.approval(args.approval[0])
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
    approval = read_state(project).approvals.get(args.approval[0])
    return approval is not None and approval.kind == "merge" and args.decision == "approve"


def _rule(approval: Approval, args: AnswerArgs, project: Project) -> str:
    """The narrowest rule that allows this. Raises Rejected if no rule can, or if it would have no effect."""
    payload = approval.payload
    whole = args.decision == "approve" and not args.edit and not args.hunks
    if not can_be_always(approval) or not whole:
        raise Rejected("--always is for approving a script or a tool call as it is")
    return lasting_rule(project, payload)


def _text(file: str | None) -> str | None:
    if not file:
        return None
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{file} cannot be read: {error}") from error

"""`interlock approvals answer` for many approvals: by their ids, or by a filter."""

import sys
from collections.abc import Sequence

from msgspec import to_builtins

from interlock.assembly.lasting_rules import answerable
from interlock.assembly.project import Project, read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import APPROVAL, DONE
from interlock.cli.terminal.output import confirmed, paint, say, say_json
from interlock.cli.terminal.sessions import Session, open_session
from interlock.cli.work.landing import finish_answered, open_with_gates
from interlock.domain.messages.commands.approval_commands import AnswerApprovals
from interlock.domain.messages.events.approval_events import ApprovalsAnswered
from interlock.domain.values.approvals import Approval, Decision, Kind
from interlock.errors import BadValue, Rejected
from interlock.views.answer_sets import Selection, fits_many, grouped, seen, selected, set_sentence
from interlock.views.display import counted, one_line, safe
from interlock.views.inbox import approval_title

_MOST_IDS = 8


class AnswerManyArgs(CommandArgs, frozen=True):
    approval: tuple[str, ...]
    decision: Decision
    message: str
    all: bool
    kind: Kind | None
    ticket: str
    track: str
    pattern: str
    rule: str
    yes: bool

    @property
    def is_many(self) -> bool:
        """One id alone is answered as before, also with edits and comments."""
        filtered = self.kind or self.ticket or self.track or self.pattern or self.rule
        return self.all or bool(filtered) or len(self.approval) != 1


def answer_many(project: Project, args: AnswerManyArgs) -> int:
    """Shows what is selected, asks once, and answers what is still as it was shown."""
    decision = args.decision
    if decision not in ("approve", "reject"):
        raise BadValue(f"many approvals are approved or rejected; {decision} one by one, by its id")
    chosen = _chosen(project, args)
    if not chosen:
        say("no pending approval is selected", sys.stderr)
        if args.json:
            say_json({"root": "", "decision": decision, "answered": [], "left_out": []})
        return DONE
    _show(chosen)
    question = f"{decision} {counted(len(chosen), 'approval')}? [y/N] "
    if not args.yes and (args.json or not confirmed(question)):
        say("nothing was answered; --yes answers without asking", sys.stderr)
        return APPROVAL
    landings = [one for one in chosen if one.kind == "merge" and decision == "approve"]
    with open_with_gates(project) if landings else open_session(project) as session:
        command = AnswerApprovals(seen(chosen), decision, args.message, selected=args.all)
        receipt = session.submit(command)
        event = next(one.event for one in receipt.records if isinstance(one.event, ApprovalsAnswered))
        if args.json:
            answered = {"root": event.root, "decision": event.decision, "answered": event.approvals}
            say_json({**answered, "left_out": to_builtins(event.left_out)})
        else:
            say(safe(set_sentence(event)))
        code = _finish(session, [one for one in landings if one.id in event.approvals], args)
    if not args.json and session.state.running and not session.state.conductor.on:
        say("'interlock resume' continues the work")
    return code


def _chosen(project: Project, args: AnswerManyArgs) -> tuple[Approval, ...]:
    state = read_state(project)
    if args.approval and args.all:
        raise BadValue("give the ids, or --all with a filter, not both")
    if not args.all and (args.kind or args.ticket or args.track or args.pattern or args.rule):
        raise BadValue("a filter selects among all pending approvals: give --all, too")
    if not args.all:
        if not args.approval:
            raise BadValue("name the approvals by their ids, or give --all")
        return tuple(state.approval(name) for name in dict.fromkeys(args.approval))
    found = selected(state.pending_approvals(), Selection(args.kind, args.track, args.ticket, args.pattern))
    if args.rule:
        found = answerable(project, found, args.rule)
    if alone := [one for one in found if not fits_many(one)]:
        names = ", ".join(f"{one.id} ({one.kind})" for one in alone)
        say(f"not selected: {names}; answer each by its id", sys.stderr)
    return tuple(one for one in found if fits_many(one))


def equal_to(others: Sequence[Approval]) -> str:
    """In a list: how many more are equal to the one that is shown, and which."""
    if not others:
        return ""
    return f"   x{len(others) + 1}, equal: {' '.join(one.id for one in others[:_MOST_IDS])}" + (
        " …" if len(others) > _MOST_IDS else ""
    )


def _show(chosen: tuple[Approval, ...]) -> None:
    """What is equal once, with its count; to the error output, so that JSON stays alone."""
    for alike in grouped(chosen):
        ids = " ".join(one.id for one in alike.approvals[:_MOST_IDS]) + (" …" if alike.count > _MOST_IDS else "")
        say(f"{paint(f'{alike.count}x', 'bold', sys.stderr)} {alike.first.kind}  {safe(ids)}", sys.stderr)
        for line in shown_content(alike.first):
            say(f"     {line}", sys.stderr)


def shown_content(approval: Approval) -> list[str]:
    """What would run, with nothing hidden; the whole of long texts is in `approvals show`."""
    from interlock.cli.terminal.asking.payload_lines import describe

    lines = describe(approval)[3:]
    return [safe(one_line(approval_title(approval), 100)), *lines[:20], *(["  …"] if len(lines) > 20 else [])]


def _finish(session: Session, landings: list[Approval], args: AnswerManyArgs) -> int:
    codes = [finish_answered(session, one.track, "nothing" if args.json else "words") for one in landings]
    return max(codes, default=DONE)


def refuse_for_many(**given: object) -> None:
    """Raises Rejected for an option that fits one approval only."""
    if wrong := [name for name, value in given.items() if value]:
        raise Rejected(f"--{wrong[0].replace('_', '-')} is for one approval: answer it alone, by its id")

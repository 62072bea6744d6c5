"""Rules for answering approvals: once, by an allowed actor, with a decision that fits the kind."""

from typing import Any, assert_never

from msgspec import MsgspecError
from msgspec.json import decode
from msgspec.structs import replace

from interlock.domain.messages.commands.approval_commands import (
    AnswerApproval,
    ApprovalCommand,
    ApproveTask,
    ExpireApproval,
)
from interlock.domain.messages.commands.track_commands import AddTickets
from interlock.domain.messages.envelopes import is_agent, is_program
from interlock.domain.messages.events.approval_events import ApprovalAnswered
from interlock.domain.messages.events.discussion_events import DiscussionTurnEnded
from interlock.domain.messages.events.epic_events import EpicDropped
from interlock.domain.messages.events.event import Events
from interlock.domain.messages.events.ticket_events import TicketBlocked
from interlock.domain.messages.events.track_events import LandingFailed, LandingReturned, LandingStarted
from interlock.domain.reading.planner_answer import plans_from_json
from interlock.domain.review.changes_ticket import changes_ticket
from interlock.domain.review.comments import MOST_COMMENTS, MOST_TEXT
from interlock.domain.rules.epic_rules import accept_tracks
from interlock.domain.rules.track_rules import abort_events, add_tickets
from interlock.domain.state.state import State
from interlock.domain.values.approvals import (
    ALLOWED,
    NEVER_AUTOMATIC,
    Again,
    Answered,
    Approval,
    MergePayload,
    Payload,
    Pending,
    ReviewPayload,
    ScriptPayload,
    SpawnPayload,
    ToolPayload,
    TracksPayload,
    Withdrawn,
    count_choices,
    digest,
    is_call,
    kept_edit,
    only_a_person,
    with_edit,
)
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.tickets import Asking
from interlock.errors import BadValue, Rejected

MOST_CONTEXT = 1_000_000  # characters of an edited context


def decide(state: State, command: ApprovalCommand, actor: str) -> Events:
    match command:
        case AnswerApproval():
            return answer(state, command, actor)
        case ApproveTask():
            return approve_task(state, command, actor)
        case ExpireApproval():
            return expire(state, command)
        case _:
            assert_never(command)


def answer(state: State, command: AnswerApproval, actor: str) -> Events:
    approval = state.approval(command.approval)
    _may_answer(approval, actor)
    if command.decision not in ALLOWED[approval.kind]:
        raise BadValue(
            f"approval {approval.id} asks about a {approval.kind}: answer {' or '.join(ALLOWED[approval.kind])},"
            f" not {command.decision}"
        )
    _check_review(state, approval, command)
    command = _without_needless_choice(approval, command)
    if actor.startswith("policy:") and approval.kind in NEVER_AUTOMATIC:
        raise Rejected(f"a {approval.kind} approval is answered by a person")
    return _consequences(state, approval, command)


def approve_task(state: State, command: ApproveTask, actor: str) -> Events:
    ticket = state.ticket(command.track, command.ticket)
    approval = state.approval_of(command.track, command.ticket)
    if approval is None or approval.kind != "step":
        raise Rejected(f"ticket {ticket.name!r} is {ticket.status} and does not wait for a step approval")
    return answer(state, AnswerApproval(approval.id, "approve"), actor)


def expire(state: State, command: ExpireApproval) -> Events:
    """An expired approval is denied, never allowed."""
    approval = state.approval(command.approval)
    if not isinstance(approval.state, Pending) or approval.deadline is None:
        return ()
    decision = "abort" if approval.kind in ("gate", "unknown") else "reject"
    refusal = AnswerApproval(approval.id, decision, message=f"no answer by its deadline, {approval.deadline}")
    return _consequences(state, approval, refusal)


def automatic_answer(approval: Approval) -> ApprovalAnswered | None:
    """The answer of `--approve all`, or None for a kind that only a person answers."""
    if approval.kind in NEVER_AUTOMATIC or only_a_person(approval.payload):
        return None
    kept = approval.again or Again("")
    return ApprovalAnswered(
        approval.id,
        "approve",
        message="--approve all",
        edited=kept.edited,
        digest=approval.digest,
        edited_context=kept.edited_context,
    )


def started_by_approval(state: State, approval: Approval, plans: tuple[TrackPlan, ...] | None = None) -> Events:
    """The events that follow from approving a request that belongs to no ticket."""
    match approval.payload:
        case MergePayload(branch, before, after):
            return (LandingStarted(approval.track, branch, before, after),)
        case TracksPayload(epic, _, tracks):
            return accept_tracks(state, epic, tracks if plans is None else plans)
        case _:
            return ()


def _may_answer(approval: Approval, actor: str) -> None:
    match approval.state:
        case Answered(decision, by, at, message):
            why = f" ({message})" if message else ""
            raise Rejected(f"approval {approval.id} was already answered by {by}: {decision}, at {at}{why}")
        case Withdrawn(why):
            raise Rejected(f"approval {approval.id} was withdrawn: {why}")
        case Pending():
            pass
        case _:
            assert_never(approval.state)
    if is_agent(actor) or is_program(actor):
        whose = "its own request" if actor == approval.asker else "an approval"
        raise Rejected(f"an agent can never answer {whose}")


def _consequences(state: State, approval: Approval, command: AnswerApproval) -> Events:
    message = command.message.strip()
    allowed = _digest_allowed(approval, command)
    edited, context = _edits(approval, command)
    answered = ApprovalAnswered(
        approval.id, command.decision, message, edited, allowed, command.hunks, context, command.comments
    )
    track, ticket = approval.track, approval.ticket
    if approval.discussion:
        ends = command.decision == "abort"
        why = f"aborted{': ' + message if message else ''}"
        return (answered, DiscussionTurnEnded(approval.discussion, why)) if ends else (answered,)
    if command.decision == "abort" and approval.kind not in ("gate", "unknown"):
        aborted = state.track(track)
        return (answered, *abort_events(state, aborted, message or f"aborted at {approval.id}", but=approval.id))
    if approval.kind == "ask":
        return (answered,)  # the program that asked waits for the answer itself
    if ticket is None:
        if isinstance(approval.payload, MergePayload) and (command.decision == "changes" or command.hunks):
            return (answered, *_returned_landing(state, approval, approval.payload, command))
        if command.decision == "approve":
            return (answered, *started_by_approval(state, approval, _edited_plans(approval, command)))
        if isinstance(approval.payload, TracksPayload):
            return (answered, EpicDropped(approval.payload.epic, message or "the proposed tracks were rejected"))
        return (answered, LandingFailed(track, message or "landing was rejected"))
    if command.decision == "abort":
        waiting = isinstance(state.ticket(track, ticket).stage, Asking)
        reason = f"{'work' if waiting else 'verification'} aborted{': ' + message if message else ''}"
        return (answered, TicketBlocked(track, ticket, reason, failed=True))
    if command.decision == "reject" and not is_call(approval):
        return (answered, TicketBlocked(track, ticket, message or f"{approval.kind} was rejected"))
    return (answered,)


def _returned_landing(state: State, approval: Approval, payload: MergePayload, command: AnswerApproval) -> Events:
    """Accepted parts are asked about once more, verified. Requested changes become a ticket of the track."""
    where = (payload.branch, payload.before, payload.after)
    returned = LandingReturned(approval.track, approval.id, *where, parts=command.hunks or ())
    if command.hunks:
        return (returned,)
    track = state.track(approval.track)
    ticket = changes_ticket(track, approval.id, command.message, command.comments)
    return (returned, *add_tickets(state, AddTickets(track.id, (ticket,))))


def _check_review(state: State, approval: Approval, command: AnswerApproval) -> None:
    """Raises BadValue for comments that belong to no review, and for changes that nobody could make."""
    if approval.kind not in ("review", "merge"):
        if command.comments:
            raise BadValue("comments on lines belong to a review or a landing; give a message instead")
        return
    if len(command.comments) > MOST_COMMENTS:
        raise BadValue(f"a review has at most {MOST_COMMENTS} comments, this one {len(command.comments)}")
    texts = [command.message, *(comment.file + comment.text for comment in command.comments)]
    if (size := sum(map(len, texts))) > MOST_TEXT:
        raise BadValue(f"the texts of a review have at most {MOST_TEXT:,} characters together, these {size:,}")
    if any(not comment.file.strip() or not comment.text.strip() or comment.line < 0 for comment in command.comments):
        raise BadValue("a comment has a file, a line from 1 (0: the whole file) and a text")
    if command.decision != "changes":
        return
    if not command.comments and not command.message.strip():
        raise BadValue("say which changes you want: a message, or comments on files")
    if approval.kind == "merge":
        return
    ticket = state.ticket(approval.track, approval.ticket or "")
    if ticket.spec.assigned_to == "shell":
        raise BadValue(
            f"ticket {ticket.name!r} is a script, which cannot react to a review: reject it, edit the ticket, retry it"
        )


def _edits(approval: Approval, command: AnswerApproval) -> tuple[str | None, str | None]:
    """The edits that count: those of the answer, else those that came with the question."""
    edited, context = command.edited, command.edited_context
    if command.decision == "approve" and command.hunks is None and approval.again:
        edited = approval.again.edited if edited is None else edited
        context = approval.again.edited_context if context is None else context
    return edited, context


def _digest_allowed(approval: Approval, command: AnswerApproval) -> str:
    """The digest of what may run after this answer. Raises BadValue for an edit that is not possible."""
    payload, edited = approval.payload, command.edited
    if command.hunks is not None:
        _check_hunks(approval, command)
    if command.edited_context is not None:
        payload = _with_context(payload, command)
    if edited is None or edited == kept_edit(approval):  # the question itself contains this edit
        return digest(payload)
    if command.decision != "approve" or not isinstance(
        payload, ScriptPayload | SpawnPayload | ToolPayload | TracksPayload
    ):
        raise BadValue(
            "only a script, a worker's prompt, a tool's arguments or proposed tracks can be edited,"
            " while approving them"
        )
    if not edited.strip():
        raise BadValue("the edited text is empty; reject it instead")
    if isinstance(payload, TracksPayload):
        return digest(replace(payload, tracks=plans_from_json(edited)))
    if isinstance(payload, ToolPayload):
        _check_arguments(edited)
    return digest(with_edit(payload, edited))


def _check_arguments(edited: str) -> None:
    """Raises BadValue unless the text is a JSON object, the only form that a tool can use."""
    try:
        decode(edited, type=dict[str, Any])
    except MsgspecError as error:
        raise BadValue(f"the edited arguments must be a JSON object: {error}") from None


def _with_context(payload: Payload, command: AnswerApproval) -> SpawnPayload:
    context = command.edited_context or ""
    if command.decision != "approve" or not isinstance(payload, SpawnPayload):
        raise BadValue("only a worker's context can be edited, while approving its start")
    if len(context) > MOST_CONTEXT:
        raise BadValue(f"the edited context has {len(context):,} characters; the most is {MOST_CONTEXT:,}")
    return replace(payload, context=context, context_blob=None)


def _edited_plans(approval: Approval, command: AnswerApproval) -> tuple[TrackPlan, ...] | None:
    edited = command.edited
    return plans_from_json(edited) if edited is not None and isinstance(approval.payload, TracksPayload) else None


def _without_needless_choice(approval: Approval, command: AnswerApproval) -> AnswerApproval:
    """All parts of a review or a landing are the same as no choice."""
    whole = isinstance(approval.payload, ReviewPayload | MergePayload) and count_choices(approval.payload)
    return replace(command, hunks=None) if whole and len(set(command.hunks or ())) == whole else command


def _check_hunks(approval: Approval, command: AnswerApproval) -> None:
    hunks, most = command.hunks or (), count_choices(approval.payload)
    if command.decision != "approve" or not most:
        raise BadValue("hunks are chosen while approving a file edit, a review or a landing")
    if not hunks or any(not 1 <= number <= most for number in hunks) or command.edited is not None:
        raise BadValue(f"choose some of the hunks 1 to {most}, and edit nothing else; or reject it")

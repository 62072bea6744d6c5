"""The pure transition: apply a submission to a state, or raise Rejected."""

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.answer_set import bound, members, single_answer
from interlock.domain.checks.deadlines import is_overdue, time_after
from interlock.domain.consequences import automatic_answers, next_move
from interlock.domain.facts.evolve import evolve
from interlock.domain.messages.commands.approval_commands import AnswerApproval, AnswerApprovals, ApproveTask
from interlock.domain.messages.commands.command import Bulk
from interlock.domain.messages.envelopes import Actor, Recorded, Submission
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.event import Event
from interlock.domain.rules.decide import decide
from interlock.domain.state.state import State
from interlock.domain.values.answer_sets import LeftOut
from interlock.errors import Rejected

_ANSWERS = (AnswerApproval, ApproveTask)


class Transition(Struct, frozen=True):
    records: tuple[Recorded, ...]
    state: State


def step(state: State, submission: Submission, at: str) -> Transition:
    """All records that follow from the submission, and the state after them. Raises Rejected and changes nothing."""
    records: list[Recorded] = []

    def record(actor: Actor, event: Event) -> None:
        nonlocal state
        if isinstance(event, ApprovalRequested) and event.deadline is None and state.conductor.deadline_s:
            event = replace(event, deadline=time_after(at, state.conductor.deadline_s))
        recorded = Recorded(state.version + 1, at, actor, submission.id, event)
        records.append(recorded)
        state = evolve(state, recorded)

    def decided(part: Submission) -> None:
        if isinstance(part.command, _ANSWERS):
            _refuse_late_answer(state, part.command, at)
        for event in decide(state, part):
            record(part.actor, event)
            for actor, answer in automatic_answers(state, event):
                record(actor, answer)

    command = submission.command
    if isinstance(command, AnswerApprovals):
        _answer_together(lambda: state, submission, command, decided, record)
        parts = []
    elif isinstance(command, Bulk):
        if not command.commands:
            raise Rejected("the bulk operation is empty")
        parts = [Submission(submission.id, submission.actor, part) for part in command.commands]
    else:
        parts = [submission]
    for part in parts:
        decided(part)
    while move := next_move(state):
        record(*move)
        for actor, answer in automatic_answers(state, move[1]):
            record(actor, answer)
    return Transition(tuple(records), state)


def _answer_together(
    state: Callable[[], State],
    submission: Submission,
    command: AnswerApprovals,
    decided: Callable[[Submission], None],
    record: Callable[[Actor, Event], None],
) -> None:
    """Each member on the state after the ones before it; a refused one is left out. Last, the event that binds them."""
    answered: list[str] = []
    left_out: list[LeftOut] = []
    for seen in members(state(), command):
        try:
            part = single_answer(state(), command, seen)
            decided(Submission(submission.id, submission.actor, part))
            answered.append(seen.approval)
        except Rejected as refusal:
            left_out.append(LeftOut(seen.approval, seen.digest, str(refusal)))
    record(submission.actor, bound(command, answered, left_out))


def _refuse_late_answer(state: State, command: AnswerApproval | ApproveTask, at: str) -> None:
    """Raises Rejected for an answer after the approval's deadline, also if nothing has recorded the denial yet."""
    if isinstance(command, AnswerApproval):
        approval = state.approvals.get(command.approval)
    else:
        approval = state.approval_of(command.track, command.ticket)
    if approval is not None and is_overdue(approval, at):
        raise Rejected(f"approval {approval.id} was not answered by its deadline, {approval.deadline}: it is denied")


def replay(records: Iterable[Recorded], state: State | None = None) -> State:
    state = State() if state is None else state
    for recorded in records:
        state = evolve(state, recorded)
    return state

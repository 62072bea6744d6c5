"""The pure transition: apply a submission to a state, or raise Rejected."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.checks.deadlines import is_overdue, time_after
from interlock.domain.consequences import automatic_answers, next_move
from interlock.domain.facts.evolve import evolve
from interlock.domain.messages.commands.approval_commands import AnswerApproval, ApproveTask
from interlock.domain.messages.commands.command import Bulk
from interlock.domain.messages.envelopes import Actor, Recorded, Submission
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.event import Event
from interlock.domain.rules.decide import decide
from interlock.domain.state.state import State
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

    command = submission.command
    if isinstance(command, Bulk):
        if not command.commands:
            raise Rejected("the bulk operation is empty")
        parts = [Submission(submission.id, submission.actor, part) for part in command.commands]
    else:
        parts = [submission]
    for part in parts:
        if isinstance(part.command, _ANSWERS):
            _refuse_late_answer(state, part.command, at)
        for event in decide(state, part):
            record(part.actor, event)
            for actor, answer in automatic_answers(state, event):
                record(actor, answer)
    while move := next_move(state):
        record(*move)
        for actor, answer in automatic_answers(state, move[1]):
            record(actor, answer)
    return Transition(tuple(records), state)


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

"""The pure transition: apply a submission to a state, or raise Rejected."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.consequences import automatic_answers, next_move
from interlock.domain.facts.evolve import evolve
from interlock.domain.messages.commands.command import Bulk
from interlock.domain.messages.envelopes import Actor, Recorded, Submission
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.event import Event
from interlock.domain.rules.decide import decide
from interlock.domain.state.state import State
from interlock.errors import Rejected


class Transition(Struct, frozen=True):
    records: tuple[Recorded, ...]
    state: State


def step(state: State, submission: Submission, at: str) -> Transition:
    """All records that follow from the submission, and the state after them. Raises Rejected and changes nothing."""
    records: list[Recorded] = []

    def record(actor: Actor, event: Event) -> None:
        nonlocal state
        if isinstance(event, ApprovalRequested) and event.deadline is None and state.conductor.deadline_s:
            event = replace(event, deadline=_time_after(at, state.conductor.deadline_s))
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
        for event in decide(state, part):
            record(part.actor, event)
            for actor, answer in automatic_answers(state, event):
                record(actor, answer)
    while move := next_move(state):
        record(*move)
        for actor, answer in automatic_answers(state, move[1]):
            record(actor, answer)
    return Transition(tuple(records), state)


def _time_after(at: str, seconds: int) -> str:
    moment = datetime.fromisoformat(at) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def replay(records: Iterable[Recorded], state: State | None = None) -> State:
    state = State() if state is None else state
    for recorded in records:
        state = evolve(state, recorded)
    return state

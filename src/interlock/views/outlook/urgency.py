"""The order of pending approvals by what they hold up, each with the reason."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from interlock.domain.state import schedule as scheduling
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import (
    Approval,
    GatePayload,
    MergePayload,
    Pending,
    ScriptPayload,
    ToolPayload,
    TracksPayload,
    UnknownPayload,
)
from interlock.domain.values.tickets import Todo
from interlock.views.display import counted
from interlock.views.inbox import ApprovalFilter, list_approvals

Order = Literal["age", "urgency"]


class Urgency(Struct, frozen=True):
    """How much depends on an answer."""

    holds: int  # todo tickets that cannot start before it
    path: int  # the most of them that must run one after the other
    idle: int  # workers without a ticket
    risk: str  # why the answer needs care; empty without a special reason
    reason: str  # all of it in words; empty if nothing waits for it

    @property
    def weight(self) -> int:
        """Tickets behind it, weighted by the longest chain of them; more if a worker waits for work."""
        return self.holds * self.path * (1 + self.idle)


def urgencies(state: State, approvals: Sequence[Approval]) -> dict[str, Urgency]:
    """By the id of each of these approvals."""
    idle = max(0, state.conductor.workers - state.busy) if state.conductor.on else 0
    behind: dict[str, Mapping[str, tuple[int, int]]] = {}
    found: dict[str, Urgency] = {}
    for approval in approvals:
        holds, path = 0, 0
        if approval.ticket is not None and approval.track in state.running:
            if approval.track not in behind:
                behind[approval.track] = _behind(state.tracks[approval.track])
            holds, path = behind[approval.track].get(approval.ticket, (0, 0))
        found[approval.id] = _urgency(approval, holds, path, idle)
    return found


def by_urgency(approvals: Sequence[Approval], urgency: Mapping[str, Urgency]) -> tuple[Approval, ...]:
    """What holds up most first; then what has a deadline, what needs care, what is oldest."""

    def key(numbered: tuple[int, Approval]) -> tuple[int, bool, str, bool, int]:
        number, approval = numbered
        one = urgency[approval.id]
        return -one.weight, approval.deadline is None, approval.deadline or "", not one.risk, number

    return tuple(approval for _, approval in sorted(enumerate(approvals), key=key))


def most_urgent_first(state: State) -> tuple[tuple[Approval, Urgency], ...]:
    """The pending approvals with their urgency."""
    pending = state.pending_approvals()
    urgency = urgencies(state, pending)
    return tuple((approval, urgency[approval.id]) for approval in by_urgency(pending, urgency))


def ordered_approvals(
    state: State, which: ApprovalFilter, order: Order, first: int = 0, count: int | None = None
) -> tuple[tuple[Approval, ...], dict[str, Urgency]]:
    """A page of approvals, and the urgency of the pending ones in it. Others have no urgency: oldest first."""
    if which != "pending" or order == "age":
        page = list_approvals(state, which, first, count)
        return page, urgencies(state, tuple(one for one in page if isinstance(one.state, Pending)))
    urgent = most_urgent_first(state)[first : None if count is None else first + count]
    return tuple(approval for approval, _ in urgent), {approval.id: one for approval, one in urgent}


def _urgency(approval: Approval, holds: int, path: int, idle: int) -> Urgency:
    risk = _risk(approval)
    if isinstance(approval.payload, TracksPayload):
        proposed = len(approval.payload.tracks)
        return Urgency(proposed, 1, idle, risk, _words(f"holds up {counted(proposed, 'track')}", idle, risk))
    what = f"holds up {counted(holds, 'ticket')}" if holds else ""
    return Urgency(holds, path, idle, risk, _words(what, idle if holds else 0, risk))


def _words(what: str, idle: int, risk: str) -> str:
    workers = f"{counted(idle, 'worker')} idle" if idle else ""
    return ", ".join(filter(None, (what, workers, risk)))


def _risk(approval: Approval) -> str:
    match approval.payload:
        case ScriptPayload(network=True) | ToolPayload(hosts=tuple()):
            return "network"
        case GatePayload(files=files) if files:
            return "changed tests"
        case GatePayload(packages=str()):
            return "new packages"
        case MergePayload():
            return "lasting"
        case UnknownPayload():
            return "unknown outcome"
        case _:
            return "lasting" if approval.discussion else ""


def _behind(track: Track) -> dict[str, tuple[int, int]]:
    """For each open ticket: how many todo tickets need it, directly or not, and their longest chain."""
    schedule = scheduling.current(track.schedule, track.order, track.tickets)
    todo = {name for name in schedule.waiting if isinstance(track.tickets[name].stage, Todo)}
    number = {name: bit for bit, name in enumerate(todo)}
    needed_by: dict[str, int] = {}  # a bit for each todo ticket
    chain: dict[str, int] = {}
    for name in reversed(_in_order(track, schedule.dependants)):
        bits, longest = 0, 0
        for dependant in schedule.dependants.get(name, ()):
            if dependant in number:
                bits |= needed_by.get(dependant, 0) | 1 << number[dependant]
                longest = max(longest, chain.get(dependant, 0) + 1)
        needed_by[name], chain[name] = bits, longest
    return {name: (bits.bit_count(), chain[name]) for name, bits in needed_by.items() if bits}


def _in_order(track: Track, dependants: Mapping[str, Sequence[str]]) -> list[str]:
    """The tickets, each after all that it depends on."""
    missing = {name: sum(need in track.tickets for need in track.tickets[name].spec.depends_on) for name in track.order}
    ready = [name for name in track.order if not missing[name]]
    for name in ready:  # grows during the loop
        for dependant in dependants.get(name, ()):
            missing[dependant] -= 1
            if not missing[dependant]:
                ready.append(dependant)
    return ready

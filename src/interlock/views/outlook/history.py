"""How long finished tickets were worked on, and what they cost. Waiting for a person is not work."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Answered, Approval, Withdrawn
from interlock.domain.values.budgets import Scope
from interlock.domain.values.tickets import Completed, Ticket

LEAST = 3
"""Finished tickets that say something about others."""

_MOST = 200  # the newest finished tickets that count
_LONGEST = 8.0  # times the median: more is a night without the process, not work

Kind = tuple[str, str]
"""The role of a ticket's worker, and the model that it asks for."""


class Sample(Struct, frozen=True):
    kind: Kind
    seconds: float
    micros: int


class History(Struct, frozen=True):
    finished: tuple[Sample, ...]
    lasting: tuple[Sample, ...] = ()  # under work, with what they have had so far

    def like(self, kind: Kind) -> "History":
        """The samples of this kind; with too few finished ones, those of the role; else all."""
        for size in (2, 1):
            part = [
                tuple(one for one in all_ if one.kind[:size] == kind[:size]) for all_ in (self.finished, self.lasting)
            ]
            if len(part[0]) >= LEAST:
                return History(*part)
        return self


def kind_of(ticket: Ticket) -> Kind:
    return ticket.spec.assigned_to, ticket.spec.model_override or ""


def work_history(state: State) -> History:
    """The newest finished tickets of the project that did some work."""
    done = [ticket for track in state.tracks.values() for ticket in track.tickets.values() if _is_worked_on(ticket)]
    done.sort(key=lambda ticket: (ticket.finished_at or "", ticket.name))
    done = done[-_MOST:]
    begun = [ticket for name in state.running for ticket in under_work(state.tracks[name])]
    waits = waits_of(state, {(ticket.track, ticket.id) for ticket in (*done, *begun)})
    samples = [_sample(state, ticket, ticket.finished_at or "", waits) for ticket in done]
    most = _LONGEST * sorted(sample.seconds for sample in samples)[len(samples) // 2] if samples else 0.0
    lasting = [_sample(state, ticket, state.tracks[ticket.track].updated_at, waits) for ticket in begun]
    return History(_limited(samples, most), _limited(lasting, most))


def under_work(track: Track) -> tuple[Ticket, ...]:
    """The tickets that have begun and are not done."""
    if not track.counts.in_progress:
        return ()
    tickets = (track.tickets[name] for name in track.order)
    return tuple(ticket for ticket in tickets if ticket.status == "in_progress" and ticket.started_at)


def _sample(state: State, ticket: Ticket, until: str, waits: "Waits") -> Sample:
    seconds = seconds_of_work(ticket, until, waits.get((ticket.track, ticket.id), ()))
    return Sample(kind_of(ticket), seconds, state.ledger.spent(Scope("ticket", ticket.name)).cost)


def _limited(samples: Sequence[Sample], most: float) -> tuple[Sample, ...]:
    return tuple(Sample(one.kind, min(one.seconds, most), one.micros) for one in samples)


Waits = Mapping[tuple[str, str], Sequence[tuple[float, float | None]]]


def waits_of(state: State, tickets: Iterable[tuple[str, str]]) -> Waits:
    """When each of these tickets waited for an answer; None is the end of a wait that goes on."""
    waits: dict[tuple[str, str], list[tuple[float, float | None]]] = {}
    wanted = set(tickets)
    for approval in state.approvals.values():
        name = (approval.track, approval.ticket or "")
        if name in wanted:
            end = _answered_at(approval)
            waits.setdefault(name, []).append((moment(approval.requested_at), moment(end) if end else None))
    return waits


def seconds_of_work(ticket: Ticket, until: str, waits: Sequence[tuple[float, float | None]]) -> float:
    """From the ticket's start to this time, without its waits."""
    start, end = moment(ticket.started_at or until), moment(until)
    worked, now = 0.0, start
    for began, ended in sorted(waits, key=lambda wait: wait[0]):
        worked += max(0.0, min(began, end) - now)
        now = max(now, min(end, end if ended is None else ended))
    return worked + max(0.0, end - now)


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _answered_at(approval: Approval) -> str:
    return approval.state.at if isinstance(approval.state, Answered | Withdrawn) else ""


def _is_worked_on(ticket: Ticket) -> bool:
    return isinstance(ticket.stage, Completed) and bool(ticket.started_at and ticket.finished_at)

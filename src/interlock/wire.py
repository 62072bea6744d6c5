"""The JSON form of commands, events and state, for the journal, the sockets and files."""

import json
from collections import Counter
from typing import Any, cast

import msgspec
from immutables import Map
from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import Recorded, Submission
from interlock.domain.messages.events.event import Event
from interlock.domain.state import schedule as scheduling
from interlock.domain.state.state import ConductorState, State
from interlock.domain.state.tracks import Counts, Track, TrackLanding, TrackStatus
from interlock.domain.values.approvals import Approval, Pending, approval_number
from interlock.domain.values.budgets import Ledger, Reservation, Scope, Usage
from interlock.domain.values.discussions import Discussion
from interlock.domain.values.epics import Epic
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import OpenCall
from interlock.domain.values.runs.passes import Pass
from interlock.domain.values.test_history import History, StoredExecution
from interlock.domain.values.tickets import BUSY, STATUS, Ticket

SCHEMA = 1
"""The schema of new events; journal/upcast.py converts older ones."""

STATE_SCHEMA = 4
"""The schema of checkpoints; one with another schema is ignored, and the journal is replayed."""

_encoder = msgspec.json.Encoder()
_exact = msgspec.json.Encoder(order="deterministic")
_event = msgspec.json.Decoder(Event)
_recorded = msgspec.json.Decoder(Recorded)
_submission = msgspec.json.Decoder(Submission)

encode = _encoder.encode
"""A struct or plain value as JSON bytes."""

decode_event = _event.decode
decode_recorded = _recorded.decode
decode_submission = _submission.decode


def event_name(event: Event) -> str:
    return str(event.__struct_config__.tag)


def to_plain(value: object) -> Any:
    """Dicts, lists, strings and numbers, as `--json` prints them."""
    return msgspec.to_builtins(value)


def pretty(value: object) -> str:
    return json.dumps(to_plain(value), indent=2, ensure_ascii=False)


def event_from_plain(value: dict[str, Any]) -> Event:
    """An event that an upcast has rewritten."""
    return msgspec.convert(value, Event)


def command_from_plain(value: object) -> Command:
    return msgspec.convert(value, Command)


# ── the whole state, for checkpoints and for comparing two replays byte for byte ─────────


class _StoredTrack(Struct, frozen=True, array_like=True):
    id: str
    title: str
    description: str
    status: TrackStatus
    created_at: str
    updated_at: str
    landing: TrackLanding | None
    tickets: tuple[Ticket, ...]  # in order
    epic: str
    planned: bool
    planning: tuple[Blob, ...]
    fault: str


class _StoredLedger(Struct, frozen=True, array_like=True):
    used: tuple[tuple[Scope, Usage], ...]
    reserved: tuple[tuple[Scope, int], ...]
    open: tuple[Reservation, ...]
    calls: tuple[OpenCall, ...]
    call_count: int


class _StoredTests(Struct, frozen=True, array_like=True):
    oldest: int
    kept: tuple[StoredExecution, ...]  # in order
    forgotten: tuple[str, ...]  # ids, in order
    reports: tuple[tuple[str, str], ...]


class _StoredState(Struct, frozen=True, array_like=True):
    version: int
    tracks: tuple[_StoredTrack, ...]
    approvals: tuple[Approval, ...]
    conductor: ConductorState
    usage: tuple[tuple[str, Usage], ...]
    ledger: _StoredLedger
    epics: tuple[Epic, ...]  # in order
    discussions: tuple[Discussion, ...]  # in order
    tests: _StoredTests


class _StoredWithPasses(_StoredState, frozen=True, array_like=True):
    """With the passes of gates. A state without any is stored as before 0.9."""

    passes: tuple[Pass, ...] = ()


_stored = msgspec.json.Decoder(_StoredWithPasses)


def encode_state(state: State) -> bytes:
    """The state without derived fields. The bytes do not depend on the machine or the hash seed."""
    return _exact.encode(_stored_state(state))


def _stored_state(state: State) -> _StoredState:
    tracks = tuple(_stored_track(state.tracks[name]) for name in state.track_order)
    approvals = tuple(sorted(state.approvals.values(), key=lambda approval: approval_number(approval.id)))
    fields = (
        state.version,
        tracks,
        approvals,
        state.conductor,
        tuple(sorted(state.usage.items())),
        _stored_ledger(state),
        state.epics_in_order(),
        state.discussions_in_order(),
        _stored_tests(state.tests),
    )
    return _StoredWithPasses(*fields, state.passes) if state.passes else _StoredState(*fields)


def labelled_state(state: State) -> dict[str, Any]:
    """The state without derived fields, every value with its name. The same on every machine and hash seed."""
    return _labelled(_stored_state(state))


def _labelled(value: Any) -> Any:
    if isinstance(value, Struct):
        config = value.__struct_config__
        named: dict[str, Any] = {config.tag_field: config.tag} if config.tag_field else {}
        for name, stored in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            if (field := getattr(value, name)) is not msgspec.UNSET:
                named[stored] = _labelled(field)
        return named
    if isinstance(value, tuple):
        return [_labelled(each) for each in cast("tuple[Any, ...]", value)]
    return to_plain(value)


def decode_state(body: bytes) -> State:
    stored = _stored.decode(body)
    tracks = [_track(track) for track in stored.tracks]
    return State(
        version=stored.version,
        tracks=Map({track.id: track for track in tracks}),
        track_order=tuple(track.id for track in tracks),
        running=tuple(track.id for track in tracks if track.status == "running"),
        busy=sum(
            isinstance(ticket.stage, BUSY) for track in stored.tracks if _is_open(track) for ticket in track.tickets
        ),
        approvals=Map({approval.id: approval for approval in stored.approvals}),
        pending=Map({approval_number(a.id): a.id for a in stored.approvals if isinstance(a.state, Pending)}),
        conductor=stored.conductor,
        usage=Map(dict(stored.usage)),
        ledger=Ledger(
            Map(dict(stored.ledger.used)),
            Map(dict(stored.ledger.reserved)),
            Map({reservation.id: reservation for reservation in stored.ledger.open}),
        ),
        calls=Map({call.id: call for call in stored.ledger.calls}),
        call_count=stored.ledger.call_count,
        epics=Map({epic.id: epic for epic in stored.epics}),
        discussions=Map({discussion.id: discussion for discussion in stored.discussions}),
        tests=_tests(stored.tests),
        passes=stored.passes,
    )


def _stored_ledger(state: State) -> _StoredLedger:
    ledger = state.ledger
    return _StoredLedger(
        tuple(sorted(ledger.used.items(), key=_by_scope)),
        tuple(sorted(ledger.reserved.items(), key=_by_scope)),
        tuple(ledger.open[name] for name in sorted(ledger.open)),
        tuple(state.calls[name] for name in sorted(state.calls)),
        state.call_count,
    )


def _stored_tests(tests: History) -> _StoredTests:
    numbered = sorted((number, test_id) for test_id, number in tests.ids.items() if number < tests.oldest)
    return _StoredTests(
        tests.oldest,
        tuple(tests.kept[number] for number in range(tests.oldest, tests.count + 1)),
        tuple(test_id for _, test_id in numbered),
        tuple(sorted(tests.reports.items())),
    )


def _tests(stored: _StoredTests) -> History:
    history = History(
        count=stored.oldest - 1,
        oldest=stored.oldest,
        ids=Map({test_id: number for number, test_id in enumerate(stored.forgotten, 1)}),
        reports=Map(dict(stored.reports)),
    )
    for item in stored.kept:
        history = history.added(item.execution, item.at)
    return history


def _by_scope(item: tuple[Scope, object]) -> tuple[str, str]:
    return item[0].kind, item[0].name


def _stored_track(track: Track) -> _StoredTrack:
    tickets = track.tickets
    return _StoredTrack(
        track.id,
        track.title,
        track.description,
        track.status,
        track.created_at,
        track.updated_at,
        track.landing,
        tuple(tickets[name] for name in track.order),
        track.epic,
        track.planned,
        track.planning,
        track.fault,
    )


def _is_open(stored: _StoredTrack) -> bool:
    return stored.status not in ("done", "aborted")


def _track(stored: _StoredTrack) -> Track:
    order = tuple(ticket.spec.id for ticket in stored.tickets)
    tickets = Map({ticket.spec.id: ticket for ticket in stored.tickets})
    counts = dict.fromkeys(("todo", "in_progress", "completed", "blocked", "cancelled"), 0)
    for stage, number in Counter(type(ticket.stage) for ticket in stored.tickets).items():
        counts[STATUS[stage]] += number
    track = Track(
        id=stored.id,
        title=stored.title,
        description=stored.description,
        status=stored.status,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
        landing=stored.landing,
        epic=stored.epic,
        planned=stored.planned,
        planning=stored.planning,
        fault=stored.fault,
        order=order,
        tickets=tickets,
        counts=Counts(**counts),
    )
    # The schedule of an ended track is built when it is needed (scheduling.current).
    return replace(track, schedule=scheduling.build(order, tickets)) if _is_open(stored) else track

"""Every sent or stored value decodes to an equal value."""

import json
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import wire
from interlock.domain.messages.commands.command import Bulk, Command
from interlock.domain.messages.commands.ticket_commands import BlockTicket, SkipTicket
from interlock.domain.messages.envelopes import Recorded, Submission
from interlock.domain.messages.events.attempt_events import TicketStarted
from interlock.domain.messages.events.event import Event
from interlock.domain.messages.events.ticket_events import TicketBlocked
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval
from interlock.domain.values.tickets import Stage, Ticket
from tests.domain.given import AT, bench, shell
from tests.wire.anything import TEXT, anything

COMMANDS: tuple[Any, ...] = get_args(Command)
EVENTS: tuple[Any, ...] = get_args(Event)


@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.__name__)
@settings(max_examples=20)
@given(data=st.data())
def test_every_command_comes_back_as_it_was(kind: Any, data: st.DataObject) -> None:
    submission = Submission(data.draw(TEXT), data.draw(TEXT), data.draw(anything(kind)))
    assert wire.decode_submission(wire.encode(submission)) == submission
    assert wire.command_from_plain(wire.to_plain(submission.command)) == submission.command


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
@settings(max_examples=20)
@given(data=st.data())
def test_every_event_comes_back_as_it_was(kind: Any, data: st.DataObject) -> None:
    event = data.draw(anything(kind))
    recorded = Recorded(data.draw(st.integers(1, 2**63 - 1)), AT, data.draw(TEXT), data.draw(TEXT), event)
    assert wire.decode_recorded(wire.encode(recorded)) == recorded
    assert wire.decode_event(wire.encode(event)) == event
    assert wire.event_from_plain(wire.to_plain(event)) == event
    assert type(wire.decode_event(wire.encode(event))) is kind


@pytest.mark.parametrize("kind", [*get_args(Stage), Ticket, Approval], ids=lambda kind: kind.__name__)
@settings(max_examples=20)
@given(data=st.data())
def test_a_checkpoint_restores_an_equal_state(kind: Any, data: st.DataObject) -> None:
    value = data.draw(anything(kind))
    assert msgspec.json.decode(wire.encode(value), type=kind) == value


def test_names_on_the_wire_are_unique() -> None:
    for kinds in (COMMANDS, EVENTS):
        names = [kind.__struct_config__.tag for kind in kinds]
        assert len(set(names)) == len(names)
        assert all(name == name.lower() for name in names)


def test_a_command_reads_as_what_it_is() -> None:
    command = Bulk((SkipTicket("x", "T"), BlockTicket("x", "U", "later")))
    assert wire.to_plain(command) == {
        "type": "bulk",
        "commands": (
            {"type": "skip_ticket", "track": "x", "ticket": "T"},
            {"type": "block_ticket", "track": "x", "ticket": "U", "reason": "later"},
        ),
    }
    assert wire.pretty(TicketBlocked("x", "T", "né")) == (
        '{\n  "type": "ticket_blocked",\n  "track": "x",\n  "ticket": "T",\n  "reason": "né"\n}'
    )
    assert wire.event_name(TicketStarted("x", "T", 1)) == "ticket_started"


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"{}",
        b"[]",
        b'{"id":"1","actor":"human:ada","command":{"type":"rm_rf"}}',
        b'{"id":"1","actor":"human:ada","command":{"type":"skip_ticket","track":"x"}}',
        b'{"id":"1","actor":5,"command":{"type":"skip_ticket","track":"x","ticket":"T"}}',
        b'{"id":"1","actor":"a","command":{"type":"add_track","track":"x","title":"","description":"","tickets":[{}]}}',
    ],
)
def test_data_that_is_no_command_is_not_decoded(sent: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        wire.decode_submission(sent)


def test_an_empty_state_comes_back() -> None:
    assert wire.decode_state(wire.encode_state(State())) == State()


def test_the_order_of_tracks_tickets_and_approvals_is_kept() -> None:
    project = bench(*(shell(f"t{number}", step_mode=True) for number in (3, 1, 2, *range(10, 20))))
    project.answer("A-2", "approve")
    state = wire.decode_state(wire.encode_state(project.state))
    assert state.tracks["x"].order == project.track().order
    assert state.pending_approvals() == project.state.pending_approvals()
    assert len(state.pending_approvals()) == 12
    assert state.next_approval_id() == "A-14"


def test_a_labelled_state_names_every_value_and_leaves_out_what_is_not_set() -> None:
    project = bench(shell("T", step_mode=True))
    state = wire.labelled_state(project.state)
    assert json.loads(json.dumps(state)) == state
    assert (state["version"], state["tracks"][0]["tickets"][0]["stage"]) == (
        project.state.version,
        {"type": "todo", "asked": "A-1", "cleared": False, "tried": None, "step": None},
    )
    assert state["approvals"][0]["payload"]["script"] == "make"
    assert "focus_epics" not in state["conductor"]


def test_a_checkpoint_of_another_shape_is_not_decoded() -> None:
    with pytest.raises(msgspec.DecodeError):
        wire.decode_state(b"[1,2]")
    with pytest.raises(msgspec.DecodeError):
        wire.decode_state(wire.encode_state(bench(shell("T")).state)[:-3])

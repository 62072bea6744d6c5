from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.messages.commands.ticket_commands import TicketChanges
from interlock.domain.messages.commands.track_commands import AddTrack
from interlock.domain.reading.ticket_data import ticket_from_dict, ticket_to_dict
from interlock.domain.reading.tickets_from_data import changes_from_dict, spec_from_dict, track_from_json
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import (
    AGENTS,
    ROLES,
    Blocked,
    Cancelled,
    Completed,
    Grant,
    Queued,
    Saved,
    Stage,
    Ticket,
    TicketSpec,
    Todo,
    Verifying,
    Working,
)
from interlock.errors import Rejected
from tests.domain.given import AT, FAIL

KNOWN = ", ".join((*ROLES, *AGENTS))

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
GATES = st.builds(
    Gate,
    TEXT,
    preset=st.sampled_from([None, "fast", "full", "extended"]),
    max_attempts=st.none() | st.integers(1, 1000),
    timeout_s=st.none() | st.floats(0, 1e300),
    loop=st.booleans(),
    cwd=st.none() | TEXT,
    env=st.dictionaries(st.text("ABC_", min_size=1, max_size=3), TEXT, max_size=2),
)
SPECS = st.builds(
    TicketSpec,
    id=TEXT,
    description=TEXT,
    assigned_to=st.sampled_from(["tier3-worker", "tier4-qa", "shell", "claude", "agent:mine"]),
    target_file=st.none() | TEXT,
    context_requirements=TEXTS,
    depends_on=TEXTS,
    step_mode=st.booleans(),
    verify=st.lists(GATES, max_size=3).map(tuple),
    script=st.none() | TEXT,
    priority=st.sampled_from(["high", "medium", "low"]),
    model_override=st.none() | TEXT,
    with_answers=st.booleans(),
)
SAVED = Saved("b", "c", "t")
STAGES: st.SearchStrategy[Any] = st.one_of(
    st.builds(Todo, st.none() | TEXT, st.booleans()),
    st.sampled_from([Working(), Queued(Working()), Queued(Verifying(SAVED, 1, 2, (FAIL,), True)), Completed("c")]),
    st.builds(Blocked, TEXT),
    st.builds(Cancelled, TEXT),
)
TICKETS = st.builds(
    Ticket,
    track=TEXT,
    spec=SPECS,
    stage=STAGES,
    attempts=st.integers(0, 9),
    created_at=TEXT,
    started_at=st.none() | TEXT,
    finished_at=st.none() | TEXT,
    result=st.none() | TEXT,
    unverified=st.booleans(),
    grant=st.none() | st.builds(Grant, TEXT, TEXT, st.none() | TEXT),
    why=st.none() | TEXT,
)


def test_every_field_of_a_ticket_is_in_its_dict() -> None:
    written = ticket_to_dict(Ticket(track="x", spec=TicketSpec(id="T"), created_at="now"))
    assert {*TicketSpec.__struct_fields__, *Ticket.__struct_fields__} - {"spec"} <= set(written)


@given(TICKETS)
def test_a_ticket_survives_to_dict_and_from_dict(ticket: Ticket) -> None:
    assert ticket_from_dict(ticket_to_dict(ticket)) == ticket
    through_json = msgspec.json.decode(msgspec.json.encode(ticket_to_dict(ticket)))
    assert ticket_from_dict(through_json) == ticket


@given(TICKETS)
def test_an_exported_ticket_can_be_imported_as_a_new_one(ticket: Ticket) -> None:
    assert spec_from_dict(ticket_to_dict(ticket)) == ticket.spec


def test_all_fields_of_a_ticket_lie_side_by_side() -> None:
    spec = TicketSpec(id="T-1", assigned_to="shell", script="make", verify=(Gate("true", preset="fast"),))
    assert ticket_to_dict(Ticket(track="x", spec=spec, stage=Blocked("no"), attempts=1, created_at=AT)) == {
        "id": "T-1",
        "track": "x",
        "description": "",
        "status": "blocked",
        "assigned_to": "shell",
        "target_file": None,
        "context_requirements": [],
        "depends_on": [],
        "blocked_reason": "no",
        "step_mode": False,
        "verify": [{"command": "true", "preset": "fast"}],
        "script": "make",
        "priority": "medium",
        "model_override": None,
        "with_answers": False,
        "returns": False,
        "attempts": 1,
        "created_at": AT,
        "started_at": None,
        "finished_at": None,
        "result": None,
        "unverified": False,
        "stage": {"type": "blocked", "reason": "no"},
        "grant": None,
        "why": None,
        "resumes": 0,
        "spawn": None,
        "session": (),
        "failures": 0,
        "carried": [],
        "accepted": [],
        "packages": "",
        "notes": [],
        "delivered": 0,
        "unsaved": None,
        "autonomy": None,
        "unseen": [],
        "reviewed": "",
        "rounds": 0,
        "reused": (),
        "taken": "",
        "used": [],
        "begun": "",
        "given_up": "",
    }


@pytest.mark.parametrize(
    ("data", "stage"),
    [
        ({}, Todo()),
        ({"status": "todo"}, Todo()),
        ({"status": "in_progress"}, Working()),
        ({"status": "completed"}, Completed()),
        ({"status": "blocked", "blocked_reason": "no"}, Blocked("no")),
        ({"status": "blocked"}, Blocked("")),
        ({"status": "cancelled"}, Cancelled("")),
        ({"stage": {"type": "working"}}, Working()),
    ],
)
def test_without_a_stage_the_status_says_where_a_ticket_stands(data: dict[str, object], stage: Stage) -> None:
    assert ticket_from_dict({"id": "T", **data}) == Ticket(
        track="", spec=TicketSpec(id="T"), stage=stage, created_at=""
    )


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            {"id": "T", "status": "todo", "stage": {"type": "working"}},
            "ticket 'T': 'status' is 'todo', but its 'stage' means 'in_progress'",
        ),
        (
            {"id": "T", "attempts": -1},
            "ticket 'T': 'attempts' must be a whole number from 0 to 9007199254740992, not -1",
        ),
        ({"id": "T", "stat": "todo"}, "ticket 'T': unknown key 'stat'; did you mean 'status'?"),
        (
            {"id": "T", "stage": {"type": "flying"}},
            "ticket 'T': 'stage' is not in the form that Interlock stores: Invalid value 'flying' - at `$.type`",
        ),
        ("T", "a ticket: expected an object with keys and values, not 'T'"),
    ],
)
def test_a_ticket_that_cannot_be_is_refused(data: object, problem: str) -> None:
    with pytest.raises(Rejected) as refused:
        ticket_from_dict(data)
    assert str(refused.value) == problem


def test_a_spec_is_read_from_what_its_author_wrote() -> None:
    data = {
        "id": "T-1",
        "description": "Do it",
        "assigned_to": "shell",
        "target_file": "a.py",
        "context_requirements": ["b.py"],
        "depends_on": ["T-0"],
        "step_mode": True,
        "verify": [
            'verify:"npm test" :fast',
            {"command": "make", "max_attempts": 2, "timeout_s": 9, "env": {"CI": "1"}},
        ],
        "script": "make",
        "priority": "high",
        "model_override": None,
    }
    assert spec_from_dict(data) == TicketSpec(
        id="T-1",
        description="Do it",
        assigned_to="shell",
        target_file="a.py",
        context_requirements=("b.py",),
        depends_on=("T-0",),
        step_mode=True,
        verify=(Gate("npm test", preset="fast"), Gate("make", max_attempts=2, timeout_s=9.0, env={"CI": "1"})),
        script="make",
        priority="high",
    )


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({}, "a ticket: the key 'id' is missing"),
        ({"id": 5}, "a ticket: 'id' must be a text, not 5"),
        ({"id": "T", "depend_on": []}, "ticket 'T': unknown key 'depend_on'; did you mean 'depends_on'?"),
        ({"id": "T", "zzz": 1}, "ticket 'T': unknown key 'zzz'"),
        ({"id": "T", 5: 1}, "ticket 'T': unknown key 5"),
        ({"id": "T", "description": None}, "ticket 'T': 'description' must be a text, not null"),
        (
            {"id": "T", "description": "a\0b"},
            "ticket 'T': 'description' holds a character that no file or command can hold",
        ),
        ({"id": "T", "script": "\ud800"}, "ticket 'T': 'script' holds a character that no file or command can hold"),
        ({"id": "T", "depends_on": "T-0"}, "ticket 'T': 'depends_on' must be a list of texts, not 'T-0'"),
        ({"id": "T", "depends_on": ["a", 1]}, "ticket 'T': 'depends_on' must be a text, not 1"),
        ({"id": "T", "step_mode": "yes"}, "ticket 'T': 'step_mode' must be true or false, not 'yes'"),
        ({"id": "T", "priority": "urgent"}, "ticket 'T': 'priority' must be one of high, medium, low, not 'urgent'"),
        ({"id": "T", "priority": []}, "ticket 'T': 'priority' must be one of high, medium, low, not a list"),
        (
            {"id": "T", "assigned_to": "x" * 99},
            f"ticket 'T': 'assigned_to' must be one of {KNOWN} or agent:NAME, not '{'x' * 56}...",
        ),
        ({"id": "T", "verify": 5}, "ticket 'T': 'verify' must be a list of gates, not 5"),
        ({"id": "T", "verify": [""]}, "ticket 'T': 'verify' item 1: there is no gate here (column 1)"),
        ({"id": "T", "verify": ['verify:"x']}, "ticket 'T': 'verify' item 1: the quote \" is never closed (column 8)"),
        ({"id": "T", "verify": [5]}, "ticket 'T': 'verify' item 1: expected an object with keys and values, not 5"),
        ({"id": "T", "verify": [{}]}, "ticket 'T': 'verify' item 1: the key 'command' is missing"),
        (
            {"id": "T", "verify": [{"command": "x", "max": 1}]},
            "ticket 'T': 'verify' item 1: unknown key 'max'",
        ),
        (
            {"id": "T", "verify": [{"command": "x", "max_attempts": True}]},
            "ticket 'T': 'verify' item 1: 'max_attempts' must be a whole number from 1 to 1000, not true",
        ),
        (
            {"id": "T", "verify": [{"command": "x", "max_attempts": 10**30}]},
            f"ticket 'T': 'verify' item 1: 'max_attempts' must be a whole number from 1 to 1000, not {10**30}",
        ),
        (
            {"id": "T", "verify": [{"command": "x", "preset": "quick"}]},
            "ticket 'T': 'verify' item 1: 'preset' must be one of fast, full, extended, not 'quick'",
        ),
        (
            {"id": "T", "verify": [{"command": "x", "timeout_s": float("nan")}]},
            "ticket 'T': 'verify' item 1: 'timeout_s' must be a number of seconds, not nan",
        ),
        (
            {"id": "T", "verify": [{"command": "x", "timeout_s": False}]},
            "ticket 'T': 'verify' item 1: 'timeout_s' must be a number of seconds, not false",
        ),
        (
            {"id": "T", "verify": [{"command": "x", "env": ["A=1"]}]},
            "ticket 'T': 'verify' item 1: 'env' must be an object of names and texts, not a list",
        ),
        (
            {"id": "T", "verify": [{"command": "x", "env": {"A=B": "1"}}]},
            "ticket 'T': 'verify' item 1: 'env' holds 'A=B', which cannot be the name of a variable",
        ),
    ],
)
def test_a_wrong_ticket_is_refused_with_its_name_and_key(data: object, problem: str) -> None:
    with pytest.raises(Rejected) as refused:
        spec_from_dict(data)
    assert str(refused.value) == problem


def test_a_track_is_a_list_of_tickets_or_an_object() -> None:
    tickets = [{"id": "A"}, {"id": "B", "depends_on": ["A"]}]
    specs = (TicketSpec(id="A"), TicketSpec(id="B", depends_on=("A",)))
    assert track_from_json(tickets, "file") == AddTrack("file", "file", "", specs)
    assert track_from_json({"tickets": tickets}, "file") == AddTrack("file", "file", "", specs)
    whole = {"id": "x", "title": "X", "description": "Why", "tickets": tickets, "status": "ready"}
    assert track_from_json(whole, "file") == AddTrack("x", "X", "Why", specs)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            "x",
            (
                "a file of tickets holds a list of tickets, or an object with 'id', 'title', 'description' and"
                " 'tickets', not 'x'"
            ),
        ),
        ({}, "the track: the key 'tickets' is missing"),
        ({"tickets": {"id": "A"}}, "the track: 'tickets' must be a list of tickets, not an object"),
        ({"titel": "X", "tickets": []}, "the track: unknown key 'titel'; did you mean 'title'?"),
        ([{"id": "A"}, {"description": "?"}], "ticket 2 of the list: the key 'id' is missing"),
        ([{"id": "A"}, 5], "ticket 2 of the list: expected an object with keys and values, not 5"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(data: object, problem: str) -> None:
    with pytest.raises(Rejected) as refused:
        track_from_json(data, "file")
    assert str(refused.value) == problem


@pytest.mark.parametrize(
    ("written", "gate"),
    [
        ("pytest -q", Gate("pytest -q")),
        ("npm run test:unit -- --ci", Gate("npm run test:unit -- --ci")),
        ("make check && ./verify.sh", Gate("make check && ./verify.sh")),
        ("verify.sh", Gate("verify.sh")),
        ("FOO=1 tox -e py311", Gate("FOO=1 tox -e py311")),
        ("tests", Gate("tests")),
        ('verify:"make" :fast', Gate("make", preset="fast")),
        ('"the text is friendly"', Gate("", criteria="the text is friendly")),
        ('tone:"the text is friendly"', Gate("", criteria="the text is friendly", name="tone")),
    ],
)
def test_a_gate_as_text_is_a_plain_command_unless_it_is_written_as_a_clause(written: str, gate: Gate) -> None:
    assert spec_from_dict({"id": "T", "verify": [written]}).verify == (gate,)
    assert spec_from_dict({"id": "T", "verify": written}).verify == (gate,)


def test_an_edit_names_what_it_replaces() -> None:
    assert changes_from_dict({}) == TicketChanges()
    assert changes_from_dict({"script": None, "verify": ['verify:"make"'], "priority": "low"}) == TicketChanges(
        script=None, verify=(Gate("make"),), priority="low"
    )
    with pytest.raises(Rejected, match=r"^the edit: unknown key 'id'$"):
        changes_from_dict({"id": "other"})


def test_a_gate_in_words_is_written_as_an_object_too() -> None:
    spec = spec_from_dict({"id": "T", "verify": [{"criteria": "reads well", "max_attempts": 2}, '"is short"']})
    assert spec.verify == (Gate("", max_attempts=2, criteria="reads well"), Gate("", criteria="is short"))
    with pytest.raises(Rejected, match="not both"):
        spec_from_dict({"id": "T", "verify": [{"criteria": "x", "command": "y"}]})
    with pytest.raises(Rejected, match="'command' is missing"):
        spec_from_dict({"id": "T", "verify": [{"max_attempts": 2}]})

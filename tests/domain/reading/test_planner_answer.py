"""Parsing a planner's answer: tracks or tickets in any wrapping, or an error message."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.reading.planner_answer import plans_from_answer, tickets_from_answer
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected

TICKETS = [{"id": "T-1", "description": "first"}, {"id": "T-2", "description": "second", "depends_on": ["T-1"]}]
LIST = json.dumps(TICKETS)
SPECS = (
    TicketSpec(id="T-1", description="first"),
    TicketSpec(id="T-2", description="second", depends_on=("T-1",)),
)


@pytest.mark.parametrize(
    "answer",
    [
        f"Here it is:\n```json\n{LIST}\n```\nGood luck!",
        f"```JSON tickets\n{LIST}\n```",
        f"```\n{LIST}\n```",
        f"~~~\n{LIST}\n~~~",
        f"````json\n{LIST}\n````",
        f"  ```json\n  {LIST}\n  ```",
        f"Of course [see 1]: {LIST} and [2] so on",
        LIST,
        f"\n\n{LIST}\n",
        json.dumps({"tickets": TICKETS}),
        f"```python\nprint([1])\n```\n```json\n{LIST}\n```",
        f"```json\n{LIST}",  # the fence is not closed
        f"```json\nnot this\n```\nbut {LIST}",
        json.dumps(list(reversed(TICKETS))),
    ],
)
def test_tickets_are_found_however_they_are_wrapped(answer: str) -> None:
    assert tickets_from_answer(answer) == SPECS


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("I think we should first look at the code.", "the answer holds no JSON list of tickets"),
        (f"```json\n{LIST[:-9]}\n```", "the JSON in it cannot be read: "),
        (LIST[:40], "the JSON in it cannot be read: "),
        ("[]", "the list of tickets is empty"),
        ("[1, 2]", "the list of tickets holds something that is not an object"),
        ('{"tickets": "none"}', "expected a JSON list of tickets"),
        ('see [{"id": 3}, 4] there', "the list of tickets holds something that is not an object"),
        ("[" * 100_000, "the JSON in it cannot be read: "),
        ("so " + "[" * 100_000, "the answer holds no JSON list of tickets"),
        ("x" * 4_000_001, "the answer has 4,000,001 characters; that is too long for a plan"),
        ('[{"description": "no id"}]', "ticket 1 of the list: the key 'id' is missing"),
        ('[{"id": 7}]', "ticket 1 of the list: 'id' must be a text"),
        ('[{"id": "../../etc"}]', "malformed ticket id '../../etc'"),
        ('[{"id": "a"}, {"id": "a"}]', "duplicate ticket id 'a'"),
        ('[{"id": "a", "depends_on": ["b"]}, {"id": "b", "depends_on": ["a"]}]', "a -> b -> a"),
        ('[{"id": "a", "depends_on": ["z"]}]', ""),
        ('[{"id": "a", "priority": "now"}]', "ticket 'a': 'priority'"),
        (
            '[{"id": "a", "assigned_to": "shell", "script": "rm -rf ~"}]',
            "ticket 'a': a planner assigns to tier3-worker",
        ),
        ('[{"id": "a", "description": "\\u0000"}]', "ticket 'a': 'description' holds a character"),
        ('[{"id": "a", "verify": 3}]', "ticket 'a': 'verify'"),
    ],
)
def test_an_unusable_answer_gets_an_error_message(answer: str, why: str) -> None:
    with pytest.raises(Rejected) as refusal:
        tickets_from_answer(answer)
    assert why in str(refusal.value)


def test_similar_keys_and_notes_of_the_planner_are_understood() -> None:
    answer = json.dumps(
        [
            {
                "id": "T-1",
                "type": "Ticket",
                "title": "ignored: there is a description",
                "description": "Do it",
                "file": "a.py",
                "context_files": "b.py",
                "dependencies": None,
                "verify": ["make test", 'verify:"make lint" :fast', {"command": "make docs"}],
                "status": "done already",
            },
            {"id": "T-2", "goal": "And this", "dependencies": "T-1", "gates": "make"},
        ]
    )
    one, two = tickets_from_answer(answer)
    assert one == TicketSpec(
        id="T-1",
        description="Do it",
        target_file="a.py",
        context_requirements=("b.py",),
        verify=(Gate("make test"), Gate("make lint", preset="fast"), Gate("make docs")),
    )
    assert two == TicketSpec(id="T-2", description="And this", depends_on=("T-1",), verify=(Gate("make"),))


def test_five_hundred_tickets_are_put_into_dependency_order() -> None:
    chain = [{"id": f"T-{n}", "depends_on": [f"T-{n - 1}"] if n else []} for n in reversed(range(500))]
    specs = tickets_from_answer(f"```json\n{json.dumps(chain)}\n```")
    assert [spec.id for spec in specs] == [f"T-{n}" for n in range(500)]


def test_tracks_have_an_id_a_title_and_a_description() -> None:
    answer = json.dumps(
        [
            {"id": "a", "title": " A ", "description": "what", "persona": "x"},
            {"id": "b", "goal": "B goal", "acceptance_criteria": ["it flies", 2]},
            {"id": "c", "title": "", "acceptance_criteria": []},
        ]
    )
    assert plans_from_answer(answer) == (
        TrackPlan("a", "A", "what"),
        TrackPlan("b", "B goal", "B goal\n\nAcceptance criteria:\n- it flies\n- 2"),
        TrackPlan("c", "c"),
    )


@pytest.mark.parametrize(
    ("tracks", "why"),
    [
        ([{"title": "no id"}], "malformed track id None"),
        ([{"id": "a", "title": 3}], "track 1 of the list: 'title' must be a text"),
        ([{"id": "a", "title": "\ud800"}], "track 1 of the list: 'title' holds a character"),
        ([{"id": "a"}, {"id": "a"}], "duplicate track id 'a'"),
    ],
)
def test_wrong_tracks_are_refused(tracks: list[dict[str, object]], why: str) -> None:
    with pytest.raises(Rejected) as refusal:
        plans_from_answer(json.dumps(tracks))
    assert str(refusal.value).startswith(why)


@given(
    st.text()
    | st.recursive(st.none() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)).map(
        json.dumps
    )
)
def test_any_answer_is_parsed_or_refused(answer: str) -> None:
    for read in (plans_from_answer, tickets_from_answer):
        try:
            read(answer)
        except Rejected as refusal:
            assert str(refusal)


def test_a_planner_gives_its_gates_no_network() -> None:
    answer = json.dumps([{"id": "T", "verify": [{"command": "make", "network": True}]}])
    with pytest.raises(Rejected, match="a planner's gates have no network"):
        tickets_from_answer(answer)


def test_a_planner_writes_no_script_and_sets_no_variables() -> None:
    for more, why in (
        ({"script": "make"}, "not to a script"),
        ({"verify": [{"command": "make", "env": {"PATH": "."}}]}, "set no variables"),
    ):
        with pytest.raises(Rejected, match=why):
            tickets_from_answer(json.dumps([{"id": "a", **more}]))

"""Many approvals at once: what is equal, what a filter selects, and what a check of the journal finds."""

import pytest
from immutables import Map
from msgspec.structs import replace

from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested, ApprovalsAnswered
from interlock.domain.messages.events.track_events import TrackStarted
from interlock.domain.state.state import State
from interlock.domain.values.answer_sets import LeftOut, Seen, merkle_root
from interlock.domain.values.approvals import (
    Again,
    Answered,
    Approval,
    Kind,
    MergePayload,
    Payload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    UnknownPayload,
    digest,
)
from interlock.views.answer_sets import (
    Selection,
    SetCheck,
    content,
    fits_many,
    grouped,
    likeness,
    seen,
    selected,
    set_line,
    set_sentence,
)
from tests.domain.given import AT

SCRIPT = ScriptPayload("pytest /w/a/tests", "/w/a", ("PATH",), "bubblewrap", call="c-1")
EDIT = ToolPayload("c-2", "edit_file", '{"path": "a.py"}', "", "Edit a.py", 1, "+x", "/w/a")


def approval(name: str, payload: Payload, kind: Kind = "script", ticket: str = "t", track: str = "x") -> Approval:
    return Approval(
        id=name,
        kind=kind,
        asker=f"worker:{ticket}/1",
        track=track,
        ticket=ticket,
        payload=payload,
        digest=digest(payload),
        requested_at=AT,
    )


def test_equal_scripts_of_different_worktrees_are_one_group() -> None:
    other = replace(SCRIPT, script="pytest /w/b/tests", directory="/w/b", call="c-9")
    alike = grouped([approval("A-1", SCRIPT), approval("A-2", EDIT, "tool"), approval("A-3", other, ticket="u")])
    assert [(group.first.id, group.count) for group in alike] == [("A-1", 2), ("A-2", 1)]
    assert likeness(approval("A-1", EDIT, "tool")) == likeness(approval("A-2", replace(EDIT, call="c-7"), "tool"))


@pytest.mark.parametrize(
    "other",
    [
        replace(SCRIPT, script="pytest /w/a/other"),
        replace(SCRIPT, network=True),
        replace(SCRIPT, sandbox="off"),
        replace(SCRIPT, env_names=("PATH", "TOKEN")),
        replace(SCRIPT, services=("db",)),
        StepPayload("d", "r"),
    ],
)
def test_any_other_difference_is_another_group(other: Payload) -> None:
    assert likeness(approval("A-1", SCRIPT)) != likeness(approval("A-2", other))


def test_a_question_that_is_asked_again_stands_alone() -> None:
    again = replace(approval("A-2", SCRIPT), again=Again("A-1"))
    assert len(grouped([approval("A-1", SCRIPT), again])) == 2
    unknown = UnknownPayload("a call", "?")
    assert len(grouped([approval("A-1", unknown, "unknown"), approval("A-2", unknown, "unknown")])) == 2
    assert likeness(approval("A-1", replace(SCRIPT, directory=""))) != likeness(approval("A-1", SCRIPT))


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        (Selection(), ["A-1", "A-2", "A-3"]),
        (Selection(kind="tool"), ["A-2"]),
        (Selection(ticket="u"), ["A-3"]),
        (Selection(ticket="y/u"), ["A-3"]),
        (Selection(ticket="x/u"), []),
        (Selection(track="x"), ["A-1", "A-2"]),
        (Selection(pattern="tests"), ["A-1", "A-3"]),
        (Selection(pattern="pytest *"), ["A-1", "A-3"]),
        (Selection(pattern="tests*"), []),
        (Selection(pattern="*Edit a.?y"), ["A-2"]),
        (Selection(pattern="a.py"), ["A-2"]),
        (Selection(kind="script", track="y", pattern="pytest"), ["A-3"]),
    ],
)
def test_a_filter_selects_by_kind_ticket_track_and_content(chosen: Selection, names: list[str]) -> None:
    pending = [approval("A-1", SCRIPT), approval("A-2", EDIT, "tool"), approval("A-3", SCRIPT, ticket="u", track="y")]
    assert [one.id for one in selected(pending, chosen)] == names


def test_the_content_is_what_the_question_is_about() -> None:
    cases: list[tuple[Payload, Kind, str]] = [
        (SCRIPT, "script", "pytest /w/a/tests"),
        (EDIT, "tool", 'edit_file {"path": "a.py"}'),
        (SpawnPayload("r", "m", "do it", ""), "spawn", "do it"),
        (StepPayload("the step", "r"), "step", "the step"),
        (TracksPayload("E-1", "an epic", ()), "tracks", "an epic"),
        (UnknownPayload("a call", "?"), "unknown", "a call"),
    ]
    assert [content(approval("A-1", payload, kind)) for payload, kind, _ in cases] == [text for *_, text in cases]


def test_the_reply_names_what_was_left_out() -> None:
    left = (LeftOut("A-4", "d", "changed since"), LeftOut("A-6", "d", "already answered by human:ada"))
    done = ApprovalsAnswered("r", "approve", ("A-1", "A-2"), left)
    assert set_sentence(done) == "answered 2 of 4; A-4 changed since, A-6 already answered by human:ada"
    assert set_sentence(replace(done, left_out=())) == "answered 2 of 2"


def recorded(*names: str) -> SetCheck:
    check = SetCheck()
    for name in names:
        one = approval(name, SCRIPT)
        request = ApprovalRequested(
            approval=name, kind="script", asker="w", track="x", payload=SCRIPT, digest=one.digest
        )
        assert (check.take(request), check.take(ApprovalAnswered(name, "approve"))) == ("", "")
    return check


def test_the_check_recomputes_the_root_from_the_journal() -> None:
    pairs = seen([approval("A-1", SCRIPT), approval("A-2", SCRIPT)])
    left = LeftOut("A-3", "other", "changed since")
    event = ApprovalsAnswered(merkle_root((*pairs, Seen("A-3", "other"))), "approve", ("A-1", "A-2"), (left,))
    assert recorded("A-1", "A-2").take(event) == ""
    assert recorded("A-1", "A-2").take(TrackStarted("x")) == ""
    wrong = "is not the set of its approvals"
    assert wrong in recorded("A-1", "A-2").take(replace(event, root="0" * 64))
    assert wrong in recorded("A-1", "A-2").take(replace(event, left_out=()))
    assert wrong in recorded("A-1", "A-2").take(replace(event, approvals=("A-1",)))
    assert "names A-2, which was not answered so" in recorded("A-1").take(event)
    assert "names A-1, which was not answered so" in recorded("A-1", "A-2").take(replace(event, decision="reject"))


def test_a_selection_leaves_out_kinds_that_need_their_own_decision_or_name() -> None:
    unknown = approval("A-1", UnknownPayload("a call", "?"), "unknown")
    landing = approval("A-2", MergePayload("main", "1", "2", ""), "merge")
    assert [fits_many(one) for one in (unknown, landing, approval("A-3", SCRIPT))] == [False, False, True]


def test_an_answer_names_the_others_of_its_set() -> None:
    answered = Answered("approve", "human:ada", AT, together="root")
    alone = replace(approval("A-90", SCRIPT), state=Answered("approve", "human:ada", AT))
    some = [replace(approval(f"A-{number}", SCRIPT), state=answered) for number in range(1, 11)]
    state = replace(State(), approvals=Map({one.id: one for one in (*some, alone)}))
    assert set_line(state, some[0]) == (
        "answered together with A-2, A-3, A-4, A-5, A-6, A-7, A-8, A-9 …: 10 approvals, set root"
    )
    single = replace(State(), approvals=Map({"A-1": some[0]}))
    assert set_line(single, some[0]) == "answered together: 1 approval, set root"
    assert (set_line(state, alone), set_line(state, approval("A-1", SCRIPT))) == ("", "")

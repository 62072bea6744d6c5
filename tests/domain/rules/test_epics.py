"""An epic is planned, proposed, accepted or dropped; accepting it plans each track and starts the first."""

import pytest

from interlock.domain.consequences import APPROVE_ALL
from interlock.domain.messages.commands.approval_commands import AnswerApproval, ExpireApproval
from interlock.domain.messages.commands.call_commands import ReserveCall
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.epic_commands import (
    DropEpic,
    FailPlanning,
    FinishPlanning,
    PlanEpic,
    PlanTickets,
    ProposeTracks,
)
from interlock.domain.messages.commands.track_commands import AbortTrack, AddTickets, AddTrack, StartTrack
from interlock.domain.messages.events.approval_events import ApprovalAnswered
from interlock.domain.messages.events.attempt_events import TicketStarted
from interlock.domain.messages.events.epic_events import (
    EpicAccepted,
    EpicAdded,
    EpicDropped,
    PlanningFailed,
    PlanningRetried,
    TrackPlanned,
    TracksProposed,
)
from interlock.domain.messages.events.track_events import TicketsAdded, TrackAdded, TrackStarted
from interlock.domain.values.approvals import Answered, TracksPayload, Withdrawn
from interlock.domain.values.budgets import Usage
from interlock.domain.values.epics import Epic, TrackPlan
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected
from tests.domain.given import AT, SYSTEM, Bench, shell

ONE, TWO = TrackPlan("one", "The first", "do this"), TrackPlan("two", "The second")
SAID = (Blob("a" * 64, 1), Blob("b" * 64, 2))


def planning(*, approve_all: bool = False) -> Bench:
    made = Bench()
    made.send(StartConductor(4, True, approve_all), SYSTEM)
    made.send(PlanEpic(" Fly to the moon \n"))
    return made


def proposed() -> Bench:
    made = planning()
    made.send(ProposeTracks("E-1", (ONE, TWO)), SYSTEM)
    return made


def accepted() -> Bench:
    made = proposed()
    made.answer("A-1", "approve")
    return made


def refused(made: Bench, command: Command, by: str = SYSTEM) -> str:
    before = made.state
    with pytest.raises(Rejected) as refusal:
        made.send(command, by)
    assert made.state == before
    return str(refusal.value)


def test_a_goal_in_words_is_to_be_planned() -> None:
    made = Bench()
    assert made.send(PlanEpic(" Fly to the moon \n")) == (EpicAdded("E-1", "Fly to the moon"),)
    assert made.state.epic("E-1") == Epic(id="E-1", text="Fly to the moon", created_at=AT)
    made.send(PlanEpic("and back"))
    assert [epic.id for epic in made.state.epics_in_order()] == ["E-1", "E-2"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" \n", "the text of an epic is empty; describe what is to be achieved"),
        ("x" * 100_001, "an epic has at most 100,000 characters, this one 100,001"),
    ],
)
def test_an_epic_that_says_nothing_or_too_much_is_refused(text: str, why: str) -> None:
    assert refused(Bench(), PlanEpic(text)) == why


def test_what_a_planner_said_is_kept_with_its_cost() -> None:
    made = planning()
    made.send(ReserveCall(CallOwner(epic="E-1"), "Tier 1", "m", 9), SYSTEM)
    made.send(FinishPlanning("E-1", "", SAID, "Tier 1", "m", Usage(5, 6, cost=7), "C-1"), SYSTEM)
    assert made.state.epic("E-1").planning == SAID
    assert made.state.usage["Tier 1"] == Usage(5, 6, cost=7)
    assert not made.state.calls


def test_proposed_tracks_wait_for_a_human_and_are_no_tracks_yet() -> None:
    made = proposed()
    assert made.state.epic("E-1").status == "proposed"
    assert not made.state.tracks
    approval = made.approval("A-1")
    assert (approval.kind, approval.track, approval.ticket) == ("tracks", "", None)
    assert approval.payload == TracksPayload("E-1", "Fly to the moon", (ONE, TWO))
    assert refused(made, ProposeTracks("E-1", (ONE,))) == "the planning of epic E-1 is over: it is proposed"


def test_accepting_makes_the_tracks_and_the_first_starts_when_it_has_its_tickets() -> None:
    made = proposed()
    assert made.answer("A-1", "approve")[1:] == (
        EpicAccepted("E-1", ("one", "two")),
        TrackAdded("one", "The first", "do this", "E-1"),
        TrackAdded("two", "The second", "", "E-1"),
    )
    assert [made.track(name).status for name in ("one", "two")] == ["proposed", "proposed"]
    second = made.send(PlanTickets("two", (TicketSpec(id="b"),)), SYSTEM)
    assert second == (TicketsAdded("two", (TicketSpec(id="b"),)), TrackPlanned("two"))
    assert made.track("two").status == "ready"
    late, soon = TicketSpec(id="late", depends_on=("soon",)), TicketSpec(id="soon")
    first = made.send(PlanTickets("one", (late, soon)), SYSTEM)
    assert first == (
        TicketsAdded("one", (soon, late)),
        TrackPlanned("one"),
        TrackStarted("one"),
        TicketStarted("one", "soon", 1),
    )


def test_an_edited_proposal_is_what_is_planned() -> None:
    made = proposed()
    made.answer("A-1", "approve", edited='[{"id": "only", "title": "Just this", "description": "and so"}]')
    assert made.state.epic("E-1").tracks == ("only",)
    assert (made.track("only").title, made.track("only").description) == ("Just this", "and so")
    answer = made.approval("A-1").state
    assert isinstance(answer, Answered)
    assert answer.digest != made.approval("A-1").digest


@pytest.mark.parametrize(
    ("edited", "why"),
    [
        ("{", "the edited tracks are not JSON: "),
        ("[]", "the list of tracks is empty"),
        ('[{"id": "../x"}]', "malformed track id '../x'"),
        ('[{"id": "a"}, {"id": "a"}]', "duplicate track id 'a'"),
    ],
)
def test_an_edit_that_makes_no_tracks_is_refused(edited: str, why: str) -> None:
    assert refused(proposed(), AnswerApproval("A-1", "approve", edited), "human:ada").startswith(why)


def test_a_rejected_or_expired_proposal_drops_the_epic() -> None:
    made = proposed()
    assert made.answer("A-1", "reject", message="too far")[1:] == (EpicDropped("E-1", "too far"),)
    assert made.state.epic("E-1").reason == "too far"
    made = planning()
    made.send(StartConductor(deadline_s=60), SYSTEM)
    made.send(ProposeTracks("E-1", (ONE,)), SYSTEM)
    made.send(ExpireApproval("A-1"), SYSTEM)
    assert made.state.epic("E-1").status == "dropped"
    assert refused(made, DropEpic("E-1")) == "epic E-1 is dropped already"


def test_dropping_an_epic_takes_its_question_back() -> None:
    made = proposed()
    made.send(PlanEpic("another"))
    made.send(ProposeTracks("E-2", (TrackPlan("three", "3"),)), SYSTEM)
    made.send(DropEpic("E-1"))
    assert isinstance(made.approval("A-1").state, Withdrawn)
    assert made.state.pending_approvals() == (made.approval("A-2"),)
    assert refused(made, DropEpic("E-9")) == "no epic 'E-9'; did you mean 'E-2' or 'E-1'?"


def test_approve_all_accepts_and_says_so() -> None:
    made = planning(approve_all=True)
    made.send(ProposeTracks("E-1", (ONE,)), SYSTEM)
    answers = [record.actor for record in made.records if isinstance(record.event, ApprovalAnswered)]
    assert answers == [APPROVE_ALL]
    assert made.state.epic("E-1").tracks == ("one",)


def test_an_id_in_use_gets_a_number() -> None:
    made = planning()
    made.send(AddTrack("one", "", "", ()))
    made.send(AddTrack("one-2", "", "", ()))
    events = made.send(ProposeTracks("E-1", (ONE, TrackPlan("one-3", " "))), SYSTEM)
    assert events[0] == TracksProposed("E-1", (TrackPlan("one-4", "The first", "do this"), TrackPlan("one-3", "one-3")))
    made.send(AddTrack("one-4", "", "", ()))
    made.answer("A-1", "approve")
    assert made.state.epic("E-1").tracks == ("one-4-2", "one-3")


@pytest.mark.parametrize(
    ("plans", "why"),
    [
        ((), "a proposal has at least one track"),
        ((ONE, ONE), "duplicate track id 'one'"),
        ((TrackPlan("a/b", ""),), "malformed track id 'a/b'"),
        ((TrackPlan("a", "A", "x" * 100_000),), "track 'a' is described in at most 100,000 characters, not 100,001"),
    ],
)
def test_a_proposal_that_could_not_become_tracks_is_refused(plans: tuple[TrackPlan, ...], why: str) -> None:
    assert refused(planning(), ProposeTracks("E-1", plans)).startswith(why)


def test_planning_that_fails_says_why_and_can_be_tried_again() -> None:
    made = planning()
    failed = made.send(FailPlanning("E-1", "", "no model", True), SYSTEM)
    assert failed == (PlanningFailed("E-1", "", "no model", True),)
    assert (made.state.epic("E-1").status, made.state.epic("E-1").budget) == ("failed", True)
    made = accepted()
    made.send(FinishPlanning("", "two", SAID, "Tier 2", "m", Usage(), ""), SYSTEM)
    assert made.track("two").planning == SAID
    made.send(FailPlanning("E-1", "two", "nonsense"), SYSTEM)
    assert (made.track("two").status, made.track("two").fault) == ("blocked", "nonsense")
    assert made.send(StartTrack("two")) == (PlanningRetried("two"),)
    assert (made.track("two").status, made.track("two").fault, made.track("two").planning) == ("proposed", "", ())


def test_a_track_without_its_tickets_cannot_start_or_take_others() -> None:
    made = accepted()
    assert refused(made, StartTrack("one")) == "the tickets of track 'one' are still being planned"
    why = "the tickets of track 'one' are not planned yet; add yours afterwards"
    assert refused(made, AddTickets("one", (shell("x"),))) == why
    assert refused(made, PlanTickets("one", ())) == "a plan has at least one ticket"
    assert "a -> a" in refused(made, PlanTickets("one", (TicketSpec(id="a", depends_on=("a",)),)))
    made.send(AbortTrack("one"))
    assert refused(made, PlanTickets("one", (TicketSpec(id="a"),))) == (
        "the planning of track 'one' is over: it is aborted"
    )


def test_planning_that_is_over_has_nothing_more_to_say() -> None:
    made = accepted()
    assert refused(made, FinishPlanning("E-1", "", SAID, "Tier 1", "m", Usage(), "")) == (
        "the planning of epic E-1 is over: it is accepted"
    )
    made.send(PlanTickets("two", (TicketSpec(id="b"),)), SYSTEM)
    assert refused(made, FailPlanning("E-1", "two", "late")) == "the planning of track 'two' is over: it is ready"

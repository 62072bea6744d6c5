"""An epic is planned, proposed, accepted or dropped; accepting it plans each track and starts the first."""

import pytest

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
from interlock.domain.messages.envelopes import APPROVE_ALL
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
TEXT_REPLY = (Blob("a" * 64, 1), Blob("b" * 64, 2))


def planning(*, approve_all: bool = False) -> Bench:
    project = Bench()
    project.send(StartConductor(4, True, approve_all), SYSTEM)
    project.send(PlanEpic(" Fly to the moon \n"))
    return project


def proposed() -> Bench:
    project = planning()
    project.send(ProposeTracks("E-1", (ONE, TWO)), SYSTEM)
    return project


def accepted() -> Bench:
    project = proposed()
    project.answer("A-1", "approve")
    return project


def refused(project: Bench, command: Command, by: str = SYSTEM) -> str:
    before = project.state
    with pytest.raises(Rejected) as refusal:
        project.send(command, by)
    assert project.state == before
    return str(refusal.value)


def test_a_goal_becomes_an_epic_in_planning() -> None:
    project = Bench()
    assert project.send(PlanEpic(" Fly to the moon \n")) == (EpicAdded("E-1", "Fly to the moon"),)
    assert project.state.epic("E-1") == Epic(id="E-1", text="Fly to the moon", created_at=AT)
    project.send(PlanEpic("and back"))
    assert [epic.id for epic in project.state.epics_in_order()] == ["E-1", "E-2"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" \n", "the text of an epic is empty; describe what is to be achieved"),
        ("x" * 100_001, "an epic has at most 100,000 characters, this one 100,001"),
    ],
)
def test_an_empty_or_too_long_epic_is_refused(text: str, why: str) -> None:
    assert refused(Bench(), PlanEpic(text)) == why


def test_a_planners_answer_is_kept_with_its_cost() -> None:
    project = planning()
    project.send(ReserveCall(CallOwner(epic="E-1"), "Tier 1", "m", 9), SYSTEM)
    project.send(FinishPlanning("E-1", "", TEXT_REPLY, "Tier 1", "m", Usage(5, 6, cost=7), "C-1"), SYSTEM)
    assert project.state.epic("E-1").planning == TEXT_REPLY
    assert project.state.usage["Tier 1"] == Usage(5, 6, cost=7)
    assert not project.state.calls


def test_proposed_tracks_wait_for_a_human_and_are_no_tracks_yet() -> None:
    project = proposed()
    assert project.state.epic("E-1").status == "proposed"
    assert not project.state.tracks
    approval = project.approval("A-1")
    assert (approval.kind, approval.track, approval.ticket) == ("tracks", "", None)
    assert approval.payload == TracksPayload("E-1", "Fly to the moon", (ONE, TWO))
    assert refused(project, ProposeTracks("E-1", (ONE,))) == "the planning of epic E-1 is over: it is proposed"


def test_accepting_makes_the_tracks_and_the_first_starts_when_it_has_its_tickets() -> None:
    project = proposed()
    assert project.answer("A-1", "approve")[1:] == (
        EpicAccepted("E-1", ("one", "two")),
        TrackAdded("one", "The first", "do this", "E-1"),
        TrackAdded("two", "The second", "", "E-1"),
    )
    assert [project.track(name).status for name in ("one", "two")] == ["proposed", "proposed"]
    second = project.send(PlanTickets("two", (TicketSpec(id="b"),)), SYSTEM)
    assert second == (TicketsAdded("two", (TicketSpec(id="b"),)), TrackPlanned("two"))
    assert project.track("two").status == "ready"
    late, soon = TicketSpec(id="late", depends_on=("soon",)), TicketSpec(id="soon")
    first = project.send(PlanTickets("one", (late, soon)), SYSTEM)
    assert first == (
        TicketsAdded("one", (soon, late)),
        TrackPlanned("one"),
        TrackStarted("one"),
        TicketStarted("one", "soon", 1),
    )


def test_an_edited_proposal_is_what_is_planned() -> None:
    project = proposed()
    project.answer("A-1", "approve", edited='[{"id": "only", "title": "Just this", "description": "and so"}]')
    assert project.state.epic("E-1").tracks == ("only",)
    assert (project.track("only").title, project.track("only").description) == ("Just this", "and so")
    answer = project.approval("A-1").state
    assert isinstance(answer, Answered)
    assert answer.digest != project.approval("A-1").digest


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
    project = proposed()
    assert project.answer("A-1", "reject", message="too far")[1:] == (EpicDropped("E-1", "too far"),)
    assert project.state.epic("E-1").reason == "too far"
    project = planning()
    project.send(StartConductor(deadline_s=60), SYSTEM)
    project.send(ProposeTracks("E-1", (ONE,)), SYSTEM)
    project.send(ExpireApproval("A-1"), SYSTEM)
    assert project.state.epic("E-1").status == "dropped"
    assert refused(project, DropEpic("E-1")) == "epic E-1 is dropped already"


def test_dropping_an_epic_takes_its_question_back() -> None:
    project = proposed()
    project.send(PlanEpic("another"))
    project.send(ProposeTracks("E-2", (TrackPlan("three", "3"),)), SYSTEM)
    project.send(DropEpic("E-1"))
    assert isinstance(project.approval("A-1").state, Withdrawn)
    assert project.state.pending_approvals() == (project.approval("A-2"),)
    assert refused(project, DropEpic("E-9")) == "no epic 'E-9'; did you mean 'E-2' or 'E-1'?"


def test_approve_all_accepts_and_says_so() -> None:
    project = planning(approve_all=True)
    project.send(ProposeTracks("E-1", (ONE,)), SYSTEM)
    answers = [record.actor for record in project.records if isinstance(record.event, ApprovalAnswered)]
    assert answers == [APPROVE_ALL]
    assert project.state.epic("E-1").tracks == ("one",)


def test_an_id_in_use_gets_a_number() -> None:
    project = planning()
    project.send(AddTrack("one", "", "", ()))
    project.send(AddTrack("one-2", "", "", ()))
    events = project.send(ProposeTracks("E-1", (ONE, TrackPlan("one-3", " "))), SYSTEM)
    assert events[0] == TracksProposed("E-1", (TrackPlan("one-4", "The first", "do this"), TrackPlan("one-3", "one-3")))
    project.send(AddTrack("one-4", "", "", ()))
    project.answer("A-1", "approve")
    assert project.state.epic("E-1").tracks == ("one-4-2", "one-3")


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
    project = planning()
    failed = project.send(FailPlanning("E-1", "", "no model", True), SYSTEM)
    assert failed == (PlanningFailed("E-1", "", "no model", True),)
    assert (project.state.epic("E-1").status, project.state.epic("E-1").budget) == ("failed", True)
    project = accepted()
    project.send(FinishPlanning("", "two", TEXT_REPLY, "Tier 2", "m", Usage(), ""), SYSTEM)
    assert project.track("two").planning == TEXT_REPLY
    project.send(FailPlanning("E-1", "two", "nonsense"), SYSTEM)
    assert (project.track("two").status, project.track("two").fault) == ("blocked", "nonsense")
    assert project.send(StartTrack("two")) == (PlanningRetried("two"),)
    assert (project.track("two").status, project.track("two").fault, project.track("two").planning) == (
        "proposed",
        "",
        (),
    )


def test_a_track_without_its_tickets_cannot_start_or_take_others() -> None:
    project = accepted()
    assert refused(project, StartTrack("one")) == "the tickets of track 'one' are still being planned"
    why = "the tickets of track 'one' are not planned yet; add yours afterwards"
    assert refused(project, AddTickets("one", (shell("x"),))) == why
    assert refused(project, PlanTickets("one", ())) == "a plan has at least one ticket"
    assert "a -> a" in refused(project, PlanTickets("one", (TicketSpec(id="a", depends_on=("a",)),)))
    project.send(AbortTrack("one"))
    assert refused(project, PlanTickets("one", (TicketSpec(id="a"),))) == (
        "the planning of track 'one' is over: it is aborted"
    )


def test_late_reports_of_ended_planning_are_refused() -> None:
    project = accepted()
    assert refused(project, FinishPlanning("E-1", "", TEXT_REPLY, "Tier 1", "m", Usage(), "")) == (
        "the planning of epic E-1 is over: it is accepted"
    )
    project.send(PlanTickets("two", (TicketSpec(id="b"),)), SYSTEM)
    assert refused(project, FailPlanning("E-1", "two", "late")) == "the planning of track 'two' is over: it is ready"

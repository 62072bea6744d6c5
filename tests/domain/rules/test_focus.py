"""A conductor with a focus runs only the work that a person started while it runs."""

from interlock.domain.messages.commands.attempt_commands import AskScript, FailWork
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.epic_commands import FailPlanning, PlanEpic, PlanTickets, ProposeTracks
from interlock.domain.messages.commands.ticket_commands import BlockTicket, RetryTicket
from interlock.domain.messages.commands.track_commands import AddTrack, PauseTrack, ResumeTrack, StartTrack
from interlock.domain.messages.envelopes import APPROVE_ALL, SYSTEM
from interlock.domain.messages.events.approval_events import ApprovalAnswered
from interlock.domain.messages.events.attempt_events import TicketStarted
from interlock.domain.messages.events.conductor_events import EpicAdmitted, TrackAdmitted
from interlock.domain.messages.events.epic_events import EpicAdded, PlanningRetried
from interlock.domain.messages.events.ticket_events import TicketReopened
from interlock.domain.messages.events.track_events import TrackStarted
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.tickets import Todo
from tests.domain.given import SCRIPT, Bench, shell


def two_running_tracks() -> Bench:
    """Tracks `a` and `b` were running when their process ended; each has asked about its script."""
    project = Bench()
    project.send(StartConductor(2, auto_queue=True))
    for name in ("a", "b"):
        project.send(AddTrack(name, name, "", (shell("one"),)))
        project.send(StartTrack(name))
        project.send(AskScript(name, "one", 1, SCRIPT, ""))
    project.send(Recover("killed"), SYSTEM)
    return project


def test_a_track_of_an_earlier_process_does_not_run_by_itself() -> None:
    project = Bench()
    project.send(AddTrack("a", "A", "", (shell("one"),)))
    project.send(StartTrack("a"))
    project.send(StartConductor(2, auto_queue=True, focus=()), SYSTEM)
    assert project.ticket("one", "a").stage == Todo()


def test_starting_a_running_track_admits_it_and_then_it_runs() -> None:
    project = Bench()
    project.send(AddTrack("a", "A", "", (shell("one"),)))
    project.send(StartTrack("a"))
    project.send(StartConductor(2, auto_queue=True, focus=()), SYSTEM)
    assert project.send(StartTrack("a")) == (TrackAdmitted("a"), TicketStarted("a", "one", 1))
    assert project.send(StartTrack("a")) == ()


def test_a_new_a_paused_and_a_retried_track_are_admitted_once() -> None:
    project = Bench()
    project.send(StartConductor(2, auto_queue=True, focus=()), SYSTEM)
    project.send(AddTrack("a", "A", "", (shell("one"),)))
    assert project.send(PauseTrack("a"))
    assert project.send(ResumeTrack("a"))[:2] == (TrackAdmitted("a"), TrackStarted("a"))
    project.send(PauseTrack("a"))
    assert project.send(ResumeTrack("a")) == (TrackStarted("a"),)


def test_a_retried_ticket_of_an_ended_track_admits_its_track() -> None:
    project = Bench()
    project.send(StartConductor(2, auto_queue=True))
    project.send(AddTrack("a", "A", "", (shell("one"),)))
    project.send(StartTrack("a"))
    project.send(Recover("killed"), SYSTEM)
    project.send(BlockTicket("a", "one", "later"))
    project.send(StartConductor(2, auto_queue=True, focus=()), SYSTEM)
    events = project.send(RetryTicket("a", "one"))
    assert TrackAdmitted("a") in events
    assert events[-1] == TicketStarted("a", "one", 2)


def test_an_epic_of_a_person_is_planned_and_its_tracks_run() -> None:
    project = Bench()
    project.send(StartConductor(2, auto_queue=True, approve_all=True, focus=()), SYSTEM)
    assert project.send(PlanEpic("goal")) == (EpicAdded("E-1", "goal"), EpicAdmitted("E-1"))
    assert project.state.conductor.runs_epic("E-1")
    assert not project.state.conductor.runs_epic("E-2")
    project.send(ProposeTracks("E-1", (TrackPlan("p", "P"), TrackPlan("q", "Q"))), SYSTEM)
    project.send(PlanTickets("p", (shell("one"),)), SYSTEM)
    assert project.ticket("one", "p").status == "in_progress"
    project.send(FailPlanning("E-1", "q", "no answer"), SYSTEM)
    assert project.send(StartTrack("q")) == (PlanningRetried("q"),)


def test_without_a_focus_nothing_is_admitted() -> None:
    project = Bench()
    project.send(StartConductor(2, auto_queue=True), SYSTEM)
    assert project.send(PlanEpic("goal")) == (EpicAdded("E-1", "goal"),)
    assert project.state.conductor.epics_in_focus == ()


def test_approve_all_answers_only_approvals_of_work_in_focus() -> None:
    project = two_running_tracks()
    started = project.send(StartConductor(2, auto_queue=True, approve_all=True, focus=()), SYSTEM)
    assert not any(isinstance(event, ApprovalAnswered) for event in started)
    project.send(StartTrack("b"))
    answered = [(r.event.approval, r.actor) for r in project.records if isinstance(r.event, ApprovalAnswered)]
    assert answered == [("A-2", APPROVE_ALL)]
    assert [approval.id for approval in project.state.pending_approvals()] == ["A-1"]


def test_approve_all_leaves_the_proposal_of_another_epic() -> None:
    project = Bench()
    project.send(PlanEpic("goal"))
    project.send(ProposeTracks("E-1", (TrackPlan("p", "P"),)), SYSTEM)
    project.send(StartConductor(2, auto_queue=True, approve_all=True, focus=()), SYSTEM)
    assert [approval.id for approval in project.state.pending_approvals()] == ["A-1"]


def test_starting_a_blocked_track_saves_work_again_that_could_not_be_saved() -> None:
    project = Bench()
    project.send(StartConductor(2, auto_queue=True))
    project.send(AddTrack("a", "A", "", (shell("one"), shell("two"))))
    project.send(StartTrack("a"))
    project.send(FailWork("a", "one", 1, "no room", unsaved="did it"), SYSTEM)
    project.send(FailWork("a", "two", 1, "it failed"), SYSTEM)
    assert project.track("a").status == "blocked"
    assert project.send(StartTrack("a")) == (
        TicketReopened("a", "one"),
        TrackStarted("a"),
        TicketStarted("a", "one", 2),
    )

"""Tracks: importing, adding tickets to a running track, starting, pausing, aborting, ending."""

import pytest

from interlock.domain.messages.commands.attempt_commands import FinishMerge, SubmitWork
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.track_commands import (
    AbortTrack,
    AddTickets,
    AddTrack,
    EditTrack,
    PauseTrack,
    ResumeTrack,
    StartTrack,
)
from interlock.domain.messages.events.approval_events import ApprovalWithdrawn
from interlock.domain.messages.events.attempt_events import TicketStarted
from interlock.domain.messages.events.ticket_events import TicketCancelled
from interlock.domain.messages.events.track_events import (
    TicketsAdded,
    TrackAborted,
    TrackAdded,
    TrackEdited,
    TrackEnded,
    TrackPaused,
    TrackStarted,
)
from interlock.domain.rules.track_rules import TICKETS_PER_EVENT
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Counts
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected
from tests.domain.given import LATER, SAVED, Bench, bench, shell


def refused(project: Bench, command: Command) -> str:
    before = project.state
    with pytest.raises(Rejected) as refusal:
        project.send(command)
    assert project.state is before, "nothing of a refused batch is kept"
    return str(refusal.value)


def test_a_track_is_added_with_its_tickets_and_waits_to_be_started() -> None:
    project = Bench()
    assert project.send(AddTrack("x", " X ", "Why", (shell("a"), shell("b", "a")))) == (
        TrackAdded("x", "X", "Why"),
        TicketsAdded("x", (shell("a"), shell("b", "a"))),
    )
    track = project.track()
    assert (track.status, track.total, track.counts) == ("ready", 2, Counts(todo=2))
    assert [ticket.id for ticket in track.executable()] == ["a"]
    assert project.state.running == ()


def test_a_track_without_a_title_is_called_by_its_id() -> None:
    project = Bench()
    project.send(AddTrack("x", "  ", "", ()))
    assert project.track().title == "x"


def test_a_huge_import_is_many_rows_of_one_batch() -> None:
    project = Bench()
    specs = tuple(shell(f"T{number}") for number in range(2 * TICKETS_PER_EVENT + 1))
    events = project.send(AddTrack("x", "X", "", specs))
    assert [len(event.tickets) for event in events if isinstance(event, TicketsAdded)] == [
        TICKETS_PER_EVENT,
        TICKETS_PER_EVENT,
        1,
    ]
    assert project.track().total == len(specs)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (AddTrack("x", "", "", ()), "track 'x' exists already; choose another id, or add tickets to it"),
        (AddTrack("y", "", "", (shell("a"), shell("a"))), "duplicate ticket id 'a'"),
        (AddTrack("y", "", "", (shell("a", "b"), shell("b", "a"))), "the tickets depend on one another: a -> b -> a"),
        (AddTrack("y", "", "", (shell("a", "z"),)), "ticket 'a' depends on 'z', which does not exist"),
        (AddTickets("x", (shell("T"),)), "duplicate ticket id 'T'"),
        (AddTickets("x", (shell("n"), shell("m", "o"))), "ticket 'm' depends on 'o', which does not exist"),
        (AddTickets("x", (shell("n", "m"), shell("m", "n"))), "the tickets depend on one another: n -> m -> n"),
        (
            AddTickets("x", (TicketSpec(id="n", script="make"),)),
            ("ticket 'n' has a 'script' but is assigned to 'tier3-worker', not to 'shell'"),
        ),
        (AddTickets("x", ()), "no ticket is given"),
        (AddTickets("z", (shell("n"),)), "no track 'z'"),
    ],
)
def test_a_batch_that_does_not_fit_is_refused_whole(command: AddTrack | AddTickets, problem: str) -> None:
    assert refused(bench(shell("T")), command) == problem


def test_a_malformed_track_id_is_refused() -> None:
    assert refused(Bench(), AddTrack("../x", "", "", ())).startswith("malformed track id '../x'")


def test_tickets_added_to_a_running_track_start_as_soon_as_they_can() -> None:
    project = bench(shell("a"))
    assert project.send(AddTickets("x", (shell("c", "b"), shell("b"), shell("d", "a")))) == (
        TicketsAdded("x", (shell("c", "b"), shell("b"), shell("d", "a"))),
        TicketStarted("x", "b", 1),
    )
    project.submit("a", saved=None)
    assert [project.ticket(name).status for name in "abcd"] == ["completed", "in_progress", "todo", "in_progress"]


def test_adding_tickets_wakes_a_track_that_had_ended() -> None:
    project = bench(shell("a"))
    project.submit("a", saved=None)
    assert project.track().status == "done"
    assert project.send(AddTickets("x", (shell("b", "a"),))) == (
        TicketsAdded("x", (shell("b", "a"),)),
        TrackStarted("x"),
        TicketStarted("x", "b", 1),
    )


def test_an_empty_track_is_done_when_it_starts() -> None:
    project = Bench()
    project.send(AddTrack("x", "X", "", ()))
    assert project.send(StartTrack("x")) == (TrackStarted("x"), TrackEnded("x", "done"))


def test_a_paused_track_starts_nothing_and_what_runs_goes_on() -> None:
    project = bench(shell("a"), shell("b", "a"))
    assert project.send(PauseTrack("x")) == (TrackPaused("x"),)
    assert project.send(PauseTrack("x")) == ()
    project.submit("a", saved=None)
    assert [project.ticket(name).status for name in "ab"] == ["completed", "todo"]
    assert project.send(ResumeTrack("x")) == (TrackStarted("x"), TicketStarted("x", "b", 1))


def test_starting_again_changes_nothing_or_goes_on() -> None:
    project = bench(shell("a"))
    assert project.send(StartTrack("x")) == ()
    project.send(PauseTrack("x"))
    assert project.send(StartTrack("x")) == (TrackStarted("x"),)


def test_an_impossible_change_is_refused_with_the_status() -> None:
    project = bench(shell("a"))
    assert refused(project, ResumeTrack("x")) == "track 'x' is running, not paused"
    project.submit("a", saved=None)
    assert refused(project, StartTrack("x")) == "track 'x' is done; it cannot be started"
    assert refused(project, PauseTrack("x")) == "track 'x' is done; only a running track can be paused"
    assert refused(project, AbortTrack("x")) == "track 'x' is done already"


def test_aborting_cancels_all_that_is_not_finished_and_takes_questions_back() -> None:
    project = bench(shell("a"), shell("b"), shell("c", "b"), shell("s", step_mode=True))
    project.submit("a", saved=None)
    project.asked("b")
    assert project.send(AbortTrack("x", "wrong idea")) == (
        ApprovalWithdrawn("A-1", "track aborted: wrong idea"),
        ApprovalWithdrawn("A-2", "track aborted: wrong idea"),
        TicketCancelled("x", "b", "track aborted: wrong idea"),
        TicketCancelled("x", "c", "track aborted: wrong idea"),
        TicketCancelled("x", "s", "track aborted: wrong idea"),
        TrackAborted("x", "wrong idea"),
    )
    assert project.track().counts == Counts(completed=1, cancelled=3)
    assert (project.state.busy, project.state.running, project.state.pending_approvals()) == (0, (), ())
    for command in (AbortTrack("x"), StartTrack("x"), AddTickets("x", (shell("n"),))):
        assert "aborted" in refused(project, command)


def test_tracks_share_the_workers_in_the_order_they_were_added() -> None:
    project = bench(shell("a"), shell("b"), workers=2, start=False)
    project.send(AddTrack("y", "Y", "", (shell("a"), shell("b"))))
    project.send(StartTrack("y"))
    project.send(StartTrack("x"))
    assert project.state.running == ("x", "y")
    assert project.state.busy == 2
    project.send(AbortTrack("y"))
    assert [project.ticket(name).status for name in "ab"] == ["in_progress", "in_progress"]


def test_running_tracks_stand_in_the_order_they_were_added_however_they_are_started() -> None:
    project = Bench()
    names = tuple(f"track-{number}" for number in range(12))
    for name in names:
        project.send(AddTrack(name, "", "", (shell("a"),)))
    for name in reversed(names):
        project.send(StartTrack(name))
    assert project.state.running == names
    project.send(PauseTrack(names[5]))
    assert project.state.running == (*names[:5], *names[6:])


def test_a_track_has_the_time_of_its_last_change() -> None:
    project = bench(shell("a"))
    project.send(PauseTrack("x"), at=LATER)
    assert (project.track().created_at < project.track().updated_at) is True
    assert project.track().updated_at == LATER


def test_nothing_is_in_an_empty_state() -> None:
    state = State()
    assert (state.pending_approvals(), state.next_approval_id()) == ((), "A-1")
    with pytest.raises(Rejected, match="no approval 'A-1'"):
        state.approval("A-1")


def test_aborting_lets_a_merge_under_way_end() -> None:
    project = Bench()
    project.send(StartConductor(auto_queue=True))
    project.send(AddTrack("x", "X", "", (shell("a"), shell("b"))))
    project.send(StartTrack("x"))
    project.send(SubmitWork("x", "a", 1, SAVED))
    assert project.send(AbortTrack("x", "enough")) == (
        TicketCancelled("x", "b", "track aborted: enough"),
        TrackAborted("x", "enough"),
    )
    project.send(FinishMerge("x", "a", 1, "commit"))
    assert [project.state.ticket("x", name).status for name in ("a", "b")] == ["completed", "cancelled"]
    assert project.state.tracks["x"].status == "aborted"


def test_a_track_is_edited_if_that_changes_something() -> None:
    project = Bench()
    project.send(AddTrack("x", "X", "Why", ()))
    assert project.send(EditTrack("x", title=" Y ")) == (TrackEdited("x", "Y", "Why"),)
    assert project.send(EditTrack("x", description="Because")) == (TrackEdited("x", "Y", "Because"),)
    track = project.state.tracks["x"]
    assert (track.title, track.description) == ("Y", "Because")
    assert refused(project, EditTrack("x")) == "the edit changes nothing"
    assert refused(project, EditTrack("x", title=" ")) == "a track has a title"

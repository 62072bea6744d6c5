"""Tracks and tickets as rows of the board."""

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import AskScript, FailWork, FinishMerge, ReportGate, SubmitWork
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.discussion_commands import Say, StartDiscussion
from interlock.domain.messages.commands.epic_commands import PlanEpic, ProposeTracks
from interlock.domain.messages.commands.landing_commands import AskLanding
from interlock.domain.messages.commands.ticket_commands import BlockTicket, CancelTicket, SkipTicket
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.state.state import State
from interlock.domain.values.approvals import MergePayload
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob, Gate, GateDefaults
from interlock.views.board import (
    TrackProgress,
    TrackRow,
    WorkerRow,
    activity_of,
    not_verified,
    tickets_of,
    track_rows,
    unverified_tickets,
    waits_for_person,
    work_besides,
    worker_rows,
)
from tests.domain.given import AT, FAIL, PASS, SAVED, SCRIPT, Bench, shell

GATE = Gate("make check", max_attempts=1)


def bench(*more: Command, auto_queue: bool = True) -> Bench:
    project = Bench()
    project.send(StartConductor(2, auto_queue, approve_all=False, gates=GateDefaults()))
    tickets = (shell("one", verify=(GATE,)), shell("two", "one"), shell("three", "one", "two", "x", "y"))
    extra = (shell("x"), shell("y"))
    project.send(AddTrack("a", "Title", "", (*tickets, *extra)))
    project.send(StartTrack("a"))
    for command in more:
        project.send(command)
    return project


def where(state: State, name: str) -> str:
    return activity_of(state.ticket("a", name), state.track("a"))


def test_a_track_row_counts_what_stands_where() -> None:
    state = bench(SkipTicket("a", "x"), BlockTicket("a", "y", "later"), CancelTicket("a", "three")).state
    assert track_rows(state) == (
        TrackRow(
            "a", "Title", "running", TrackProgress(1, 5), 1, 1, 1, 1, unlanded=False, created_at=AT, updated_at=AT
        ),
    )


def test_tickets_are_paged_in_the_tracks_order() -> None:
    track = bench().state.track("a")
    assert [t.id for t in tickets_of(track)] == ["one", "two", "three", "x", "y"]
    assert [t.id for t in tickets_of(track, 1, 2)] == ["two", "three"]


@pytest.mark.parametrize(
    ("commands", "ticket", "words"),
    [
        ((), "one", "running"),
        ((), "two", "after one"),
        ((), "three", "after one, two, x …"),
        ((), "y", "ready"),
        ((AskScript("a", "one", 1, SCRIPT, ""),), "one", "waiting for A-1"),
        (
            (
                AskScript("a", "one", 1, SCRIPT, ""),
                AskScript("a", "x", 1, SCRIPT, ""),
                AnswerApproval("A-1", "approve"),
            ),
            "one",
            "running",
        ),
        ((SubmitWork("a", "one", 1, SAVED),), "one", "verifying: make check (try 1)"),
        (
            (SubmitWork("a", "one", 1, SAVED), ReportGate("a", "one", 1, 0, FAIL)),
            "one",
            "stopped at its gates, waiting for A-1",
        ),
        ((SubmitWork("a", "one", 1, SAVED), ReportGate("a", "one", 1, 0, PASS)), "one", "merging"),
        (
            (SubmitWork("a", "one", 1, SAVED), ReportGate("a", "one", 1, 0, PASS), FinishMerge("a", "one", 1, "c")),
            "one",
            "verified",
        ),
        ((SubmitWork("a", "x", 1, SAVED), FinishMerge("a", "x", 1, "c")), "x", "done, unverified"),
        ((SkipTicket("a", "x"),), "x", "skipped, unverified"),
        ((FailWork("a", "x", 1, "exit 3"),), "x", "exit 3"),
        ((CancelTicket("a", "x", "not needed"),), "x", "not needed"),
    ],
)
def test_every_stage_has_its_phrase(commands: tuple[Command, ...], ticket: str, words: str) -> None:
    assert where(bench(*commands).state, ticket) == words


def test_an_asked_step_and_a_full_house_have_their_phrases() -> None:
    assert where(bench(auto_queue=False).state, "one") == "waiting for A-1"
    state = bench(AskScript("a", "one", 1, SCRIPT, ""), AnswerApproval("A-1", "approve")).state
    assert where(state, "one") == "waiting for a worker"


def test_workers_are_the_attempts_under_way_also_the_waiting_ones() -> None:
    project = bench(AskScript("a", "one", 1, SCRIPT, ""))
    project.send(AddTrack("b", "B", "", (shell("idle"),)))
    assert worker_rows(project.state) == (
        WorkerRow("a", "one", 1, "waiting for A-1", AT),
        WorkerRow("a", "x", 1, "running", AT),
        WorkerRow("a", "y", 1, "running", AT),
    )


def test_stuck_means_everything_that_could_move_waits_for_an_answer() -> None:
    assert not waits_for_person(bench().state, ("a",))
    ask = [AskScript("a", name, 1, SCRIPT, "") for name in ("one", "x", "y")]
    assert not waits_for_person(bench(*ask[:2]).state, ("a",))
    stuck = bench(*ask)
    assert waits_for_person(stuck.state, ("a",))
    stuck.send(AnswerApproval("A-2", "approve"))
    assert not waits_for_person(stuck.state, ("a",))


def test_a_track_that_waits_is_stuck_also_while_another_one_works() -> None:
    project = Bench()
    project.send(StartConductor(2, auto_queue=True))
    for name in ("a", "b"):
        project.send(AddTrack(name, name, "", (shell("one"),)))
        project.send(StartTrack(name))
    project.send(AskScript("b", "one", 1, SCRIPT, ""))
    assert waits_for_person(project.state, ("b",))
    assert not waits_for_person(project.state, ("a",))
    assert not waits_for_person(project.state, ("a", "b"))
    assert not waits_for_person(project.state, ())


def test_an_epic_moves_until_its_proposal_waits_for_an_answer() -> None:
    project = Bench()
    project.send(StartConductor(2, auto_queue=True))
    project.send(PlanEpic("goal"))
    assert not waits_for_person(project.state, (), ("E-1",))
    project.send(ProposeTracks("E-1", (TrackPlan("p", "P"),)))
    assert waits_for_person(project.state, (), ("E-1",))
    assert [(row.id, row.status) for row in track_rows(project.state)] == [("p", "proposed")]
    project.send(AnswerApproval("A-1", "approve"))
    assert not waits_for_person(project.state, ("p",), ("E-1",))
    assert [(row.id, row.status) for row in track_rows(project.state)] == [("p", "proposed")]


def test_work_besides_a_goal_is_what_runs_now_for_others() -> None:
    project = Bench()
    project.send(StartConductor(4, auto_queue=True))
    for name in ("a", "b"):
        project.send(AddTrack(name, name, "", (shell("one"),)))
        project.send(StartTrack(name))
    assert work_besides(project.state, ()) == ("a", "b")
    assert work_besides(project.state, ("a",)) == ("b",)
    project.send(AskScript("b", "one", 1, SCRIPT, ""))
    assert work_besides(project.state, ("a",)) == (), "a ticket that waits for an answer does not run"
    project.send(AddTrack("c", "c", "", (shell("one"),)))
    assert work_besides(project.state, ("a", "b")) == (), "it was not started"


def test_work_besides_counts_planning_and_discussions() -> None:
    project = Bench()
    project.send(StartConductor(4, auto_queue=True))
    project.send(PlanEpic("goal"))
    assert work_besides(project.state, ()) == ("E-1",)
    assert work_besides(project.state, (), ("E-1",)) == ()
    project.send(ProposeTracks("E-1", (TrackPlan("p", "P"),)))
    assert work_besides(project.state, ()) == ()
    project.send(AnswerApproval("A-1", "approve"))
    assert work_besides(project.state, ()) == ("p",), "its tickets are being planned"
    assert work_besides(project.state, (), ("E-1",)) == ()
    project.send(StartDiscussion("talk"))
    project.send(Say("D-1", Blob("01" * 32, 10), Blob("02" * 32, 10)))
    assert work_besides(project.state, ("p",)) == ("D-1",)


def test_a_landing_under_way_is_work() -> None:
    project = Bench()
    project.send(StartConductor(4, auto_queue=True))
    project.send(AddTrack("a", "A", "", (shell("one"),)))
    project.send(SkipTicket("a", "one"))
    project.send(StartTrack("a"))
    project.send(AskLanding("a", MergePayload("main", "b" * 40, "c" * 40, "+a")))
    project.send(AnswerApproval("A-1", "approve"))
    assert work_besides(project.state, ()) == ("a",)
    assert work_besides(project.state, ("a",)) == ()


def test_a_summary_names_the_unverified_tickets() -> None:
    state = bench(SubmitWork("a", "x", 1, SAVED), FinishMerge("a", "x", 1, "c")).state
    assert unverified_tickets(state.track("a")) == ("x",)
    assert not_verified(state.track("a")) == ", 1 unverified (x)"
    assert not_verified(bench().state.track("a")) == ""

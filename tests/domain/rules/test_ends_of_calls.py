"""Calls, notes, grants and discussions at their ends: nothing stays open, and nothing old still counts."""

import pytest

from interlock.domain.messages.commands.attempt_commands import AskWorker, RedoAttempt, StartSession
from interlock.domain.messages.commands.call_commands import ReserveCall
from interlock.domain.messages.commands.conductor_commands import EndInherited, Recover, StartConductor
from interlock.domain.messages.commands.discussion_commands import (
    AskInDiscussion,
    BeginDiscussionTool,
    EndTurn,
    ReplyInDiscussion,
    Say,
    StartDiscussion,
    StopTurn,
)
from interlock.domain.messages.commands.epic_commands import FinishPlanning, PlanEpic, ProposeTracks
from interlock.domain.messages.commands.external_ask_commands import AskPerson, WithdrawAsk
from interlock.domain.messages.commands.landing_commands import AskLanding
from interlock.domain.messages.commands.steering_commands import Hear, Tell
from interlock.domain.messages.commands.track_commands import AbortTrack, AddTrack, StartTrack
from interlock.domain.rules.epic_rules import MOST_TEXT
from interlock.domain.rules.steering_rules import MOST_BYTES
from interlock.domain.step import replay
from interlock.domain.values.approvals import MergePayload, ScriptPayload, SpawnPayload, ToolPayload, Withdrawn
from interlock.domain.values.budgets import Usage
from interlock.domain.values.discussions import Quiet
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob, Gate
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected
from tests.domain.given import SYSTEM, Bench, bench, shell

ONE, TWO, MADE = (Blob(digit * 64, 1) for digit in "123")
EDIT = ToolPayload("c1", "edit_file", "{}", "ab", "Edit", 1, "+x", "/w")
RUN = ScriptPayload("make", "/w", (), "bubblewrap", call="c2")
SPAWN = SpawnPayload("tier3-worker", "m", "do it", "")
WORKER = CallOwner(track="x", ticket="T", attempt=1)
AT = ("x", "T", 1)


def working() -> Bench:
    project = Bench()
    project.send(StartConductor(auto_queue=True), SYSTEM)
    project.send(AddTrack("x", "X", "", (TicketSpec(id="T"),)))
    project.send(StartTrack("x"))
    return project


def talking() -> Bench:
    project = working()
    project.send(AskWorker(*AT, SPAWN, "starts"), SYSTEM)
    project.answer("A-1", "approve")
    project.send(StartSession(*AT, ONE), SYSTEM)
    return project


def discussing() -> Bench:
    project = Bench()
    project.send(StartConductor(), SYSTEM)
    project.send(StartDiscussion("D"))
    project.send(Say("D-1", ONE, MADE))
    return project


def reserve(project: Bench, party: CallOwner) -> None:
    project.send(ReserveCall(party, "Tier 3", "m", 10), SYSTEM)
    assert len(project.state.calls) == 1


def test_a_returned_attempt_has_no_open_call_and_its_reservation_stays_spent() -> None:
    project = talking()
    reserve(project, WORKER)
    project.send(RedoAttempt(*AT, "conflict"), SYSTEM)
    assert (len(project.state.calls), len(project.state.ledger.open)) == (0, 0)
    assert sum(project.state.ledger.reserved.values()) > 0


def test_a_lost_attempt_has_no_open_call_even_before_the_conductor_stops() -> None:
    project = talking()
    reserve(project, WORKER)
    events = project.send(Recover("gone"), SYSTEM)
    first = next(record for record in project.records if record.event is events[0])
    before = [record for record in project.records if record.version <= first.version]
    assert len(replay(before).calls) == 0


def test_a_discussions_turn_ends_its_calls_and_forgets_its_grant() -> None:
    project = discussing()
    reserve(project, CallOwner(discussion="D-1"))
    project.send(EndTurn("D-1", ""), SYSTEM)
    assert (len(project.state.calls), project.state.discussion("D-1").stage) == (0, Quiet(""))
    project.send(Say("D-1", ONE, MADE))
    project.send(AskInDiscussion("D-1", EDIT, "why"), SYSTEM)
    project.answer("A-1", "approve")
    project.send(StopTurn("D-1", "enough"))
    assert project.state.discussion("D-1").grant is None
    project.send(Say("D-1", TWO, MADE))
    assert project.state.discussion("D-1").grant is None
    with pytest.raises(Rejected, match="needs an approval first"):
        project.send(BeginDiscussionTool("D-1", "c1"), SYSTEM)


def test_an_aborted_track_that_was_being_planned_has_no_open_call() -> None:
    project = Bench()
    project.send(StartConductor(), SYSTEM)
    project.send(PlanEpic("do it"))
    project.send(ProposeTracks("E-1", (TrackPlan("p", "P", ""),)), SYSTEM)
    project.answer("A-1", "approve")
    reserve(project, CallOwner(track="p"))
    project.send(AbortTrack("p", "no"))
    assert len(project.state.calls) == 0


def test_planning_calls_of_a_track_that_is_over_are_refused() -> None:
    project = Bench()
    project.send(StartConductor(), SYSTEM)
    project.send(PlanEpic("do it"))
    project.send(ProposeTracks("E-1", (TrackPlan("p", "P", ""),)), SYSTEM)
    project.answer("A-1", "approve")
    project.send(AbortTrack("p", "no"))
    with pytest.raises(Rejected, match="the planning of track 'p' is over"):
        project.send(ReserveCall(CallOwner(track="p"), "Tier 2", "m", 1), SYSTEM)


def test_no_turn_is_spoken_into_while_it_waits_or_changes_something() -> None:
    project = discussing()
    project.send(AskInDiscussion("D-1", EDIT, "why"), SYSTEM)
    with pytest.raises(Rejected, match="still answering"):
        project.send(Say("D-1", TWO, MADE))
    with pytest.raises(Rejected, match="is over"):
        project.send(ReplyInDiscussion("D-1", TWO, "Discussion", "m", Usage(), ""), SYSTEM)
    project.answer("A-1", "approve")
    project.send(BeginDiscussionTool("D-1", "c1"), SYSTEM)
    with pytest.raises(Rejected, match="still answering"):
        project.send(Say("D-1", TWO, MADE))
    with pytest.raises(Rejected, match="is over"):
        project.send(BeginDiscussionTool("D-1", "c1"), SYSTEM)


def test_the_questions_about_interrupted_gates_and_changes_have_different_names() -> None:
    project = bench(shell("T", verify=[Gate("curl", network=True)]))
    project.submit("T")
    project.send(StartDiscussion("D"))
    project.send(Say("D-1", ONE, MADE))
    project.send(AskInDiscussion("D-1", EDIT, "why"), SYSTEM)
    project.answer("A-1", "approve")
    project.send(BeginDiscussionTool("D-1", "c1"), SYSTEM)
    project.send(Recover("gone"), SYSTEM)
    assert sorted(approval.id for approval in project.state.pending_approvals()) == ["A-2", "A-3"]


def test_ending_the_turn_after_an_unknown_change_withdraws_its_question() -> None:
    project = discussing()
    project.send(AskInDiscussion("D-1", EDIT, "why"), SYSTEM)
    project.answer("A-1", "approve")
    project.send(BeginDiscussionTool("D-1", "c1"), SYSTEM)
    project.send(Recover("gone"), SYSTEM)
    project.send(StopTurn("D-1", "enough"))
    assert isinstance(project.approval("A-2").state, Withdrawn)
    assert project.state.pending_approvals() == ()


def test_a_conductor_that_was_not_on_is_stopped_for_an_open_call_or_change() -> None:
    project = discussing()
    reserve(project, CallOwner(discussion="D-1"))
    project.send(Recover("gone"), SYSTEM)
    project.send(ReserveCall(CallOwner(discussion="D-1"), "Discussion", "m", 10), SYSTEM)
    assert len(project.send(Recover("again"), SYSTEM)) == 1
    assert len(project.state.calls) == 0


def test_notes_are_delivered_one_by_one() -> None:
    project = discussing()
    for text in ("one", "two"):
        project.send(Tell(text=text, discussion="D-1"))
    party = CallOwner(discussion="D-1")
    project.send(Hear(party, TWO), SYSTEM)
    assert project.state.discussion("D-1").notes == ("two",)
    ticket = talking()
    for text in ("one", "two"):
        ticket.send(Tell(text=text, track="x", ticket="T"))
    ticket.send(Hear(WORKER, TWO), SYSTEM)
    assert ticket.ticket("T").delivered == 1


def test_a_note_for_a_ticket_and_a_discussion_is_refused_and_an_old_attempt_hears_nothing() -> None:
    project = talking()
    project.send(StartDiscussion("D"))
    with pytest.raises(Rejected, match="and not both"):
        project.send(Tell(text="x", track="x", ticket="T", discussion="D-1"))
    project.send(Tell(text="x", track="x", ticket="T"))
    with pytest.raises(Rejected, match="attempt 2 of ticket"):
        project.send(Hear(CallOwner(track="x", ticket="T", attempt=2), TWO), SYSTEM)


def test_a_note_is_counted_in_bytes_and_the_longest_is_accepted() -> None:
    project = talking()
    project.send(Tell(text="é" * (MOST_BYTES // 2), track="x", ticket="T"))
    with pytest.raises(Rejected, match="at most 4,000 bytes"):
        project.send(Tell(text="é" * (MOST_BYTES // 2 + 1), track="x", ticket="T"))


def test_the_longest_epic_is_accepted_and_a_dropped_one_is_not_planned() -> None:
    project = Bench()
    with pytest.raises(Rejected, match="at most"):
        project.send(PlanEpic("x" * (MOST_TEXT + 1)))
    project.send(PlanEpic("x" * MOST_TEXT))
    project.send(ProposeTracks("E-1", (TrackPlan("p", "P", ""),)), SYSTEM)
    with pytest.raises(Rejected, match="is over: it is proposed"):
        project.send(FinishPlanning("E-1", "", (ONE,), "Tier 1", "m", Usage(), ""), SYSTEM)


def test_proposed_ids_that_are_taken_get_different_numbers() -> None:
    project = Bench()
    project.send(AddTrack("p", "P", "", ()))
    project.send(AddTrack("p-2", "P", "", ()))
    project.send(PlanEpic("do it"))
    project.send(ProposeTracks("E-1", (TrackPlan("p", "P", ""), TrackPlan("p-2", "Q", ""))), SYSTEM)
    assert [plan.id for plan in project.state.epic("E-1").proposed] == ["p-3", "p-2-2"]


def test_only_an_ask_is_withdrawn_by_its_program_and_a_long_name_is_refused() -> None:
    project = talking()
    project.send(AskWorker(*AT, EDIT, "why"), SYSTEM)
    with pytest.raises(Rejected, match="only an ask can be withdrawn"):
        project.send(WithdrawAsk("A-2", "gone"))
    with pytest.raises(Rejected, match="in at most 200"):
        project.send(AskPerson("x" * 201, "{}", "ab", "agent", key="key"))


def test_a_landing_is_asked_once_and_not_while_a_ticket_is_at_work() -> None:
    project = bench(shell("T"))
    project.submit("T", saved=None)
    project.send(AskLanding("x", MergePayload("main", "b", "a", "")))
    with pytest.raises(Rejected, match="already requested"):
        project.send(AskLanding("x", MergePayload("main", "b", "a", "")))


def test_a_journal_from_elsewhere_keeps_no_usable_answer() -> None:
    project = talking()
    project.send(AskWorker(*AT, EDIT, "why"), SYSTEM)
    project.answer("A-2", "approve")
    project.send(Recover("gone"), SYSTEM)
    ticket = project.ticket("T")
    assert ticket.carried == ("A-2",)
    assert ticket.spawn is not None
    project.send(EndInherited("from elsewhere"), SYSTEM)
    ended = project.ticket("T")
    assert (ended.grant, ended.spawn, ended.carried) == (None, None, ())
    assert all(isinstance(project.approval(name).state, Withdrawn) for name in ("A-1", "A-2"))

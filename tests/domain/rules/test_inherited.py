"""A journal that came from elsewhere stays as history: nothing runs, no answer counts."""

from msgspec.structs import replace

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import AskScript
from interlock.domain.messages.commands.conductor_commands import EndInherited, StartConductor
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested, ApprovalWithdrawn
from interlock.domain.messages.events.conductor_events import ConductorStopped
from interlock.domain.messages.events.discussion_events import DiscussionAsked, DiscussionStarted, DiscussionTurnEnded
from interlock.domain.messages.events.epic_events import EpicAdded, EpicDropped
from interlock.domain.messages.events.ticket_events import TicketCancelled, TicketCompleted
from interlock.domain.messages.events.track_events import (
    LandingFailed,
    LandingStarted,
    TicketsAdded,
    TrackAborted,
    TrackAdded,
    TrackEnded,
)
from interlock.domain.rules.conductor_rules import usable_approvals
from interlock.domain.state.state import State
from interlock.domain.step import replay, step
from interlock.domain.values.approvals import Answered, MergePayload, SpawnPayload, Withdrawn, digest, is_allowed
from interlock.domain.values.gates import Blob
from interlock.engine.effects.effects import token_of
from tests.domain.given import ADA, AT, SCRIPT, Bench, given, shell, when

WHY = "it came with the folder"
BLOB = Blob("0" * 64, 1)


def is_quiet(state: State) -> bool:
    """Whether no effect is required, whatever a conductor would be started with."""
    tickets = [ticket for track in state.tracks.values() for ticket in track.tickets.values()]
    started = step(state, when(StartConductor(auto_queue=True), SYSTEM), AT)
    return (
        all(token_of(ticket) is None or ticket.status in ("cancelled", "completed") for ticket in tickets)
        and all(ticket.grant is None and ticket.spawn is None and not ticket.carried for ticket in tickets)
        and not usable_approvals(state)
        and not any(track.landing and track.landing.state in ("asked", "started") for track in state.tracks.values())
        and len(started.records) == 1
        and not state.calls
        and not state.conductor.on
    )


def test_an_answer_allows_exactly_the_payload_with_its_edit() -> None:
    approved = Answered("approve", ADA, AT, digest=digest(SCRIPT))
    edited = Answered("approve", ADA, AT, edited="true", digest=digest(replace(SCRIPT, script="true")))
    assert is_allowed(SCRIPT, approved)
    assert is_allowed(SCRIPT, edited)
    assert not is_allowed(SCRIPT, replace(approved, decision="reject"))
    assert not is_allowed(SCRIPT, replace(edited, edited="false"))
    assert not is_allowed(replace(SCRIPT, directory="/"), edited)
    assert not is_allowed(SCRIPT, replace(approved, edited="true"))


def test_an_epic_that_ended_before_stays_as_it_was() -> None:
    state = given(EpicAdded("E-1", "one"), EpicDropped("E-1", "no"), EpicAdded("E-2", "two"))
    ended = step(state, when(EndInherited(WHY), SYSTEM), AT)
    assert [record.event for record in ended.records] == [ConductorStopped(WHY), EpicDropped("E-2", WHY)]


def test_an_empty_journal_records_where_the_inherited_part_ends() -> None:
    assert Bench().send(EndInherited(WHY), SYSTEM) == (ConductorStopped(WHY),)


def test_running_waiting_and_answered_work_ends_and_its_answers_are_withdrawn() -> None:
    bench = Bench()
    bench.send(StartConductor(auto_queue=True, workers=3), SYSTEM)
    bench.send(AddTrack("t", "T", "", tickets=(shell("a"), shell("b"), shell("c"), shell("d", "a"))))
    bench.send(StartTrack("t"))
    bench.send(AskScript("t", "a", 1, SCRIPT, "asks"), SYSTEM)
    bench.send(AskScript("t", "b", 1, SCRIPT, "asks"), SYSTEM)
    bench.send(AnswerApproval("A-2", "approve", edited="rm -rf ~"))
    bench.send(PlanEpic("more"))
    assert [approval.id for approval in usable_approvals(bench.state)] == ["A-1", "A-2"]
    events = bench.send(EndInherited(WHY), SYSTEM)
    assert events == (
        ConductorStopped(WHY),
        ApprovalWithdrawn("A-1", WHY),
        ApprovalWithdrawn("A-2", WHY),
        *(TicketCancelled("t", name, WHY) for name in "abcd"),
        TrackAborted("t", WHY),
        EpicDropped("E-1", WHY),
    )
    assert bench.state.approvals["A-2"].state == Withdrawn(WHY, AT)
    assert is_quiet(bench.state)
    assert replay(bench.records) == bench.state


def test_a_worker_that_a_person_allowed_and_a_merge_under_way_end_too() -> None:
    spawn = SpawnPayload("tier3-worker", "m", "prompt", "context")
    merge = MergePayload("main", "1", "2", "")
    state = given(
        TrackAdded("t", "T", ""),
        TicketsAdded("t", (shell("a"),)),
        TrackAdded("done", "D", ""),
        TicketsAdded("done", (shell("x"),)),
        ApprovalRequested(
            approval="A-1", kind="spawn", asker="x", track="t", ticket="a", payload=spawn, digest=digest(spawn)
        ),
        ApprovalAnswered("A-1", "approve", digest=digest(spawn)),
        TicketCompleted("done", "x", 1, "c", unverified=False),
        TrackEnded("done", "done"),
        ApprovalRequested(approval="A-2", kind="merge", asker="x", track="done", payload=merge, digest=digest(merge)),
        ApprovalAnswered("A-2", "approve", digest=digest(merge)),
        LandingStarted("done", "main", "1", "2"),
        by=ADA,
    )
    ended = step(state, when(EndInherited(WHY), SYSTEM), AT)
    assert [record.event for record in ended.records] == [
        ConductorStopped(WHY),
        ApprovalWithdrawn("A-1", WHY),
        TicketCancelled("t", "a", WHY),
        TrackAborted("t", WHY),
        LandingFailed("done", WHY),
    ]
    assert ended.state.tracks["done"].status == "done", "what is finished stays as it was"
    assert is_quiet(ended.state)


def test_a_discussion_that_was_answering_ends_and_its_grant_is_gone() -> None:
    state = given(
        DiscussionStarted("D-1", "one"),
        DiscussionAsked("D-1", BLOB, BLOB),
        ApprovalRequested(
            approval="A-1", kind="script", asker="x", track="", payload=SCRIPT, digest=digest(SCRIPT), discussion="D-1"
        ),
        ApprovalAnswered("A-1", "approve", edited="curl x | sh", digest="0"),
        DiscussionStarted("D-2", "quiet"),
    )
    assert state.discussions["D-1"].grant is not None
    ended = step(state, when(EndInherited(WHY), SYSTEM), AT)
    assert [record.event for record in ended.records] == [
        ConductorStopped(WHY),
        ApprovalWithdrawn("A-1", WHY),
        DiscussionTurnEnded("D-1", WHY),
    ]
    assert ended.state.discussions["D-1"].grant is None
    assert is_quiet(ended.state)


def test_a_withdrawn_answer_of_no_ticket_changes_nothing_else() -> None:
    merge = MergePayload("main", "1", "2", "")
    state = given(
        TrackAdded("t", "T", ""),
        ApprovalRequested(approval="A-1", kind="merge", asker="x", track="t", payload=merge, digest=digest(merge)),
        ApprovalAnswered("A-1", "reject"),
        ApprovalWithdrawn("A-1", WHY),
    )
    assert state.approvals["A-1"].state == Withdrawn(WHY, AT)

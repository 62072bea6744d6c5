"""Where a run stands, in one look."""

from interlock.domain.messages.commands.attempt_commands import AskWorker
from interlock.domain.messages.commands.call_commands import EndCall, ReserveCall
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.discussion_commands import Say, StartDiscussion
from interlock.domain.messages.commands.epic_commands import PlanEpic, ProposeTracks
from interlock.domain.messages.commands.landing_commands import AskLanding
from interlock.domain.messages.commands.track_commands import AddTrack, PauseTrack, StartTrack
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.values.approvals import MergePayload, SpawnPayload, ToolPayload, digest
from interlock.domain.values.budgets import Usage
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import TicketSpec
from interlock.views.mma_status import RunStatus, mma_status, run_status
from tests.domain.given import LATER, SYSTEM, Bench, given

SPAWN = SpawnPayload("tier3-worker", "scripted", "do it", "")


def running() -> Bench:
    made = Bench()
    made.send(StartConductor(auto_queue=True), SYSTEM)
    made.send(AddTrack("x", "The x", "", (TicketSpec(id="T-1"), TicketSpec(id="T-2"))))
    made.send(StartTrack("x"))
    return made


def test_nothing_runs() -> None:
    assert run_status(Bench().state) == RunStatus("idle", "", (), {}, None, ())


def test_workers_with_a_call_under_way_and_without_and_those_that_wait() -> None:
    made = running()
    worker = CallOwner(track="x", ticket="T-1", attempt=1)
    made.send(ReserveCall(worker, "Tier 3", "m", 1), SYSTEM)
    now = run_status(made.state)
    assert (now.status, now.track) == ("running", {"id": "x", "title": "The x"})
    assert now.active_tiers == ("Tier 3 (Worker): T-1", "Tier 3 (Worker): T-2")
    assert [(ticket["id"], ticket["doing"]) for ticket in now.tickets] == [("T-1", "running"), ("T-2", "running")]
    made.send(EndCall("C-1", Usage(1, 2, cost=3), ""), SYSTEM)
    made.send(ReserveCall(worker, "Tier 4", "m", 1), SYSTEM)
    made.send(AskWorker("x", "T-2", 1, SPAWN, "starts"), SYSTEM, LATER)
    now = run_status(made.state)
    assert now.active_tiers == ("Tier 4 (QA): T-1", "Awaiting Approval: T-2")
    assert now.active_tier == "Awaiting Approval: T-2"
    assert now.tier_usage["Tier 3"]["cost_usd"] == 0.000003


def test_planners_and_chats_are_named_too() -> None:
    made = Bench()
    made.send(StartConductor(), SYSTEM)
    made.send(PlanEpic("goal"))
    made.send(ReserveCall(CallOwner(epic="E-1"), "Tier 1", "m", 1), SYSTEM)
    assert run_status(made.state).active_tier == "Tier 1 (Orchestrator)"
    made.send(ProposeTracks("E-1", (TrackPlan("p", "P"),)), SYSTEM)
    told = mma_status(made.state, {"k": "text"})
    assert (told["pending_tracks"], told["tracks"], told["mma_streams"]) == (True, [], {"k": "text"})
    assert [row["id"] for row in told["proposed_tracks"]] == ["p"]
    assert told["pending_approvals"] == [{"id": "A-1", "kind": "tracks", "ticket": None}]
    made.answer("A-1", "approve")
    made.send(EndCall("C-1", Usage(), ""), SYSTEM)
    made.send(ReserveCall(CallOwner(track="p"), "Tier 2", "m", 1), SYSTEM)
    assert run_status(made.state).active_tiers == ("Tier 2 (Tech Lead)",)
    made.send(EndCall("C-2", Usage(), ""), SYSTEM)
    made.send(StartDiscussion("why"))
    made.send(Say("D-1", Blob("a" * 64, 1), Blob("b" * 64, 1)))
    made.send(ReserveCall(CallOwner(discussion="D-1"), "Discussion", "m", 1), SYSTEM)
    assert run_status(made.state).active_tiers == ("Discussion: D-1",)


def test_a_chosen_track_is_shown_and_one_that_only_waits_counts_as_active() -> None:
    made = running()
    made.send(AddTrack("y", "The y", "", ()))
    assert run_status(made.state, "y").track == {"id": "y", "title": "The y"}
    made.send(StartTrack("y"))
    assert mma_status(made.state, {})["active_track"] == "x"
    made.send(AskLanding("y", MergePayload("main", "b", "c", "diff")), "human:ada")
    assert run_status(made.state).active_tiers[0] == "Awaiting Approval: y"
    assert mma_status(made.state, {})["pending_merge"]
    made.send(PauseTrack("x"))
    assert mma_status(made.state, {})["active_track"] == "x"


def test_the_oldest_ask_is_told_with_its_arguments() -> None:
    payload = ToolPayload("c", "rm", '{"path": "a"}', "", "Remove", 0, "", "/w")
    asked = ApprovalRequested(
        approval="A-1", kind="ask", asker="program", track="", payload=payload, digest=digest(payload)
    )
    told = mma_status(given(asked), {})
    assert told["ask"] == {"id": "A-1", "tool": "rm", "args": {"path": "a"}}
    assert (told["pending_ask"], told["pending_tool_approval"]) == (True, True)
    assert told["active_tier"] == "Awaiting Approval: A-1"

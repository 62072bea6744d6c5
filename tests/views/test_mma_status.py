"""The MMA status: the progress of a run in one object."""

from interlock.domain.messages.commands.attempt_commands import AskWorker
from interlock.domain.messages.commands.call_commands import EndCall, ReserveCall
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.discussion_commands import Say, StartDiscussion
from interlock.domain.messages.commands.epic_commands import PlanEpic, ProposeTracks
from interlock.domain.messages.commands.landing_commands import AskLanding
from interlock.domain.messages.commands.track_commands import AddTrack, PauseTrack, StartTrack
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.track_events import LandingStarted, TrackAdded, TrackLanded
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
    project = Bench()
    project.send(StartConductor(auto_queue=True), SYSTEM)
    project.send(AddTrack("x", "The x", "", (TicketSpec(id="T-1"), TicketSpec(id="T-2"))))
    project.send(StartTrack("x"))
    return project


def test_nothing_runs() -> None:
    assert run_status(Bench().state) == RunStatus("idle", "", (), {}, None, ())


def test_workers_with_a_call_under_way_and_without_and_those_that_wait() -> None:
    project = running()
    worker = CallOwner(track="x", ticket="T-1", attempt=1)
    project.send(ReserveCall(worker, "Tier 3", "m", 1), SYSTEM)
    now = run_status(project.state)
    assert (now.status, now.track) == ("running", {"id": "x", "title": "The x"})
    assert now.active_tiers == ("Tier 3 (Worker): T-1", "Tier 3 (Worker): T-2")
    assert [(ticket["id"], ticket["doing"]) for ticket in now.tickets] == [("T-1", "running"), ("T-2", "running")]
    project.send(EndCall("C-1", Usage(1, 2, cost=3), ""), SYSTEM)
    project.send(ReserveCall(worker, "Tier 4", "m", 1), SYSTEM)
    project.send(AskWorker("x", "T-2", 1, SPAWN, "starts"), SYSTEM, LATER)
    now = run_status(project.state)
    assert now.active_tiers == ("Tier 4 (QA): T-1", "Awaiting Approval: T-2")
    assert now.active_tier == "Awaiting Approval: T-2"
    assert now.tier_usage["Tier 3"]["cost_usd"] == 0.000003


def test_planners_and_chats_are_named_too() -> None:
    project = Bench()
    project.send(StartConductor(), SYSTEM)
    project.send(PlanEpic("goal"))
    project.send(ReserveCall(CallOwner(epic="E-1"), "Tier 1", "m", 1), SYSTEM)
    assert run_status(project.state).active_tier == "Tier 1 (Orchestrator)"
    project.send(ProposeTracks("E-1", (TrackPlan("p", "P"),)), SYSTEM)
    status = mma_status(project.state, {"k": "text"})
    assert (status["pending_tracks"], status["tracks"], status["mma_streams"]) == (True, [], {"k": "text"})
    assert [row["id"] for row in status["proposed_tracks"]] == ["p"]
    assert status["pending_approvals"] == [{"id": "A-1", "kind": "tracks", "ticket": None}]
    project.answer("A-1", "approve")
    project.send(EndCall("C-1", Usage(), ""), SYSTEM)
    project.send(ReserveCall(CallOwner(track="p"), "Tier 2", "m", 1), SYSTEM)
    assert run_status(project.state).active_tiers == ("Tier 2 (Tech Lead)",)
    project.send(EndCall("C-2", Usage(), ""), SYSTEM)
    project.send(StartDiscussion("why"))
    project.send(Say("D-1", Blob("a" * 64, 1), Blob("b" * 64, 1)))
    project.send(ReserveCall(CallOwner(discussion="D-1"), "Discussion", "m", 1), SYSTEM)
    assert run_status(project.state).active_tiers == ("Discussion: D-1",)


def test_a_chosen_track_is_shown_and_one_that_only_waits_counts_as_active() -> None:
    project = running()
    project.send(AddTrack("y", "The y", "", ()))
    assert run_status(project.state, "y").track == {"id": "y", "title": "The y"}
    project.send(StartTrack("y"))
    assert mma_status(project.state, {})["active_track"] == "x"
    project.send(AskLanding("y", MergePayload("main", "b", "c", "diff")), "human:ada")
    assert run_status(project.state).active_tiers[0] == "Awaiting Approval: y"
    assert mma_status(project.state, {})["pending_merge"]
    project.send(PauseTrack("x"))
    assert mma_status(project.state, {})["active_track"] == "x"


def test_a_landing_that_has_begun_is_named_until_it_has_ended() -> None:
    begun = (TrackAdded("y", "Y", ""), LandingStarted("y", "main", "b", "c"))
    status = mma_status(given(*begun), {})
    sentence = "the landing of track y on main is not finished: it is under way or was interrupted"
    assert (status["mma_status"], status["unfinished_landings"]) == ("landing", [sentence])
    ended = mma_status(given(*begun, TrackLanded("y", "c", "your versions are kept")), {})
    assert (ended["mma_status"], ended["unfinished_landings"]) == ("idle", [])


def test_the_oldest_ask_is_shown_with_its_arguments() -> None:
    payload = ToolPayload("c", "rm", '{"path": "a"}', "", "Remove", 0, "", "/w")
    asked = ApprovalRequested(
        approval="A-1", kind="ask", asker="program", track="", payload=payload, digest=digest(payload)
    )
    status = mma_status(given(asked), {})
    assert status["ask"] == {"id": "A-1", "tool": "rm", "args": {"path": "a"}}
    assert (status["pending_ask"], status["pending_tool_approval"]) == (True, True)
    assert status["active_tier"] == "Awaiting Approval: A-1"

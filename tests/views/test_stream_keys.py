"""Keys of streams: short where they are unique, with the track or epic where they would be mixed."""

from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.epic_commands import PlanEpic, ProposeTracks
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import TicketSpec
from interlock.views.mma_status import run_status, state_update
from interlock.views.stream_keys import stream_key, ticket_name
from tests.domain.given import SYSTEM, Bench


def two_tracks() -> Bench:
    project = Bench()
    project.send(AddTrack("alpha", "A", "", (TicketSpec(id="T-001"),)))
    project.send(AddTrack("beta", "B", "", (TicketSpec(id="T-001"), TicketSpec(id="T-002"))))
    return project


def test_a_ticket_of_two_tracks_has_two_keys_and_the_first_stays_short() -> None:
    state = two_tracks().state
    keys = [stream_key(state, CallOwner(track=track, ticket="T-001"), "Tier 3") for track in ("alpha", "beta")]
    assert keys == ["Tier 3 (Worker): T-001", "Tier 3 (Worker): beta/T-001"]
    assert stream_key(state, CallOwner(track="beta", ticket="T-001"), "Tier 4") == "Tier 4 (QA): beta/T-001"
    assert ticket_name(state, "beta", "T-002") == "T-002"
    assert ticket_name(state, "gone", "T-009") == "T-009"


def test_active_tiers_use_the_same_keys() -> None:
    project = two_tracks()
    project.send(StartConductor(auto_queue=True), SYSTEM)
    for track in ("alpha", "beta"):
        project.send(StartTrack(track))
    assert run_status(project.state).active_tiers == (
        "Tier 3 (Worker): T-001",
        "Tier 3 (Worker): T-002",
        "Tier 3 (Worker): beta/T-001",
    )
    project = two_tracks()
    project.send(StartConductor(), SYSTEM)
    project.send(StartTrack("beta"))
    assert run_status(project.state).active_tiers == ("Awaiting Approval: T-002", "Awaiting Approval: beta/T-001")
    assert [line["id"] for line in state_update(project.state, {})["pending_approvals"]] == ["A-1", "A-2"]


def test_each_planned_track_and_each_epic_has_its_own_key() -> None:
    project = Bench()
    project.send(StartConductor(), SYSTEM)
    project.send(PlanEpic("one"))
    project.send(PlanEpic("two"))
    project.send(ProposeTracks("E-1", (TrackPlan("p", "P"), TrackPlan("q", "Q"))), SYSTEM)
    project.answer("A-1", "approve")
    state = project.state
    assert [stream_key(state, CallOwner(track=track), "Tier 2") for track in "pq"] == [
        "Tier 2 (Tech Lead)",
        "Tier 2 (Tech Lead): q",
    ]
    assert [stream_key(state, CallOwner(epic=epic), "Tier 1") for epic in ("E-1", "E-2")] == [
        "Tier 1 (Orchestrator)",
        "Tier 1 (Orchestrator): E-2",
    ]
    assert stream_key(state, CallOwner(discussion="D-1"), "Discussion") == "Discussion: D-1"

"""Pending approvals are ordered by what they hold up, and say why."""

from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.messages.commands.conductor_commands import Recover
from interlock.domain.messages.commands.ticket_commands import CancelTicket
from interlock.domain.messages.commands.track_commands import AddTrack, PauseTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.state.state import State
from interlock.domain.values.approvals import (
    Approval,
    GatePayload,
    MergePayload,
    Payload,
    ScriptPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    UnknownPayload,
    digest,
)
from interlock.domain.values.epics import TrackPlan
from interlock.views.outlook.urgency import Urgency, by_urgency, most_urgent_first, ordered_approvals, urgencies
from tests.domain.given import AT, SCRIPT, Bench, bench, shell


def chain(workers: int = 4) -> Bench:
    """A holds up a chain of three, B one ticket, C nothing; each waits for an answer."""
    project = bench(
        shell("C"),
        shell("B"),
        shell("A"),
        shell("A1", "A"),
        shell("A2", "A1"),
        shell("A3", "A2", "A1"),
        shell("B1", "B", "A"),
        workers=workers,
    )
    for name in ("C", "B", "A"):
        project.asked(name)
    return project


def asked(payload: Payload, **more: object) -> Approval:
    kind = str(payload.__struct_config__.tag)
    return Approval(
        id=f"A-{len(str(more)) + 90}",
        kind=kind,  # pyright: ignore[reportArgumentType]
        asker="x",
        track="x",
        payload=payload,
        digest=digest(payload),
        requested_at=AT,
        **more,  # pyright: ignore[reportArgumentType]
    )


def reasons(state: State) -> list[tuple[str | None, str]]:
    return [(approval.ticket, one.reason) for approval, one in most_urgent_first(state)]


def test_what_holds_up_most_comes_first_with_the_reason() -> None:
    assert reasons(chain().state) == [
        ("A", "holds up 4 tickets, 4 workers idle"),
        ("B", "holds up 1 ticket, 4 workers idle"),
        ("C", ""),
    ]


def test_without_an_idle_worker_only_the_tickets_count() -> None:
    project = bench(shell("A"), shell("B"), shell("C"), shell("A1", "A"), workers=2)
    project.asked("A")
    assert reasons(project.state) == [("A", "holds up 1 ticket")]
    assert [one.idle for _, one in most_urgent_first(project.state)] == [0]
    project.send(Recover("it ended"), SYSTEM)
    assert not project.state.conductor.on
    assert {one.idle for _, one in most_urgent_first(project.state)} <= {0}


def test_a_longer_chain_outweighs_as_many_tickets_side_by_side() -> None:
    tickets = [shell("wide"), shell("long"), *(shell(f"w{n}", "wide") for n in range(3))]
    tickets += [shell("l0", "long"), shell("l1", "l0"), shell("l2", "l1")]
    project = bench(*tickets)
    project.asked("wide")
    project.asked("long")
    (first, one), (_, other) = most_urgent_first(project.state)
    assert (first.ticket, one.holds, one.path, other.holds, other.path) == ("long", 3, 3, 3, 1)


def test_a_track_that_does_not_run_holds_up_nothing() -> None:
    project = chain()
    project.send(PauseTrack("x"))
    assert reasons(project.state) == [("C", ""), ("B", ""), ("A", "")]


def test_among_equals_a_deadline_then_risk_then_age_decides() -> None:
    state = bench(shell("A")).state
    plain = asked(SCRIPT)
    step = asked(StepPayload("", "shell"), why="later")
    risky = asked(replace(SCRIPT, network=True), asked_by="rule")
    late, soon = asked(SCRIPT, deadline="2026-01-03"), asked(SCRIPT, deadline="2026-01-02", discussion="D-1")
    approvals = (plain, step, risky, late, soon)
    ordered = by_urgency(approvals, urgencies(state, approvals))
    assert ordered == (soon, late, risky, plain, step)


def test_what_needs_care_is_named() -> None:
    state = bench(shell("A")).state
    gate = GatePayload(0, "make", 1, 2, "")
    expected = {
        "network": ScriptPayload("curl", "/", (), "bubblewrap", network=True),
        "changed tests": replace(gate, files=("tests/a.py@1",)),
        "new packages": replace(gate, packages="key"),
        "lasting": MergePayload("main", "a", "b", ""),
        "unknown outcome": UnknownPayload("a merge", "did it happen?"),
        "": gate,
    }
    fetch = ToolPayload("c", "fetch_url", "{}", "ab", "Fetch it", 0, "", "/w", hosts=("a.b",))
    for risk, payload in (*expected.items(), ("network", fetch), ("", replace(fetch, hosts=UNSET))):
        approval = asked(payload)
        assert urgencies(state, (approval,))[approval.id] == Urgency(0, 0, 3, risk, risk)


def test_a_plan_holds_up_its_tracks_and_a_chat_changes_the_users_files() -> None:
    state = bench(shell("A")).state
    plan = asked(TracksPayload("E-1", "all", (TrackPlan("a", "A", ""), TrackPlan("b", "B", ""))))
    chat = asked(SCRIPT, discussion="D-1")
    found = urgencies(state, (plan, chat))
    assert found[plan.id] == Urgency(2, 1, 3, "", "holds up 2 tracks, 3 workers idle")
    assert found[chat.id].reason == "lasting"


def test_pages_are_cut_from_the_whole_order_and_others_have_no_urgency() -> None:
    project = chain()
    project.answer("A-1", "reject")
    state = project.state
    names = {order: [a.ticket for a in ordered_approvals(state, "pending", order)[0]] for order in ("age", "urgency")}
    assert names == {"age": ["B", "A"], "urgency": ["A", "B"]}
    page, urgency = ordered_approvals(state, "pending", "urgency", 1, 1)
    assert ([a.ticket for a in page], set(urgency)) == (["B"], {page[0].id})
    page, urgency = ordered_approvals(state, "all", "urgency")
    assert ([a.id for a in page], set(urgency)) == (["A-1", "A-2", "A-3"], {"A-2", "A-3"})


def test_a_cancelled_ticket_is_not_held_up() -> None:
    project = chain()
    project.send(CancelTicket("x", "A3", "not needed"))
    assert reasons(project.state)[0] == ("A", "holds up 3 tickets, 4 workers idle")


def test_approvals_of_two_tracks_are_compared() -> None:
    project = chain()
    project.send(AddTrack("y", "Y", "", (shell("Z"),)))
    project.send(StartTrack("y"))
    assert len(reasons(project.state)) == 3

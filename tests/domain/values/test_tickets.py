"""A person's commands about single tickets: every status transition, edits and bulks."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from interlock.domain.facts.evolve import evolve
from interlock.domain.messages.commands.attempt_commands import FailWork, FinishMerge, RedoAttempt, ReportGate
from interlock.domain.messages.commands.command import Bulk, Command
from interlock.domain.messages.commands.conductor_commands import StopConductor
from interlock.domain.messages.commands.ticket_commands import (
    BlockTicket,
    CancelTicket,
    EditTicket,
    KillWorker,
    MoveTicket,
    RetryTicket,
    SkipTicket,
    TicketChanges,
)
from interlock.domain.messages.commands.track_commands import AbortTrack, PauseTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM, Recorded
from interlock.domain.messages.events.approval_events import ApprovalWithdrawn
from interlock.domain.messages.events.attempt_events import TicketStarted
from interlock.domain.messages.events.ticket_events import (
    TicketBlocked,
    TicketCancelled,
    TicketEdited,
    TicketMoved,
    TicketReopened,
    TicketSkipped,
)
from interlock.domain.messages.events.track_events import TrackEnded, TrackStarted
from interlock.domain.rules.decide import decide
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import (
    Asking,
    Blocked,
    Cancelled,
    Completed,
    Escalated,
    Grant,
    Merging,
    Queued,
    Ticket,
    Todo,
    Verifying,
    Working,
)
from interlock.errors import Rejected
from tests.domain.given import ADA, AT, FAIL, SAVED, Bench, bench, shell, when

GATE = Gate("true", max_attempts=1)


def todo() -> Bench:
    return bench(shell("T"), shell("U"), start=False)


def asked() -> Bench:
    return bench(shell("T", step_mode=True), shell("U"))


def working() -> Bench:
    return bench(shell("T"), shell("U"))


def asking() -> Bench:
    project = working()
    project.asked("T")
    return project


def queued() -> Bench:
    project = bench(shell("T"), shell("U"), workers=1)
    approval = project.asked("T")  # U occupies the only worker
    project.answer(approval, "approve")
    return project


def verifying() -> Bench:
    project = bench(shell("T", verify=[GATE]), shell("U"))
    project.submit("T")
    return project


def escalated() -> Bench:
    project = verifying()
    project.send(ReportGate("x", "T", 1, 0, FAIL), SYSTEM)
    return project


def merging() -> Bench:
    project = working()
    project.submit("T")
    return project


def completed() -> Bench:
    project = merging()
    project.send(FinishMerge("x", "T", 1, "c"), SYSTEM)
    return project


def blocked() -> Bench:
    project = working()
    project.send(FailWork("x", "T", 1, "broken"), SYSTEM)
    return project


def cancelled() -> Bench:
    project = working()
    project.send(CancelTicket("x", "T"))
    return project


IN_PROGRESS = (working, asking, queued, verifying, escalated)
OPEN = (todo, asked, *IN_PROGRESS)
SETUPS: tuple[Callable[[], Bench], ...] = (*OPEN, merging, completed, blocked, cancelled)
COMMANDS: dict[str, tuple[Command, tuple[Callable[[], Bench], ...], str]] = {
    # name: the command, the setups in which it is legal, the status after it
    "skip": (SkipTicket("x", "T"), (*OPEN, blocked), "completed"),
    "retry": (RetryTicket("x", "T"), (blocked,), "todo"),
    "block": (BlockTicket("x", "T", "later"), OPEN, "blocked"),
    "cancel": (CancelTicket("x", "T"), (*OPEN, blocked), "cancelled"),
    "kill": (KillWorker("x", "T"), IN_PROGRESS, "blocked"),
    "edit": (EditTicket("x", "T", TicketChanges(description="new")), (todo, asked, blocked), ""),
}


def test_each_setup_is_at_its_own_stage() -> None:
    stages = [type(setup().ticket("T").stage) for setup in SETUPS]
    assert stages == [
        Todo, Todo, Working, Asking, Queued, Verifying, Escalated, Merging, Completed, Blocked, Cancelled
    ]  # fmt: skip


@pytest.mark.parametrize("word", COMMANDS)
@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.__name__)
def test_a_transition_happens_if_it_is_legal_and_is_refused_with_the_reason_if_not(
    setup: Callable[[], Bench], word: str
) -> None:
    command, legal, status = COMMANDS[word]
    project = setup()
    before = project.ticket("T")
    if setup in legal:
        project.send(PauseTrack("x"))  # so that no ticket starts automatically
        project.send(command)
        assert project.ticket("T").status == (status or before.status)
        waiting = [approval for approval in project.state.pending_approvals() if approval.ticket == "T"]
        assert waiting == [], "its approval request is withdrawn"
        return
    with pytest.raises(Rejected) as refused:
        project.send(command)
    assert repr("x/T") in str(refused.value)
    assert project.ticket("T") == before


def test_a_refusal_says_what_is_and_what_would_be_possible() -> None:
    cases: tuple[tuple[Callable[[], Bench], Command, str], ...] = (
        (completed, SkipTicket("x", "T"), "cannot be skipped: completed -> completed is not possible,"),
        (completed, SkipTicket("x", "T"), "is not possible, only todo or in_progress or blocked -> completed"),
        (
            blocked,
            BlockTicket("x", "T", ""),
            "cannot be blocked: blocked (broken) -> blocked is not possible, only todo or",
        ),
        (todo, RetryTicket("x", "T"), "cannot be retried: todo -> todo is not possible, only blocked -> todo"),
        (merging, CancelTicket("x", "T"), "is being merged and cannot be cancelled now"),
        (merging, KillWorker("x", "T"), "is being merged; there is no worker left to kill"),
        (todo, KillWorker("x", "T"), "no worker is on ticket 'x/T': it is todo"),
        (working, COMMANDS["edit"][0], "is in_progress; a ticket can be edited until it starts"),
    )
    for setup, command, problem in cases:
        with pytest.raises(Rejected) as refused:
            setup().send(command)
        assert problem in str(refused.value)


def test_only_todo_working_gives_in_progress_and_only_that_completes() -> None:
    """todo → in_progress → completed, in_progress → todo (a new attempt)."""
    project = working()
    assert project.ticket("T").status == "in_progress"
    project.send(PauseTrack("x"))
    project.send(RedoAttempt("x", "T", 1, "conflict"), SYSTEM)
    assert project.ticket("T") == Ticket(
        track="x", spec=shell("T"), stage=Todo(cleared=True), attempts=1, created_at=AT, started_at=AT, why="conflict"
    )


def test_skipping_completes_unverified_and_lets_dependants_start() -> None:
    project = bench(shell("T"), shell("U", "T"), workers=1)
    assert project.send(SkipTicket("x", "T")) == (TicketSkipped("x", "T"), TicketStarted("x", "U", 1))
    assert project.ticket("T") == Ticket(
        track="x",
        spec=shell("T"),
        stage=Completed(),
        attempts=1,
        created_at=AT,
        started_at=AT,
        finished_at=AT,
        result="skipped",
        unverified=True,
    )


def test_retrying_opens_a_blocked_ticket_and_its_ended_track() -> None:
    project = bench(shell("T"))
    assert project.send(FailWork("x", "T", 1, "broken"), SYSTEM) == (
        TicketBlocked("x", "T", "broken", failed=True),
        TrackEnded("x", "blocked"),
    )
    assert project.send(RetryTicket("x", "T")) == (
        TicketReopened("x", "T"),
        TrackStarted("x"),
        TicketStarted("x", "T", 2),
    )


def test_a_ticket_of_an_aborted_track_is_not_retried() -> None:
    project = bench(shell("T"))
    project.send(AbortTrack("x"))
    state = evolve(project.state, Recorded(project.state.version + 1, AT, SYSTEM, "c", TicketBlocked("x", "T", "late")))
    with pytest.raises(Rejected, match="track 'x' is aborted"):
        decide(state, when(RetryTicket("x", "T")))


def test_cancelling_leaves_dependants_todo_and_the_track_ends_blocked() -> None:
    project = bench(shell("T"), shell("U", "T"))
    assert project.send(CancelTicket("x", "T", "not needed")) == (
        TicketCancelled("x", "T", "not needed"),
        TrackEnded("x", "blocked"),
    )
    assert (project.ticket("T").stage, project.ticket("U").stage) == (Cancelled("not needed"), Todo())


def test_blocking_keeps_the_reason_and_takes_the_question_back() -> None:
    project = asked()
    assert project.send(BlockTicket("x", "T", "  ")) == (
        ApprovalWithdrawn("A-1", "the ticket was blocked"),
        TicketBlocked("x", "T", "blocked by the user"),
    )
    assert project.ticket("T").blocked_reason == "blocked by the user"
    assert project.ticket("U").blocked_reason is None


def test_killing_names_its_actor() -> None:
    project = asking()
    assert project.send(KillWorker("x", "T")) == (
        ApprovalWithdrawn("A-1", "the worker was killed"),
        TicketBlocked("x", "T", "worker killed by human:ada; retry starts a new attempt"),
    )


def test_an_edit_replaces_only_what_it_names_and_asks_again() -> None:
    project = asked()
    edited = shell("T", step_mode=True)
    events = project.send(EditTicket("x", "T", TicketChanges(description="better", priority="high")))
    assert events[:2] == (
        ApprovalWithdrawn("A-1", "the ticket was edited"),
        TicketEdited("x", _with(edited, description="better", priority="high")),
    )
    assert project.ticket("T").stage == Todo(asked="A-2")


def test_an_edit_of_a_blocked_ticket_leaves_it_blocked() -> None:
    project = blocked()
    project.send(EditTicket("x", "T", TicketChanges(script="make all")))
    assert project.ticket("T") == Ticket(
        track="x",
        spec=_with(shell("T"), script="make all"),
        stage=Blocked("broken", failed=True),
        attempts=1,
        created_at=AT,
        started_at=AT,
        finished_at=AT,
    )


def test_an_edit_revokes_the_approval_of_the_old_text() -> None:
    project = working()
    project.answer(project.asked("T"), "approve", edited="make it")
    project.send(PauseTrack("x"))
    project.send(StopConductor(), SYSTEM)
    assert project.ticket("T").grant is not None, "a lost attempt keeps its approval"
    project.send(EditTicket("x", "T", TicketChanges(script="make something else")))
    assert project.ticket("T").grant is None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (TicketChanges(), "the edit changes nothing"),
        (TicketChanges(script=None), "ticket 'T' is assigned to 'shell' and needs a 'script'"),
        (TicketChanges(script=" "), "ticket 'T' is assigned to 'shell' and needs a 'script'"),
        (
            TicketChanges(assigned_to="tier3-worker"),
            "ticket 'T' has a 'script' but is assigned to 'tier3-worker', not to 'shell'",
        ),
        (TicketChanges(depends_on=("T",)), "the tickets depend on one another: T -> T"),
        (TicketChanges(depends_on=("U",)), "the tickets depend on one another: T -> U -> T"),
        (TicketChanges(depends_on=("V",)), "ticket 'T' depends on 'V', which does not exist"),
        (
            TicketChanges(verify=(Gate("x", max_attempts=0),)),
            "ticket 'T': max_attempts of a gate is at least 1, not 0",
        ),
        (
            TicketChanges(verify=(Gate("x", timeout_s=float("inf")),)),
            "ticket 'T': timeout_s of a gate is a number of seconds",
        ),
    ],
)
def test_an_edit_that_makes_no_sense_is_refused(changes: TicketChanges, problem: str) -> None:
    project = bench(shell("T"), shell("U", "T"), start=False)
    with pytest.raises(Rejected) as refused:
        project.send(EditTicket("x", "T", changes))
    assert str(refused.value) == problem


def test_an_edit_that_frees_a_ticket_wakes_its_ended_track() -> None:
    project = bench(shell("T"), shell("U", "T"))
    project.send(CancelTicket("x", "T"))
    assert project.track().status == "blocked"
    assert project.send(EditTicket("x", "U", TicketChanges(depends_on=()))) == (
        TicketEdited("x", shell("U")),
        TrackStarted("x"),
        TicketStarted("x", "U", 1),
    )


def test_seconds_are_kept_as_the_journal_reads_them() -> None:
    project = bench(shell("T", verify=[Gate("a", timeout_s=30), Gate("b")]), start=False)
    assert [repr(gate.timeout_s) for gate in project.ticket("T").spec.verify] == ["30.0", "None"]


def test_a_repeated_dependency_counts_once() -> None:
    project = bench(shell("T"), shell("U", "T", "T"))
    assert project.ticket("U").spec.depends_on == ("T",)
    project.submit("T", saved=None)
    assert project.ticket("U").status == "in_progress"


@pytest.mark.parametrize(
    ("ticket", "position", "order"),
    [("c", 0, "cab"), ("a", 1, "bac"), ("a", -5, "abc"), ("c", 99, "abc"), ("b", 2, "acb")],
)
def test_a_ticket_can_be_moved(ticket: str, position: int, order: str) -> None:
    project = bench(shell("a"), shell("b"), shell("c"), start=False)
    events = project.send(MoveTicket("x", ticket, position))
    assert project.track().order == tuple(order)
    assert events == (() if order == "abc" else (TicketMoved("x", ticket, position),))


def test_a_ticket_is_never_moved_before_its_dependency_or_after_a_dependant() -> None:
    project = bench(shell("a"), shell("b", "a"), shell("c"), *(shell(f"d{n}", "a") for n in range(6)), start=False)
    for command, problem in (
        (MoveTicket("x", "b", 0), "ticket 'b' cannot come before 'a', which it depends on"),
        (MoveTicket("x", "a", 1), "ticket 'a' cannot come after 'b', which depends on it"),
        (
            MoveTicket("x", "a", 9),
            "ticket 'a' cannot come after 'b', 'd0', 'd1', 'd2', 'd3' and 2 more, which depends on it",
        ),
    ):
        with pytest.raises(Rejected) as refused:
            project.send(command)
        assert str(refused.value) == problem


def test_priority_comes_before_order() -> None:
    project = bench(
        shell("a"),
        _with(shell("b"), priority="low"),
        _with(shell("c"), priority="high"),
        shell("d"),
        workers=1,
        start=False,
    )
    project.send(MoveTicket("x", "d", 0))
    started: list[str] = []
    project.send(StartTrack("x"))
    while busy := [name for name in project.track().order if project.ticket(name).status == "in_progress"]:
        started += busy
        project.submit(busy[0], saved=None)
    assert started == ["c", "d", "a", "b"]


def test_a_bulk_operation_is_all_or_nothing() -> None:
    project = bench(shell("T"), shell("U"), start=False)
    before = project.state
    with pytest.raises(Rejected, match="'x/T' cannot be blocked: cancelled -> blocked"):
        project.send(Bulk((CancelTicket("x", "T"), BlockTicket("x", "U", "why"), BlockTicket("x", "T", "why"))))
    assert project.state is before
    events = project.send(Bulk((CancelTicket("x", "T"), BlockTicket("x", "U", "why"))))
    assert events == (TicketCancelled("x", "T", "cancelled"), TicketBlocked("x", "U", "why"))
    assert {record.cause for record in project.records[-2:]} == {"s"}


def test_an_empty_bulk_operation_is_refused() -> None:
    with pytest.raises(Rejected, match="the bulk operation is empty"):
        todo().send(Bulk(()))
    with pytest.raises(Rejected, match="decided part by part"):
        decide(todo().state, when(Bulk((SkipTicket("x", "T"),))))


def test_an_unknown_ticket_or_track_is_answered_with_the_nearest() -> None:
    project = bench(shell("login"), shell("logout"), start=False)
    for command, problem in (
        (SkipTicket("x", "logn"), "no ticket 'logn' in track 'x'; did you mean 'login' or 'logout'?"),
        (SkipTicket("x", "zzz"), "no ticket 'zzz' in track 'x'"),
        (SkipTicket("xx", "login"), "no track 'xx'; did you mean 'x'?"),
        (SkipTicket("nope", "login"), "no track 'nope'"),
    ):
        with pytest.raises(Rejected) as refused:
            project.send(command, ADA)
        assert str(refused.value) == problem


def test_an_unused_approval_is_on_the_ticket() -> None:
    project = queued()
    assert project.ticket("T").grant == Grant("A-1", project.approval("A-1").digest)
    assert project.ticket("T").stage == Queued(Working())
    assert isinstance(verifying().ticket("T").stage, Verifying)
    assert merging().ticket("T").stage == Merging(SAVED, unverified=True)


def _with(spec: Any, **changes: Any) -> Any:
    return replace(spec, **changes)

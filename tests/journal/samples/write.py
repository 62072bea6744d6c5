"""Writes this version's sample journal, which every later version must read and replay.

    .venv/bin/python -m tests.journal.samples.write            the rows of this version, and the state they give
    .venv/bin/python -m tests.journal.samples.write --states   only the states, after the checkpoint's shape changed

Run the first before a release and commit both files; a released `<version>.jsonl` is never written again.
"""

import sys
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from interlock import wire
from interlock.domain.messages.commands.approval_commands import AnswerApproval, AnswerApprovals
from interlock.domain.messages.commands.attempt_commands import (
    AskReview,
    AskScript,
    AskWorker,
    BeginTool,
    FailWork,
    FinishMerge,
    FinishTool,
    FinishTurn,
    RedoAttempt,
    ReportGate,
    StartSession,
    SubmitParts,
    SubmitWork,
)
from interlock.domain.messages.commands.call_commands import EndCall, ReserveCall
from interlock.domain.messages.commands.command import Bulk, Command
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor, StopConductor
from interlock.domain.messages.commands.discussion_commands import (
    AskInDiscussion,
    BeginDiscussionTool,
    EndTurn,
    FinishDiscussionTool,
    ReplyInDiscussion,
    Say,
    StartDiscussion,
)
from interlock.domain.messages.commands.epic_commands import (
    DropEpic,
    FailPlanning,
    FinishPlanning,
    PlanEpic,
    PlanTickets,
    ProposeTracks,
)
from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding
from interlock.domain.messages.commands.steering_commands import Hear, SetAutonomy, Tell
from interlock.domain.messages.commands.test_history_commands import ForgetTests, RecordTests
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
from interlock.domain.messages.commands.track_commands import (
    AbortTrack,
    AddTickets,
    AddTrack,
    EditTrack,
    PauseTrack,
    ResumeTrack,
    StartTrack,
)
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.values.answer_sets import Seen
from interlock.domain.values.approvals import (
    Comment,
    LandedTicket,
    MergePayload,
    ReviewFile,
    ReviewPayload,
    SpawnPayload,
    ToolPayload,
)
from interlock.domain.values.budgets import Caps, Usage
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob, Gate, GateDefaults, GateInputs, GateResult, NewPackages, Reused
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.test_history import Assertion, Execution, SuiteReport
from interlock.domain.values.tickets import Saved, TicketSpec
from interlock.journal.reading import JournalReader, stored_lines
from interlock.journal.sqlite import SqliteJournal
from interlock.version import VERSION
from tests.domain.given import ADA, FAIL, PASS, SAVED, SCRIPT, Bench
from tests.journal.stored import SAMPLES, read_sample, replayed

TICKETS = (
    TicketSpec(
        id="T-001",
        description="Lay the track\nwith käse and 線路",
        assigned_to="shell",
        script="make track",
        target_file="src/track.py",
        context_requirements=("docs/a.md", "docs/b.md"),
        verify=(
            Gate("make test", preset="fast"),
            Gate("make lint", max_attempts=1, timeout_s=12.5, loop=True, cwd="web", env={"CI": "1"}),
        ),
        priority="high",
    ),
    TicketSpec(id="T-002", assigned_to="shell", script="true", depends_on=("T-001",), step_mode=True),
    TicketSpec(id="T-003", assigned_to="shell", script="echo 3", priority="low", model_override="some-model"),
    TicketSpec(id="T-004", assigned_to="shell", script="echo 4", depends_on=("T-003",)),
)
WHOLE = GateResult(
    status="timed_out",
    exit_code=-1,
    command="make lint",
    duration_ms=12_500,
    stdout="so far",
    stderr="…",
    explanation="it took longer than 12.5 s",
    stdout_blob=Blob("ab" * 32, 70_000),
    tools=("python 3.11.7 (yours: 3.12.1)",),
)
BESIDE_SERVICE = replace(SCRIPT, services=("db: postgres, port 5432",))
NOT_INSTALLED = GateResult(
    status="error",
    exit_code=-1,
    command="make lint",
    duration_ms=0,
    stdout="+milk",
    explanation="nobody has accepted its packages",
    packages=NewPackages("0c" * 20, ("package.json",), ("npm ci",)),
)


class _Story(Bench):
    """Sends each command one second after the previous one."""

    def __init__(self) -> None:
        super().__init__()
        self._seconds = count()

    def tell(self, command: Command, by: str = SYSTEM) -> None:
        second = next(self._seconds)
        self.send(command, by, f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}.000000Z")

    def attempt(self, ticket: str) -> tuple[str, str, int]:
        return "rail", ticket, self.ticket(ticket, "rail").attempts


def story() -> Bench:
    """A run with every kind of event."""
    run = _Story()
    tell, at = run.tell, run.attempt
    tell(AddTrack("rail", "The rail", "From here to there", TICKETS), ADA)
    tell(AddTickets("rail", (TicketSpec(id="T-005", depends_on=("T-004",)), TicketSpec(id="T-006"))), ADA)
    tell(MoveTicket("rail", "T-003", 0), ADA)
    tell(EditTrack("rail", "The long rail"), ADA)
    tell(EditTicket("rail", "T-004", TicketChanges(description="Four", priority="low")), ADA)
    tell(StartConductor(3, True, False, GateDefaults(2, 60.0)))
    tell(StartTrack("rail"), ADA)
    tell(
        AskScript(
            *at("T-001"),
            BESIDE_SERVICE,
            "no rule allows it",
            "2026-02-01T00:00:00.000000Z",
        )
    )
    tell(AnswerApproval("A-1", "approve", "make track FAST=1"), ADA)
    tell(Recover("the machine went down"))
    tell(StartConductor(3, True, False, GateDefaults(2, 60.0)))
    tell(SubmitWork(*at("T-001"), SAVED, "done"))
    tell(ReportGate(*at("T-001"), 0, PASS, "tree-2"))
    tell(Recover("and again"))
    tell(StartConductor(3, True, False, GateDefaults(2, 60.0)))
    tell(ReportGate(*at("T-001"), 1, WHOLE, "tree-2", "## it failed"))
    tell(AnswerApproval("A-2", "retry"), ADA)
    tell(ReportGate(*at("T-001"), 1, NOT_INSTALLED, "tree-2"))
    tell(AnswerApproval("A-3", "retry"), ADA)
    tell(ReportGate(*at("T-001"), 1, FAIL, "tree-2", "## it failed"))
    tell(AnswerApproval("A-4", "skip"), ADA)
    tell(RedoAttempt(*at("T-001"), "conflict in src/track.py"))
    tell(KillWorker("rail", "T-001"), ADA)
    tell(Bulk((RetryTicket("rail", "T-001"), BlockTicket("rail", "T-006", "not yet"))), ADA)
    tell(SkipTicket("rail", "T-001"), ADA)
    tell(PauseTrack("rail"), ADA)
    tell(ResumeTrack("rail"), ADA)
    tell(SubmitWork(*at("T-003"), summary="nothing to do"))
    tell(AnswerApproval("A-5", "reject", message="let us see first"), ADA)
    tell(SubmitWork(*at("T-004"), SAVED, "done"))
    tell(FinishMerge(*at("T-004"), "merged-4"))
    tell(FailWork(*at("T-005"), "the script failed with exit code 3", output=Blob("ef" * 32, 120)))
    for name in ("T-002", "T-005", "T-006"):
        tell(SkipTicket("rail", name), ADA)
    payload = MergePayload("main", "b4", "af", "diff --git", Blob("cd" * 32, 5000))
    for outcome in (FailLanding("rail", "the tree is dirty"), FinishLanding("rail", "af")):
        tell(AskLanding("rail", payload), ADA)
        tell(AnswerApproval(f"A-{len(run.state.approvals)}", "approve"), ADA)
        tell(outcome)
    tell(AddTrack("siding", "A siding", "", (TicketSpec(id="a", step_mode=True), TicketSpec(id="b"))), ADA)
    tell(StartTrack("siding"), ADA)
    b = ("siding", "b", 1)
    tell(AskWorker(*b, SpawnPayload("tier3-worker", "scripted", "Do b", "## b.py"), "a worker is about to start"))
    tell(AnswerApproval(f"A-{len(run.state.approvals)}", "approve", "Do b well"), ADA)
    tell(StartSession(*b, Blob("01" * 32, 10)))
    tell(Tell("Mind the names.", b[0], b[1]), ADA)
    tell(Hear(CallOwner(track=b[0], ticket=b[1], attempt=b[2]), Blob("0a" * 32, 30)))
    tell(FinishTurn(*b, Blob("02" * 32, 20), "Tier 3", "scripted", Usage(100, 20, 5, 6, 7)))
    tell(AskWorker(*b, ToolPayload("c-1", "edit_file", "{}", "ee" * 32, "edit b.py", 2, "+b", "/w"), "no rule"))
    tell(AnswerApproval(f"A-{len(run.state.approvals)}", "approve", hunks=(2,)), ADA)
    tell(FinishTool(*b, Blob("03" * 32, 30), "edit_file", False, f"A-{len(run.state.approvals)}"))
    tell(BeginTool(*b, "c-2", "fetch_url", "Fetch https://docs.example.org/", "policy:docs"))
    tell(FinishTool(*b, Blob("04" * 32, 30), "fetch_url", False, "policy:docs"))
    tell(CancelTicket("siding", "b"), ADA)
    tell(AbortTrack("siding", "not needed"), ADA)
    _reviews(run)
    _epics(run)
    _discussions(run)
    _many_answers(run)
    _tests(run)
    tell(StopConductor("that was all"))
    return run


def _reviews(run: _Story) -> None:
    """Autonomy, a review with accepted parts and one with changes, and a landing that is returned twice."""
    tell = run.tell
    tell(StartConductor(3, True, False, GateDefaults(2, 60.0), autonomy="review", contained=True))
    checked = TicketSpec(id="q", assigned_to="shell", script="make", verify=(Gate("make test"),))
    tell(AddTrack("yard", "The yard", "", (TicketSpec(id="r"), checked)), ADA)
    tell(SetAutonomy("land", "yard"), ADA)
    tell(SetAutonomy(None, "yard"), ADA)
    tell(StartTrack("yard"), ADA)
    q = ("yard", "q", 1)
    tell(SetAutonomy("land", "yard", "q"), ADA)
    tell(AskScript(*q, SCRIPT, "no rule allows it"))
    tell(SubmitWork(*q, SAVED, "done"))
    tell(ReportGate(*q, 0, replace(PASS, inputs=GateInputs("run", "tools")), SAVED.tree))
    rests_on = Reused("yard", "q", 1, run.state.version, run.records[-1].at, 1)
    tell(ReportGate(*q, 0, replace(PASS, reused=rests_on), "tree-of-both"))
    tell(FinishMerge(*q, "merged-q"))
    r = ("yard", "r", 1)
    tell(AskWorker(*r, ToolPayload("c-2", "write_file", "{}", "ee" * 32, "create r.py", 1, "+r", "/w"), "no rule"))
    tell(SubmitWork(*r, SAVED, "done"))
    review = ReviewPayload(SAVED.base, SAVED.commit, SAVED.tree, "+r", files=(ReviewFile("r.py", 1, 0),), parts=2)
    tell(AskReview(*r, review))
    changes = AnswerApproval(f"A-{len(run.state.approvals)}", "changes", comments=(Comment("r.py", "why?", 1),))
    tell(changes, ADA)
    tell(Hear(CallOwner(track="yard", ticket="r", attempt=1), Blob("0b" * 32, 30)))
    tell(SubmitWork(*r, SAVED, "done again"))
    tell(AskReview(*r, replace(review, round=2, since=SAVED.commit)))
    tell(AnswerApproval(f"A-{len(run.state.approvals)}", "approve", hunks=(1,)), ADA)
    tell(SubmitParts(*r, Saved(SAVED.base, "parts", "tree-of-parts")))
    tell(FinishMerge(*r, "merged-r"))
    landing = MergePayload("main", "b4", "af", "+r", parts=2, tickets=(LandedTicket("r", "Do r", "merged-r"),))
    tell(AskLanding("yard", landing), ADA)
    tell(AnswerApproval(f"A-{len(run.state.approvals)}", "approve", hunks=(2,)), ADA)
    tell(AskLanding("yard", replace(landing, after="narrow", parts=1)))
    tell(AnswerApproval(f"A-{len(run.state.approvals)}", "changes", message="not yet"), ADA)


def _discussions(run: _Story) -> None:
    """A discussion: asked, answered with a tool, interrupted by a crash."""
    tell = run.tell
    tell(StartDiscussion("Why so slow?"), ADA)
    tell(Say("D-1", Blob("06" * 32, 60), Blob("07" * 32, 70)), ADA)
    tell(ReserveCall(CallOwner(discussion="D-1"), "Discussion", "scripted", 3))
    tell(ReplyInDiscussion("D-1", Blob("08" * 32, 80), "Discussion", "scripted", Usage(1, 2, cost=3), "C-5"))
    tell(FinishDiscussionTool("D-1", Blob("09" * 32, 90), "read_file", False, "policy:reading"))
    tell(AskInDiscussion("D-1", ToolPayload("c-9", "edit_file", "{}", "ff" * 32, "edit a", 1, "+a", "/p"), "no rule"))
    tell(AnswerApproval(f"A-{len(run.state.approvals)}", "approve"), ADA)
    tell(BeginDiscussionTool("D-1", "c-9"))
    tell(Recover("the lights went out"))
    tell(StartConductor(3, focus=("bridge",)))
    tell(AddTrack("station", "A station", "", (TicketSpec(id="clock", assigned_to="shell", script="tick"),)), ADA)
    tell(AnswerApproval(f"A-{len(run.state.approvals)}", "skip"), ADA)
    tell(StartTrack("station"), ADA)
    tell(PlanEpic("A tunnel"), ADA)
    tell(EndTurn("D-1", "the model does not answer"))


def _many_answers(run: _Story) -> None:
    """Two of three tickets are started by one answer; the third was rejected in the meantime."""
    tickets = tuple(TicketSpec(id=name, step_mode=True) for name in ("one", "two", "three"))
    run.tell(AddTrack("depot", "A depot", "", tickets), ADA)
    run.tell(StartTrack("depot"), ADA)
    asked = [approval for approval in run.state.pending_approvals() if approval.track == "depot"]
    run.tell(AnswerApproval(asked[2].id, "reject"), ADA)
    pairs = tuple(Seen(approval.id, approval.digest) for approval in asked)
    run.tell(AnswerApprovals(pairs, "approve", "all of them", selected=True), ADA)


def _tests(run: _Story) -> None:
    """Test executions: from a click, from a report, and forgotten."""
    click = Execution(
        test_id="grpc_click_10482913",
        name="Click: 保存",
        category="grpc",
        status="timeout",
        queued_at_ms=1_767_225_600_000,
        started_at_ms=1_767_225_600_001,
        completed_at_ms=1_767_225_605_001,
        execution_time_ms=5_000,
        error_message="it never came",
        assertions=(Assertion("window_visible", False, "true", "false", "not there"),),
        logs=("one", "two"),
        metrics=(("frames", 300),),
        screenshot_path=".interlock/artifacts/a.png",
        parent="e2e_20000000",
        widget_tree="window Inbox",
        whole=Blob("0a" * 32, 9_000),
    )
    run.tell(RecordTests((click,)), "test:grpc_click_10482913")
    unit = Execution(
        test_id="unit_10000000",
        name="tests.test_a.test_b",
        category="unit",
        status="passed",
        queued_at_ms=1,
        started_at_ms=1,
        completed_at_ms=3,
        execution_time_ms=2,
    )
    run.tell(RecordTests((unit,), SuiteReport("0b" * 32, "junit.xml", 1, 2)), ADA)
    run.tell(ForgetTests(1, ""))


def _epics(run: _Story) -> None:
    """Epics: planned, proposed, edited and accepted; dropped; failed and planned again."""
    tell = run.tell
    tell(StartConductor(3, True, False, GateDefaults(2, 60.0), caps=Caps(5_000_000, None, 70_000, (("Tier 1", 9),))))
    tell(PlanEpic("A bridge over the 川"), ADA)
    messages = (Blob("04" * 32, 40), Blob("05" * 32, 50))
    tell(ReserveCall(CallOwner(epic="E-1"), "Tier 1", "scripted", 5))
    tell(EndCall("C-1", None, "it broke off"))
    tell(ReserveCall(CallOwner(epic="E-1"), "Tier 1", "scripted", 4))
    tell(FinishPlanning("E-1", "", messages, "Tier 1", "scripted", Usage(10, 5, cost=3), "C-2"))
    tell(ProposeTracks("E-1", (TrackPlan("bridge", "A bridge", "of stone"), TrackPlan("rail", "Rails on it"))))
    edited = '[{"id": "bridge", "title": "A bridge of steel"}, {"id": "rails", "title": "Rails"}]'
    tell(AnswerApproval(f"A-{len(run.state.approvals)}", "approve", edited), ADA)
    tell(ReserveCall(CallOwner(track="bridge"), "Tier 2", "scripted", 0))
    tell(FinishPlanning("", "bridge", messages, "Tier 2", "scripted", Usage(7, 7), "C-3"))
    tell(PlanTickets("bridge", (TicketSpec(id="span", depends_on=("pier",)), TicketSpec(id="pier"))))
    tell(FailPlanning("E-1", "rails", "over budget", budget=True))
    tell(StartTrack("rails"), ADA)
    tell(ReserveCall(CallOwner(track="bridge", ticket="pier", attempt=1), "Tier 3", "scripted", 60_000))
    tell(PlanEpic("A tunnel"), ADA)
    tell(DropEpic("E-2", "too deep"), ADA)
    tell(PlanEpic("A ferry"), ADA)
    tell(FailPlanning("E-3", "", "the model does not answer"))


def write_rows(version: str) -> None:
    with TemporaryDirectory() as folder:
        with closing(SqliteJournal(Path(folder))) as journal:
            journal.append(story().records)
        with closing(JournalReader(Path(folder))) as reader:
            (SAMPLES / f"{version}.jsonl").write_text("".join(stored_lines(reader)))


def write_states() -> None:
    for sample in sorted(SAMPLES.glob("*.jsonl")):
        sample.with_suffix(".state.json").write_bytes(wire.encode_state(replayed(read_sample(sample))) + b"\n")


if __name__ == "__main__":
    if "--states" not in sys.argv:
        write_rows(VERSION)
    write_states()

"""The inbox: all pending approvals, in the order of their requests."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import AskScript, AskWorker, ReportGate, SubmitWork
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.epic_commands import PlanEpic, ProposeTracks
from interlock.domain.messages.commands.landing_commands import AskLanding
from interlock.domain.messages.commands.ticket_commands import CancelTicket
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.values.approvals import (
    Again,
    Approval,
    Change,
    GateOnTree,
    GatePayload,
    MergePayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    UnknownPayload,
    digest,
)
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob, Gate
from interlock.domain.values.runs.effects import ScriptEffect
from interlock.domain.values.tickets import TicketSpec
from interlock.views.inbox import (
    approval_dict,
    approval_title,
    covered_by_step,
    cut_texts,
    landing_lines,
    list_approvals,
    what_changed,
    with_whole_texts,
)
from tests.domain.given import ADA, AT, FAIL, SAVED, SCRIPT, Bench, given, shell


def bench() -> Bench:
    project = Bench()
    project.send(StartConductor(auto_queue=True))
    tickets = (shell("one"), shell("two"), shell("three", verify=(Gate("make check", max_attempts=1),)))
    project.send(AddTrack("a", "A", "", (*tickets, shell("step", step_mode=True))))
    project.send(StartTrack("a"))  # requests A-1, for the step
    project.send(AskScript("a", "one", 1, SCRIPT, "no rule"))
    project.send(AskScript("a", "two", 1, SCRIPT, "no rule"))
    project.send(SubmitWork("a", "three", 1, SAVED))
    project.send(ReportGate("a", "three", 1, 0, FAIL, escalation="## text"))
    return project


def test_listings_are_in_the_order_of_asking_and_paged() -> None:
    project = bench()
    project.send(AnswerApproval("A-2", "approve"))
    project.send(CancelTicket("a", "two"))
    state = project.state
    assert [a.id for a in list_approvals(state)] == ["A-1", "A-4"]
    assert [a.id for a in list_approvals(state, first=1)] == ["A-4"]
    assert [a.id for a in list_approvals(state, count=1)] == ["A-1"]
    assert [a.id for a in list_approvals(state, "answered")] == ["A-2"]
    assert [a.id for a in list_approvals(state, "withdrawn")] == ["A-3"]
    assert [a.id for a in list_approvals(state, "all")] == ["A-1", "A-2", "A-3", "A-4"]
    assert [a.id for a in list_approvals(state, "all", 1, 2)] == ["A-2", "A-3"]


def test_every_kind_has_its_title() -> None:
    state = bench().state
    assert [approval_title(a) for a in list_approvals(state)] == [
        "start step",
        "run the script of one",
        "run the script of two",
        "three: gate failed 1/1: make check",
    ]
    tampered = GatePayload(0, "make check", 0, 1, "look", files=("tests/a.py@abc", "tests/b.py@deleted"))
    asked_of = replace(list_approvals(state)[-1], payload=tampered)
    assert approval_title(asked_of) == "three: existing tests were changed: tests/a.py, tests/b.py"
    asked_of = replace(asked_of, payload=GatePayload(0, "", 0, 1, "look", unchanged=True))
    assert approval_title(asked_of) == "three: the worker changed no file"
    project = Bench()
    project.send(AddTrack("a", "A", "", ()))
    project.send(StartTrack("a"))
    project.send(AskLanding("a", MergePayload("main", "b", "c", "diff")))
    asked = project.state.approvals["A-1"]
    assert approval_title(asked) == "land a on main"
    part = MergePayload("main", "b", "c", "diff", unverified="no gate", left_out=("B: cancelled",))
    assert approval_title(replace(asked, payload=part)) == "land a in part on main (unverified)"
    project.send(PlanEpic("goal"))
    project.send(ProposeTracks("E-1", (TrackPlan("p", "P"), TrackPlan("q", "Q"))))
    assert approval_title(project.state.pending_approvals()[-1]) == "epic E-1 as 2 tracks"
    unknown = UnknownPayload("a push", "did it happen?")
    asked = ApprovalRequested(
        approval="A-1", kind="unknown", asker="system", track="a", payload=unknown, digest=digest(unknown)
    )
    assert approval_title(given(asked).approvals["A-1"]) == "a push"


def test_a_landing_shows_what_was_verified_and_what_is_missing() -> None:
    old = MergePayload("main", "b", "c", "diff")
    assert landing_lines(old) == (("unverified: no result of a gate is recorded for this tree", "bad"),)
    gates = (GateOnTree("A", "make test", "passed"), GateOnTree("B", "make lint", "failed"))
    verified = replace(old, tree="0123456789abcdef", gates=gates[:1], unverified="")
    assert landing_lines(verified) == (
        ("verified on exactly this tree (0123456789ab)", "good"),
        ("A: make test: passed", "dim"),
    )
    broken = replace(verified, gates=gates, unverified="make lint of B: failed", left_out=("C: cancelled",))
    assert landing_lines(broken) == (
        ("UNVERIFIED: make lint of B: failed", "bad"),
        ("A: make test: passed", "dim"),
        ("B: make lint: failed", "bad"),
        ("left out: C: cancelled", "bad"),
    )


def test_a_workers_questions_have_titles() -> None:
    project = Bench()
    project.send(StartConductor(auto_queue=True))
    project.send(AddTrack("a", "A", "", (TicketSpec(id="one"),)))
    project.send(StartTrack("a"))
    project.send(AskWorker("a", "one", 1, SpawnPayload("tier3-worker", "scripted", "do it", ""), ""))
    project.send(AnswerApproval("A-1", "approve"))
    project.send(AskWorker("a", "one", 1, ToolPayload("c1", "edit_file", "{}", "", "edit a.py", 1, "+x", "/w"), ""))
    assert approval_title(project.state.approvals["A-1"]) == "start a tier3-worker on one (scripted)"
    agent = SpawnPayload("claude", "Claude Code", "do it", "", terms=("program: claude",))
    approval = replace(project.state.approvals["A-1"], payload=agent)
    assert approval_title(approval) == "start the agent claude on one (Claude Code)"
    alone = replace(approval, payload=replace(agent, unsupervised=True))
    assert approval_title(alone) == "start the agent claude, which asks nothing, on one (Claude Code)"
    assert approval_title(project.state.approvals["A-2"]) == "one: edit a.py"


def test_the_json_of_an_approval_has_everything() -> None:
    project = bench()
    project.send(AnswerApproval("A-2", "reject", message="no"))
    assert approval_dict(project.state.approvals["A-2"]) == {
        "id": "A-2",
        "state": "answered",
        "title": "run the script of one",
        "kind": "script",
        "asker": "worker:one/1",
        "track": "a",
        "ticket": "one",
        "why": "no rule",
        "payload": {
            "type": "script",
            "script": "make",
            "directory": "/work",
            "env_names": ("PATH",),
            "sandbox": "bubblewrap",
            "network": False,
            "call": "",
        },
        "digest": digest(SCRIPT),
        "requested_at": AT,
        "deadline": None,
        "discussion": "",
        "again": None,
        "answers": ["approve", "reject", "abort"],
        "actions": [
            {"name": "approve", "label": "Approve", "key": "a", "decision": "approve"},
            {"name": "edit", "label": "Edit", "key": "e", "decision": None},
            {"name": "always", "label": "Always…", "key": "w", "decision": None},
            {"name": "reject", "label": "Reject", "key": "r", "decision": "reject"},
            {"name": "abort", "label": "Abort track", "key": "x", "decision": "abort"},
        ],
        "answer": {
            "decision": "reject",
            "by": ADA,
            "at": AT,
            "message": "no",
            "edited": None,
            "digest": digest(SCRIPT),
            "hunks": None,
            "edited_context": None,
        },
    }
    assert approval_dict(project.state.approvals["A-3"])["answer"] is None


def test_a_question_that_is_asked_again_says_what_changed_and_that_the_edit_is_kept() -> None:
    first = Approval(
        id="A-1", kind="script", asker="worker:a/1", track="t", payload=SCRIPT, digest=digest(SCRIPT), requested_at=AT
    )
    changes = (Change("sandbox", "bubblewrap", "off"), Change("environment", "", "CC"))
    again = replace(first, id="A-2", again=Again("A-1", changes, "make it"))
    assert what_changed(first) == ()
    assert what_changed(again) == (
        "asked again: what was approved as A-1 has changed",
        "sandbox: bubblewrap -> off",
        "environment: (nothing) -> CC",
        "your edit of A-1 is kept: it is part of what is shown",
    )
    assert what_changed(replace(first, again=Again("A-0")))[1:] == ()
    assert approval_dict(again)["again"] == {
        "of": "A-1",
        "changes": (
            {"field": "sandbox", "before": "bubblewrap", "after": "off"},
            {"field": "environment", "before": "", "after": "CC"},
        ),
        "edited": "make it",
    }


def test_cut_texts_are_named_and_replaced_by_the_whole_ones() -> None:
    one, two = Blob("1" * 64, 9_000), Blob("2" * 64, 9_000)
    whole = {one.sha256: "whole", two.sha256: "all of it"}
    tool = ToolPayload("c", "edit", "cut", "00", "Edit", 1, "+", "/w", two, one)
    ask = ToolPayload("c", "Bash", "cut", "00", "Bash", 0, "", "/w", one)
    spawn = SpawnPayload("tier3-worker", "m", "p", "cut", one)
    merge = MergePayload("main", "b4", "af", "cut", one)
    for payload, blobs, restored in (
        (tool, (one, two), ToolPayload("c", "edit", "whole", "00", "Edit", 1, "all of it", "/w")),
        (ask, (one,), ToolPayload("c", "Bash", "whole", "00", "Bash", 0, "", "/w")),
        (spawn, (one,), SpawnPayload("tier3-worker", "m", "p", "whole")),
        (merge, (one,), MergePayload("main", "b4", "af", "whole")),
        (SCRIPT, (), SCRIPT),
    ):
        approval = Approval(
            id="A-1", kind="tool", asker="w", track="t", payload=payload, digest=digest(payload), requested_at=AT
        )
        assert cut_texts(approval) == blobs
        assert with_whole_texts(approval, whole) == replace(approval, payload=restored)
        assert with_whole_texts(approval, {}) == approval  # a removed text stays cut


def test_the_diff_of_changed_tests_is_completed_from_its_stored_text() -> None:
    cut = GatePayload(0, "make check", 0, 1, "look", files=("a@b",), diff="-x", diff_blob=Blob("d1", 9_000))
    asked = replace(list_approvals(bench().state)[-1], payload=cut)
    assert cut_texts(asked) == (Blob("d1", 9_000),)
    assert with_whole_texts(asked, {}).payload == cut
    assert with_whole_texts(asked, {"d1": "-x\n-y"}).payload == replace(cut, diff="-x\n-y", diff_blob=UNSET)
    assert cut_texts(replace(asked, payload=replace(cut, diff_blob=UNSET))) == ()


@pytest.mark.parametrize(
    ("script", "what"),
    [("make", "this script, in the sandbox and without network"), (None, "the start of the worker")],
)
def test_a_step_says_what_its_approval_covers(script: str | None, what: str) -> None:
    assert covered_by_step(StepPayload("d", "shell", script)) == f"approving it also allows {what}"


def test_the_diff_of_an_effect_is_made_whole() -> None:
    effect = ScriptEffect("d", diff="-x", diff_blob=Blob("d1", 9_000))
    script = ScriptPayload("make", "/work", (), "bubblewrap", effect=effect)
    asked = _asked_script(script)
    assert cut_texts(asked) == (Blob("d1", 9_000),)
    assert with_whole_texts(asked, {}) == asked
    whole = with_whole_texts(asked, {"d1": "-x\n-y"}).payload
    assert whole == replace(script, effect=replace(effect, diff="-x\n-y", diff_blob=None))


def _asked_script(payload: ScriptPayload) -> Approval:
    return Approval(
        id="A-1", kind="script", asker="worker:D-1/1", track="", payload=payload, digest="", requested_at=""
    )

"""An approval as a question of the editor: nothing of it is hidden, and each kind has its own answers."""

from typing import Any

import pytest

from interlock.domain.values.approvals import (
    ALLOWED,
    Approval,
    GatePayload,
    Kind,
    MergePayload,
    Payload,
    ReviewPayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    UnknownPayload,
)
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob
from interlock.domain.values.runs.effects import EffectFile, ScriptEffect
from interlock.editor.approval_view import MOST_TEXT, decision_of, options_for, question, question_id
from interlock.editor.tool_calls import MOST_DIFFS, diffs_in, kind_of, places_of, started
from interlock.ports.model import ToolCall

DIFF = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
SCRIPT = ScriptPayload("rm -rf \u202ex", "/w", ("PATH",), "bubblewrap", call="c1")
PAYLOADS: dict[Kind, Payload] = {
    "script": SCRIPT,
    "tool": ToolPayload("c1", "edit_file", "{}", "0", "Edit a.txt", 1, DIFF, "/w"),
    "ask": ToolPayload("c1", "Bash", '{"command": "ls \\u001b"}', "0", "Bash", 0, "", "/w"),
    "step": StepPayload("do it", "shell", "make x", ("make test",)),
    "spawn": SpawnPayload("worker", "m", "the prompt", "the context"),
    "tracks": TracksPayload("E-1", "goal", (TrackPlan("t", "Title", "words"),)),
    "gate": GatePayload(0, "make test", 1, 1, "it failed", diff=DIFF),
    "merge": MergePayload("main", "a" * 40, "b" * 40, DIFF),
    "unknown": UnknownPayload("a landing", "did it happen?"),
    "review": ReviewPayload("b", "c", "t" * 40, DIFF, summary="I did it"),
}


def approval(kind: Kind, payload: Payload | None = None, **more: Any) -> Approval:
    fields: dict[str, Any] = {"asker": "worker:t/T-1/1", "track": "t", "ticket": "T-1"} | more
    return Approval(id="A-7", kind=kind, payload=payload or PAYLOADS[kind], digest="d", requested_at="now", **fields)


def shown(asked: Approval, rule: str = "") -> str:
    content = question(asked, "/w", rule).content or []
    return "\n".join(one.content.text for one in content if one.type == "content")


@pytest.mark.parametrize("kind", PAYLOADS)
def test_every_answer_that_is_offered_is_allowed_for_its_kind(kind: Kind) -> None:
    options = options_for(approval(kind), "")
    decisions = [decision_of(one.option_id) for one in options]
    assert set(decisions) <= set(ALLOWED[kind])
    assert len(decisions) == len(set(decisions)) >= 2
    assert (options[0].kind, options[-1].kind) == ("allow_once", "reject_once")
    wanted = ["retry", "skip", "abort"] if kind in ("gate", "unknown") else ["approve", "reject"]
    assert decisions == wanted


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("script", "rm -rf <U+202E>x"),
        ("script", "network off"),
        ("ask", 'Bash {"command": "ls'),
        ("step", "make x"),
        ("step", "Verified by: make test"),
        ("spawn", "the context"),
        ("tracks", "t: Title. words"),
        ("gate", "it failed"),
        ("merge", "Onto main: aaaaaaaaaaaa to bbbbbbbbbbbb."),
        ("merge", "changes -m TEXT"),
        ("unknown", "did it happen?"),
        ("review", "I did it"),
    ],
)
def test_the_question_shows_what_would_happen(kind: Kind, words: str) -> None:
    assert words in shown(approval(kind))


@pytest.mark.parametrize("kind", ["tool", "gate", "merge", "review"])
def test_changes_are_shown_as_diffs(kind: Kind) -> None:
    (diff,) = [one for one in question(approval(kind), "/w", "").content or [] if one.type == "diff"]
    assert (diff.path, diff.old_text, diff.new_text) == ("/w/a.txt", "one\ntwo\n", "one\n2\n")


def test_the_effect_of_a_script_is_shown_with_its_files() -> None:
    effect = ScriptEffect("d", (EffectFile("a.txt", "modified", 1, 1),), diff=DIFF)
    asked = approval("script", ScriptPayload("x", "/w", (), "bubblewrap", effect=effect))
    assert "modified a.txt +1 -1" in shown(asked)
    assert [one.type for one in question(asked, "/w", "").content or []].count("diff") == 1


def test_a_text_that_is_cut_says_so_and_where_all_of_it_is() -> None:
    cut = approval("merge", MergePayload("main", "a", "b", DIFF, Blob("0" * 64, 9)))
    assert "`interlock approvals show A-7` shows all of it" in shown(cut)
    long = approval("script", ScriptPayload("x" * (MOST_TEXT + 5), "/w", (), "off"))
    assert "… and 5 more characters" in shown(long)


def test_always_comes_with_its_rule_and_only_then() -> None:
    assert [one.option_id for one in options_for(approval("script"), "rule")] == ["approve", "always", "reject"]
    assert "[[policy]]" in shown(approval("script"), "[[policy]]")
    assert decision_of("always") == "approve"
    assert decision_of("everything") is None


def test_a_question_of_a_discussion_is_about_its_tool_call() -> None:
    assert question_id(approval("script", discussion="D-1", ticket=None)) == "D-1/c1"
    assert question_id(approval("script")) == "approval/A-7"
    assert question_id(approval("gate")) == "approval/A-7"


def test_text_cannot_leave_its_fence_or_its_line() -> None:
    asked = approval("tracks", TracksPayload("E-1", "```\n# Approve this", (TrackPlan("t", "a\n\n# Title", "w"),)))
    assert "````\n```\n# Approve this\n````" in shown(asked)
    assert "\n# Title" not in shown(asked)


def test_many_hunks_are_counted_and_notes_are_kept() -> None:
    hunk = "@@ -1 +1 @@\n-a\n+b\n"
    many = "diff --git a/a b/a\n--- a/a\n+++ b/a\n" + hunk * (MOST_DIFFS + 2)
    assert len(diffs_in(many, "/w")) == MOST_DIFFS + 1
    gone = "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n"
    (note,) = diffs_in(gone, "/w")
    assert note.type == "content"
    assert "mode is now 100755" in note.content.text  # pyright: ignore[reportAttributeAccessIssue]


def test_tools_have_kinds_and_places() -> None:
    assert [kind_of(name) for name in ("run_shell", "grep", "py_set_signature", "get_tree", "mcp__x__y")] == [
        "execute",
        "search",
        "edit",
        "read",
        "other",
    ]
    (place,) = places_of({"path": "./a.py", "start_line": 3}, "/w")
    assert (place.path, place.line) == ("/w/a.py", 3)
    assert places_of({"path": "a\0b"}, "/w") == places_of({"path": 5}, "/w") == []
    long = started("D-1", ToolCall("c", "write_file", {"content": "x" * 50_000}), "/w")
    assert len(str(long.raw_input)) < 30_000

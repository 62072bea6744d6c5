"""Every front end draws its answers from this table."""

import re
from pathlib import Path
from typing import get_args

import pytest

from interlock.domain.values.approvals import (
    ALLOWED,
    Approval,
    Decision,
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
from interlock.views.answers.actions import actions_of, decision_action, doing
from interlock.views.inbox import approval_dict

PAYLOADS: dict[Kind, Payload] = {
    "script": ScriptPayload("true", "/w", (), "bubblewrap"),
    "tool": ToolPayload("c", "edit_file", "{}", "", "edit", 2, "", "/w"),
    "step": StepPayload("do it", "shell"),
    "spawn": SpawnPayload("tier3-worker", "m", "prompt", "context"),
    "ask": ToolPayload("c", "Bash", "{}", "", "ask", 0, "", "/w"),
    "tracks": TracksPayload("E-1", "goal", ()),
    "gate": GatePayload(0, "false", 1, 1, "failed"),
    "merge": MergePayload("main", "a", "b", "", parts=2),
    "unknown": UnknownPayload("request", "did it happen?"),
    "review": ReviewPayload("a", "b", "c", "", parts=2),
}
DOCS = Path(__file__).parents[3] / "docs" / "interface.md"


def approval(kind: Kind, discussion: str = "") -> Approval:
    payload = PAYLOADS[kind]
    return Approval(
        id="A-1",
        kind=kind,
        asker="worker:x/1",
        track="x",
        payload=payload,
        digest="d",
        requested_at="2026-01-01",
        discussion=discussion,
    )


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_offers_each_of_its_decisions_once_with_a_key_of_its_own(kind: Kind) -> None:
    actions = actions_of(approval(kind))
    assert tuple(one.decision for one in actions if one.decision) == ALLOWED[kind]
    keys = [one.key for one in actions]
    assert len(set(keys)) == len(keys)
    assert not {"j", "k", "m", "v"} & set(keys), "these move, mark and view in every front end"


def test_what_prepares_an_answer_follows_approve() -> None:
    names = {kind: [one.name for one in actions_of(approval(kind)) if one.decision is None] for kind in PAYLOADS}
    assert names == {
        "script": ["edit", "always"],
        "tool": ["edit", "parts", "always"],
        "step": [],
        "spawn": ["edit", "context"],
        "ask": ["edit"],
        "tracks": ["edit"],
        "gate": [],
        "merge": ["parts"],
        "unknown": [],
        "review": ["parts"],
    }
    assert [one.name for one in actions_of(approval("tool"))][:4] == ["approve", "edit", "parts", "always"]


def test_abort_says_what_it_ends() -> None:
    def label(kind: Kind, discussion: str = "") -> str:
        return decision_action(approval(kind, discussion), "abort").label

    assert label("script") == "Abort track"
    assert label("gate") == "Abort ticket"
    assert label("script", "D-1") == label("unknown", "D-1") == "Abort turn"


def test_every_decision_can_be_announced_before_it_is_sent() -> None:
    assert all(doing(decision).endswith(("ing", "ing changes of")) for decision in get_args(Decision))


def test_the_plain_data_of_an_approval_names_its_actions() -> None:
    assert approval_dict(approval("gate"))["actions"] == [
        {"name": "retry", "label": "Retry", "key": "t", "decision": "retry"},
        {"name": "skip", "label": "Skip", "key": "s", "decision": "skip"},
        {"name": "abort", "label": "Abort ticket", "key": "x", "decision": "abort"},
    ]


def test_the_documentation_has_the_same_table() -> None:
    _, _, section = DOCS.read_text(encoding="utf-8").partition("### Words and keys\n")
    rows = re.findall(r"^\| `([a-z])` \| \*(.+?)\* \| (.+?) \|", section.partition("\n### ")[0], re.MULTILINE)
    written = {(key, label): set(kinds.replace("`", "").split(", ")) for key, label, kinds in rows}
    real: dict[tuple[str, str], set[str]] = {}
    for kind in PAYLOADS:
        for action in actions_of(approval(kind)):
            real.setdefault((action.key, action.label), set()).add(kind)
    assert {name: kinds for name, kinds in written.items() if name != ("x", "Abort turn")} == real

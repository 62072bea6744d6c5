"""The differences between an approved payload and the one that would run now."""

from msgspec.structs import replace

from interlock.domain.checks.payload_changes import MOST, approved, payload_changes
from interlock.domain.values.approvals import (
    Answered,
    Approval,
    Change,
    Payload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    digest,
)
from interlock.domain.values.gates import Blob
from interlock.domain.values.runs.effects import EffectFile, ScriptEffect

SCRIPT = ScriptPayload("make", "/work", ("CC", "PATH"), "bubblewrap", call="c1")


def asked(payload: Payload) -> Approval:
    return Approval(
        id="A-1", kind="script", asker="worker:a/1", track="t", payload=payload, digest=digest(payload), requested_at=""
    )


def test_only_fields_that_differ_are_named_and_of_lists_only_the_difference() -> None:
    now = replace(SCRIPT, env_names=("LD", "PATH"), sandbox="off", network=True, call="c2")
    assert payload_changes(SCRIPT, now) == (
        Change("environment", "CC", "LD"),
        Change("sandbox", "bubblewrap", "off"),
        Change("network", "off", "on"),
    )
    assert payload_changes(SCRIPT, SCRIPT) == ()


def test_an_absent_value_is_empty_and_a_long_one_is_cut() -> None:
    before, after = StepPayload("a", "shell"), StepPayload("b" * 500, "shell", "make", ("make check",))
    assert payload_changes(before, after) == (
        Change("description", "a", "b" * (MOST - 1) + "…"),
        Change("script", "", "make"),
        Change("gates", "", "make check"),
    )


def test_what_was_approved_contains_the_edits_of_the_answer() -> None:
    spawn = SpawnPayload("tier3-worker", "m", "prompt", "context", Blob("00", 9_000))
    answer = Answered("approve", "human:ann", "", edited="better", edited_context="shorter")
    assert approved(asked(spawn), answer) == SpawnPayload("tier3-worker", "m", "better", "shorter")
    assert approved(asked(SCRIPT), answer) == replace(SCRIPT, script="better")
    assert approved(asked(SCRIPT), Answered("approve", "human:ann", "")) == SCRIPT
    tool = ToolPayload("c", "edit", "{}", "00", "Edit", 1, "", "/work")
    assert approved(asked(tool), Answered("approve", "human:ann", "", edited="[]")) == replace(tool, arguments="[]")
    step = StepPayload("a", "shell")
    assert approved(asked(step), answer) == step


def test_a_changed_effect_names_the_paths_that_came_or_went() -> None:
    before = replace(SCRIPT, effect=ScriptEffect("d1", (EffectFile("a", "modified"),), ended="exit code: 0"))
    after = replace(SCRIPT, effect=ScriptEffect("d2", (EffectFile("b", "added"),), ended="exit code: 0"))
    unknown = replace(SCRIPT, effect=ScriptEffect(unknown="a pipe"))
    assert payload_changes(before, after) == (Change("effect", "modified a", "added b"),)
    assert payload_changes(before, unknown) == (Change("effect", "exit code: 0 modified a", "a pipe"),)
    assert payload_changes(SCRIPT, unknown) == (Change("effect", "", "a pipe"),)

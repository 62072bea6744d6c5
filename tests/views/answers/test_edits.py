"""What a person can edit of an approval, in every front end."""

from msgspec.structs import replace

from interlock.domain.values.approvals import Approval, Kind, SpawnPayload, ToolPayload, TracksPayload
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob
from interlock.views.answers.edits import editable_context, editable_text, suffix_of
from tests.views.answers.test_actions import PAYLOADS, approval

BLOB = Blob("0" * 64, 5_000)


def _tool(arguments: str, blob: Blob | None = None) -> Approval:
    payload = PAYLOADS["tool"]
    assert isinstance(payload, ToolPayload)
    return replace(approval("tool"), payload=replace(payload, arguments=arguments, diff="", hunks=0, diff_blob=blob))


def test_each_kind_with_an_edit_has_its_text_and_the_others_have_none() -> None:
    kinds: list[Kind] = ["script", "spawn", "step", "gate", "merge", "review", "unknown"]
    assert {kind: editable_text(approval(kind)) for kind in kinds} == {
        "script": "true",
        "spawn": "prompt",
        "step": None,
        "gate": None,
        "merge": None,
        "review": None,
        "unknown": None,
    }


def test_arguments_are_indented_and_what_is_no_json_is_left_as_it_is() -> None:
    assert editable_text(_tool('{"path":"a"}')) == '{\n  "path": "a"\n}'
    assert editable_text(_tool("no json")) == "no json"


def test_the_beginning_of_a_long_text_cannot_be_edited() -> None:
    assert editable_text(_tool("{}", BLOB)) is None
    spawn = PAYLOADS["spawn"]
    assert isinstance(spawn, SpawnPayload)
    assert editable_context(replace(approval("spawn"), payload=replace(spawn, context_blob=BLOB))) is None


def test_proposed_tracks_are_edited_as_json() -> None:
    payload = TracksPayload("E-1", "goal", (TrackPlan("a", "A", ""),))
    text = editable_text(replace(approval("tracks"), payload=payload))
    assert text is not None
    assert '"id": "a"' in text


def test_only_a_worker_has_a_context() -> None:
    assert editable_context(approval("spawn")) == "context"
    assert editable_context(approval("script")) is None


def test_the_file_in_the_editor_has_the_suffix_of_its_language() -> None:
    kinds: list[Kind] = ["script", "spawn", "tool", "ask", "tracks"]
    assert [suffix_of(approval(kind)) for kind in kinds] == ["sh", "md", "json", "json", "json"]

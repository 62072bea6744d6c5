"""The effect of a script, in words."""

import msgspec
import pytest

from interlock.domain.values.approvals import ScriptPayload, digest, with_edit
from interlock.domain.values.runs.effects import EffectFile, ScriptEffect

EDITED = EffectFile("a.txt", "modified", 2, 1)
CLOSED = EffectFile("run.sh", "mode", detail="0644 → 0755")


@pytest.mark.parametrize(
    ("effect", "summary", "lines"),
    [
        (ScriptEffect("d"), "it changes no file", ()),
        (
            ScriptEffect("d", (EDITED,)),
            "approving makes exactly these changes (1 path), if they still fit",
            ("modified a.txt +2 -1",),
        ),
        (
            ScriptEffect("d", (EDITED, CLOSED), more=1200),
            "approving makes exactly these changes (1202 paths), if they still fit",
            ("modified a.txt +2 -1", "mode     run.sh  (0644 → 0755)", "… and 1,200 more"),
        ),
        (ScriptEffect(unknown="a pipe"), "its effect cannot be shown beforehand: a pipe", ()),
    ],
)
def test_an_effect_is_described_in_a_sentence_and_a_line_for_each_path(
    effect: ScriptEffect, summary: str, lines: tuple[str, ...]
) -> None:
    assert (effect.summary, effect.lines) == (summary, lines)


def test_a_payload_without_an_effect_is_stored_as_before() -> None:
    plain = ScriptPayload("make", "/work", ("PATH",), "bubblewrap")
    assert b"effect" not in msgspec.json.encode(plain)
    assert digest(plain) != digest(msgspec.structs.replace(plain, effect=ScriptEffect("d")))


def test_an_edited_script_has_no_known_effect() -> None:
    plain = ScriptPayload("make", "/work", ("PATH",), "bubblewrap")
    shown = msgspec.structs.replace(plain, effect=ScriptEffect("d", (EDITED,)))
    assert with_edit(shown, "make all") == msgspec.structs.replace(plain, script="make all")

"""An entry goes into a JSON text and out again without another byte changed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import Misconfigured
from interlock.hooks.json_lines import add_entry, plain_json, take_piece

PATH = ("hooks", "PreToolUse")
ENTRY: dict[str, Any] = {"matcher": "*", "hooks": [{"type": "command", "command": "say 'é' \"x\""}]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
OTHERS = st.dictionaries(st.text(max_size=8).filter(lambda name: name != "hooks"), VALUES, max_size=3)
GROUPS = st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=2), max_size=2)
HOOKS = st.none() | st.dictionaries(st.sampled_from(["PreToolUse", "Stop"]), GROUPS)


@given(OTHERS, HOOKS, st.sampled_from([None, 0, 2, 4, "\t"]))
def test_an_added_entry_is_the_first_of_its_list_and_comes_out_exactly(
    others: dict[str, Any], hooks: dict[str, Any] | None, indent: int | str | None
) -> None:
    content = others if hooks is None else {**others, "hooks": hooks}
    text = json.dumps(content, indent=indent)
    added = add_entry(text, PATH, ENTRY)
    before = (hooks or {}).get("PreToolUse", [])
    assert json.loads(added.text) == {**others, "hooks": {**(hooks or {}), "PreToolUse": [ENTRY, *before]}}
    assert take_piece(added.text, added.piece) == text


def test_comments_and_layout_stay() -> None:
    text = '{\n  // mine {"hooks": 1}\n  "a": "\\" // no comment", /* [ */\n  "hooks": { "Stop": [ ] }\n}\n'
    added = add_entry(text, PATH, ENTRY)
    assert plain_json(added.text) == {
        "a": '" // no comment',
        "hooks": {"PreToolUse": [ENTRY], "Stop": []},
    }
    assert "// mine" in added.text and "/* [ */" in added.text
    assert take_piece(added.text, added.piece) == text


def test_without_a_text_the_whole_file_is_made() -> None:
    added = add_entry("", PATH, ENTRY)
    assert json.loads(added.text) == {"hooks": {"PreToolUse": [ENTRY]}}
    assert take_piece(added.text, added.piece) == ""


@pytest.mark.parametrize("text", ["[]", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}', "{'a': 1}", '{"a": @}', "{"])
def test_a_text_that_does_not_fit_is_refused_in_words(text: str) -> None:
    with pytest.raises(Misconfigured):
        plain_json(add_entry(text, PATH, ENTRY).text)


def test_a_piece_that_is_there_twice_or_not_at_all_is_left() -> None:
    assert take_piece("aa", "a") is None
    assert take_piece("b", "a") is None
    assert take_piece("b", "") is None

"""The YAML of `interlock test results` reads back as the same data as its JSON."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.cli.records.test_history import as_yaml

TRICKY = [
    "", " ", "a", "a b", " a", "a ", "- a", "a: b", "a #b", "#a", "null", "Null", "~", "yes", "NO", "on", "True", "y",
    "12", "1_000", "0x1f", "1e3", "1.5", ".5", ".inf", "-1", "1:30", "2026-01-01", "2026-01-01T00:00:00Z", "=", "<<",
    "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "[a]", "{a}", "'a'", '"a"', "a\\b", "\t", "a\tb", "one\ntwo",
    "one\n\ntwo", "one\n",
    "\none", "one\n two", " one\ntwo", "one\r\ntwo", "one\ntwo ", "\n", "---\na", "a\n---\nb", "日本\n語",
    "🦀", "\x00", "\x1b[31m", "\x7f", "\x85", "\u2028", "\ufeff", "\U0001f600\ud7ff", "a\u202eb", "- a\n- b", "a:\n  b",
    "# a\nb",
    "...", "a\n...\nb",
]  # fmt: skip


@pytest.mark.parametrize("text", TRICKY, ids=repr)
def test_a_text_reads_back_from_any_place_in_the_yaml(text: str) -> None:
    value = {"key": text, "list": [text, [text], {"deep": text}], text: [{"a": {text: text}, "b": 1}]}
    assert yaml.safe_load(as_yaml(value)) == value


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"))
    | st.lists(st.sampled_from(TRICKY)).map("\n".join),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=400)
@given(VALUES)
def test_any_json_value_reads_back_from_yaml(value: Any) -> None:
    assert yaml.safe_load(as_yaml(value)) == json.loads(json.dumps(value))


@pytest.mark.parametrize("text", TRICKY, ids=repr)
def test_nothing_reaches_the_terminal_that_could_deceive_there(text: str) -> None:
    assert as_yaml({"key": text}).replace("\n", "").isprintable()


def test_plain_values_are_not_quoted_and_keys_keep_their_order() -> None:
    result = {"name": "Click: Save", "ok": True, "error": None, "steps": [], "list": [{"b": 1, "a": "x y"}, "日本"]}
    assert as_yaml(result) == (
        "name: 'Click: Save'\nok: true\nerror: null\nsteps: []\nlist:\n- b: 1\n  a: x y\n- 日本\n"
    )

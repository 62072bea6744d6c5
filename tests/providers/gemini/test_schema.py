"""Converting the JSON schemas of tools to the form that Gemini accepts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.providers.gemini.schema import ANYTHING, parameters
from tests.providers.gemini_server import GeminiServer
from tests.providers.loopback import Json
from tests.providers.scripts import TEXT_REPLY


def field(schema: Any, **root: Any) -> Json:
    converted = parameters({"type": "object", "properties": {"x": schema}, **root})
    assert converted is not None
    check_accepted(converted)
    return converted["properties"]["x"]


def check_accepted(converted: Json) -> None:
    tools = [{"functionDeclarations": [{"name": "t", "description": "", "parameters": converted}]}]
    GeminiServer(lambda _: TEXT_REPLY).check({"contents": [{"role": "user", "parts": [{"text": "a"}]}], "tools": tools})


def test_a_schema_like_ours_keeps_all_that_counts() -> None:
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where.", "minLength": 1},
            "most": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3, "format": "int32"},
        },
        "required": ["path", "path", "gone"],
        "additionalProperties": False,
    }
    assert parameters(schema) == {
        "type": "OBJECT",
        "properties": {
            "path": {"type": "STRING", "minLength": 1, "description": "Where."},
            "most": {"type": "INTEGER", "minimum": 1, "maximum": 9, "format": "int32", "description": "Without it: 3."},
        },
        "required": ["path"],
    }


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}, {"type": "string"}])
def test_a_tool_without_arguments_says_nothing_of_them(schema: Json) -> None:
    assert parameters(schema) is None


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"const": "a"}, {"type": "STRING", "format": "enum", "enum": ["a"]}),
        ({"const": 1}, {"type": "INTEGER", "description": "One of: 1."}),
        ({"enum": ["a", "b", "a", None]}, {"type": "STRING", "format": "enum", "enum": ["a", "b"]}),
        ({"enum": [True, False]}, {"type": "BOOLEAN", "description": "One of: true, false."}),
        ({"enum": [1, 2.5]}, {"type": "NUMBER", "description": "One of: 1, 2.5."}),
        ({"enum": ["a", 1]}, {"type": "STRING", "description": "One of: a, 1."}),
        ({"type": "string", "enum": ["", "a"]}, {"type": "STRING", "description": "One of: , a."}),
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"type": "string", "nullable": True}, {"type": "STRING", "nullable": True}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "STRING", "nullable": True}),
        ({"anyOf": [{"type": "null"}]}, {"type": "STRING", "nullable": True}),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}], "description": "Either."},
            {"description": "Either.", "anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
        ),
        (
            {"type": ["string", "integer", "null"]},
            {"nullable": True, "anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
        ),
        ({"type": "array"}, {"type": "ARRAY", "items": ANYTHING}),
        ({"items": {"type": "integer"}}, {"type": "ARRAY", "items": {"type": "INTEGER"}}),
        (
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
            {"type": "ARRAY", "items": {"anyOf": [{"type": "INTEGER"}, {"type": "STRING"}]}},
        ),
        ({"type": "string", "format": "uri"}, {"type": "STRING", "description": "Format: uri."}),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "OBJECT"}),
        ({"properties": {"y": True}}, {"type": "OBJECT", "properties": {"y": ANYTHING}}),
        ({"$ref": "#/$defs/a~1b", "description": "Own."}, {"type": "INTEGER", "description": "Own."}),
        ({"$ref": "#/$defs/gone"}, {"type": "STRING"}),
        ({"$ref": "http://elsewhere/x.json"}, {"type": "STRING"}),
        (
            {
                "allOf": [
                    {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
                ]
            },
            {
                "type": "OBJECT",
                "properties": {"a": {"type": "STRING"}, "b": {"type": "INTEGER"}},
                "required": ["a", "b"],
            },
        ),
        ({"type": "string", "pattern": 7, "title": [], "minLength": "1", "description": {}}, {"type": "STRING"}),
        ({"type": "nonsense", "exclusiveMinimum": 0}, {"type": "STRING"}),
        (7, ANYTHING),
    ],
)
def test_unsupported_keywords_are_described_or_left_out(schema: Any, expected: Json) -> None:
    assert field(schema, **{"$defs": {"a/b": {"type": "integer"}}}) == expected


def test_a_schema_that_grows_without_end_is_cut() -> None:
    node = {"type": "object", "properties": {f"p{n}": {"$ref": "#/$defs/node"} for n in range(9)}}
    converted = field({"$ref": "#/$defs/node"}, **{"$defs": {"node": node}})
    assert str(converted).count("OBJECT") < 2_000
    itself = {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}
    assert field({"$ref": "#/$defs/a"}, **{"$defs": {"a": itself}}) == {"type": "STRING"}
    assert field({"$ref": "#/properties/x"}) == {"type": "STRING"}
    deep: Json = {"type": "string"}
    for _ in range(50):
        deep = {"type": "array", "items": deep}
    assert str(field(deep)).count("ARRAY") == 12


_words = st.sampled_from(
    ["type", "enum", "const", "anyOf", "oneOf", "allOf", "items", "properties", "required", "$ref", "format", "default",
     "description", "minimum", "pattern", "nullable", "prefixItems", "additionalProperties", "a"]
)  # fmt: skip
_leaves = (
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.sampled_from(["string", "object", "array", "null", "#/properties/a", "#", "a", ""])
)
_schemas = st.recursive(
    _leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=4), max_leaves=25
)


@given(st.dictionaries(_words, _schemas, max_size=4))
def test_the_vendor_accepts_every_converted_schema(schema: Json) -> None:
    converted = parameters({"type": "object", "properties": {"a": schema, "b": {"type": "string"}}})
    assert converted is not None
    check_accepted(converted)

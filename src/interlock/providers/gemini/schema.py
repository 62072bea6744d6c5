"""Converts JSON schemas to the subset of OpenAPI that Gemini accepts for function parameters.

Unsupported constraints (allowed values, constants, patterns) are written into the description for the model. Tools
check their arguments themselves, so nothing depends on it. Schemas may come from third parties: recursive or endlessly
growing schemas are cut.
"""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

Schema = dict[str, Any]
Given = Mapping[str, Any]

_TYPES = ("string", "number", "integer", "boolean", "array", "object")
_WORDS = ("title", "pattern")
_BOUNDS = (
    "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties",
)  # fmt: skip
_FORMATS = {"string": ("date-time",), "integer": ("int32", "int64"), "number": ("float", "double")}
_DEEPEST = 12
_MOST = 2_000  # nested schemas
ANYTHING: Schema = {"type": "STRING"}


def parameters(schema: Given) -> Schema | None:
    """The schema of a function; None without parameters: the vendor requires that the field is absent."""
    converted = _Maker(schema).converted(schema, 0)
    return converted if converted.get("type") == "OBJECT" and converted.get("properties") else None


class _Maker:
    def __init__(self, root: Given) -> None:
        self._root = root
        self._left = _MOST

    def converted(self, schema: Any, depth: int) -> Schema:
        self._left -= 1
        given = _object(schema)
        if given is None or depth > _DEEPEST or self._left < 0:
            return ANYTHING
        given = self._resolved(given, 0)
        if (options := _options(given)) is not None:
            return self._any_of(given, options, depth)
        kind, nullable = _kind(given)
        converted: Schema = {"type": kind.upper(), **({"nullable": True} if nullable else {}), **_bounds(given)}
        notes: list[str] = []
        if given.get("format") in _FORMATS.get(kind, ()):
            converted["format"] = given["format"]
        elif "format" in given:
            notes.append(f"Format: {given['format']}.")
        notes += _values(given, kind, converted)
        if "default" in given:
            notes.append(f"Without it: {_plain(given['default'])}.")
        if kind == "object":
            converted |= self._fields(given, depth)
        if kind == "array":
            converted["items"] = self.converted(_item(given), depth + 1)
        return _described(converted, given, notes)

    def _resolved(self, schema: Given, depth: int) -> Given:
        """Resolves references and merges combined schemas."""
        whole: Given = {name: value for name, value in schema.items() if name not in ("$ref", "allOf")}
        parts = _list(schema.get("allOf")) or []
        if isinstance(schema.get("$ref"), str):
            parts = [self._resolve_reference(schema["$ref"]), *parts]
        for part in reversed(parts):
            self._left -= 1
            if (inner := _object(part)) is not None and depth < _DEEPEST and self._left > 0:
                whole = _joined(self._resolved(inner, depth + 1), whole)
        return whole

    def _resolve_reference(self, reference: str) -> Any:
        """Resolves a reference within the schema. Remote references are not fetched."""
        place: Any = self._root if reference.startswith("#/") else None
        for step in reference.removeprefix("#/").split("/"):
            inner = _object(place)
            place = inner.get(step.replace("~1", "/").replace("~0", "~")) if inner is not None else None
        return place

    def _any_of(self, schema: Given, options: list[Any], depth: int) -> Schema:
        real = [option for option in options if not self._is_null(option)]
        own: Schema = {"nullable": True} if len(real) < len(options) else {}
        if isinstance(schema.get("description"), str):
            own["description"] = schema["description"]
        if len(real) == 1:
            return {**self.converted(real[0], depth + 1), **own}
        return {**own, "anyOf": [self.converted(option, depth + 1) for option in real]} if real else {**ANYTHING, **own}

    def _is_null(self, option: Any) -> bool:
        given = _object(option)
        if given is None:
            return False
        given = self._resolved(given, 0)
        return given.get("type") == "null" or ("const" in given and given["const"] is None)

    def _fields(self, schema: Given, depth: int) -> Schema:
        given = _object(schema.get("properties"))
        if not given:
            return {}
        fields = {name: self.converted(inner, depth + 1) for name, inner in given.items()}
        names = dict.fromkeys(name for name in _list(schema.get("required")) or () if isinstance(name, str))
        required = [name for name in names if name in fields]
        return {"properties": fields, **({"required": required} if required else {})}


def _object(value: Any) -> Given | None:
    return cast("Given", value) if isinstance(value, Mapping) else None


def _list(value: Any) -> list[Any] | None:
    return cast("list[Any]", value) if isinstance(value, list) else None


def _joined(one: Given, other: Given) -> Given:
    joined = {**one, **other}
    if (first := _object(one.get("properties"))) and (second := _object(other.get("properties"))):
        joined["properties"] = {**first, **second}
    if (begun := _list(one.get("required"))) and (more := _list(other.get("required"))):
        joined["required"] = [*begun, *more]
    return joined


def _options(schema: Given) -> list[Any] | None:
    for name in ("anyOf", "oneOf"):
        if options := _list(schema.get(name)):
            return options
    kinds = _list(schema.get("type")) or []
    if len([kind for kind in kinds if kind != "null"]) > 1:
        return [{**schema, "type": kind} for kind in kinds]
    return None


def _kind(schema: Given) -> tuple[str, bool]:
    """The type and whether null is allowed; inferred if the schema has no type."""
    given = schema.get("type")
    named = _list(given) or [given]
    kind = next((name for name in named if name in _TYPES), None)
    if kind is None:
        kind = "object" if "properties" in schema else "array" if "items" in schema else _type_of_values(schema)
    return kind, "null" in named or schema.get("nullable") is True


def _type_of_values(schema: Given) -> str:
    values = _list(schema.get("enum")) or [schema.get("const")]
    for kinds, name in ((bool, "boolean"), (int, "integer"), (int | float, "number")):
        if all(isinstance(value, kinds) for value in values):
            return name
    return "string"


def _bounds(schema: Given) -> Schema:
    """Constraints that the vendor accepts only as text or as a number."""
    words = {name: schema[name] for name in _WORDS if isinstance(schema.get(name), str)}
    numbers = {name: schema[name] for name in _BOUNDS if _is_number(schema.get(name))}
    return {**words, **numbers}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _values(schema: Given, kind: str, converted: Schema) -> list[str]:
    """An enumeration of strings is supported; any other goes into the description."""
    values = _list(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
    known = [value for value in values if value is not None]
    if kind == "string" and known and all(isinstance(value, str) and value for value in known):
        converted |= {"format": "enum", "enum": list(dict.fromkeys(known))}
        return []
    return [f"One of: {', '.join(map(_plain, known))}."] if known else []


def _item(schema: Given) -> Any:
    """The item schema of a tuple: any of its items."""
    places = schema.get("prefixItems") or schema.get("items")
    return {"anyOf": places} if _list(places) else places


def _described(converted: Schema, schema: Given, notes: list[str]) -> Schema:
    sentences = [schema["description"]] if isinstance(schema.get("description"), str) and schema["description"] else []
    words = " ".join([*sentences, *notes])
    return {**converted, "description": words} if words else converted


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()

"""JSON schemas as Gemini takes them for the parameters of a function: a part of OpenAPI's, and nothing beside it.

What has no place there is said in the description, so that the model still knows: which values there are, that one is a
constant, how a text must look. Tools check their arguments themselves, so nothing depends on it. Schemas come from
strangers too: one that refers to itself, or grows without end, is cut.
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
_MOST = 2_000  # schemas within one
ANYTHING: Schema = {"type": "STRING"}


def parameters(schema: Given) -> Schema | None:
    """Of a function; None where it takes none, for which the vendor wants nothing to be said."""
    made = _Maker(schema).made(schema, 0)
    return made if made.get("type") == "OBJECT" and made.get("properties") else None


class _Maker:
    def __init__(self, root: Given) -> None:
        self._root = root
        self._left = _MOST

    def made(self, schema: Any, depth: int) -> Schema:
        self._left -= 1
        found = _object(schema)
        if found is None or depth > _DEEPEST or self._left < 0:
            return ANYTHING
        found = self._resolved(found, 0)
        if (options := _options(found)) is not None:
            return self._either(found, options, depth)
        kind, nullable = _kind(found)
        made: Schema = {"type": kind.upper(), **({"nullable": True} if nullable else {}), **_bounds(found)}
        notes: list[str] = []
        if found.get("format") in _FORMATS.get(kind, ()):
            made["format"] = found["format"]
        elif "format" in found:
            notes.append(f"Format: {found['format']}.")
        notes += _values(found, kind, made)
        if "default" in found:
            notes.append(f"Without it: {_plain(found['default'])}.")
        if kind == "object":
            made |= self._fields(found, depth)
        if kind == "array":
            made["items"] = self.made(_item(found), depth + 1)
        return _described(made, found, notes)

    def _resolved(self, schema: Given, depth: int) -> Given:
        """With what it refers to, and with what it is put together of, in one."""
        whole: Given = {name: value for name, value in schema.items() if name not in ("$ref", "allOf")}
        parts = _list(schema.get("allOf")) or []
        if isinstance(schema.get("$ref"), str):
            parts = [self._found(schema["$ref"]), *parts]
        for part in reversed(parts):
            self._left -= 1
            if (found := _object(part)) is not None and depth < _DEEPEST and self._left > 0:
                whole = _joined(self._resolved(found, depth + 1), whole)
        return whole

    def _found(self, reference: str) -> Any:
        """Only within the schema itself; what is elsewhere is not fetched."""
        place: Any = self._root if reference.startswith("#/") else None
        for step in reference.removeprefix("#/").split("/"):
            inner = _object(place)
            place = inner.get(step.replace("~1", "/").replace("~0", "~")) if inner is not None else None
        return place

    def _either(self, schema: Given, options: list[Any], depth: int) -> Schema:
        real = [option for option in options if not self._is_null(option)]
        own: Schema = {"nullable": True} if len(real) < len(options) else {}
        if isinstance(schema.get("description"), str):
            own["description"] = schema["description"]
        if len(real) == 1:
            return {**self.made(real[0], depth + 1), **own}
        return {**own, "anyOf": [self.made(option, depth + 1) for option in real]} if real else {**ANYTHING, **own}

    def _is_null(self, option: Any) -> bool:
        found = _object(option)
        if found is None:
            return False
        found = self._resolved(found, 0)
        return found.get("type") == "null" or ("const" in found and found["const"] is None)

    def _fields(self, schema: Given, depth: int) -> Schema:
        given = _object(schema.get("properties"))
        if not given:
            return {}
        fields = {name: self.made(inner, depth + 1) for name, inner in given.items()}
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
        if found := _list(schema.get(name)):
            return found
    kinds = _list(schema.get("type")) or []
    if len([kind for kind in kinds if kind != "null"]) > 1:
        return [{**schema, "type": kind} for kind in kinds]
    return None


def _kind(schema: Given) -> tuple[str, bool]:
    """Its type and whether it may be null; guessed where nothing is said."""
    given = schema.get("type")
    named = _list(given) or [given]
    kind = next((name for name in named if name in _TYPES), None)
    if kind is None:
        kind = "object" if "properties" in schema else "array" if "items" in schema else _of_values(schema)
    return kind, "null" in named or schema.get("nullable") is True


def _of_values(schema: Given) -> str:
    values = _list(schema.get("enum")) or [schema.get("const")]
    for kinds, name in ((bool, "boolean"), (int, "integer"), (int | float, "number")):
        if all(isinstance(value, kinds) for value in values):
            return name
    return "string"


def _bounds(schema: Given) -> Schema:
    """What the vendor reads as text, or as a number, and refuses as anything else."""
    words = {name: schema[name] for name in _WORDS if isinstance(schema.get(name), str)}
    numbers = {name: schema[name] for name in _BOUNDS if _is_number(schema.get(name))}
    return {**words, **numbers}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _values(schema: Given, kind: str, made: Schema) -> list[str]:
    """An enumeration of texts has a place of its own, every other is said."""
    values = _list(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
    known = [value for value in values if value is not None]
    if kind == "string" and known and all(isinstance(value, str) and value for value in known):
        made |= {"format": "enum", "enum": list(dict.fromkeys(known))}
        return []
    return [f"One of: {', '.join(map(_plain, known))}."] if known else []


def _item(schema: Given) -> Any:
    """Of an array whose places differ: any of them."""
    places = schema.get("prefixItems") or schema.get("items")
    return {"anyOf": places} if _list(places) else places


def _described(made: Schema, schema: Given, notes: list[str]) -> Schema:
    said = [schema["description"]] if isinstance(schema.get("description"), str) and schema["description"] else []
    words = " ".join([*said, *notes])
    return {**made, "description": words} if words else made


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()

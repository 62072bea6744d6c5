"""Readers for single values of JSON or TOML data: each returns the value or raises FieldError."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, cast

import msgspec

from interlock.domain.reading.gate_clause import MOST_ATTEMPTS, is_clause, parse_clause
from interlock.domain.values.gates import PRESETS, Gate
from interlock.domain.values.tickets import AGENTS, ROLES, is_assignee
from interlock.errors import Rejected

Plain = dict[str, Any]
Read = Callable[[object], object]


class FieldError(Exception):
    """A wrong value. The caller adds the ticket or track it belongs to and raises Rejected."""


def read_fields(
    data: object, fields: Mapping[str, Read], *, required: tuple[str, ...] = (), ignored: frozenset[str] = frozenset()
) -> Plain:
    """The values of the given keys. The error for an unknown key suggests the nearest known one."""
    if not isinstance(data, dict):
        raise FieldError(f"expected an object with keys and values, not {describe_value(data)}")
    values: Plain = {}
    for key, value in cast("dict[object, object]", data).items():
        read = fields.get(key) if isinstance(key, str) else None
        if read is not None:
            try:
                values[str(key)] = read(value)
            except FieldError as wrong:
                raise FieldError(f"{key!r} {wrong}") from None
        elif key not in ignored:
            close = get_close_matches(str(key), fields, n=1)
            raise FieldError(f"unknown key {key!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
    for key in required:
        if key not in values:
            raise FieldError(f"the key {key!r} is missing")
    return values


def text(value: object) -> str:
    if not isinstance(value, str):
        raise _must_be("a text", value)
    if "\0" in value or not _is_unicode(value):
        raise FieldError("holds a character that no file or command can hold")
    return value


def texts(value: object) -> tuple[str, ...]:
    return tuple(text(item) for item in items(value, "a list of texts"))


def true_or_false(value: object) -> bool:
    if not isinstance(value, bool):
        raise _must_be("true or false", value)
    return value


def seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e300:
        raise _must_be("a number of seconds", value)
    return float(value)


def gates(value: object) -> tuple[Gate, ...]:
    """A list of gates. A text that is not a clause is a shell command; a single text is a list of one."""
    if isinstance(value, str):
        value = [value]
    return tuple(_gate(number, item) for number, item in enumerate(items(value, "a list of gates"), 1))


def items(value: object, what: str) -> list[object]:
    if not isinstance(value, list | tuple):
        raise _must_be(what, value)
    return list(cast("list[object]", value))


# ── readers with parameters ───────────────────────────────────────────────────────────────


def whole_number(low: int, high: int) -> Read:
    def read(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise _must_be(f"a whole number from {low} to {high}", value)
        return value

    return read


def one_of(words: tuple[str, ...]) -> Read:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in words:
            raise _must_be(f"one of {', '.join(words)}", value)
        return value

    return read


def assignee(value: object) -> str:
    if not isinstance(value, str) or not is_assignee(value):
        raise _must_be(f"one of {', '.join((*ROLES, *AGENTS))} or agent:NAME", value)
    return value


def or_null(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


def struct_value(of: Any) -> Read:
    """A value in the form in which Interlock stores it."""

    def read(value: object) -> object:
        try:
            return msgspec.convert(value, of)
        except msgspec.ValidationError as error:
            raise FieldError(f"is not in the form that Interlock stores: {error}") from None

    return read


def describe_value(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _gate(number: int, item: object) -> Gate:
    try:
        if isinstance(item, str):
            written = text(item)
            return parse_clause(written) if is_clause(written) else Gate(written)
        has_criteria = _has_criteria(item)
        fields = read_fields(item, _GATE, required=() if has_criteria else ("command",))
        if has_criteria and fields.get("command"):
            raise FieldError("a gate has a 'command' or 'criteria', not both")
        fields.setdefault("command", "")
        return Gate(**fields)
    except (FieldError, Rejected) as wrong:
        raise FieldError(f"item {number}: {wrong}") from None


def _has_criteria(item: object) -> bool:
    return isinstance(item, dict) and bool(cast("dict[object, object]", item).get("criteria"))


def _environment(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise _must_be("an object of names and texts", value)
    variables = {text(name): text(content) for name, content in cast("dict[object, object]", value).items()}
    if wrong := [name for name in variables if not name or "=" in name]:
        raise FieldError(f"holds {wrong[0]!r}, which cannot be the name of a variable")
    return variables


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate: JSON can express it, UTF-8 cannot store it
        return False
    return True


def _must_be(what: str, value: object) -> FieldError:
    return FieldError(f"must be {what}, not {describe_value(value)}")


_GATE: dict[str, Read] = {
    "command": text,
    "preset": or_null(one_of(tuple(PRESETS))),
    "max_attempts": or_null(whole_number(1, MOST_ATTEMPTS)),
    "timeout_s": or_null(seconds),
    "loop": true_or_false,
    "cwd": or_null(text),
    "env": _environment,
    "criteria": or_null(text),
    "name": or_null(text),
    "network": true_or_false,
    "judges": texts,
    "stdin": or_null(one_of(("answer",))),
    "flaky": true_or_false,
}

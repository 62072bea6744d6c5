"""Shortens the texts of a test execution for its event; a blob holds the whole execution."""

from collections.abc import Callable
from hashlib import sha256

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.values.gates import Blob
from interlock.domain.values.test_history import Assertion, Execution, read_execution

LONGEST = 4_000  # characters of an error, of all logs, of a widget tree
LONGEST_NAME = 500
LONGEST_LINE = 1_000
LONGEST_VALUE = 500  # of an assertion
LINES = 200


class Fitted(Struct, frozen=True):
    """The execution to record, and the text to store as a blob before that, if any."""

    execution: Execution
    text: bytes | None


def fit(execution: Execution, redact: Callable[[str], str] = str) -> Fitted:
    """Redacts an execution and shortens it for its event. The blob's text is the whole execution, redacted."""
    whole = _with_texts(execution, lambda text: redact(text.encode(errors="replace").decode()))
    short = shortened(whole)
    if short == whole:
        return Fitted(whole, None)
    text = msgspec.json.encode(whole)
    return Fitted(replace(short, whole=Blob(sha256(text).hexdigest(), len(text))), text)


def restored(execution: Execution, text: bytes | None) -> Execution:
    """The unshortened execution from its blob's text, or the shortened one if that is missing or unreadable."""
    if text is None:
        return execution
    try:
        return read_execution(text)
    except msgspec.MsgspecError:
        return execution


def shortened(execution: Execution) -> Execution:
    """The execution with every text cut to its limit."""
    name = execution.name
    if len(name) > LONGEST_NAME:  # long names that differ only at their end are still different tests
        name = f"{name[: LONGEST_NAME - 17]}…{sha256(name.encode(errors='replace')).hexdigest()[:16]}"
    return replace(
        execution,
        name=name,
        error_message=_cut(execution.error_message, LONGEST),
        assertions=_fitting_assertions(execution.assertions),
        logs=_last_lines(execution.logs),
        widget_tree=_cut(execution.widget_tree, LONGEST),
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _last_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    kept: list[str] = []
    room = LONGEST
    for line in reversed(lines[-LINES:]):
        short = _cut(line, LONGEST_LINE)
        room -= len(short) + 1
        if room < 0:
            break
        kept.append(short)
    return tuple(reversed(kept))


def _fitting_assertions(assertions: tuple[Assertion, ...]) -> tuple[Assertion, ...]:
    """As many assertions as fit, failed ones first, in their original order."""
    room = 2 * LONGEST
    chosen: dict[int, Assertion] = {}
    for number, assertion in sorted(enumerate(assertions), key=lambda item: (item[1].passed, item[0])):
        short = _of_assertion(assertion, lambda text: _cut(text, LONGEST_VALUE))
        room -= sum(map(len, _texts(short))) + 40
        if room < 0:
            break
        chosen[number] = short
    return tuple(chosen[number] for number in sorted(chosen))


def _texts(assertion: Assertion) -> tuple[str, ...]:
    return assertion.description, assertion.expected_value, assertion.actual_value, assertion.error_message


def _of_assertion(assertion: Assertion, change: Callable[[str], str]) -> Assertion:
    description, expected, actual, error = map(change, _texts(assertion))
    return Assertion(description, assertion.passed, expected, actual, error)


def _with_texts(execution: Execution, change: Callable[[str], str]) -> Execution:
    return replace(
        execution,
        name=change(execution.name),
        error_message=change(execution.error_message),
        assertions=tuple(_of_assertion(each, change) for each in execution.assertions),
        logs=tuple(change(line) for line in execution.logs),
        metrics=tuple((change(name), value) for name, value in execution.metrics),
        widget_tree=change(execution.widget_tree),
    )

"""JUnit XML as pytest, jest, go-junit-report, surefire and many others write it.

The file is untrusted: entities and document types are refused, nothing is fetched, and every size is limited.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from xml.parsers import expat

from msgspec import Struct

from interlock.domain.values.test_history import Assertion, Category, Execution
from interlock.errors import BadValue

MOST_BYTES = 64_000_000
MOST_CASES = 100_000
DEEPEST = 50
LONGEST = 1_000_000  # characters of one text; the rest is dropped
_LONGEST_MS = 2**31 - 1
_LATEST_MS = 253_402_300_799_999 - _LONGEST_MS

_ENDINGS = ("failure", "error")
_TEXTS = (*_ENDINGS, "system-out", "system-err")


class Case(Struct):
    """One `<testcase>`."""

    name: str
    duration_ms: int
    started_at_ms: int  # 0 if the report has no time
    skipped: bool = False
    faults: list[tuple[str, str, str]] = []  # type, message, text
    out: str = ""
    err: str = ""


class _Suite(Struct):
    name: str
    at_ms: int


class _Reader:
    def __init__(self) -> None:
        self.cases: list[Case] = []
        self._path: list[str] = []
        self._suites: list[_Suite] = []
        self._case: Case | None = None
        self._kind = ""
        self._message = ""
        self._pieces: list[str] = []
        self._room = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if not self._path and name not in ("testsuites", "testsuite"):
            raise BadValue(f"it is no JUnit report: it begins with <{name[:50]}>, not <testsuites> or <testsuite>")
        self._path.append(name)
        if len(self._path) > DEEPEST:
            raise BadValue(f"its elements are nested more than {DEEPEST} deep")
        if name in ("testsuites", "testsuite"):
            before = self._suites[-1].at_ms if self._suites else 0
            self._suites.append(_Suite(attributes.get("name", ""), _unix_ms(attributes.get("timestamp", "")) or before))
        elif name == "testcase":
            self._begin_case(attributes)
        elif self._case is not None and self._path[-2] == "testcase":
            if name == "skipped":
                self._case.skipped = True
            elif name in _TEXTS:
                self._pieces, self._room = [], LONGEST
                self._kind, self._message = attributes.get("type", ""), attributes.get("message", "")

    def _begin_case(self, attributes: dict[str, str]) -> None:
        if len(self.cases) >= MOST_CASES:
            raise BadValue(f"it has more than {MOST_CASES:,} tests")
        took = _milliseconds(attributes.get("time", ""))
        suite = self._suites[-1]
        started = _unix_ms(attributes.get("timestamp", "")) or suite.at_ms
        if suite.at_ms:  # reports have a suite's start time, seldom a test's: tests are taken as sequential
            suite.at_ms += took
        where = attributes.get("classname") or suite.name
        name = attributes.get("name", "")
        self._case = Case(_joined(where.strip(), name.strip()), took, started, faults=[])
        self.cases.append(self._case)
        if attributes.get("status") in ("skipped", "disabled", "notrun"):
            self._case.skipped = True

    def text(self, text: str) -> None:
        if self._room > 0:
            self._pieces.append(text[: self._room])
            self._room -= len(text)

    def end(self, name: str) -> None:
        name = self._path.pop()
        if name in ("testsuites", "testsuite"):
            ended = self._suites.pop()
            if self._suites and name == "testsuite" and self._path[-1] == "testsuite":
                self._suites[-1].at_ms = max(self._suites[-1].at_ms, ended.at_ms)
        elif name == "testcase":
            self._case = None
        elif self._case is not None and self._path[-1] == "testcase" and name in _TEXTS:
            text, self._pieces, self._room = "".join(self._pieces), [], 0
            if name in _ENDINGS:
                self._case.faults.append((self._kind or name, self._message, text.strip("\n")))
            elif name == "system-out":
                self._case.out += text
            else:
                self._case.err += text


def read_junit(content: bytes) -> list[Case]:
    """Raises BadValue with the reason."""
    if len(content) > MOST_BYTES:
        raise BadValue(f"it has more than {MOST_BYTES // 1_000_000} MB")
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.begin
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise BadValue(f"it is not XML: {error}") from None
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise BadValue(f"it cannot be read: {error}") from None
    return reader.cases


def executions(cases: list[Case], category: Category, now_ms: int, new_id: Callable[[], str]) -> tuple[Execution, ...]:
    """Executions of the tests that ran; skipped tests are left out."""
    runs: list[Execution] = []
    for case in cases:
        if case.skipped and not case.faults:
            continue
        started = min(case.started_at_ms or max(0, now_ms - case.duration_ms), _LATEST_MS)
        runs.append(
            Execution(
                test_id=new_id(),
                name=case.name,
                category=category,
                status="failed" if case.faults else "passed",
                queued_at_ms=started,
                started_at_ms=started,
                completed_at_ms=started + case.duration_ms,
                execution_time_ms=case.duration_ms,
                error_message="\n\n".join(_error(message, text) for _, message, text in case.faults),
                assertions=tuple(
                    Assertion(kind, False, error_message=message or text.strip().split("\n", 1)[0])
                    for kind, message, text in case.faults
                ),
                logs=(*case.out.splitlines(), *case.err.splitlines()),
            )
        )
    return tuple(runs)


def _refuse(*_: Any) -> None:
    raise BadValue("it declares a document type or entities; a JUnit report needs neither")


def _error(message: str, text: str) -> str:
    return text if message.strip() in text else f"{message}\n{text}".strip("\n")


def _joined(where: str, name: str) -> str:
    if not where or name.startswith(where):
        return name or where or "(no name)"
    return f"{where}.{name}" if name else where


def _milliseconds(text: str) -> int:
    try:
        seconds = float(text.replace(",", ""))
    except ValueError:
        return 0
    return round(min(seconds * 1_000, _LONGEST_MS)) if seconds > 0 else 0


def _unix_ms(text: str) -> int:
    """Unix milliseconds; 0 if the text is no time. A time without a zone is UTC."""
    try:
        time = datetime.fromisoformat(text.strip())
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
        return min(max(0, round(time.timestamp() * 1_000)), _LATEST_MS)
    except (ValueError, OverflowError):
        return 0

"""Finds a text in another, independent of line endings; suggests the nearest text if there is no match."""

import re
import time
from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher

Span = tuple[int, int]

_MOST_NAMED = 20
_SEARCH_S = 0.5
_LOOKED_AT = 2_000_000
_ALIKE = 0.6
_LONGEST_LINE = 200


def find(text: str, wanted: str, *, overlapping: bool, most: int) -> list[Span]:
    """All matches, up to one more than `most`. A newline matches both kinds of line endings."""
    wanted = wanted.replace("\r\n", "\n")
    # Positions of the removed carriage returns, in the text without them.
    returns = [match.start() - number for number, match in enumerate(re.finditer("\r\n", text))]
    plain = text.replace("\r\n", "\n") if returns else text
    spans: list[Span] = []
    at = plain.find(wanted)
    while at >= 0 and len(spans) <= most:
        end = at + len(wanted)
        spans.append((at + bisect_left(returns, at), end + bisect_left(returns, end)))
        at = plain.find(wanted, at + 1 if overlapping else end)
    return spans


def replace(text: str, spans: Sequence[Span], new: str) -> str:
    """Gives new lines the line ending of their neighbours."""
    new = new.replace("\r\n", "\n")
    out: list[str] = []
    at = 0
    for start, end in spans:
        newline = _newline(text, start, end) if "\n" in new else "\n"
        out += [text[at:start], new.replace("\n", newline)]
        at = end
    return "".join((*out, text[at:]))


def line_numbers(text: str, spans: Sequence[Span]) -> str:
    """Line numbers for a message: 3, 17 and 20."""
    numbers: list[str] = []
    line, at = 1, 0
    for start, _ in spans[:_MOST_NAMED]:
        line += text.count("\n", at, start)
        at = start
        numbers.append(str(line))
    if len(spans) > _MOST_NAMED:
        return f"{', '.join(numbers)} and more"
    return " and ".join(part for part in (", ".join(numbers[:-1]), numbers[-1]) if part)


def nearest(text: str, wanted: str) -> str:
    """The most similar text with its line numbers; empty if there is none."""
    deadline = time.monotonic() + _SEARCH_S
    lines = text[:_LOOKED_AT].split("\n")
    sought = [line.strip() for line in wanted.strip("\r\n").split("\n")]
    stripped = [line.strip() for line in lines]
    for number in range(len(lines) - len(sought) + 1):
        if time.monotonic() > deadline:
            return ""
        if stripped[number] == sought[0] and stripped[number : number + len(sought)] == sought:
            return " It is there but for the white space" + _quoted(lines, number, len(sought))
    number = _most_alike(stripped, next((line for line in sought if line), ""), deadline)
    return "" if number is None else " The nearest is" + _quoted(lines, number, min(len(sought), 5))


def _most_alike(lines: Sequence[str], sought: str, deadline: float) -> int | None:
    """Compares line by line until the time limit."""
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(sought[:_LONGEST_LINE])
    best, best_ratio = None, _ALIKE
    for number, line in enumerate(lines):
        if not line or abs(len(line) - len(sought)) > len(sought) + _LONGEST_LINE:
            continue
        matcher.set_seq1(line[:_LONGEST_LINE])
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = number, ratio
        if time.monotonic() > deadline:
            break
    return best


def _quoted(lines: Sequence[str], first: int, count: int) -> str:
    shown = "\n".join(line.rstrip("\r")[:_LONGEST_LINE] for line in lines[first : first + min(count, 20)])
    where = f"at line {first + 1}" if count == 1 else f"at lines {first + 1}–{first + count}"
    return f", {where}:\n{shown}"


def _newline(text: str, start: int, end: int) -> str:
    """The line ending of the match, else of its line, else of the line before."""
    at = text.find("\n", start, end)
    if at < 0:
        at = text.find("\n", end)
    if at < 0:
        at = text.rfind("\n", 0, start)
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"

"""A judge's answer: pass or fail, and why (SPEC G2)."""

import json
import re
from collections.abc import Iterator
from typing import Any

MOST_REASON = 4_000
_WORD = re.compile(r"\W*(pass|fail)(?:ed)?(?:[\s:.,;!*—–-]+|\Z)", re.IGNORECASE)
_SAYS_FAIL = re.compile(r"\bfail(?:s|ed)?\b", re.IGNORECASE)
_FENCE = re.compile(r"`{3,}[a-zA-Z]*")


def verdict_of(answer: str) -> tuple[bool, str] | None:
    """Whether it passes, and the reason; None where the answer does not clearly say so.

    A judge may quote the change, and a change may hold anything, a verdict too. So any verdict that says fail counts,
    but one that says pass only at the beginning or the end, and where nothing around it speaks of failing.
    """
    text = _FENCE.sub("", answer).strip()
    found = list(_verdicts(text))
    for _, _, said, reason in found:
        if said == "fail":
            return False, reason
    if found:
        (begin, end, _, reason) = found[-1] if found[-1][1] == len(text) else found[0]
        outside = text[:begin] + text[end:]
        at_an_edge = begin == 0 or end == len(text)
        return (True, reason) if at_an_edge and not _SAYS_FAIL.search(outside) else None
    if word := _WORD.match(text):
        passes, reason = word[1].lower() == "pass", text[word.end() :].strip()
        return None if passes and _SAYS_FAIL.search(reason) else (passes, reason[:MOST_REASON])
    return None


def _verdicts(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Of each object that has one: where it begins and ends, `pass` or `fail`, and the reason."""
    begin = text.find("{")
    while begin >= 0:
        try:
            pairs, end = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            begin = text.find("{", begin + 1)
            continue
        reason = next((str(value) for name, value in pairs if name == "reason"), "")[:MOST_REASON]
        named = [value for name, value in pairs if name == "verdict"]
        words = [str(value).strip().lower() for value in named or (value for name, value in pairs if name == "result")]
        if any(word in ("fail", "failed") for word in words):
            yield begin, end, "fail", reason
        elif words and all(word in ("pass", "passed") for word in words):
            yield begin, end, "pass", reason
        begin = text.find("{", end)


def _pairs(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """An object as it is written: a name that stands in it twice is two."""
    return pairs


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, strict=False)


def judge_question(criteria: str, diff: str) -> str:
    """All that a judge is shown."""
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", diff)), default=0))
    return "\n".join(
        ["## Criteria", "", criteria, "", "## The change", "", f"{fence}diff", diff.strip("\n") or "(nothing)", fence]
    )

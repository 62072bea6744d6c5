"""Reads a judge's answer: pass or fail, and the reason. Builds the question for the judge."""

import json
import re
from collections.abc import Iterator
from typing import Any

MOST_REASON = 4_000
_WORD = re.compile(r"\W*(pass|fail)(?:ed)?(?:[\s:.,;!*—–-]+|\Z)", re.IGNORECASE)
_SAYS_FAIL = re.compile(r"\bfail(?:s|ed)?\b", re.IGNORECASE)
_FENCE = re.compile(r"`{3,}[a-zA-Z]*")


def verdict_of(answer: str) -> tuple[bool, str] | None:
    """Whether the change passes, and the reason; None if the answer is not clear.

    A judge may quote the change, and the change may contain a verdict. So any "fail" verdict counts. A "pass" counts
    only at the beginning or end of the answer, and only if no other text mentions a failure.
    """
    text = _FENCE.sub("", answer).strip()
    verdicts = list(_verdicts(text))
    for _, _, verdict, reason in verdicts:
        if verdict == "fail":
            return False, reason
    if verdicts:
        (begin, end, _, reason) = verdicts[-1] if verdicts[-1][1] == len(text) else verdicts[0]
        outside = text[:begin] + text[end:]
        at_an_edge = begin == 0 or end == len(text)
        return (True, reason) if at_an_edge and not _SAYS_FAIL.search(outside) else None
    if word := _WORD.match(text):
        passes, reason = word[1].lower() == "pass", text[word.end() :].strip()
        return None if passes and _SAYS_FAIL.search(reason) else (passes, reason[:MOST_REASON])
    return None


def _verdicts(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Each JSON object with a verdict: its start and end, `pass` or `fail`, and the reason."""
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
    """Keeps repeated keys of an object, which a dict would drop."""
    return pairs


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, strict=False)


def judge_question(criteria: str, diff: str) -> str:
    """The whole text that a judge gets."""
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", diff)), default=0))
    return "\n".join(
        ["## Criteria", "", criteria, "", "## The change", "", f"{fence}diff", diff.strip("\n") or "(nothing)", fence]
    )

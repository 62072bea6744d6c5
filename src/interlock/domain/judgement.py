"""A judge's answer: pass or fail, and why (SPEC G2)."""

import re
from typing import Any

import msgspec

MOST_REASON = 4_000
_FENCED = re.compile(r"```[a-zA-Z]*\n(.*?)```", re.DOTALL)
_OBJECT = re.compile(r"\{[^{}]*\}", re.DOTALL)
_WORD = re.compile(r"\W*(passed|pass|failed|fail)\b[\s:.,—–-]*", re.IGNORECASE)


def verdict_of(answer: str) -> tuple[bool, str] | None:
    """Whether it passes, and the reason; None where the answer says neither, or both."""
    for text in (*_FENCED.findall(answer), *_OBJECT.findall(answer)):
        try:
            found = msgspec.json.decode(text, type=dict[str, Any])
        except msgspec.MsgspecError:
            continue
        word = str(found.get("verdict", found.get("result", ""))).strip().lower()
        if word in ("pass", "passed", "fail", "failed"):
            return word.startswith("pass"), str(found.get("reason", ""))[:MOST_REASON]
    if found := _WORD.match(answer):
        return found[1].lower().startswith("pass"), answer[found.end() :].strip()[:MOST_REASON]
    return None


def question(criteria: str, diff: str) -> str:
    """All that a judge is shown."""
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", diff)), default=0))
    return "\n".join(
        ["## Criteria", "", criteria, "", "## The change", "", f"{fence}diff", diff.strip("\n") or "(nothing)", fence]
    )

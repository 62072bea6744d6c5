"""Prompts for the window, parsed by fixed patterns without a model.

`Open Inbox and verify it loads`, `click "Plan it" then wait for "Proposed"`, `type "Better" into Goal, check Goal
contains "Bet"`. Other sentences are refused, with the list of possible forms.
"""

import re
from typing import Literal

from msgspec import Struct

from interlock.errors import BadValue

Do = Literal["open", "click", "type", "wait", "loads", "visible", "enabled", "contains", "equals"]


class PromptStep(Struct, frozen=True):
    """`name` is a window's title, a label, a target or a key."""

    do: Do
    name: str
    text: str = ""


_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|“[^”]*”"
_PARTS = re.compile(rf"({_QUOTED})|(\s*(?:[,;\n]|\.(?=\s|$)|\band then\b|\bthen\b|\band\b)\s*)", re.IGNORECASE)
_THING = r"(?:the\s+)?(?P<name>.+?)(?:\s+(?:panel|window|tab|button|field|input))?"
_IS = r"(?:is|are|becomes?|gets?)"
_VERIFY = r"(?:verify|check|assert|ensure|confirm|see|expect)(?:\s+that)?"

_FORMS: tuple[tuple[str, Do], ...] = (
    (rf"(?:open|show|go to|switch to|focus|select)\s+{_THING}", "open"),
    (rf"(?:click|press|push|tap)(?:\s+on)?\s+{_THING}", "click"),
    (rf"(?:type|enter|write)\s+(?P<text>{_QUOTED})\s+(?:into|in|to)\s+{_THING}", "type"),
    (rf"{_VERIFY}\s+{_THING}\s+(?:loads|opens|appears|comes up|has (?:loaded|opened))", "loads"),
    (rf"{_VERIFY}\s+{_THING}\s+(?:contains|says|shows|includes)\s+(?P<text>{_QUOTED})", "contains"),
    (rf"{_VERIFY}\s+{_THING}\s+(?:equals|{_IS})\s+(?P<text>{_QUOTED})", "equals"),
    (rf"{_VERIFY}\s+{_THING}\s+{_IS}\s+(?:visible|shown|open|there|present)", "visible"),
    (rf"{_VERIFY}\s+{_THING}\s+exists", "visible"),
    (rf"{_VERIFY}\s+{_THING}\s+{_IS}\s+enabled", "enabled"),
    (rf"wait\s+(?:for|until)\s+{_THING}(?:\s+(?:loads|opens|appears|{_IS}\s+(?:visible|shown|there)))?", "wait"),
)
_COMPILED: tuple[tuple[re.Pattern[str], Do], ...] = tuple(
    (re.compile(form, re.IGNORECASE | re.DOTALL), do) for form, do in _FORMS
)


def read_prompt(prompt: str) -> tuple[PromptStep, ...]:
    """Raises BadValue with the part that cannot be parsed."""
    steps: list[PromptStep] = []
    last = ""
    for part in _parts(prompt):
        step = _read(part, last)
        last = step.name
        steps.append(step)
    if not steps:
        raise BadValue('the prompt is empty: try "Open Inbox and verify it loads"')
    return tuple(steps)


def _parts(prompt: str) -> list[str]:
    """Split at the ends of sentences and at `and`, outside quotes."""
    parts, start = [""], 0
    for cut in _PARTS.finditer(prompt):
        if cut[1] is not None:
            continue
        parts[-1] += prompt[start : cut.start()]
        parts.append("")
        start = cut.end()
    parts[-1] += prompt[start:]
    return [part.strip() for part in parts if part.strip()]


def _read(part: str, last: str) -> PromptStep:
    for form, do in _COMPILED:
        match = form.fullmatch(part)
        if match is not None:
            name = _unquoted(match["name"].strip())
            if name.lower() in ("it", "this", "that", "they"):
                if not last:
                    raise BadValue(f"{part!r}: {name!r} refers to nothing before it")
                name = last
            return PromptStep(do, name, _unquoted(match.groupdict().get("text") or ""))
    raise BadValue(
        f'{part!r} cannot be read: use open X, click X, type "TEXT" into X, wait for X,'
        ' verify X loads | is visible | is enabled | contains "TEXT" | equals "TEXT"'
    )


def _unquoted(text: str) -> str:
    if len(text) >= 2 and (text[0], text[-1]) in (('"', '"'), ("'", "'"), ("“", "”")):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text

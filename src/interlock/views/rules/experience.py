"""What people answered so far: the questions that rules could have answered, and how often each rule answered."""

import re
from datetime import UTC, datetime, timedelta
from typing import Literal

from msgspec import Struct

from interlock.domain.state.autonomy import FILE_TOOLS
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Answered, Approval, ScriptPayload, ToolPayload, approval_number, kept_edit

Reply = Literal["approved", "edited", "rejected"]

_FILE = re.compile(r"(?:Edit|Create|Delete) ([\w./@+-]+)")
_CONCEALED = "[concealed:"


class Question(Struct, frozen=True):
    """A script or a tool call that a person was asked about, and the reply."""

    id: str
    kind: Literal["script", "tool"]
    text: str  # the script, or the tool's name
    reply: Reply
    at: str
    directory: str = ""
    paths: tuple[str, ...] = ()  # the files that the tool would change, if they are known


class RuleUse(Struct, frozen=True):
    """How often a rule answered, alone or with others, and when last."""

    count: int = 0
    last: str = ""


def answered_questions(state: State) -> tuple[Question, ...]:
    """Questions of kinds that rules can answer, answered by a person, oldest first.

    Answers of rules, of tests and of a deadline are no experience. A script with network access is always asked about,
    and a text with a concealed secret must not get into a rule.
    """
    found = [question for approval in state.approvals.values() if (question := _question(approval)) is not None]
    return tuple(sorted(found, key=lambda question: approval_number(question.id)))


def rule_uses(state: State) -> dict[str, RuleUse]:
    """By the rule's name. An answer may rest on several rules: `policy:git-log+read-ends`."""
    uses: dict[str, RuleUse] = {}
    for approval in state.approvals.values():
        answer = approval.state
        if isinstance(answer, Answered) and answer.by.startswith("policy:"):
            for name in answer.by.removeprefix("policy:").split("+"):
                before = uses.get(name, RuleUse())
                uses[name] = RuleUse(before.count + 1, max(before.last, answer.at))
    return uses


def journal_days(state: State) -> tuple[str, str]:
    """The times of the first and of the last request; empty without any."""
    times = [approval.requested_at for approval in state.approvals.values()]
    return (min(times), max(times)) if times else ("", "")


def _question(approval: Approval) -> Question | None:
    answer, payload = approval.state, approval.payload
    if not isinstance(answer, Answered) or not answer.by.startswith("human:"):
        return None
    reply: Reply = "approved"
    if answer.decision != "approve":
        reply = "rejected"
    elif answer.edited is not None or answer.hunks is not None or kept_edit(approval) is not None:
        reply = "edited"
    if approval.kind == "script" and isinstance(payload, ScriptPayload):
        if payload.network or _CONCEALED in payload.script:
            return None
        return Question(approval.id, "script", payload.script, reply, answer.at, payload.directory)
    if approval.kind == "tool" and isinstance(payload, ToolPayload):
        return Question(approval.id, "tool", payload.tool, reply, answer.at, payload.directory, changed_paths(payload))
    return None


def changed_paths(payload: ToolPayload) -> tuple[str, ...]:
    """The file that a call would change, by its title; empty if that is not certain."""
    named = _FILE.fullmatch(payload.title) if payload.tool in FILE_TOOLS else None
    return (named[1],) if named else ()


STALE_DAYS = 30


def is_stale(use: RuleUse, since: str, days: tuple[str, str]) -> bool:
    """Whether a rule answered nothing in the last 30 days of the journal.

    `since` is the day when it was remembered; without one, its time counts from the journal's beginning.
    """
    first, last = days
    times = [time for text in (use.last, since or first) if (time := _time(text)) is not None]
    end = _time(last)
    return end is not None and bool(times) and end - max(times) > timedelta(days=STALE_DAYS)


def _time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)

"""Conversations as values: what is still unanswered, what is sent, what an edit of the human's means."""

import json
from collections.abc import Sequence
from typing import Any, cast

from interlock.domain.approvals import Answered
from interlock.ports import Message, Preview, ToolCall

NEWEST, OLDER = 40_000, 8_000  # characters of a tool's answer: in its own round, and later


def unanswered(messages: Sequence[Message]) -> ToolCall | None:
    """The first call of the last round that has no answer yet."""
    answered = set[str]()
    for message in reversed(messages):
        if message.role == "tool":
            answered.add(message.call_id)
        elif message.role == "assistant":
            return next((call for call in message.calls if call.id not in answered), None)
        else:
            return None
    return None


def rounds_since_asked(messages: Sequence[Message]) -> int:
    """How often tools were called for the latest request: whatever the model was last told by a user."""
    rounds = 0
    for message in reversed(messages):
        if message.role == "user":
            break
        rounds += bool(message.calls)
    return rounds


def distinct(calls: Sequence[ToolCall], messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """The calls, each with an id of its own: an answer must never count for another call."""
    taken = {"", *(call.id for message in messages for call in message.calls)}
    found: list[ToolCall] = []
    for call in calls:
        name, number = call.id, 1
        while name in taken:
            number += 1
            name = f"{call.id or 'call'}-{number}"
        taken.add(name)
        found.append(call if name == call.id else ToolCall(name, call.name, call.args))
    return tuple(found)


def trimmed(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Answers of the newest round go whole, older ones shortened."""
    last_round = max((n for n, m in enumerate(messages) if m.role == "assistant"), default=-1)
    return tuple(
        Message(m.role, _cut(m.text, NEWEST if number > last_round else OLDER), m.calls, m.call_id)
        if m.role == "tool"
        else m
        for number, m in enumerate(messages)
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n[… {len(text) - most:,} characters dropped; ask for slices]"


def why_asked(preview: Preview) -> str:
    return "no rule allows this script" if preview.script is not None else "no rule allows this change"


def edited_call(call: ToolCall, decided: Answered) -> tuple[dict[str, Any] | str, str]:
    """The arguments to use, and what the model must be told about them."""
    if decided.edited is None:
        left = "" if decided.hunks is None else f"The human allowed only hunks {', '.join(map(str, decided.hunks))}.\n"
        return call.args, left
    if call.name == "run_shell":
        return {**call.args, "script": decided.edited}, f"The human changed the script to:\n{decided.edited}\n\n"
    try:
        args = json.loads(decided.edited)
    except ValueError:
        return "the human's edit of the arguments is not JSON, so it did not run", ""
    if not isinstance(args, dict):
        return "the human's edit of the arguments is not an object, so it did not run", ""
    return cast("dict[str, Any]", args), f"The human changed the arguments to:\n{decided.edited}\n\n"

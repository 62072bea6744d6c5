"""Pure functions on conversations: open tool calls, the messages of a request, edits of a call."""

import json
from collections.abc import Sequence
from typing import Any, cast

from msgspec.structs import replace

from interlock.domain.values.approvals import Answered
from interlock.engine.agents.tool_calls.tool_outputs import (
    COMPACTED_AT,
    LEAST,
    NEWEST,
    OLDER,
    REQUEST_BYTES,
    WARNING,
    shortened,
)
from interlock.ports.model import Message, ToolCall
from interlock.ports.tools import Preview

BEFORE_A_CALL = Message("user", "A program used the tools of this project. Its calls follow.")
"""Vendors require a conversation to begin with the user; one that a program began does not."""


UNKNOWN = (
    "The workbench stopped during this call, and it is unknown whether the call took effect. The human chose to"
    " continue without repeating it: read the files before you rely on either outcome."
)


def unanswered(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """The calls of the last round that have no result yet."""
    answered = set[str]()
    for message in reversed(messages):
        if message.role == "tool":
            answered.add(message.call_id)
        else:
            return tuple(call for call in message.calls if call.id not in answered)
    return ()


def rounds_since_asked(messages: Sequence[Message]) -> int:
    """How many rounds of tool calls followed the latest message of a user."""
    rounds = 0
    for message in reversed(messages):
        if message.role == "user":
            break
        rounds += bool(message.calls)
    return rounds


def distinct(calls: Sequence[ToolCall], messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """The calls with unique ids, so that no result is assigned to another call."""
    taken = {"", *(call.id for message in messages for call in message.calls)}
    unique: list[ToolCall] = []
    for call in calls:
        name, number = call.id, 1
        while name in taken:
            number += 1
            name = f"{call.id or 'call'}-{number}"
        taken.add(name)
        unique.append(call if name == call.id else replace(call, id=name))
    return tuple(unique)


def for_request(messages: Sequence[Message], *, fixed: bool = False) -> tuple[Message, ...]:
    """The messages of a request: results of the newest round are whole, older ones are shortened.

    Only the last note about changed files is sent: earlier ones are outdated.

    `fixed`: the model requires every message as it was sent first. Then results stay whole and notes stay, until they
    are so much that all of the past is shortened at once.
    """
    newest = max((number for number, message in enumerate(messages) if message.role == "assistant"), default=-1)
    whole_from = _whole_from(messages) if fixed else newest
    updated = [number for number, message in enumerate(messages) if message.updates]
    latest = max((number for number in updated if not fixed or number < whole_from), default=-1)
    sent: list[Message] = []
    result_bytes = 0
    for number, message in enumerate(messages):
        if message.role == "user":
            result_bytes = 0
        if message.role != "tool":
            sent.append(replace(message, updates="", seen=(), reasoning=""))
            continue
        result_bytes += len(message.text.encode(errors="replace"))
        most = NEWEST if number > whole_from else OLDER
        text = shortened(message, most) if result_bytes <= REQUEST_BYTES else f"{shortened(message, LEAST)}\n{WARNING}"
        if message.updates and (number == latest or (fixed and number > whole_from)):
            text = f"{text}\n\n{message.updates}"
        sent.append(Message("tool", text, call_id=message.call_id, images=message.images))
    return tuple(sent) if not sent or sent[0].role == "user" else (BEFORE_A_CALL, *sent)


def _whole_from(messages: Sequence[Message]) -> int:
    """The place after which results are whole: it moves only when `COMPACTED_AT` characters could be saved.

    Every request of the past gave the same place, so each message looks as it did when it was sent first.
    """
    whole_from = newest = -1
    older = current = 0  # characters to save in the rounds before the newest, and in the newest
    for number, message in enumerate(messages):
        if message.role == "tool":
            current += max(min(len(message.text), NEWEST) - OLDER, 0) + len(message.updates)
        elif message.role == "assistant":  # a request was made right before it
            if older > COMPACTED_AT:
                whole_from, older = newest, 0
            older, current, newest = older + current, 0, number
    return newest if older > COMPACTED_AT else whole_from


def approval_reason(preview: Preview, reason: str = "") -> str:
    if reason and preview.script is not None:
        return reason
    return "no rule allows this script" if preview.script is not None else "no rule allows this change"


def with_edit_of(call: ToolCall, edited: str | None) -> ToolCall:
    """The call with a person's edit; the call itself if the edit cannot be used."""
    if edited is None:
        return call
    args, _ = edited_call(call, Answered("approve", "", "", edited=edited))
    return call if isinstance(args, str) else replace(call, args=args)


def edited_call(call: ToolCall, decided: Answered) -> tuple[dict[str, Any] | str, str]:
    """The arguments to use and a note about them for the model; or, as a text, why the edit cannot be used."""
    if decided.edited is None:
        note = "" if decided.hunks is None else f"The human allowed only hunks {', '.join(map(str, decided.hunks))}.\n"
        return call.args, note
    if call.name == "run_shell":
        return {**call.args, "script": decided.edited}, f"The human changed the script to:\n{decided.edited}\n\n"
    try:
        args = json.loads(decided.edited)
    except ValueError:
        return "the human's edit of the arguments is not JSON, so it did not run", ""
    if not isinstance(args, dict):
        return "the human's edit of the arguments is not an object, so it did not run", ""
    return cast("dict[str, Any]", args), f"The human changed the arguments to:\n{decided.edited}\n\n"

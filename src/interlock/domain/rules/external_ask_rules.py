"""Rules for asks: a program outside Interlock requests an approval and waits for the answer."""

from typing import assert_never

from interlock.domain.messages.commands.external_ask_commands import AskPerson, ExternalAskCommand, WithdrawAsk
from interlock.domain.messages.events.approval_events import ApprovalWithdrawn
from interlock.domain.messages.events.event import Events
from interlock.domain.rules.approval_request import request
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval, Pending, ToolPayload
from interlock.errors import Rejected

MOST_NAME = 200


def decide(state: State, command: ExternalAskCommand) -> Events:
    match command:
        case AskPerson():
            return ask(state, command)
        case WithdrawAsk():
            return withdraw(state, command)
        case _:
            assert_never(command)


def ask(state: State, command: AskPerson) -> Events:
    if not command.tool.strip() or len(command.tool) > MOST_NAME:
        raise Rejected(f"name the tool, in at most {MOST_NAME} characters")
    payload = ToolPayload(
        call=command.key,
        tool=command.tool,
        arguments=command.arguments,
        arguments_sha256=command.arguments_sha256,
        title=command.tool,
        hunks=0,
        diff="",
        directory=command.directory,
        diff_blob=command.whole,
    )
    return (request(state, payload, kind="ask", asker=command.asker, why=command.why, deadline=command.deadline),)


def withdraw(state: State, command: WithdrawAsk) -> Events:
    """Withdraws a pending ask. An answer that was recorded before stands."""
    approval = state.approval(command.approval)
    if approval.kind != "ask":
        raise Rejected(f"approval {approval.id} is a {approval.kind}: only an ask can be withdrawn")
    return (ApprovalWithdrawn(approval.id, command.why),) if isinstance(approval.state, Pending) else ()


def earlier_ask(state: State, command: AskPerson) -> Approval | None:
    """The approval of an earlier ask with the same key, for a program that reconnects for its answer."""
    for approval in state.approvals.values():
        payload = approval.payload
        if approval.kind == "ask" and isinstance(payload, ToolPayload) and command.key and payload.call == command.key:
            if (payload.tool, payload.arguments_sha256) != (command.tool, command.arguments_sha256):
                raise Rejected(f"the ask {command.key!r} was about something else")
            return approval
    return None

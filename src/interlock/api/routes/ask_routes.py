"""`/api/ask`: an outside program asks a person and waits for the answer.

If the program disconnects, the ask is withdrawn. After a restart of the workbench the program may reconnect with the
same `key` and continue to wait; an ask without a reconnection in time is withdrawn.
"""

import asyncio
import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from litestar import post
from litestar.handlers import HTTPRouteHandler
from litestar.params import JSONBody

from interlock.api.bridge import Bridge
from interlock.api.live import Live
from interlock.api.routes.replies import WRITES, Asking
from interlock.api.schemas.approvals import AskAnswer, AskShape
from interlock.domain.messages.commands.external_ask_commands import AskPerson, WithdrawAsk
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.rules.external_ask_rules import earlier_ask
from interlock.domain.values.approvals import Answered, Approval, Pending, ToolPayload, is_allowed
from interlock.domain.values.gates import Blob
from interlock.errors import Rejected

MOST_INLINE = 4_096

RETURN_S = 60
"""Seconds that an ask from before a restart waits for its program to reconnect."""


class Asks:
    def __init__(self, bridge: Bridge, live: Live) -> None:
        self._bridge = bridge
        self._live = live
        self._waiting: dict[str, int] = {}  # approval → number of requests that wait for it

    async def ask(self, request: Asking, data: AskShape) -> AskAnswer:
        approval = await self._bridge.run_on_engine(self._request(data))
        self._waiting[approval] = self._waiting.get(approval, 0) + 1
        answered = asyncio.ensure_future(self._live.answered(approval, lambda: not self._pending(approval)))
        disconnected = asyncio.ensure_future(_disconnected(request))
        try:
            await asyncio.wait((answered, disconnected), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waiting[approval] -= 1
            alone = not self._waiting[approval]
            if alone:
                del self._waiting[approval]
                self._live.forget(approval)
            answered.cancel()
            disconnected.cancel()
        if self._pending(approval) and alone and not self._live.ended:
            await self._bridge.run_on_engine(self._withdraw(approval, "the asking program disconnected"))
        return _answer(self._bridge.front.state.approval(approval), data, self._bridge.backstage.reveal)

    async def await_reconnections(self) -> None:
        """After a restart: withdraws asks whose programs do not reconnect in time."""
        asks = [approval.id for approval in self._bridge.front.state.pending_approvals() if approval.kind == "ask"]
        if not asks:
            return
        await asyncio.sleep(RETURN_S)
        for approval in asks:
            if approval not in self._waiting and self._pending(approval):
                await self._bridge.run_on_engine(
                    self._withdraw(approval, "the asking program did not reconnect after a restart")
                )

    def _pending(self, approval: str) -> bool:
        return isinstance(self._bridge.front.state.approval(approval).state, Pending)

    async def _request(self, data: AskShape) -> str:
        front = self._bridge.front
        deadline = None if data.deadline_s is None else self._bridge.backstage.later(data.deadline_s)
        name = data.asker if data.asker.isprintable() and data.asker else "outside"
        text = json.dumps(data.args, ensure_ascii=False)
        digest, whole = sha256(text.encode()).hexdigest(), None
        if len(text) > MOST_INLINE:  # large texts are stored beside the journal
            whole = Blob(await self._bridge.backstage.keep(text.encode()), len(text.encode()))
            text = json.dumps({"too long to show here": f"{whole.size:,} bytes, kept as {whole.sha256}"})
        command = AskPerson(
            tool=data.tool,
            arguments=text,
            arguments_sha256=digest,
            whole=whole,
            asker=f"program:{name}",
            key=data.key,
            directory=data.cwd,
            why=f"{name} asks for permission",
            deadline=deadline,
        )
        if (before := earlier_ask(front.state, command)) is not None:
            return before.id
        receipt = await front.submit(SYSTEM, command)
        return next(r.event.approval for r in receipt.records if isinstance(r.event, ApprovalRequested))

    async def _withdraw(self, approval: str, why: str) -> None:
        await self._bridge.front.submit(SYSTEM, WithdrawAsk(approval, why))


def ask_routes(asks: Asks) -> list[HTTPRouteHandler]:
    @post(
        "/api/ask",
        operation_id="ApiAskAsk",
        status_code=200,
        responses=WRITES,
        summary="Ask the user and wait for the answer",
    )
    async def ask_person(request: Asking, data: JSONBody[AskShape]) -> AskAnswer:
        """Responds when the user has decided; only the returned `args` may run.

        Closing the connection withdraws the request.
        """
        return await asks.ask(request, data)

    return [ask_person]


async def _disconnected(request: Asking) -> None:
    """Waits until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _answer(approval: Approval, data: AskShape, reveal: Callable[[str], str]) -> AskAnswer:
    match approval.state:
        case Answered(decision="approve") as answer if not (
            isinstance(approval.payload, ToolPayload) and is_allowed(approval.payload, answer)
        ):
            return AskAnswer("deny", data.args, "the answer is not about exactly this request", approval.id)
        case Answered(decision="approve", message=message, edited=edited):
            try:
                args: dict[str, Any] = data.args if edited is None else json.loads(reveal(edited))
            except Rejected as error:
                return AskAnswer("deny", data.args, str(error), approval.id)
            changed = "" if edited is None else "a person changed the arguments"
            return AskAnswer("allow", args, message or changed, approval.id)
        case Answered(message=message):
            return AskAnswer("deny", data.args, message or "a person rejected it", approval.id)
        case Pending():
            return AskAnswer("deny", data.args, "the workbench is ending; the ask was not answered", approval.id)
        case withdrawn:
            return AskAnswer("deny", data.args, f"the question was withdrawn: {withdrawn.why}", approval.id)

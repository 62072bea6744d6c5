"""Pending approvals as permission requests in the editor: offered once, withdrawn when they are answered elsewhere."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import acp

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Answered, Approval, Decision, Pending, Withdrawn
from interlock.editor.approval_view import (
    ALWAYS,
    answered_update,
    decision_of,
    options_for,
    question,
    question_id,
    title_of,
)
from interlock.editor.bench import Bench, Editor
from interlock.errors import InterlockError
from interlock.views.display import safe

YES: frozenset[Decision] = frozenset(["approve", "retry", "skip"])


class Offers:
    """The open questions of one session. `tell` shows a sentence to the person."""

    def __init__(self, session: str, bench: Bench, editor: Editor, tell: Callable[[str], Awaitable[None]]) -> None:
        self._session = session
        self._bench = bench
        self._editor = editor
        self._tell = tell
        self._open: dict[str, asyncio.Task[None]] = {}
        self._answering: set[str] = set()
        self._dismissed: set[str] = set()
        self.muted = False  # the turn is cancelled: an editor answers its questions with nothing then
        self.settled = asyncio.Event()  # set whenever a question ends

    @property
    def is_asking(self) -> bool:
        return bool(self._open)

    def again(self) -> None:
        """Offers also what the person dismissed before."""
        self.muted = False
        self._dismissed.clear()

    async def sync(self, wanted: Sequence[Approval], state: State) -> None:
        """Offers what is new and withdraws what is answered."""
        for name in [name for name in self._open if not isinstance(state.approvals[name].state, Pending)]:
            if name not in self._answering:
                await self._withdraw(state.approvals[name])
        for approval in wanted:
            if approval.id not in self._open and approval.id not in self._dismissed:
                task = asyncio.create_task(self._offer(approval), name=f"offer {approval.id}")
                self._open[approval.id] = task
                task.add_done_callback(lambda _, name=approval.id: self._ended(name))

    async def close(self) -> None:
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, name: str) -> None:
        self._open.pop(name, None)
        self._answering.discard(name)
        self.settled.set()

    async def _withdraw(self, approval: Approval) -> None:
        self._open[approval.id].cancel()
        match approval.state:
            case Answered(decision, by, _, message):
                sentence = f"{approval.id} was answered elsewhere: {decision} by {by}" + (
                    f": {message}" if message else ""
                )
                allowed = decision in YES
            case Withdrawn(why):
                sentence, allowed = f"{approval.id} was withdrawn: {why}", False
            case _:
                return
        await self._close_call(approval, sentence, allowed=allowed)
        await self._tell(sentence)

    async def _offer(self, approval: Approval) -> None:
        try:
            await self._ask(approval)
        except InterlockError as error:
            await self._tell(f"{approval.id}: {error}")
        except ConnectionError:
            pass  # the editor is gone; the approval stays pending

    async def _ask(self, approval: Approval) -> None:
        rule = await self._bench.always_rule(approval.payload) if approval.kind in ("script", "tool") else ""
        call = question(await self._bench.whole(approval), self._bench.root, rule)
        if self._has_own_call(approval):
            start = acp.start_tool_call(
                call.tool_call_id, title_of(approval), kind=call.kind, status="pending", content=call.content
            )
            await self._editor.update(self._session, start)
        chosen = await self._editor.ask(self._session, call, options_for(approval, rule))
        decision = decision_of(chosen) if chosen is not None else None
        if decision is None:
            self._dismissed.add(approval.id)
            if self.muted:
                return
            await self._tell(
                f"{approval.id} is not answered and stays open: /approvals asks again;"
                f" in a terminal: interlock approvals answer {approval.id}"
            )
            return
        await self._answer(approval, decision, rule if chosen == ALWAYS else "")

    async def _answer(self, approval: Approval, decision: Decision, rule: str) -> None:
        self._answering.add(approval.id)
        try:
            await self._bench.submit(AnswerApproval(approval.id, decision))
        except InterlockError as error:  # somebody was faster, or a rule of the domain refuses it
            await self._close_call(approval, str(error), allowed=False)
            await self._tell(str(error))
            return
        await self._close_call(approval, f"{approval.id}: {decision}", allowed=decision in YES)
        if rule:
            await self._bench.keep_rule(rule)
            await self._tell(f"A rule for this project allows it from now on:\n\n{safe(rule)}")

    async def _close_call(self, approval: Approval, sentence: str, *, allowed: bool) -> None:
        if self._has_own_call(approval):
            await self._editor.update(self._session, answered_update(approval, sentence, allowed=allowed))

    def _has_own_call(self, approval: Approval) -> bool:
        return question_id(approval).startswith("approval/")

"""A session of the editor: one discussion, its turns, and the work that its commands have started.

One task sends all updates of a session, in the order of the journal: the answer to a prompt comes after them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import acp
from acp.helpers import update_available_commands, update_current_mode
from acp.schema import SessionInfoUpdate, StopReason

from interlock.domain.messages.commands.discussion_commands import StopTurn
from interlock.domain.messages.commands.steering_commands import Tell
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.discussion_events import (
    DiscussionAsked,
    DiscussionReplied,
    DiscussionToolBegun,
    DiscussionToolFinished,
    DiscussionTurnEnded,
)
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval, ToolPayload
from interlock.domain.values.autonomy import Autonomy
from interlock.domain.values.discussions import Discussion, Quiet, Thinking
from interlock.editor.bench import Bench, Editor, Piece, Work
from interlock.editor.history import StreamedAnswer, replayed
from interlock.editor.offers import Offers
from interlock.editor.plan import plan_of
from interlock.editor.slash_names import COMMANDS
from interlock.editor.tool_calls import Content, call_id, diffs_in, finished, started
from interlock.errors import InterlockError, Rejected, Unavailable
from interlock.views.autonomy import project_level
from interlock.views.display import one_line, safe

CANCELLED = "cancelled in the editor"
LIMIT = "the limit of "
"""How the reason begins if a turn ended because it used all its rounds of tools."""

_log = logging.getLogger(__name__)


class EditorSession:
    """Must be made on the editor's event loop. `close` ends it; the discussion stays."""

    def __init__(self, name: str, discussion: str, bench: Bench, editor: Editor) -> None:
        self.name = name
        self.discussion = discussion
        self.bench = bench
        self._editor = editor
        self._queue: asyncio.Queue[Callable[[], Awaitable[None]]] = asyncio.Queue()
        self._turn: asyncio.Future[str] | None = None  # the error with which it ended, empty without one
        self._own_asks = 0  # messages that this session is about to record
        self._answer = StreamedAnswer()
        self._diffs: dict[str, list[Content]] = {}  # of calls that are not finished yet, by their id
        self._work: Work | None = None
        self._plan: object = None
        self._mode: Autonomy = project_level(bench.state)
        self._asks_all = False
        self.offers = Offers(name, bench, editor, self.tell)
        self.news = asyncio.Event()  # set after every batch of records, and when the turn is cancelled
        self.cancelled = False
        self._lost = ""  # why the project cannot be used any more
        self._sender = asyncio.create_task(self._send_all(), name=f"session {name}")
        self._unwatch = bench.watch(self)

    # ── news of the project ──────────────────────────────────────────────────────────────

    def records(self, records: Sequence[Recorded], state: State) -> None:
        self._queue.put_nowait(lambda: self._show(records, state))

    def piece(self, piece: Piece) -> None:
        if piece.discussion == self.discussion:
            self._queue.put_nowait(lambda: self._show_piece(piece))

    def ended(self, reason: str) -> None:
        async def end() -> None:
            self._lost = reason
            if self._turn is not None and not self._turn.done():
                self._turn.set_exception(Unavailable(reason))
            self._wake()

        self._queue.put_nowait(end)

    # ── the editor's requests ────────────────────────────────────────────────────────────

    def begin(self) -> None:
        """Announces the commands and offers what is pending; call it when the editor knows the session."""

        async def announce() -> None:
            await self._editor.update(self.name, update_available_commands(COMMANDS))

        self._queue.put_nowait(announce)
        self.records((), self.bench.state)

    async def replay(self) -> None:
        """Sends the discussion as it is now, before anything that happens later."""
        state = self.bench.state
        discussion = state.discussion(self.discussion)
        asked = [one for one in state.approvals.values() if one.discussion == self.discussion]

        async def send() -> None:
            diffs = {call: diff for one in asked for call, diff in (await self._edits(one)).items()}
            messages = [await self.bench.message(blob) for blob in discussion.messages]
            for update in replayed(self.discussion, messages, self.bench.root, diffs):
                await self._editor.update(self.name, update)
            if isinstance(discussion.stage, Quiet) and discussion.stage.error:
                await self.tell(f"The last turn ended without an answer: {discussion.stage.error}")

        await self._in_order(send)

    async def synced(self) -> None:
        """Returns when all news so far are shown. Raises Unavailable if the project cannot be used any more."""

        async def nothing() -> None:
            pass

        await self._in_order(nothing)
        if self._lost:
            raise Unavailable(self._lost)

    async def changed(self) -> None:
        """Returns after the next news, or when the turn is cancelled."""
        await self.news.wait()
        if self._lost:
            raise Unavailable(self._lost)

    async def _in_order(self, send: Callable[[], Awaitable[None]]) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def report() -> None:
            try:
                await send()
            except InterlockError as error:
                done.set_exception(error)
            else:
                done.set_result(None)

        self._queue.put_nowait(report)
        await done

    async def say(self, text: str) -> StopReason:
        """One turn of the discussion; raises Unavailable with the reason if it failed."""
        self.cancelled = False
        self.offers.again()
        if self._turn is not None:
            raise Rejected("a prompt of this session is still under way; cancel it first")
        self._turn = asyncio.get_running_loop().create_future()
        try:
            discussion = self.bench.state.discussion(self.discussion)
            await self._send(discussion, text)
            if not discussion.messages:
                info = SessionInfoUpdate(session_update="session_info_update", title=one_line(text, 80))
                await self._editor.update(self.name, info)
            error = await self._turn
        finally:
            self._turn = None
        if error == CANCELLED:
            return "cancelled"
        if error.startswith(LIMIT):
            return "max_turn_requests"
        if error:
            raise Unavailable(f"the turn ended without an answer: {error}")
        return "end_turn"

    async def _send(self, discussion: Discussion, text: str) -> None:
        """A new turn; or a note to one that is under way, as after a crash or if it was begun elsewhere."""
        if not isinstance(discussion.stage, Quiet):
            await self.bench.submit(Tell(text, discussion=self.discussion))
            return
        self._own_asks += 1
        try:
            await self.bench.say(self.discussion, text)
        except BaseException:
            self._own_asks -= 1
            raise

    async def cancel(self) -> None:
        """Ends the discussion's turn, or the work of a command. What is pending there is withdrawn."""
        self.cancelled = self.offers.muted = True
        self._wake()
        if self._turn is None:
            return
        with suppress(Rejected):  # the turn has ended meanwhile
            await self.bench.submit(StopTurn(self.discussion, CANCELLED))

    async def leave(self) -> None:
        """The editor is gone: its turn ends, or another process would continue it unseen. A question stays open."""
        if isinstance(self.bench.state.discussion(self.discussion).stage, Thinking):
            with suppress(Rejected):
                await self.bench.submit(StopTurn(self.discussion, "the editor has gone"))

    async def tell(self, text: str) -> None:
        """Shows a text of Interlock itself."""
        await self._editor.update(self.name, acp.update_agent_message_text(f"{safe(text)}\n\n"))

    def watch_work(self, work: Work | None, *, everything: bool = False) -> None:
        """From now on the approvals of this work are offered, too; or with `everything` all of the project."""
        self._work, self._plan, self._asks_all = work, None, everything
        self.records((), self.bench.state)

    async def close(self) -> None:
        self._unwatch()
        await self.offers.close()
        self._sender.cancel()
        await asyncio.gather(self._sender, return_exceptions=True)

    def _wake(self) -> None:
        self.news.set()
        self.offers.settled.set()

    # ── updates ──────────────────────────────────────────────────────────────────────────

    async def _send_all(self) -> None:
        while True:
            send = await self._queue.get()
            try:
                await send()
            except ConnectionError:
                return  # the editor is gone
            except Exception as error:  # noqa: BLE001  one update that fails must not end all others
                _log.warning(
                    "session %s: %s", self.name, safe(str(error)), exc_info=not isinstance(error, InterlockError)
                )

    async def _show_piece(self, piece: Piece) -> None:
        if (update := self._answer.piece(piece.text, thinking=piece.thinking)) is not None:
            await self._editor.update(self.name, update)

    async def _show(self, records: Sequence[Recorded], state: State) -> None:
        for record in records:
            await self._show_record(record, state)
        await self.offers.sync(self._waiting(state), state)
        await self._show_plan(state)
        if (mode := project_level(state)) != self._mode:
            self._mode = mode
            await self._editor.update(self.name, update_current_mode(mode))
        self.news.set()

    async def _show_record(self, record: Recorded, state: State) -> None:
        event, update = record.event, self._editor.update
        if getattr(event, "discussion", "") != self.discussion:
            return
        match event:
            case DiscussionAsked(message=blob):
                if self._own_asks:
                    self._own_asks -= 1
                else:  # somebody else writes in this discussion
                    text = (await self.bench.message(blob)).text
                    await update(self.name, acp.update_user_message_text(safe(text)))
            case DiscussionReplied(message=blob):
                message = await self.bench.message(blob)
                for rest in self._answer.rest(message):
                    await update(self.name, rest)
                for call in message.calls:
                    await update(self.name, started(self.discussion, call, self.bench.root))
            case DiscussionToolBegun(call=call):
                await update(self.name, acp.update_tool_call(call_id(self.discussion, call), status="in_progress"))
            case DiscussionToolFinished(message=blob, failed=failed):
                message = await self.bench.message(blob)
                diff = self._diffs.pop(message.call_id, [])
                await update(self.name, finished(self.discussion, message.call_id, message.text, diff, failed=failed))
            case ApprovalRequested(approval=name):
                self._diffs |= await self._edits(state.approvals[name])
            case DiscussionTurnEnded(error=error):
                if self._turn is not None and not self._turn.done():
                    self._turn.set_result(error)
                elif error and error != CANCELLED:
                    await self.tell(f"The turn ended without an answer: {error}")
            case _:
                pass

    async def _edits(self, approval: Approval) -> dict[str, list[Content]]:
        """The diff of the call that the approval is about, by the call's id."""
        payload = (await self.bench.whole(approval)).payload
        if not isinstance(payload, ToolPayload) or not payload.diff:
            return {}
        return {payload.call: diffs_in(payload.diff, self.bench.root)}

    def _waiting(self, state: State) -> list[Approval]:
        """The approvals of this session: of its discussion, and of the work that it watches."""
        if self._asks_all:
            return list(state.pending_approvals())
        own = [one for one in state.pending_approvals() if one.discussion == self.discussion]
        return [*own, *(self._work.waiting(state) if self._work is not None else [])]

    async def _show_plan(self, state: State) -> None:
        if self._work is None:
            return
        plan = plan_of(self._work, state)
        if plan != self._plan and plan.entries:
            self._plan = plan
            await self._editor.update(self.name, plan)

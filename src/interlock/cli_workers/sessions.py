"""Running agents: one process for each ticket, the calls that wait for a decision, and the end of the turn."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, cast

from msgspec import Struct

from interlock.cli_workers.acp_session import AcpEnd, Decision, PermissionRequest, run_prompt
from interlock.cli_workers.profile import Profile
from interlock.cli_workers.questions import Translated, from_acp, translated
from interlock.cli_workers.relay import Relay, Stream
from interlock.cli_workers.reports import JsonLines, Report, TextReport
from interlock.domain.values.budgets import Usage
from interlock.errors import Unavailable
from interlock.ports.cli_agents import AgentAnswer, AgentCall, AgentRun, CallDecision
from interlock.ports.processes import Finished, Job, Sandbox
from interlock.ports.tools import Preview

Reply = Callable[[str, dict[str, Any], dict[str, Any]], dict[str, Any] | None]
"""From an agent, the hook's input and the answer (decision, args, message): what the hook prints."""

OnlyReads = Callable[[str, str], bool]

_MOST_WAITING = 64  # calls without a decision


class HookSupport(Struct, frozen=True):
    """The format of each agent's hook, and which of its tools only read."""

    reply: Reply
    only_reads: OnlyReads


class _Waiting:
    def __init__(self, translated: Translated) -> None:
        self.translated = translated
        self.decided: asyncio.Future[CallDecision] = asyncio.get_running_loop().create_future()


class Session:
    """Implements `AgentSession`. Created and used on the engine's loop."""

    booking = ""

    def __init__(self, profile: Profile, run: AgentRun, hooks: HookSupport, env_names: tuple[str, ...]) -> None:
        self._profile = profile
        self._run = run
        self._hooks = hooks
        self.env_names = env_names
        self._calls: dict[str, _Waiting] = {}
        self._news = asyncio.Event()
        self._task: asyncio.Task[AgentAnswer] | None = None
        self._stdio: asyncio.Future[Stream] = asyncio.get_running_loop().create_future()
        self._number = 0

    @property
    def attempt(self) -> int:
        return self._run.attempt

    async def next(self) -> AgentCall | AgentAnswer:
        assert self._task is not None, "the session has not begun"
        while True:
            self._news.clear()
            for waiting in self._calls.values():
                if not waiting.decided.done():
                    one = waiting.translated
                    return AgentCall(one.call, one.preview or Preview(""))
            if self._task.done():
                return self._task.result()
            await self._news.wait()

    def decide(self, call: str, decision: CallDecision) -> None:
        waiting = self._calls.pop(call, None)
        if waiting is not None and not waiting.decided.done():
            waiting.decided.set_result(decision)

    # ── the process ──────────────────────────────────────────────────────────────────────

    def begin(self, work: Awaitable[AgentAnswer]) -> None:
        self._task = asyncio.ensure_future(work)
        self._task.add_done_callback(lambda _: self._news.set())

    async def end(self) -> None:
        """Returns when no process of the agent is alive."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.wait((self._task,))
        if not self._task.cancelled():
            self._task.exception()  # it was reported by `next`, or nobody waits for it

    async def work(
        self, sandbox: Sandbox, job: Job, relay: Relay, report: Report, output: JsonLines | TextReport
    ) -> AgentAnswer:
        """Runs the agent to the end of its turn."""
        await relay.open()
        try:
            if self._profile.output == "acp":
                return await self._work_by_protocol(sandbox, job, relay)
            finished = await sandbox.run(job, output.feed)
            output.end()
            return self._answer(finished, report, relay)
        finally:
            for waiting in self._calls.values():
                waiting.decided.cancel()
            self._calls.clear()
            await relay.close()

    def _answer(self, finished: Finished, report: Report, relay: Relay) -> AgentAnswer:
        title = self._profile.title
        if finished.status == "error":
            raise Unavailable(f"{title} does not start: {finished.message}")
        if report.failure or not report.ended or not finished.succeeded:
            why = report.failure or _last_words(finished.stderr) or finished.ending
            raise Unavailable(f"{title} failed: {why}{_refused(relay)}", may_cost=True)
        return AgentAnswer(report.text, report.session, report.usage, report.model or self._run.agent)

    async def _work_by_protocol(self, sandbox: Sandbox, job: Job, relay: Relay) -> AgentAnswer:
        running = asyncio.ensure_future(sandbox.run(job))
        try:
            await asyncio.wait((running, self._stdio), return_when=asyncio.FIRST_COMPLETED)
            if not self._stdio.done():
                finished = running.result()
                why = finished.message or _last_words(finished.stderr)
                raise Unavailable(f"{self._profile.title} does not start: {why}")
            reader, writer = self._stdio.result()
            ended: AcpEnd = await run_prompt(
                reader,
                writer,
                cwd=job.cwd,
                prompt=self._run.prompt,
                session=self._run.session or None,
                mode=self._profile.mode or None,
                events=self,
            )
            if ended.stop not in ("end_turn", ""):
                raise Unavailable(f"{self._profile.title} stopped: {ended.stop}{_refused(relay)}", may_cost=True)
            return AgentAnswer(ended.text, ended.session, ended.usage or Usage(), self._run.agent)
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    def connected(self, stream: Stream) -> None:
        if not self._stdio.done():
            self._stdio.set_result(stream)

    # ── its questions ────────────────────────────────────────────────────────────────────

    async def on_hook(self, given: str) -> dict[str, Any]:
        """The output of the agent's hook for this input."""
        kind = self._profile.output
        try:
            hook: Any = json.loads(given)
            tool: Any = hook["tool_name"]
            args: Any = hook.get("tool_input") or {}
            if not isinstance(tool, str) or not isinstance(args, dict):
                raise TypeError("tool_name and tool_input")
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            return _printed(2, stderr=f"Interlock cannot read this hook's input: {error!r}")
        hook, args = cast("dict[str, Any]", hook), cast("dict[str, Any]", args)
        if self._hooks.only_reads(kind, tool):
            return _printed(0)
        one = translated(kind, self._call_id(hook.get("tool_use_id")), tool, args, self._run.place.root)
        decision = await self._ask(one)
        changed = args if decision.args is None else one.restore(decision.args)
        answer = {"decision": "allow" if decision.allow else "deny", "args": changed, "message": decision.message}
        reply = self._hooks.reply(kind, {**hook, "tool_input": args}, answer)
        return _printed(0, "" if reply is None else json.dumps(reply) + "\n")

    async def permission(self, request: PermissionRequest) -> Decision:
        """A question of an ACP agent. Its arguments cannot be changed: an edited call is refused with the reason."""
        one = from_acp(self._call_id(request.call_id), request.kind, request.tool, request.args, self._run.place.root)
        decision = await self._ask(one)
        if decision.allow and decision.args is not None:
            return Decision(False, f"a person changed the call; make it with exactly these arguments: {decision.args}")
        return Decision(decision.allow, decision.message)

    def text(self, piece: str) -> None:
        self._run.on_text(piece)

    def reasoning(self, piece: str) -> None:
        pass

    def tool(self, call_id: str, title: str, kind: str, status: str, detail: str) -> None:
        if status in ("", "pending", "in_progress"):
            self._run.on_tool(f"{kind} {title}")

    async def _ask(self, one: Translated) -> CallDecision:
        if len(self._calls) >= _MOST_WAITING:
            return CallDecision(False, "too many calls wait for a decision")
        waiting = self._calls[one.call.id] = _Waiting(one)
        self._news.set()
        try:
            return await waiting.decided
        finally:
            self._calls.pop(one.call.id, None)

    def _call_id(self, given: object) -> str:
        """Unique in this process; a call of an earlier attempt never has the same."""
        self._number += 1
        name = given if isinstance(given, str) and given.isprintable() and len(given) <= 80 else "call"
        return f"{name}.{self._run.attempt}.{self._number}"


def _printed(code: int, stdout: str = "", stderr: str = "") -> dict[str, Any]:
    return {"exit": code, "stdout": stdout, "stderr": stderr}


def _last_words(stderr: str) -> str:
    return " ".join(stderr[-2_000:].split())[-400:]


def _refused(relay: Relay) -> str:
    """Names the addresses that were refused: a missing one explains most failures."""
    if not relay.refused:
        return ""
    return f" (it tried to reach {', '.join(list(relay.refused)[:5])}, which is not in its list of hosts)"

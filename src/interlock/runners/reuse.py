"""Finds a recorded pass that counts for a gate, so that its command need not run again.

A pass counts only if nothing that its run could read has changed. What cannot be compared is not reused, and neither is
the pass of a run so short that looking at the tools takes longer.
"""

import asyncio
import hashlib
import os
import platform
import re
import time
from collections.abc import Callable, Coroutine, Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.checks.deadlines import seconds_until
from interlock.domain.values.gates import Gate, GateInputs, GateResult
from interlock.domain.values.runs.passes import Pass, passes_of
from interlock.ports.journal import Clock
from interlock.ports.processes import Job, Sandbox, View
from interlock.ports.reuse import Passes, TreeInputs, Trees
from interlock.ports.workspaces import Workspace
from interlock.runners.tool_states import ToolStates, package_states, tool_states
from interlock.version import VERSION

SHORTEST_MS = 500
"""A pass of a shorter run is not remembered."""

_UNSETTLED_NS = 100_000_000  # the kernel's time of a change may be a few milliseconds late
_GIT = re.compile(r"(?<![\w-])\.?git(?![\w-])")  # a gate that names git may read the history, which no tree holds

NowNs = Callable[[], int]


class Planned(Struct, frozen=True):
    """A run that may be reused or remembered."""

    run: str  # digest of everything but the tools
    began_ns: int
    view: View
    packages: tuple[str, ...]
    worktree: str


class Look(Struct, frozen=True):
    """What the tools were like at one time."""

    view: View
    began_ns: int
    states: ToolStates | None
    cost_ms: float

    def is_settled(self, run_began_ns: int) -> bool:
        """Whether nothing had changed when the look and the run began."""
        began = min(self.began_ns, run_began_ns)
        return self.states is not None and self.states.newest_ns < began - _UNSETTLED_NS


class PassReuse:
    """`hours` is the greatest age of a pass that counts. `shortest_ms` decides which runs are worth it."""

    def __init__(
        self,
        sandbox: Sandbox,
        trees: Trees,
        passes: Passes,
        clock: Clock,
        *,
        hours: float = 24,
        shortest_ms: int = SHORTEST_MS,
        now_ns: NowNs = time.time_ns,
    ) -> None:
        self._sandbox = sandbox
        self._trees = trees
        self._passes = passes
        self._clock = clock
        self._hours = hours
        self._shortest_ms = shortest_ms
        self._now_ns = now_ns
        self._last: Look | None = None
        self._looking = asyncio.Lock()

    async def plan(self, track: str, ticket: str, gate: Gate, workspace: Workspace, job: Job) -> Planned | None:
        """What this run depends on; None if its pass must not be reused. The worktree shows the commit."""
        if gate.flaky or job.network or gate.criteria is not None or _GIT.search(gate.command):
            return None
        view = self._sandbox.view(job)
        inputs = await self._trees.tree_inputs(track, ticket, workspace.base) if view is not None else None
        if view is None or inputs is None:
            return None
        run = _digest_of(job, workspace, inputs, view)
        return Planned(run, self._now_ns(), view, workspace.surroundings.readable, workspace.worktree)

    async def found(self, planned: Planned, gate: Gate) -> GateResult | None:
        """The result that rests on a recorded run, or None."""
        now = self._clock.now()
        known = [one for one in passes_of(self._passes(), planned.run) if self._counts(one, now)]
        if not known:
            return None
        tools = await self._tools(planned, await self._look(planned.view))
        for one in known:
            if tools and one.inputs.tools == tools:
                return GateResult(status="passed", exit_code=0, command=gate.command, duration_ms=0, reused=one.source)
        return None

    async def remembered(self, planned: Planned, run: Coroutine[None, None, GateResult]) -> GateResult:
        """The result of the run, with its inputs if it passed.

        An earlier look at the tools will do, or one during the run. If a tool has changed since, its change time is
        another one: the pass will not be found again, whatever the gate has used.
        """
        looking: list[asyncio.Task[Look]] = []

        def look_meanwhile() -> None:
            if self._fitting(planned) is None:
                looking.append(asyncio.ensure_future(self._look(planned.view)))

        timer = asyncio.get_running_loop().call_later(self._shortest_ms / 1000, look_meanwhile)
        ended = False
        try:
            result = await run
            ended = True
        finally:
            timer.cancel()
            for task in () if ended else looking:  # whoever cancels the gate does not wait for the look
                task.cancel()
        if looking:
            await asyncio.wait(looking)
        if not result.passed or result.duration_ms < self._shortest_ms:
            return result
        look = self._fitting(planned) or await self._look(planned.view)
        if not look.is_settled(planned.began_ns):
            return result
        tools = await self._tools(planned, look)
        return replace(result, inputs=GateInputs(planned.run, tools)) if tools else result

    def _fitting(self, planned: Planned) -> Look | None:
        look = self._last
        return look if look is not None and look.view == planned.view and look.is_settled(planned.began_ns) else None

    def _counts(self, one: Pass, now: str) -> bool:
        """Not too old, nor from a time that has yet to come: then the clock was changed. And worth a look."""
        age = seconds_until(now, one.source.at)
        worth = self._last is None or one.source.duration_ms >= self._last.cost_ms or not self._shortest_ms
        return 0 <= age <= self._hours * 3600 and worth

    async def _look(self, view: View) -> Look:
        async with self._looking:
            self._last = await asyncio.to_thread(_look, view, self._now_ns())
            return self._last

    async def _tools(self, planned: Planned, look: Look) -> str:
        """The digest of tools and packages; empty if it is not known."""
        packages = await asyncio.to_thread(package_states, planned.packages, planned.worktree)
        if look.states is None or packages is None:
            return ""
        return hashlib.sha256(f"{look.states.digest} {packages}".encode()).hexdigest()


def _look(view: View, began_ns: int) -> Look:
    began = time.thread_time()  # not the time that a busy machine or a cold disk takes once
    states = tool_states(view.paths)
    return Look(view, began_ns, states, (time.thread_time() - began) * 1000)


def _digest_of(job: Job, workspace: Workspace, inputs: TreeInputs, view: View) -> str:
    """Of everything that a run depends on, except the tools. The place of the worktree does not count."""
    facts = (
        VERSION,
        inputs,
        job.argv,
        os.path.relpath(job.cwd, workspace.worktree),
        sorted(_without_place(job.env, workspace.worktree).items()),
        None if job.stdin is None else hashlib.sha256(job.stdin).hexdigest(),
        job.timeout_s,
        job.programs,
        workspace.setup,
        len(workspace.surroundings.readable),
        (view.options, view.links),
        (*platform.uname()[2:5], os.cpu_count()),
    )
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()


def _without_place(env: Mapping[str, str], worktree: str) -> dict[str, str]:
    """The variables without the place of the worktree, which each ticket has for itself."""
    return {name: value.replace(worktree, "{worktree}") for name, value in env.items()}

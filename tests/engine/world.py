"""A test environment for the engine: fakes that survive a crash, and a conductor to start with them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from interlock.domain.checks.test_tampering import ChangedFile
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM, Recorded
from interlock.domain.state.state import State
from interlock.domain.values.approvals import ScriptPayload
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import GateResult
from interlock.domain.values.tickets import Saved, TicketSpec
from interlock.engine.agents.chat import Chat, say_command
from interlock.engine.agents.context import JournalAccess, Send, Toolbox
from interlock.engine.agents.worker import Options, Worker
from interlock.engine.bench.load_state import load_state
from interlock.engine.bench.workbench import Workbench
from interlock.engine.blobs import KeptTexts
from interlock.engine.effects.conductor import Conductor
from interlock.engine.models.activity import Activity
from interlock.engine.models.calls import ModelCalls, Observers, Timing
from interlock.engine.models.streams import Streams
from interlock.engine.planning.briefing import Briefing
from interlock.engine.planning.planner import Planner
from interlock.engine.planning.survey import Surveyor
from interlock.engine.prompts.load import NO_OWN
from interlock.errors import JournalUnwritable, Rejected, ToolFailure, Unavailable
from interlock.journal.memory import MemoryJournal
from interlock.ports.model import Model, ModelRequest, OnText, Reply, ignore_text
from interlock.ports.tools import Hunk, Preview, ToolOutcome, ToolPlace, ToolSpec
from interlock.ports.work import (
    Assignment,
    Done,
    Failed,
    LastCheck,
    NotAllowed,
    Policy,
    PolicyVerdict,
    Prepared,
    Unsaved,
)
from interlock.ports.workspaces import Combined, Conflict, DependencyLists, LandingPlan, SetupDone, Survey, Workspace
from interlock.providers.scripted import FREE, ScriptedModel, ScriptedRule

ANN = "human:ann"


def shell(name: str, *depends_on: str, **more: object) -> TicketSpec:
    return TicketSpec(id=name, assigned_to="shell", script=f"make {name}", depends_on=depends_on, **more)  # pyright: ignore[reportArgumentType]


class FakeClock:
    def __init__(self) -> None:
        self._ticks = count()

    def now(self) -> str:
        return f"2026-01-01T00:00:00.{next(self._ticks):06d}Z"


class FakeIds:
    def __init__(self) -> None:
        self._numbers = count(1)

    def new(self) -> str:
        return f"s{next(self._numbers)}"


class DyingJournal(MemoryJournal):
    """Fails when event number `at` is written: before it is durable, or just after."""

    def __init__(self) -> None:
        super().__init__()
        self.at: int | None = None
        self.after_writing = False

    def append(self, records: Sequence[Recorded]) -> None:
        dies = self.at is not None and records[-1].version >= self.at
        if dies and not self.after_writing:
            raise JournalUnwritable("died before the commit")
        super().append(records)
        if dies:
            raise JournalUnwritable("died after the commit")


class FakeWorkspaces:
    """The track's branch as a list of tickets; survives a crash, as a disk does."""

    def __init__(self) -> None:
        self.changed_files: list[ChangedFile] = []
        self.branch: list[str] = []
        self.published: list[str] = []
        self.tickets_by_commit: dict[str, list[str]] = {}
        self.removed: list[str] = []
        self.swept: list[frozenset[tuple[str, str]]] = []
        self.closed = 0
        self.conflicts: dict[str, int] = {}  # ticket → how many times it will conflict
        self.landed: list[str] = []
        self.land_error: Exception | None = None
        self.lands = "after"
        self.plan_error: Exception | None = None
        self.land_release: asyncio.Event | None = None
        self.settle_error: Exception | None = None
        self.full = False  # the disk
        self.more_diff = ""
        self.begun = False  # a landing began and did not end
        self.files: dict[str, bytes] = {}

    async def open(self) -> None: ...

    async def exclude(self, folders: Sequence[str]) -> bool:
        return True

    async def dirty(self) -> tuple[str, ...]:
        return ()

    async def start_track(self, track: str) -> str:
        return "base"

    def path_for(self, track: str, ticket: str) -> str:
        return f"/worktrees/{track}/{ticket}"

    async def prepare(self, track: str, ticket: str) -> Workspace:
        return Workspace(self.path_for(track, ticket), self._tip(), None)

    async def survey(self) -> Survey:
        return Survey(self._tip(), tuple(self.files))

    async def read(self, commit: str, path: str) -> bytes | None:
        return self.files.get(path)

    async def current(self, track: str, ticket: str) -> Workspace | None:
        return await self.prepare(track, ticket)

    async def save(self, workspace: Workspace, track: str, ticket: str, attempt: int, message: str) -> Saved:
        if self.full:
            raise Unavailable("git write-tree failed: No space left on device")
        return Saved(workspace.base, f"{ticket}@{attempt}", f"tree-of-{ticket}@{attempt}-on-{workspace.base}")

    async def changed(self, base: str, commit: str) -> str:
        return f" a.py | 2 +- of {commit} on {base}\n"

    async def changes(self, base: str, commit: str) -> tuple[ChangedFile, ...]:
        return tuple(self.changed_files)

    async def diff(self, commit: str) -> str:
        return f"+the change of {commit}"

    async def whole_diff(self, base: str, commit: str) -> str:
        return f"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-{base}\n+{commit}\n" + self.more_diff

    async def take_parts(
        self, track: str, ticket: str, attempt: int, saved: Saved, parts: Collection[int], message: str
    ) -> Saved:
        some = ",".join(map(str, sorted(parts)))
        return Saved(saved.base, f"{saved.commit}-{some}", f"{saved.tree}-{some}")

    async def narrow(self, track: str, landing: LandingPlan, parts: Collection[int]) -> LandingPlan:
        some = ",".join(map(str, sorted(parts)))
        return LandingPlan(landing.branch, landing.before, f"{landing.after}-{some}", "diff", f"tree-{some}")

    async def diff_of(self, base: str, commit: str, paths: Sequence[str]) -> str:
        return f"+the changes of {commit} on {base} in {', '.join(paths)}" + self.more_diff

    async def show_tree(self, track: str, ticket: str, commit: str) -> Workspace:
        return Workspace(self.path_for(track, ticket), commit, None)

    async def note_setup(self, track: str, ticket: str, note: SetupDone) -> None:
        raise NotImplementedError

    async def dependency_lists(self, commit: str | None = None, commands: Sequence[str] = ()) -> DependencyLists:
        return DependencyLists("lists", (), frozenset())

    async def checkout(self, commit: str | None = None) -> Workspace:
        raise NotImplementedError

    async def discard(self, checkout: Workspace) -> None:
        raise NotImplementedError

    async def combine(
        self, track: str, ticket: str, saved: Saved, message: str, onto: str | None = None
    ) -> Combined | Conflict:
        await asyncio.sleep(0)  # lets other tasks run, as real git does
        if self.conflicts.get(ticket, 0):
            self.conflicts[ticket] -= 1
            return Conflict(("a.txt",), "<<<<<<<")
        tip = self._tip() if onto is None else onto
        tree = saved.tree if saved.base == tip else f"{saved.tree}-and-{tip}"
        before = self.tickets_by_commit.get(onto, []) if onto is not None else []
        commit = f"merge-of-{ticket}"
        self.tickets_by_commit[commit] = [*before, ticket]
        return Combined(tip, commit, tree)

    async def publish(self, track: str, combined: Combined) -> bool:
        if combined.tip != self._tip():
            return False
        for ticket in self.tickets_by_commit[combined.commit]:
            self.branch.append(ticket)
            self.published.append(ticket)
        return True

    async def merged_commit(self, track: str, ticket: str) -> str | None:
        return f"merge-of-{ticket}" if ticket in self.branch else None

    async def merged_tickets(self, track: str) -> frozenset[str]:
        return frozenset(self.branch)

    async def retire(self, track: str, ticket: str, attempt: int, message: str) -> None:
        self.removed.append(ticket)

    async def remove(self, track: str, ticket: str) -> None:
        self.removed.append(ticket)

    async def landing(self, track: str) -> LandingPlan:
        if self.plan_error is not None:
            raise self.plan_error
        return LandingPlan("main", "before", self.lands, "diff " * 2_000, "tree")

    async def land(self, track: str, landing: LandingPlan) -> str:
        if self.land_release is not None:
            await self.land_release.wait()
        if self.land_error is not None:
            raise self.land_error
        self.landed.append(landing.after)
        return ""

    def has_begun_landing(self) -> bool:
        return self.begun

    async def settle_landing(self) -> str:
        if self.settle_error is not None:
            raise self.settle_error
        self.begun = False
        return "an interrupted landing was taken back"

    async def is_landed(self, landing_after: str) -> bool:
        return landing_after in self.landed

    async def sweep(self, live: frozenset[tuple[str, str]]) -> None:
        self.swept.append(live)

    async def close(self) -> None:
        self.closed += 1

    def _tip(self) -> str:
        return f"tip{len(self.branch)}"


class FakeCrew:
    """Records every run. With `release` work waits until it is set; tickets in `failing` fail."""

    def __init__(self, workspaces: FakeWorkspaces) -> None:
        self._workspaces = workspaces
        self.started: list[tuple[str, int]] = []
        self.finished: list[tuple[str, int]] = []
        self.assignments: list[Assignment] = []
        self.approved: list[str] = []  # digests, one for each assignment
        self.cancelled: list[str] = []
        self.ready: list[tuple[str, int]] = []  # worktrees that were made before a verdict
        self.on_ready: Callable[[], object] = lambda: None
        self.running = 0
        self.most_at_once = 0
        self.release: asyncio.Event | None = None
        self.failing: set[str] = set()
        self.sandbox = "bubblewrap"
        self._news = asyncio.Event()

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not true():
                self._news.clear()
                await self._news.wait()

    def prepare(self, assignment: Assignment) -> Prepared:
        directory = self._workspaces.path_for(assignment.track, assignment.ticket.id)
        names = ("PATH", *(name for name, _ in assignment.env))
        terms = ScriptPayload(assignment.script, directory, names, self.sandbox)
        return Prepared(terms, partial(self._run, assignment))

    async def make_ready(self, assignment: Assignment) -> Failed | None:
        self.ready.append((assignment.ticket.id, assignment.attempt))
        self.on_ready()
        return None

    async def save_again(self, assignment: Assignment, summary: str) -> Done | Unsaved | None:
        workspace = await self._workspaces.prepare(assignment.track, assignment.ticket.id)
        return await self._saved(workspace, (assignment.track, assignment.ticket.id, assignment.attempt), summary)

    async def _saved(self, workspace: Workspace, name: tuple[str, str, int], summary: str) -> Done | Unsaved:
        try:
            return Done(await self._workspaces.save(workspace, *name, "message"), summary)
        except Unavailable as error:
            return Unsaved(str(error), summary)

    async def _run(
        self, assignment: Assignment, approved: str, last_check: LastCheck | None
    ) -> Done | Failed | Unsaved | NotAllowed:
        name = (assignment.ticket.id, assignment.attempt)
        if last_check is not None and (stopped := await last_check()) is not None:
            return NotAllowed(stopped)
        self.assignments.append(assignment)
        self.approved.append(approved)
        self.started.append(name)
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        self._news.set()
        try:
            if self.release is not None:
                await self.release.wait()
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled.append(assignment.ticket.id)
            self._news.set()
            raise
        finally:
            self.running -= 1
        self.finished.append(name)
        if assignment.ticket.id in self.failing:
            return Failed("the script failed with exit code 1")
        workspace = await self._workspaces.prepare(assignment.track, assignment.ticket.id)
        return await self._saved(workspace, (assignment.track, *name), "made it")


class FakeGates:
    """Passes, except for the first `failures[command]` runs of a command."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, str]] = []
        self.failures: dict[str, int] = {}
        self.broken_trees: set[str] = set()
        self.on_run: Callable[[], object] = lambda: None

    async def run(self, track: str, ticket: TicketSpec, gate: int, commit: str) -> GateResult:
        command = ticket.verify[gate].command
        self.runs.append((command, commit))
        self.on_run()
        await asyncio.sleep(0)
        if self.failures.get(command, 0) or commit in self.broken_trees:
            self.failures[command] = max(self.failures.get(command, 0) - 1, 0)
            return GateResult(status="failed", exit_code=1, command=command, duration_ms=1, stderr="no")
        return GateResult(status="passed", exit_code=0, command=command, duration_ms=1)


class Allow:
    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        return PolicyVerdict("allow", "", "")

    def tool(self, name: str, paths: Sequence[str] = (), hosts: Sequence[str] = ()) -> PolicyVerdict:
        return PolicyVerdict("allow", "", "")


class Ask:
    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        return PolicyVerdict("ask", "default", "no rule allows this")

    def tool(self, name: str, paths: Sequence[str] = (), hosts: Sequence[str] = ()) -> PolicyVerdict:
        return PolicyVerdict("ask", "default", "no rule allows this")


class Deny:
    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        return PolicyVerdict("deny", "no-rm", "it removes things")

    def tool(self, name: str, paths: Sequence[str] = (), hosts: Sequence[str] = ()) -> PolicyVerdict:
        return PolicyVerdict("deny", "no-rm", "it removes things")


class Rules:
    """Allows by a named rule."""

    def __init__(self, *env: tuple[str, str]) -> None:
        self._env = env

    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        return PolicyVerdict("allow", "make-is-fine", "make does no harm", self._env)

    def tool(self, name: str, paths: Sequence[str] = (), hosts: Sequence[str] = ()) -> PolicyVerdict:
        return PolicyVerdict("ask", "default", "no rule allows this")


class Stricter(Rules):
    """Allows `times` times, then gives the other verdict."""

    def __init__(self, times: int, then: Literal["ask", "deny"], *env: tuple[str, str]) -> None:
        super().__init__(*env)
        self._left = times
        self._then: Literal["ask", "deny"] = then

    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        self._left -= 1
        if self._left < 0:
            return PolicyVerdict(self._then, "changed", "a link leads out")
        return super().script(script, directory, own)


class WholeFiles:
    def curated(self, path: str, content: bytes) -> str:
        return content.decode()

    def skeleton(self, path: str, content: bytes) -> str:
        return f"skeleton of {content.decode()}"

    def is_secret(self, path: str) -> bool:
        return path.startswith(".env")


class FakeTools:
    """One reading and two changing tools; records every call that ran."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, dict[str, Any], tuple[int, ...] | None]] = []
        self.envs: list[tuple[tuple[str, str], ...]] = []
        self.hunks = 2
        self.exit_codes: dict[str, int] = {}  # of scripts
        self.warned: set[str] = set()  # scripts that write to standard error
        self.files: dict[str, str] = {}
        self.sends = False  # whether there is a tool that reaches beyond the worktree
        self.hung = asyncio.Event()
        self.hangs = False  # such a call does not end

    def why_off(self, name: str) -> str:
        return "it is not set up" if name == "search" else ""

    def offered(self, *, changing: bool) -> tuple[ToolSpec, ...]:
        look = ToolSpec("look", "reads", {}, changes=False)
        change = ToolSpec("change", "changes", {}, changes=True)
        run = ToolSpec("run_shell", "runs", {}, changes=True)
        send = (ToolSpec("send", "sends", {}, changes=True, outside=True),) if self.sends else ()
        return (look, change, run, *send) if changing else (look,)

    async def preview(self, place: ToolPlace, name: str, args: dict[str, Any]) -> Preview:
        if args.get("impossible"):
            raise ToolFailure("there is no such text")
        if name == "send":
            return Preview("Send it to a.b", hosts=("a.b",))
        if name == "run_shell":
            return Preview("Run", script=str(args.get("script", "")))
        hunks = tuple(Hunk(number, "a.py", "@@ -1 +1 @@", "-a\n+b\n") for number in range(1, self.hunks + 1))
        return Preview("Edit a.py", hunks)

    async def texts(self, place: ToolPlace, paths: Sequence[str]) -> dict[str, str | None]:
        return {path: self.files.get(path) for path in paths}

    async def run(
        self, place: ToolPlace, name: str, args: dict[str, Any], hunks: tuple[int, ...] | None = None
    ) -> ToolOutcome:
        self.ran.append((name, args, hunks))
        self.envs.append(place.env)
        await asyncio.sleep(0)
        if name == "send" and self.hangs:
            self.hung.set()
            await asyncio.Event().wait()
        if name == "change" and "path" in args:
            self.files[args["path"]] = args["text"]
        code = self.exit_codes.get(str(args.get("script"))) if name == "run_shell" else None
        warned = str(args.get("script")) in self.warned
        return ToolOutcome(f"{name} done with {args}{'x' * args.get('size', 0)}", bool(code), code, warned=warned)


class World:
    """Everything that outlives a process, and a way to start a process with it."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.journal = DyingJournal()
        self.workspaces = FakeWorkspaces()
        self.crew = FakeCrew(self.workspaces)
        self.gates = FakeGates()
        self.policy: Policy = policy or Allow()
        self.call_policy: Policy | None = None  # for calls of workers and discussions
        self.clock = FakeClock()
        self.ids = FakeIds()
        self.tools = FakeTools()
        self.rules: list[dict[str, Any]] = []
        self.requests: list[ModelRequest] = []
        self.used: list[tuple[str, Usage]] = []
        self.waits: list[float] = []
        self.price = FREE
        self.redact: Callable[[str], str] = str
        self.streams = Streams()
        self.activity = Activity()
        self.options = Options()
        self.prompts = NO_OWN
        self.sandbox = "bubblewrap"
        self.counts = True  # False: the project's folder was replaced

    def check(self) -> None:
        if not self.counts:
            raise Rejected("the project does not count any more")

    def calls(self, workbench: Workbench, model: Model) -> ModelCalls:
        async def wait(seconds: float) -> None:
            self.waits.append(seconds)

        return ModelCalls(
            model,
            lambda command: workbench.submit(SYSTEM, command),
            Observers(self.streams, self.activity),
            Timing(lambda: 1.0, wait),
        )

    @asynccontextmanager
    async def process(self, **settings: object) -> AsyncGenerator["Process"]:
        """One process of the workbench; at the end its running work is lost, as after kill -9."""
        self.crew.running = 0
        workbench = Workbench(self.journal, self.clock, self.ids, load_state(self.journal))
        self.model = RecordingModel(
            ScriptedModel(msgspec.convert(self.rules, list[ScriptedRule]), self.price), self.requests, self.used
        )
        conductor = Conductor(
            workbench,
            self.workspaces,
            self.crew,
            self.gates,
            self.policy,
            self.clock,
            WorldAgents(self, workbench) if self.rules else None,
        )
        process = Process(self, workbench, conductor)
        try:
            started = StartConductor(**{"auto_queue": True, **settings})  # pyright: ignore[reportArgumentType]
            await conductor.start(started)
            yield process
        finally:
            await conductor.abandon()


class WorldAgents:
    """Makes agents that use the world's fakes."""

    def __init__(self, world: World, workbench: Workbench) -> None:
        self._world = world
        self._workbench = workbench
        self._toolbox = Toolbox(world.tools, self._script_terms, world.call_policy, world.check)

    def worker(self, send: Send) -> Worker:
        world = self._world
        briefing = Briefing(world.workspaces.read, WholeFiles(), world.redact, prompts=world.prompts)
        journal, options = self._journal(send), replace(world.options, prompts=world.prompts)
        return Worker(self._calls(), self._toolbox, world.workspaces, journal, briefing.brief, options)

    def planner(self, send: Send) -> Planner:
        surveyor = Surveyor(self._world.workspaces, WholeFiles())
        return Planner(self._calls(), surveyor, self._journal(send), prompts=self._world.prompts)

    def chat(self, send: Send) -> Chat:
        journal = replace(self._journal(send), redact=str)
        return Chat(self._calls(), self._toolbox, ToolPlace("/project"), journal, prompts=self._world.prompts)

    def _calls(self) -> ModelCalls:
        return self._world.calls(self._workbench, self._world.model)

    def _journal(self, send: Send) -> JournalAccess:
        texts = KeptTexts(self._workbench.keep, self._world.journal.get_blob)
        return JournalAccess(texts, send, lambda: self._workbench.state, self._world.redact)

    def _script_terms(self, shown: Preview, directory: str, call: str) -> ScriptPayload:
        return ScriptPayload(shown.script or "", directory, ("PATH",), self._world.sandbox, call=call)


class RecordingModel:
    """A model that records every request and the usage of every reply."""

    def __init__(
        self, model: ScriptedModel, requests: list[ModelRequest], used: list[tuple[str, Usage]] | None = None
    ) -> None:
        self._model = model
        self._requests = requests
        self._used = used if used is not None else []

    @property
    def name(self) -> str:
        return self._model.name

    def quote(self, request: ModelRequest) -> int | None:
        return self._model.quote(request)

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        self._requests.append(request)
        reply = await self._model.complete(request, on_text, on_reasoning)
        self._used.append((request.tier, reply.usage))
        return reply


class Process:
    def __init__(self, world: World, workbench: Workbench, conductor: Conductor) -> None:
        self.world = world
        self.workbench = workbench
        self.conductor = conductor

    @property
    def state(self) -> State:
        return self.workbench.state

    async def run(self, *tickets: TicketSpec, track: str = "a") -> None:
        await self.workbench.submit(ANN, AddTrack(track, "A", "", tickets))
        await self.workbench.submit(ANN, StartTrack(track))

    async def say(self, text: str, discussion: str = "D-1") -> None:
        texts = KeptTexts(self.workbench.keep, self.world.journal.get_blob)
        state = self.state.discussion(discussion)
        await self.workbench.submit(ANN, await say_command(texts, state, text, "about the project", "/project"))

    async def until(self, true: Callable[[State], bool]) -> State:
        """Waits until the condition holds, by following the journal."""
        following = self.workbench.follow(self.state.version)
        async with asyncio.timeout(20):
            while not true(self.state):
                if not await following.next():
                    raise JournalUnwritable("the workbench has stopped")
        following.close()
        return self.state

    async def until_status(self, status: str, track: str = "a") -> State:
        return await self.until(lambda state: track in state.tracks and state.tracks[track].status == status)

    async def approve_everything(self) -> None:
        """Approves every request until all tracks have ended."""
        while True:
            state = await self.until(lambda s: bool(s.pending) or all_ended(s))
            if not state.pending:
                return
            for approval in state.pending_approvals():
                decision = "retry" if approval.kind == "gate" else "approve"
                try:
                    await self.workbench.submit(ANN, AnswerApproval(approval.id, decision))
                except Rejected:
                    continue


def all_ended(state: State) -> bool:
    return bool(state.tracks) and all(track.status in ("done", "blocked", "aborted") for track in state.tracks.values())

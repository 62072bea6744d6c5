"""A gate with everything it can depend on, each of which a test can change: real git, real sandbox, own tools."""

import os
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random

from msgspec.structs import replace

from interlock.domain.values.gates import Gate, GateDefaults, GateResult, NewPackages, Reused
from interlock.domain.values.runs.passes import Pass, with_pass
from interlock.domain.values.tickets import TicketSpec
from interlock.ports.environments import Progress
from interlock.ports.processes import Finished, Job, OnOutput, Sandbox, View
from interlock.ports.secrets import Vault
from interlock.ports.services import Services
from interlock.ports.workspaces import Surroundings, Workspace
from interlock.runners.gate import ShellGates
from interlock.runners.reuse import PassReuse
from interlock.runners.setup import WorkspaceSetup
from interlock.sandbox.jobs.jobs import JobLimits
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.sandbox.levels.landlock import LandlockSandbox
from interlock.workspaces.git_workspaces import GitWorkspaces
from tests.workspaces.desk import Desk, Runner

AT = "2026-01-01T10:00:00.000000Z"
COMMAND = "tool && cat data.txt link.txt && cat .env.local .venv/lib/package.py made.txt; ./run.sh"


class NarrowSandbox(Runner):
    """A real sandbox that counts its runs, and of which only the tools of the test are compared.

    Comparing the whole machine takes most of a second; one test does it.
    """

    def __init__(self, inner: Sandbox, below: Path) -> None:
        super().__init__()
        self._inner, self._below = inner, str(below)
        self.runs: list[str] = []

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        self.runs.append(job.argv[-1])
        return await self._inner.run(job, on_stdout)

    def view(self, job: Job) -> View | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        view = self._inner.view(job)
        return view and replace(view, paths=tuple(path for path in view.paths if path.startswith(self._below)))


class StoredPackages:
    """Packages in a store; each worktree gets hard links to them, as the real store makes."""

    def __init__(self, store: Path, placed: Path) -> None:
        self._store, self._placed = store, placed
        self.digest = "pip install package"

    async def ready(
        self, workspace: Workspace, progress: Progress = lambda _: None, accepted: str = ""
    ) -> Surroundings | Finished | NewPackages:
        return self._place(workspace)

    def _place(self, workspace: Workspace) -> Surroundings:
        own = self._placed / sha256(workspace.path.encode()).hexdigest()[:8]
        lib = own / "lib"
        lib.mkdir(parents=True, exist_ok=True)
        for file in self._store.iterdir():
            (lib / file.name).unlink(missing_ok=True)
            os.link(file, lib / file.name)
        (lib / "place").write_text(f"made for {workspace.path}\n")
        link = Path(workspace.path, ".venv")
        if not link.is_symlink():
            link.symlink_to(own)
        return Surroundings((str(own),), (("VIRTUAL_ENV", str(link)),))


class Clock:
    def __init__(self) -> None:
        self.at = AT

    def now(self) -> str:
        return self.at


class ReuseBench:
    def __init__(self, folder: Path) -> None:
        self.desk = Desk(folder)
        self.desk.repository({"data.txt": "data\n", "run.sh": "#!/bin/sh\necho run\n", ".gitignore": ".env.local\n"})
        (self.desk.project / "run.sh").chmod(0o755)
        (self.desk.project / "link.txt").symlink_to("data.txt")
        self.desk.write({".env.local": "LOCAL=1\n", ".worktreeinclude": ".env.local\n"})
        self.commit = self.desk.commit("all")
        self.tools = folder / "tools"
        self.write_tool("bin/tool", "#!/bin/sh\ncat $(dirname $0)/../lib/part\n")
        self.write_tool("lib/part", "part\n")
        self.store = folder / "store"
        self.store.mkdir()
        (self.store / "package.py").write_text("package = 1\n")
        self.packages = StoredPackages(self.store, folder / "placed")
        self.env = {"PATH": f"{self.tools}/bin:/usr/bin:/bin", "HOME": "/root", "CI": "1"}
        self.gate = Gate(COMMAND, timeout_s=30)
        self.limits = JobLimits()
        self.level: Callable[..., Sandbox] = BubblewrapSandbox
        self.setup = "echo made > made.txt"
        self.passes: tuple[Pass, ...] = ()
        self.clock = Clock()
        self.hours = 24.0
        self.runs: list[str] = []
        self.whole_machine = False
        self.shortest_ms = 0
        self.settled_ns = 1_000_000_000  # the tools were made just now: the run seems to start a second later
        self.vault: Vault | None = None
        self.services: Services | None = None
        self._store: GitWorkspaces | None = None
        self._chosen: object = None
        self._made: tuple[Sandbox, PassReuse] | None = None

    def write_tool(self, name: str, content: str) -> None:
        path = self.tools / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        path.chmod(0o755)

    async def run(self, ticket: str = "T-1") -> GateResult:
        """Runs the gate, and records a pass as the journal does."""
        gates, sandbox = await self.gates()
        before = len(sandbox.runs) if isinstance(sandbox, NarrowSandbox) else 0
        result = await gates.run("t", TicketSpec(id=ticket, verify=(self.gate,)), 0, self.commit)
        if isinstance(sandbox, NarrowSandbox):
            self.runs += [script for script in sandbox.runs[before:] if script == self.gate.command]
        self.record(ticket, result)
        return result

    async def workspaces(self) -> GitWorkspaces:
        if self._store is None:
            self._store = await self.desk.open()
            await self._store.start_track("t")
        return self._store

    async def gates(self) -> tuple[ShellGates, Sandbox]:
        store = await self.workspaces()
        sandbox, reuse = self._process(store)
        setup = WorkspaceSetup(sandbox, store, self.env, self.setup, environments=self.packages)
        gates = ShellGates(
            sandbox,
            store,
            lambda _: "",
            self.env,
            GateDefaults(),
            setup,
            vault=self.vault,
            answer=self._answer,
            services=self.services,
            reuse=reuse,
        )
        return gates, sandbox

    def _process(self, store: GitWorkspaces) -> tuple[Sandbox, PassReuse]:
        """One process keeps them for all its gates, and what it knows of the tools with them."""
        chosen = (self.level, self.limits, tuple(self.env.items()))
        if chosen != self._chosen or self._made is None:
            inner = self.level(env=self.env, limits=self.limits)
            sandbox: Sandbox = inner if self.whole_machine else NarrowSandbox(inner, self.tools)
            reuse = PassReuse(
                sandbox,
                store,
                lambda: self.passes,
                self.clock,
                hours=self.hours,
                shortest_ms=self.shortest_ms,
                now_ns=lambda: time.time_ns() + self.settled_ns,
            )
            self._chosen, self._made = chosen, (sandbox, reuse)
        return self._made

    def record(self, ticket: str, result: GateResult) -> None:
        if result.passed and result.inputs:
            source = Reused("t", ticket, 1, len(self.passes) + 1, self.clock.now(), result.duration_ms)
            self.passes = with_pass(self.passes, Pass(result.inputs, source))

    async def _answer(self, track: str, ticket: str) -> str:
        return "the answer"


def _other_commit(bench: ReuseBench, random: Random) -> None:
    bench.commit = bench.desk.commit("change")


def _file(bench: ReuseBench, random: Random) -> None:
    bench.desk.write({"data.txt": f"{random.random()}\n"})
    _other_commit(bench, random)


def _added_file(bench: ReuseBench, random: Random) -> None:
    bench.desk.write({f"new-{random.random()}.txt": "new\n"})
    _other_commit(bench, random)


def _removed_file(bench: ReuseBench, random: Random) -> None:
    bench.desk.write({"extra.txt": f"{random.random()}\n"})
    bench.desk.commit("one more file")
    (bench.desk.project / "extra.txt").unlink()
    bench.desk.write({"data.txt": f"{random.random()}\n"})
    _other_commit(bench, random)


def _mode(bench: ReuseBench, random: Random) -> None:
    file = bench.desk.project / f"mode-{random.random()}.sh"
    file.write_text("true\n")
    bench.desk.commit("a script")
    file.chmod(0o755)
    _other_commit(bench, random)


def _link(bench: ReuseBench, random: Random) -> None:
    link = bench.desk.project / "link.txt"
    bench.desk.write({f"target-{random.random()}": "x\n"})
    target = sorted(path.name for path in bench.desk.project.glob("target-*"))[-1]
    link.unlink()
    link.symlink_to(target if random.random() < 0.5 else f"./{target}")
    _other_commit(bench, random)


def _included_file(bench: ReuseBench, random: Random) -> None:
    bench.desk.write({".env.local": f"LOCAL={random.random()}\n"})


def _variable(bench: ReuseBench, random: Random) -> None:
    name = random.choice(("CI", "LANG", "TZ", "HOME"))
    bench.env = {**bench.env, name: f"/v{random.random()}"}


def _variable_of_the_gate(bench: ReuseBench, random: Random) -> None:
    bench.gate = replace(bench.gate, env={"MORE": f"{random.random()}"})


def _tool_in_place(bench: ReuseBench, random: Random) -> None:
    part = bench.tools / "lib/part"
    part.write_text(f"{random.random():.6f}"[:5] + "\n")


def _tool_in_place_with_its_old_time(bench: ReuseBench, random: Random) -> None:
    part = bench.tools / "lib/part"
    before, old = part.stat(), part.read_text()
    part.write_text("".join(random.sample(old, len(old))) if len(set(old)) > 1 else old)
    os.utime(part, ns=(before.st_atime_ns, before.st_mtime_ns))


def _tool_replaced(bench: ReuseBench, random: Random) -> None:
    new = bench.tools / "bin/tool.new"
    new.write_text(f"#!/bin/sh\necho {random.random()}\n")
    new.chmod(0o755)
    new.rename(bench.tools / "bin/tool")


def _tool_that_shadows(bench: ReuseBench, random: Random) -> None:
    bench.write_tool(f"bin/cat-{random.random()}", "#!/bin/sh\n")


def _tool_mode(bench: ReuseBench, random: Random) -> None:
    path = bench.tools / "lib/part"
    path.chmod(0o644 if path.stat().st_mode & 0o100 else 0o755)


def _command(bench: ReuseBench, random: Random) -> None:
    bench.gate = replace(bench.gate, command=f"{COMMAND} # {random.random()}", cwd=None)


def _timeout(bench: ReuseBench, random: Random) -> None:
    bench.gate = replace(bench.gate, timeout_s=10 + random.random())


def _folder_of_the_gate(bench: ReuseBench, random: Random) -> None:
    name = f"in{random.random()}"
    bench.desk.write({f"{name}/x": "x\n"})
    bench.commit = bench.desk.commit("a folder")
    bench.gate = replace(bench.gate, command="tool", cwd=name)


def _stdin(bench: ReuseBench, random: Random) -> None:
    bench.gate = replace(bench.gate, stdin=None if bench.gate.stdin else "answer")


def _level(bench: ReuseBench, random: Random) -> None:
    bench.level = LandlockSandbox if bench.level is BubblewrapSandbox else BubblewrapSandbox


def _limits(bench: ReuseBench, random: Random) -> None:
    field = random.choice(("processes", "open_files", "tmp_mb"))
    bench.limits = replace(bench.limits, **{field: random.randrange(256, 4096)})


def _packages(bench: ReuseBench, random: Random) -> None:
    file = bench.store / "package.py"
    content = f"package = {random.random()}\n"
    if random.random() < 0.5:
        file.write_text(content)  # in place: also in the worktrees
    else:
        file.unlink()
        file.write_text(content)
        bench.packages.digest = f"pip install package=={random.random()}"  # another list, another installation


def _setup(bench: ReuseBench, random: Random) -> None:
    bench.setup = f"echo {random.random()} > made.txt"


MUTATIONS: Sequence[Callable[[ReuseBench, Random], None]] = (
    *(_file, _added_file, _removed_file, _mode, _link, _included_file),
    *(_variable, _variable_of_the_gate, _command, _timeout, _folder_of_the_gate, _stdin, _level, _limits),
    *(_tool_in_place, _tool_in_place_with_its_old_time, _tool_replaced, _tool_that_shadows, _tool_mode),
    *(_packages, _setup),
)

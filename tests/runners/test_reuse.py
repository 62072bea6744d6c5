"""Which passes are reused, and which never are. Changes of the inputs: test_stale_passes.py."""

import asyncio
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.values.gates import Gate, GateResult, Reused
from interlock.ports.processes import Finished, Job, OnOutput, Sandbox
from interlock.ports.secrets import NoVault
from interlock.runners import tool_states
from interlock.runners.tool_states import ToolStates
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.sandbox.levels.landlock import LandlockSandbox
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from tests.runners.reuse_bench import AT, ReuseBench


@pytest.fixture
def bench(tmp_path: Path) -> ReuseBench:
    return ReuseBench(tmp_path)


def twice(bench: ReuseBench) -> tuple[GateResult, GateResult]:
    """The same gate of two tickets, one after the other."""

    async def story() -> tuple[GateResult, GateResult]:
        return await bench.run("T-1"), await bench.run("T-2")

    return asyncio.run(story())


def test_a_reused_pass_names_the_run_that_it_rests_on(bench: ReuseBench) -> None:
    first, second = twice(bench)
    assert (first.passed, bool(first.inputs), first.reused) == (True, True, UNSET)
    source = Reused("t", "T-1", 1, 1, AT, first.duration_ms)
    assert second == GateResult(status="passed", exit_code=0, command=bench.gate.command, duration_ms=0, reused=source)
    assert len(bench.runs) == 1


def test_every_tool_of_the_machine_is_compared(bench: ReuseBench) -> None:
    bench.whole_machine = True
    first, second = twice(bench)
    assert first.inputs and second.reused


def test_a_pass_is_reused_with_landlock_too(bench: ReuseBench) -> None:
    bench.level = LandlockSandbox
    first, second = twice(bench)
    assert first.inputs and second.reused


@pytest.mark.parametrize(
    "gate",
    [
        Gate("true", flaky=True),
        Gate("true", network=True),
        Gate("git log -1 || true"),
        Gate("test -e .git"),
        Gate("exit 1"),
        Gate("kill -9 $$"),
    ],
    ids=lambda gate: f"{gate.command}{' flaky' * gate.flaky}{' network' * gate.network}",
)
def test_these_gates_run_every_time(bench: ReuseBench, gate: Gate) -> None:
    bench.gate = gate
    first, second = twice(bench)
    assert (first.inputs, second.reused, len(bench.runs)) == (UNSET, UNSET, 2)


def test_a_word_with_git_in_it_is_not_git(bench: ReuseBench) -> None:
    bench.gate = Gate("echo legit digits my-git-tool")
    assert twice(bench)[1].reused


def test_without_a_sandbox_nothing_is_reused(bench: ReuseBench) -> None:
    bench.level = lambda **_: UnconfinedSandbox()
    assert not twice(bench)[1].reused


class Services:
    shown = names = variables = ("db",)

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def run(self, job: Job, folder: str, on_stdout: OnOutput | None = None) -> Finished:
        return await self._sandbox.run(job, on_stdout)


def test_beside_services_nothing_is_reused(bench: ReuseBench) -> None:
    bench.services = Services(BubblewrapSandbox(env=bench.env))
    first, second = twice(bench)
    assert (first.passed, first.inputs, second.reused) == (True, UNSET, UNSET)


class OneSecret(NoVault):
    def reveal(self, text: str) -> str:
        return text.replace("<secret>", "hunter2")


def test_a_gate_with_a_secret_is_not_reused_so_its_digest_is_nowhere(bench: ReuseBench) -> None:
    bench.vault, bench.gate = OneSecret(), Gate("echo <secret>")
    first, second = twice(bench)
    assert (first.inputs, second.reused) == (UNSET, UNSET)


@pytest.mark.parametrize(
    ("now", "counts"),
    [
        ("2026-01-02T10:00:00.000000Z", True),
        ("2026-01-02T10:00:01.000000Z", False),
        ("2026-01-01T09:59:59.000000Z", False),
    ],
    ids=["a day old", "older", "the clock was set back"],
)
def test_a_pass_has_a_greatest_age(bench: ReuseBench, now: str, counts: bool) -> None:
    async def story() -> bool:
        await bench.run("T-1")
        bench.clock.at = now
        return bool((await bench.run("T-2")).reused)

    assert asyncio.run(story()) == counts


def test_a_short_run_is_not_remembered(bench: ReuseBench) -> None:
    bench.shortest_ms = 60_000
    assert not twice(bench)[0].inputs


def test_a_tool_that_changes_while_the_gate_runs_spoils_its_pass(bench: ReuseBench) -> None:
    bench.settled_ns = -3_600_000_000_000  # the run seems to have started an hour before the tools were made
    assert not twice(bench)[0].inputs


def test_tools_that_cannot_be_compared_prevent_the_reuse(bench: ReuseBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_states, "_MOST_FILES", 2)
    first, second = twice(bench)
    assert (first.passed, first.inputs, second.reused) == (True, UNSET, UNSET)


def test_extra_files_that_are_too_large_prevent_the_reuse(bench: ReuseBench, monkeypatch: pytest.MonkeyPatch) -> None:
    from interlock.workspaces.checkouts import extra_files

    monkeypatch.setattr(extra_files, "_MOST_BYTES", 3)
    assert not twice(bench)[0].inputs
    monkeypatch.setattr(extra_files, "_MOST_FILES", 1)
    assert not twice(bench)[0].inputs


def test_a_missing_tool_folder_or_a_huge_package_has_no_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tool_states.tool_states([str(tmp_path / "gone")]) is None
    (tmp_path / "package").write_text("x" * 100)
    monkeypatch.setattr(tool_states, "_LARGEST", 50)
    assert tool_states.package_states([str(tmp_path)], "") is None


def test_a_link_among_the_tools_counts_with_its_target(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    link = tmp_path / "now"
    link.symlink_to("one")
    before = tool_states.tool_states([str(link)])
    link.unlink()
    link.symlink_to("two")
    after = tool_states.tool_states([str(link)])
    assert isinstance(before, ToolStates) and isinstance(after, ToolStates)
    assert replace(before, newest_ns=0) != replace(after, newest_ns=0)


def test_whoever_cancels_a_gate_does_not_wait_for_the_look_at_the_tools(bench: ReuseBench) -> None:
    async def story() -> bool:
        bench.gate = Gate("sleep 100")
        task = asyncio.ensure_future(bench.run("T-1"))
        done, _ = await asyncio.wait((task,), timeout=1)
        task.cancel()
        await asyncio.wait((task,))
        return not done and task.cancelled()

    assert asyncio.run(story())


def test_the_same_command_in_another_folder_is_another_run(bench: ReuseBench) -> None:
    bench.desk.write({"inner/x": "x\n"})
    bench.commit = bench.desk.commit("a folder")

    async def story() -> list[bool]:
        reused: list[bool] = []
        for cwd in (None, "inner", "inner"):
            bench.gate = Gate("tool", cwd=cwd)
            reused.append(bool((await bench.run("T-1")).reused))
        return reused

    assert asyncio.run(story()) == [False, False, True]

"""A shell ticket: its worktree, its setup, its script, and the saved result."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from interlock.domain.values.approvals import ScriptPayload, digest
from interlock.domain.values.tickets import Saved, TicketSpec
from interlock.ports.processes import Finished
from interlock.ports.work import Assignment, Done, Failed, NotAllowed, PolicyVerdict, Unsaved
from interlock.ports.workspaces import Workspace
from interlock.runners.script import LocalCrew
from interlock.runners.setup import WorkspaceSetup
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from tests.runners.fake_workspaces import FolderWorkspaces
from tests.sandbox.scenes import ENV, alive_in, first_beat

NOT_APPROVED = Failed("what would run differs from what was approved, so it did not run")


class Crew:
    def __init__(self, root: Path, setup: str | None = None) -> None:
        self.workspaces = FolderWorkspaces(root)
        self.setup = WorkspaceSetup(BubblewrapSandbox(), self.workspaces.port, ENV, setup)
        self.local = LocalCrew(BubblewrapSandbox(), self.workspaces.port, ENV, self.setup)

    def assignment(self, script: str, attempt: int = 1) -> Assignment:
        spec = TicketSpec(id="T-1", assigned_to="shell", script=script, description="Do it")
        return Assignment("track", spec, attempt, script)

    async def run(self, assignment: Assignment, approved: str | None = None) -> Done | Failed:
        """`approved` is the digest of the terms, if no other is given."""
        prepared = self.local.prepare(assignment)
        outcome = await prepared.run(digest(prepared.terms) if approved is None else approved, None)
        assert not isinstance(outcome, NotAllowed | Unsaved)
        return outcome

    def work(self, assignment: Assignment, approved: str | None = None) -> Done | Failed:
        return asyncio.run(self.run(assignment, approved))

    def files_from(self, script: str, attempt: int = 1) -> dict[str, str]:
        done = self.work(self.assignment(script, attempt))
        assert isinstance(done, Done) and isinstance(done.saved, Saved), done
        return self.workspaces.files(done.saved.commit)


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    return Crew(tmp_path)


def test_the_result_of_a_script_is_saved(crew: Crew, tmp_path: Path) -> None:
    done = crew.work(crew.assignment("echo hello > file; echo done"))
    assert isinstance(done, Done) and done.saved is not None
    assert (done.saved.base, done.summary) == ("base", "done")
    assert crew.workspaces.files(done.saved.commit) == {"file": "hello\n"}
    assert (tmp_path / "track-T-1-1.message").read_text() == "Do it"


def test_a_script_gets_its_track_ticket_and_attempt_as_variables(crew: Crew) -> None:
    script = 'echo "$INTERLOCK_TRACK $INTERLOCK_TICKET $INTERLOCK_ATTEMPT" > me; pwd > here'
    assert crew.files_from(script, attempt=3) == {
        "me": "track T-1 3\n",
        "here": crew.workspaces.path_for("track", "T-1") + "\n",
    }


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo half > file; echo why >&2; exit 3", "the script failed with exit code 3\nwhy"),
        ("echo only this; false", "the script failed with exit code 1\nonly this"),
        ("exit 127", "the script failed with exit code 127: a command was not found"),
        ("exit 126", "the script failed with exit code 126: a command was found but could not be executed"),
        ("kill -9 $$", "the script was killed by signal 9 (Killed)"),
        ("seq 100; exit 1", "the script failed with exit code 1\n" + "\n".join(map(str, range(91, 101)))),
        ("  ", "the ticket has no script"),
    ],
)
def test_a_failed_script_reports_its_ending_and_its_last_lines(crew: Crew, script: str, reason: str) -> None:
    failed = crew.work(crew.assignment(script))
    assert isinstance(failed, Failed)
    assert failed.reason == reason


def test_the_last_lines_are_bounded(crew: Crew) -> None:
    failed = crew.work(crew.assignment("head -c 100000 /dev/zero | tr '\\0' x; exit 1"))
    assert isinstance(failed, Failed)
    assert len(failed.reason) < 2_000


def test_the_terms_are_exactly_what_would_run(crew: Crew) -> None:
    assert crew.local.prepare(crew.assignment("make")).terms == ScriptPayload(
        script="make",
        directory=crew.workspaces.path_for("track", "T-1"),
        env_names=tuple(sorted({*ENV, "INTERLOCK_TRACK", "INTERLOCK_TICKET", "INTERLOCK_ATTEMPT"})),
        sandbox="bubblewrap",
        network=False,
    )


@pytest.mark.parametrize("change", [{"script": "touch evil"}, {"track": "other"}, {"env": (("HOME2", "/"),)}])
def test_terms_that_differ_from_the_approved_ones_do_not_run(
    crew: Crew, tmp_path: Path, change: dict[str, str]
) -> None:
    approved = digest(crew.local.prepare(crew.assignment("touch file")).terms)
    assert crew.work(replace(crew.assignment("touch file"), **change), approved) == NOT_APPROVED
    assert not (tmp_path / "worktrees").exists()


@pytest.mark.parametrize("approved", ["", "0" * 64])
def test_nothing_runs_without_the_digest_of_its_terms(crew: Crew, tmp_path: Path, approved: str) -> None:
    assert crew.work(crew.assignment("touch file"), approved) == NOT_APPROVED
    assert not (tmp_path / "worktrees").exists()


def test_other_roles_need_a_provider(crew: Crew) -> None:
    assignment = crew.assignment("true")
    asked = replace(assignment, ticket=replace(assignment.ticket, assigned_to="tier3-worker"))
    assert crew.work(asked) == Failed("no provider is configured for tier3-worker tickets; only shell tickets run")


def test_setup_runs_before_the_script_in_each_new_worktree_and_its_files_are_not_the_work(tmp_path: Path) -> None:
    crew = Crew(tmp_path, setup='echo "set up" > venv.ignored')
    assert crew.files_from("cat venv.ignored > seen") == {"seen": "set up\n"}


def test_setup_runs_once_in_a_worktree(tmp_path: Path) -> None:
    crew = Crew(tmp_path, setup="echo x >> runs.ignored")
    crew.files_from("true")

    async def again() -> list[bool]:
        async def ran(workspace: Workspace) -> bool:
            return await crew.setup.make_ready("track", "T-1", workspace) is not workspace

        first = await ran(await crew.workspaces.show_tree("track", "T-1", "base"))
        fresh = await ran(await crew.workspaces.prepare("track", "T-1"))
        return [first, fresh, await ran(await crew.workspaces.show_tree("track", "T-1", "base"))]

    assert asyncio.run(again()) == [False, True, False]


def test_a_setup_that_fails_stops_the_attempt(tmp_path: Path) -> None:
    crew = Crew(tmp_path, setup="echo no network >&2; exit 1")
    failed = crew.work(crew.assignment("touch file"))
    assert isinstance(failed, Failed)
    assert failed.reason == "the workspace's setup failed with exit code 1\nno network"
    assert not Path(crew.workspaces.path_for("track", "T-1"), "file").exists()


def test_cancelling_an_attempt_kills_it(crew: Crew) -> None:
    folder = Path(crew.workspaces.path_for("track", "T-1"))

    async def scene() -> None:
        script = "(setsid sh -c 'while :; do echo x >> beats; sleep 0.01; done' &); sleep 1000"
        task = asyncio.create_task(crew.run(crew.assignment(script)))
        await first_beat(folder)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert alive_in(folder) == []

    asyncio.run(scene())


def test_a_worktree_inside_a_larger_repository_is_writable_as_a_whole_and_its_git_is_not(
    crew: Crew, tmp_path: Path
) -> None:
    async def scene() -> str:
        workspace = await crew.workspaces.prepare("track", "T-1")
        root = Path(workspace.path)
        (root / ".git").write_text("gitdir: x\n")
        (root / "sub").mkdir()
        inside = replace(workspace, path=str(root / "sub"), root=str(root))
        setup = WorkspaceSetup(BubblewrapSandbox(), crew.workspaces.port, ENV, "pwd; touch ../up; echo evil > ../.git")
        finished = await setup.make_ready("track", "T-1", inside)
        assert isinstance(finished, Finished)
        return finished.stdout + finished.stderr

    assert "cannot create ../.git: Read-only file system" in asyncio.run(scene())
    root = Path(crew.workspaces.path_for("track", "T-1"))
    assert (root / "up").exists() and (root / ".git").read_text() == "gitdir: x\n"


def test_before_script_is_called_only_for_scripts_that_run_and_before_they_run(tmp_path: Path) -> None:
    calls: list[tuple[str, bool]] = []
    crew = Crew(tmp_path, setup="true")
    folder = Path(crew.workspaces.path_for("track", "T-1"))
    crew.local = LocalCrew(
        BubblewrapSandbox(),
        crew.workspaces.port,
        ENV,
        crew.setup,
        before_script=lambda script: calls.append((script, (folder / "made").exists())),
    )
    assert crew.files_from("touch made") == {"made": ""}
    assert crew.work(crew.assignment("touch other"), "of something else") == NOT_APPROVED
    assert calls == [("touch made", False)]


def test_the_last_check_sees_the_ready_worktree_and_can_stop_the_script(tmp_path: Path) -> None:
    crew = Crew(tmp_path, setup="echo x >> set-up.ignored")
    assignment = crew.assignment("touch ran.ignored")
    worktree = Path(crew.workspaces.path_for("track", "T-1"))
    seen: list[str] = []
    stop = PolicyVerdict("ask", "default", "a link leads out")

    async def check(verdict: PolicyVerdict | None) -> PolicyVerdict | None:
        seen.append((worktree / "set-up.ignored").read_text())
        return verdict

    async def story() -> None:
        prepared = crew.local.prepare(assignment)
        approved = digest(prepared.terms)
        assert await crew.local.make_ready(assignment) is None
        assert await prepared.run(approved, lambda: check(stop)) == NotAllowed(stop)
        assert not (worktree / "ran.ignored").exists()
        assert isinstance(await prepared.run(approved, lambda: check(None)), Done)

    asyncio.run(story())
    assert seen == ["x\n", "x\n"]


def test_a_worktree_that_cannot_be_set_up_is_a_failure_before_the_verdict(tmp_path: Path) -> None:
    crew = Crew(tmp_path, setup="false")
    failed = asyncio.run(crew.local.make_ready(crew.assignment("ls")))
    assert failed is not None and "the workspace's setup failed" in failed.reason

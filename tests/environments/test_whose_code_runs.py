"""Installing runs build scripts with network: those of the user's commit, unless a person accepted the ticket's."""

import asyncio
import os
from pathlib import Path
from typing import cast

from interlock.domain.values.gates import NewPackages
from interlock.environments.placing import FILES
from interlock.environments.preparing import PackageInstaller
from interlock.environments.ready import ProjectEnvironments
from interlock.environments.store import EnvironmentStore
from interlock.ports.processes import Finished, Sandbox
from interlock.ports.workspaces import DependencyLists, Surroundings, Workspace, Workspaces
from tests.environments.test_installing import PlainShell


class Commits:
    """Workspaces with two commits, `user` and `work`. Each has a build script that is no dependency list."""

    def __init__(self, root: Path, lists: dict[str, DependencyLists]) -> None:
        self.root = root
        self.lists = lists
        self.checked_out: list[str] = []

    async def dependency_lists(self, commit: str | None = None, commands: tuple[str, ...] = ()) -> DependencyLists:
        return self.lists[commit or "user"]

    async def checkout(self, commit: str | None = None) -> Workspace:
        name = commit or "user"
        self.checked_out.append(name)
        folder = self.root / f"checkout-{len(self.checked_out)}"
        folder.mkdir(parents=True)
        (folder / "hook.sh").write_text(f"echo {name} > who\n")
        return Workspace(str(folder), name, None)

    async def discard(self, checkout: Workspace) -> None:
        pass


def installed(
    root: Path, lists: dict[str, DependencyLists], command: str = ". ./hook.sh", accepted: str = ""
) -> tuple[Surroundings | Finished | NewPackages, list[str], list[str]]:
    """What a gate on the commit `work` gets, the commits that commands ran on, and who made the results."""
    commits = Commits(root, lists)
    store = EnvironmentStore(root / "store")
    installer = PackageInstaller(store, cast("Sandbox", PlainShell()), {"PATH": os.defpath}, (command,))
    environments = ProjectEnvironments(installer, cast("Workspaces", commits), "/shop")
    (root / "worktree").mkdir(parents=True, exist_ok=True)
    ready = asyncio.run(environments.ready(Workspace(str(root / "worktree"), "work", None), accepted=accepted))
    made = sorted((store.folder / one.manifest.key / FILES / "who").read_text().strip() for one in store.listed())
    return ready, commits.checked_out, made


def of(digest: str, compiled: str = "") -> DependencyLists:
    sources = (("native.c", compiled),) if compiled else ()
    return DependencyLists(digest, (("package.json", digest),), frozenset((b"hook.sh",)), sources)


def test_packages_for_unchanged_lists_are_installed_from_the_users_commit(tmp_path: Path) -> None:
    ready, ran_on, made = installed(tmp_path, {"user": of("same"), "work": of("same")})
    assert isinstance(ready, Surroundings)
    assert (ran_on, made) == (["user"], ["user"])


def test_changed_lists_run_nothing_of_the_work_before_they_are_accepted(tmp_path: Path) -> None:
    lists = {"user": of("old"), "work": of("new")}
    asked, ran_on, _ = installed(tmp_path, lists)
    assert isinstance(asked, NewPackages)
    assert (asked.lists, ran_on) == (("package.json",), [])
    ready, ran_on, made = installed(tmp_path / "accepted", lists, accepted=asked.key)
    assert isinstance(ready, Surroundings)
    assert (ran_on, made) == (["work"], ["work"])


def test_changed_sources_for_a_compiler_run_nothing_of_the_work_before_they_are_accepted(tmp_path: Path) -> None:
    lists = {"user": of("same", "old"), "work": of("same", "new")}
    compiles = ". ./hook.sh; printf '\\177ELF' > native.so"
    asked, ran_on, made = installed(tmp_path, lists, compiles)
    assert isinstance(asked, NewPackages)
    assert (asked.lists, ran_on, made) == (("native.c",), ["user"], ["user"])

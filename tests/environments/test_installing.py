"""Packages are installed by commands in a sandbox, once for each key, and a failure says what failed."""

import asyncio
import os
import subprocess
from pathlib import Path
from typing import cast

import pytest

from interlock.environments.keys import programs_in
from interlock.environments.manifest import Manifest
from interlock.environments.placing import FILES
from interlock.environments.preparing import Checkout, PackageInstaller
from interlock.environments.store import EnvironmentStore
from interlock.ports.environments import InstallFailed
from interlock.ports.processes import Finished, Job, Sandbox


class PlainShell:
    """A sandbox that runs jobs without any wall. It records them."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    async def run(self, job: Job) -> Finished:
        self.jobs.append(job)
        done = await asyncio.to_thread(
            subprocess.run, job.argv, cwd=job.cwd, env=dict(job.env), capture_output=True, text=True, check=False
        )
        return Finished(
            status="exited",
            exit_code=done.returncode,
            signal=None,
            stdout=done.stdout,
            stderr=done.stderr,
            duration_ms=0,
        )


class Place:
    def __init__(self, root: Path, *commands: str, **sources: str) -> None:
        self.shell = PlainShell()
        self.store = EnvironmentStore(root / "store")
        self.checkout = root / "checkout"
        self.checkout.mkdir()
        env = {"PATH": os.defpath}
        self.installer = PackageInstaller(self.store, cast("Sandbox", self.shell), env, commands, sources=sources)

    def install(self) -> Manifest | Finished:
        checkout = Checkout(str(self.checkout), str(self.checkout), (), frozenset())
        making = self.store.new_folder()
        return asyncio.run(self.installer.install("k" * 40, checkout, "/shop", making))


def test_addresses_of_mirrors_reach_the_commands(tmp_path: Path) -> None:
    place = Place(tmp_path, 'echo "$PIP_INDEX_URL" > made', PIP_INDEX_URL="https://mirror.test/simple")
    made = place.install()
    assert isinstance(made, Manifest) and made.copied == ("made",)
    assert (place.store.folder / made.key / FILES / "made").read_text() == "https://mirror.test/simple\n"
    assert [(job.network, job.cwd) for job in place.shell.jobs] == [(True, str(place.checkout))]


def test_the_first_command_that_fails_is_named_and_nothing_is_stored(tmp_path: Path) -> None:
    place = Place(tmp_path, "echo one", "echo broken >&2; exit 3", "echo never")
    failed = place.install()
    assert isinstance(failed, InstallFailed)
    assert (failed.command, failed.exit_code, failed.stderr) == ("echo broken >&2; exit 3", 3, "broken\n")
    assert len(place.shell.jobs) == 2 and place.store.get("k" * 40) is None


def test_a_folder_with_an_unreadable_manifest_gives_way_to_a_new_environment(tmp_path: Path) -> None:
    place = Place(tmp_path, "echo 1 > made")
    broken = place.store.folder / ("k" * 40)
    (broken / FILES).mkdir(parents=True)
    (broken / "manifest").write_bytes(b"cut off")
    made = place.install()
    assert isinstance(made, Manifest) and place.store.get("k" * 40) == made
    assert (broken / FILES / "made").read_text() == "1\n"


def test_the_key_follows_the_interpreter_that_a_package_manager_runs_with(tmp_path: Path) -> None:
    node = tmp_path / "bin" / "node"
    node.parent.mkdir()
    node.write_text("one")
    node.chmod(0o755)
    env = {"PATH": str(node.parent)}
    installer = PackageInstaller(EnvironmentStore(tmp_path / "store"), cast("Sandbox", PlainShell()), env, ("npm ci",))
    before = installer.key("lists")
    assert installer.key("lists") == before
    node.write_text("another version")
    assert installer.key("lists") != before


def test_the_key_follows_the_version_that_pyenv_has_chosen(tmp_path: Path) -> None:
    shim = tmp_path / "shims" / "python3"
    shim.parent.mkdir()
    shim.write_text("exec pyenv")
    shim.chmod(0o755)
    (tmp_path / "version").write_text("3.11.7\n")
    env = {"PATH": str(shim.parent)}
    installer = PackageInstaller(
        EnvironmentStore(tmp_path / "store"), cast("Sandbox", PlainShell()), env, ("python3 -m venv .venv",)
    )
    before = installer.key("lists")
    (tmp_path / "version").write_text("3.12.1\n")
    assert installer.key("lists") != before


@pytest.mark.parametrize("tool", ["npx --yes pnpm@9 install", "yarn install", "npm ci"])
def test_node_decides_what_its_package_managers_install(tool: str) -> None:
    assert programs_in((tool,)) == ("node",)

"""Makes environments: runs the prepare commands with network, in a checkout of the project, in the sandbox.

An environment is disposable: after a crash it is made again. The commands see the project's files and the tools of the
machine, and nothing of the user's: an empty home, no keys, no other folder. What they make stays in Interlock's state
folder and is used by other sandboxed commands only.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from interlock.environments.collecting import collect
from interlock.environments.keys import key_of, machine_facts, programs_in
from interlock.environments.manifest import Manifest
from interlock.environments.placing import FILES, HOME, Placed, place, remove, sweep
from interlock.environments.sources import local_sources
from interlock.environments.store import EnvironmentStore
from interlock.ports.environments import InstallFailed, Progress
from interlock.ports.processes import Finished, Job, Sandbox

_TMP = "tmp"
_STOP = "set -e\n"
_FEW_MB = 100
_QUIET = {
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_CACHE_DIR": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
    "UV_LINK_MODE": "copy",
    "UV_PYTHON_DOWNLOADS": "never",  # into a home that is thrown away
    "npm_config_update_notifier": "false",
    "npm_config_fund": "false",
    "npm_config_audit": "false",
    "HUSKY": "0",
    "CI": "1",
    "COREPACK_ENABLE_DOWNLOAD_PROMPT": "0",
    "POETRY_NO_INTERACTION": "1",
    "COMPOSER_NO_INTERACTION": "1",
}
# Folders of a home with packages, and the variables that make the tools use them offline.
_OF_HOME = (
    (".cargo/registry", (("CARGO_HOME", "{home}/.cargo"), ("CARGO_NET_OFFLINE", "true"))),
    ("go/pkg/mod", (("GOMODCACHE", "{home}/go/pkg/mod"), ("GOPROXY", "off"), ("GOFLAGS", "-mod=mod"))),
    (".m2/repository", (("MAVEN_ARGS", "-o -Dmaven.repo.local={home}/.m2/repository"),)),
    (".gradle/caches", (("GRADLE_RO_DEP_CACHE", "{home}/.gradle/caches"),)),
    (".nuget/packages", (("NUGET_PACKAGES", "{home}/.nuget/packages"),)),
)


class Checkout(Struct, frozen=True):
    """A folder with the files of a commit, to run the commands in."""

    path: str  # the project's folder in it
    root: str  # the whole checkout
    readable: tuple[str, ...]
    tracked: Collection[bytes]  # by their paths from `path`


class PackageInstaller:
    def __init__(
        self,
        store: EnvironmentStore,
        sandbox: Sandbox,
        env: Mapping[str, str],
        commands: Sequence[str],
        *,
        sources: Mapping[str, str] | None = None,
        programs: Sequence[str] = (),
        timeout_s: float = 1800,
    ) -> None:
        """`sources` are variables with the addresses of packages. PATH does not name the interpreters in `programs`."""
        self.store = store
        self.commands = tuple(commands)
        self.programs = tuple(programs)
        self._sandbox = sandbox
        self._env = dict(env)
        self._timeout_s = timeout_s
        self._sources = dict(sources or {})

    def key(self, inputs: str) -> str:
        """The key for dependency lists with this digest."""
        path = self._path()
        found = (_which(name, path) for name in programs_in(self.commands))
        machine = machine_facts([*self.programs, *(name for name in found if name)])
        return key_of(inputs, self.commands, f"{machine}\n{self._env.get('PYENV_VERSION', '')}")

    async def install(
        self, key: str, checkout: Checkout, project: str, making: Path, progress: Progress = lambda _: None
    ) -> Manifest | Finished:
        """Runs the commands in the checkout, with a home in `making`, and stores the results under the key."""
        for name in (HOME, _TMP):
            (making / name).mkdir(exist_ok=True)
        for command in self.commands:
            progress(command)
            finished = await self._sandbox.run(self._job(command, checkout, making))
            if not finished.succeeded:
                hinted = structs.replace(finished, message=finished.message or _space_left(making))
                return InstallFailed(**structs.asdict(hinted), command=command)
        progress("storing what was installed")
        return await asyncio.to_thread(self._keep, key, checkout, project, making)

    def _job(self, command: str, checkout: Checkout, making: Path) -> Job:
        env = {
            **self._env,
            **_QUIET,
            **self._sources,
            "PATH": self._path(),
            "HOME": str(making / HOME),
            "TMPDIR": str(making / _TMP),
            "npm_config_cache": str(making / _TMP / "npm"),
            "UV_CACHE_DIR": str(making / _TMP / "uv"),
        }
        for name in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "CARGO_HOME", "GOPATH", "GOFLAGS"):
            env.pop(name, None)
        return Job(
            argv=("sh", "-c", _STOP + command),
            cwd=checkout.path,
            env=env,
            writable=(checkout.root, str(making / HOME), str(making / _TMP)),
            readable=(*checkout.readable, *local_sources(self._sources)),
            programs=self.programs,
            network=True,
            timeout_s=self._timeout_s,
        )

    def _path(self) -> str:
        """The interpreters of the project first."""
        folders = [os.path.dirname(program) for program in self.programs]
        return ":".join(dict.fromkeys((*folders, *self._env.get("PATH", os.defpath).split(":"))))

    def _keep(self, key: str, checkout: Checkout, project: str, making: Path) -> Manifest:
        results = collect(checkout.path, checkout.tracked)
        for path in (*results.linked, *results.copied):
            target = making / FILES / path
            target.parent.mkdir(parents=True, exist_ok=True)
            os.rename(os.path.join(checkout.path, path), target)
        home = tuple(pair for below, pairs in _OF_HOME if (making / HOME / below).is_dir() for pair in pairs)
        manifest = Manifest(
            key=key,
            project=project,
            commands=self.commands,
            made_in=os.path.realpath(checkout.path),
            made_at=time.time(),
            linked=results.linked,
            copied=results.copied,
            naming=results.naming,
            links=results.links,
            home=home,
            size=results.size,
            count=results.count,
            digest=results.digest,
        )
        return self.store.keep(_only_results(making), manifest)

    def place(self, manifest: Manifest, folder: str) -> Placed:
        sweep(self.store.folder)
        return place(self.store.folder, manifest, folder)


def _only_results(making: Path) -> Path:
    """Removes what only the commands needed."""
    for inner in making.iterdir():
        if inner.name not in (FILES, HOME):
            remove(inner)
    return making


def _space_left(folder: Path) -> str:
    """A hint if the disk is nearly full: programs such as `venv` do not show what their own processes said."""
    left = shutil.disk_usage(folder).free // 1_000_000
    return f"only {left} MB are free in {folder.parent.parent}" if left < _FEW_MB else ""


def _which(name: str, path: str) -> str:
    return shutil.which(name, path=path) or ""

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
from interlock.environments.search_path import folders_of, path_with
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
    "COMPOSER_ALLOW_SUPERUSER": "1",
}
# Folders of a home with packages, and the variables that make the tools use them offline.
_CARGO = (("CARGO_HOME", "{home}/.cargo"), ("CARGO_NET_OFFLINE", "true"))
_OF_HOME = (
    (".cargo/registry", _CARGO),
    (".cargo/git", _CARGO),
    ("go/pkg/mod", (("GOMODCACHE", "{home}/go/pkg/mod"), ("GOPROXY", "off"))),
    (".m2/repository", (("MAVEN_REPOSITORY", "{home}/.m2/repository"),)),
    (".m2/wrapper", (("MAVEN_USER_HOME", "{home}/.m2"),)),
    (".gradle/caches", (("GRADLE_RO_DEP_CACHE", "{home}/.gradle/caches"),)),
    (".gradle/wrapper/dists", (("GRADLE_DISTRIBUTIONS", "{home}/.gradle/wrapper/dists"),)),
    (".bundle/packages", (("BUNDLE_PATH", "{home}/.bundle/packages"),)),
    (".nuget/packages", (("NUGET_PACKAGES", "{home}/.nuget/packages"),)),
)


class Checkout(Struct, frozen=True):
    """A folder with the files of a commit, to run the commands in."""

    path: str  # the project's folder in it
    root: str  # the whole checkout
    readable: tuple[str, ...]
    tracked: Collection[bytes]  # by their paths from `path`
    compiled: tuple[tuple[str, str], ...] = ()  # source files for a compiler, and their digests


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

    @property
    def folders(self) -> tuple[str, ...]:
        """Folders of the project's interpreters that must come first in PATH."""
        return tuple(dict.fromkeys(folders_of(self.programs, self._env.get("PATH", os.defpath))))

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
        # Java asks the system for the home, and not the variable.
        env["MAVEN_REPOSITORY"] = str(making / HOME / ".m2/repository")
        env["MAVEN_USER_HOME"] = str(making / HOME / ".m2")
        env["GRADLE_USER_HOME"] = str(making / HOME / ".gradle")
        # rustup looks for its toolchains in the home, and this one is empty.
        env.setdefault("RUSTUP_HOME", os.path.join(self._env.get("HOME", ""), ".rustup"))
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
        return path_with(self.programs, self._env.get("PATH", os.defpath))

    def _keep(self, key: str, checkout: Checkout, project: str, making: Path) -> Manifest:
        results = collect(checkout.path, checkout.tracked)
        for path in (*results.linked, *results.copied):
            target = making / FILES / path
            target.parent.mkdir(parents=True, exist_ok=True)
            os.rename(os.path.join(checkout.path, path), target)
        found = (pair for below, pairs in _OF_HOME if (making / HOME / below).is_dir() for pair in pairs)
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
            home=tuple(dict.fromkeys(found)),
            size=results.size,
            count=results.count,
            digest=results.digest,
            compiles=results.compiles,
            compiled=checkout.compiled,
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

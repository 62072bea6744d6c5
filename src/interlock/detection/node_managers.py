"""The package manager of a Node project: by its lock file, in the version that can read it."""

import os
import re

from msgspec import Struct

from interlock.detection.folder import ProjectFolder, table
from interlock.detection.machine import Machine

_LOCKS = (
    ("pnpm", "pnpm-lock.yaml"),
    ("yarn", "yarn.lock"),
    ("npm", "package-lock.json"),
    ("npm", "npm-shrinkwrap.json"),
    ("bun", "bun.lock"),
    ("bun", "bun.lockb"),
)
# A manager that this machine does not have, for scripts that call it.
OWN = ".package-manager"
_OWN_BIN = f"{OWN}/node_modules/.bin"
_QUIET = "--no-audit --no-fund"


class Manager(Struct, frozen=True, kw_only=True):
    name: str
    lock: str = ""  # the file that decides it; empty without one
    is_modern_yarn: bool = False
    prepare: tuple[str, ...] = ()
    call: str = "npm"  # how scripts of package.json are run
    path: tuple[str, ...] = ()


def manager_of(folder: ProjectFolder, package: dict[str, object], machine: Machine) -> Manager:
    name, lock = _chosen(folder, package)
    modern = name == "yarn" and _is_modern(folder, package)
    ready = _ready(name, folder, machine, modern=modern)
    version = _version(name, folder, package, modern=modern)
    linker = "YARN_NODE_LINKER=node-modules " if modern and "nodeLinker" not in folder.text(".yarnrc.yml") else ""
    prepare: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    program, call = ready or name, ready or "npm"
    if name == "npm" or (name == "bun" and not ready):
        call = "npm"
    elif not ready:
        wanted = f"@yarnpkg/cli-dist@{version}" if modern else f"{name}@{version}"
        if modern or _is_called(name, package):
            prepare = (f"npm install --no-save --no-package-lock {_QUIET} --prefix {OWN} {wanted}",)
            program, call, path = f"{_OWN_BIN}/{name}", name, (_OWN_BIN,)
        else:
            program = f"npx --yes {wanted}"
    return Manager(
        name=name,
        lock=lock,
        is_modern_yarn=modern,
        prepare=(*prepare, *_install(program, name, lock, package, linker, modern=modern)),
        call=f"{linker}{call}" if call != "npm" else call,
        path=path,
    )


def _chosen(folder: ProjectFolder, package: dict[str, object]) -> tuple[str, str]:
    """The package manager and the file that decides it."""
    named = package.get("packageManager")
    found = [(manager, lock) for manager, lock in _LOCKS if folder.has(lock)]
    if isinstance(named, str) and (match := re.match(r"(npm|pnpm|yarn|bun)@", named)):
        return match[1], next((lock for manager, lock in found if manager == match[1]), "packageManager")
    if found:
        return found[0]
    return ("pnpm", "pnpm-workspace.yaml") if folder.has("pnpm-workspace.yaml") else ("npm", "")


def _is_modern(folder: ProjectFolder, package: dict[str, object]) -> bool:
    """Whether it is a Yarn after version 1: other options, another lock file, and another package on npm."""
    named = package.get("packageManager")
    if isinstance(named, str) and named.startswith("yarn@"):
        return not named.startswith("yarn@1.")
    return folder.has(".yarnrc.yml") or bool(re.search(r"^__metadata:", folder.text("yarn.lock"), re.MULTILINE))


def _ready(name: str, folder: ProjectFolder, machine: Machine, *, modern: bool) -> str:
    """The manager in the project or on this machine; empty if it must be installed first.

    A script of corepack does not count: it downloads the manager when it runs, and gates have no network.
    """
    if modern:
        stored = re.search(r"^yarnPath:\s*[\"']?([\w./-]+)", folder.text(".yarnrc.yml"), re.MULTILINE)
        return f"node {stored[1]}" if stored and folder.has(stored[1]) else ""
    found = machine.find(name)
    return name if found and "corepack" not in os.path.realpath(found) else ""


def _version(name: str, folder: ProjectFolder, package: dict[str, object], *, modern: bool) -> str:
    """The version that package.json names, else the newest that can read the lock file."""
    named = package.get("packageManager")
    if isinstance(named, str) and (match := re.match(rf"{name}@(\d+(?:\.\d+)*)", named)):
        return match[1]
    if name == "pnpm":
        lock = re.search(r"^lockfileVersion:\s*['\"]?(\d+(?:\.\d+)?)", folder.text("pnpm-lock.yaml"), re.MULTILINE)
        number = float(lock[1]) if lock else 9.0
        return "6" if number < 5.4 else "7" if number < 6 else "8" if number < 7 else "9"
    if modern:
        lock = re.search(r"^__metadata:\s*\n\s+version:\s*(\d+)", folder.text("yarn.lock"), re.MULTILINE)
        return "3" if lock and int(lock[1]) < 7 else "4"
    return {"yarn": "1"}.get(name, "latest")


def _is_called(name: str, package: dict[str, object]) -> bool:
    """Whether a script calls the manager by its name. Without that, npm can run the scripts."""
    scripts = table(package.get("scripts")).values()
    return any(isinstance(text, str) and re.search(rf"\b{name}\b", text) for text in scripts)


def _install(
    program: str, name: str, lock: str, package: dict[str, object], linker: str, *, modern: bool
) -> tuple[str, ...]:
    # `prepublish` is for publishing, and old managers also ran it here: it may change git, or need more tools.
    publishes = "prepublish" in table(package.get("scripts"))
    skip = " --ignore-scripts" if publishes else ""
    match name:
        case "pnpm":
            frozen = "--frozen-lockfile" if lock == "pnpm-lock.yaml" else "--no-lockfile"
            # Real files in the project's folder: no store of another project is linked to.
            command = f'{program} install {frozen} --config.package-import-method=copy --store-dir "$TMPDIR/pnpm"{skip}'
        case "yarn" if modern:
            command = f"{linker}{program} install --immutable"
            publishes = False
        case "yarn":
            frozen = "--frozen-lockfile" if lock == "yarn.lock" else "--no-lockfile"
            command = f"{program} install {frozen} --non-interactive{skip}"
        case "bun":
            command = "bun install --frozen-lockfile"
            publishes = False
        case _:
            locked = lock in ("package-lock.json", "npm-shrinkwrap.json")
            command = f"npm ci {_QUIET}{skip}" if locked else f"npm install {_QUIET} --no-package-lock{skip}"
    return (command, "npm rebuild") if publishes else (command,)

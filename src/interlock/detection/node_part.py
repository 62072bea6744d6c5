"""Detects a Node project: its package manager, its lock file and its test script."""

import re

from interlock.detection.folder import ProjectFolder, inner, table, texts
from interlock.detection.found import Missing, Part
from interlock.detection.machine import Machine
from interlock.detection.toolchains.node_versions import choose_node

_NO_TESTS = re.compile(r"no tests? specified|^\s*(?:exit\s+\d|true|:)?\s*$", re.IGNORECASE)
_BUILT = re.compile(r"^\.?/?(dist|lib|build|out|esm|cjs|es|umd|pkg)/")
_SCRIPTS = ("test", "test:unit", "unit", "tests", "test:ci", "test:node", "mocha", "jest", "vitest", "tap")
# Programs that a package without a test script may still list, and the command that runs them.
_RUNNERS = (
    ("vitest", "vitest run"),
    ("jest", "jest"),
    ("mocha", "mocha"),
    ("ava", "ava"),
    ("tap", "tap"),
    ("tape", "tape 'test/**/*.js'"),
    ("jasmine", "jasmine"),
    ("uvu", "uvu test"),
)


def node_part(folder: ProjectFolder, machine: Machine) -> Part | None:
    if not folder.has("package.json"):
        return None
    package = folder.json("package.json")
    manager, lock = _manager(folder, package)
    scripts = table(package.get("scripts"))
    tests, source = _tests(folder, package, manager)
    chosen = choose_node(folder, package, machine)
    missing = list(chosen.missing)
    if manager == "bun" and not machine.find("bun"):
        missing.append(Missing("bun", "install bun: its lock file is the only one"))
    evidence = ["package.json", f"{manager}, by {lock}" if lock else f"{manager}, no lock file"]
    if package.get("workspaces") or folder.has("pnpm-workspace.yaml"):
        evidence.append("a workspace of several packages")
    if isinstance(package.get("packageManager"), str):
        evidence.append("packageManager, for corepack")
    evidence += chosen.evidence
    has_packages = any(
        package.get(key) for key in ("dependencies", "devDependencies", "optionalDependencies", "workspaces")
    )
    return Part(
        name="Node",
        evidence=tuple(evidence),
        prepare=(_install(folder, manager, lock, package, machine),) if has_packages or lock else (),
        setup=(f"{_call(manager, machine, package)} run build",) if _needs_build(folder, package, scripts) else (),
        tests=tests if not tests.startswith("@") else f"{_call(manager, machine, package)} {tests[1:]}",
        tests_from=source,
        path=("node_modules/.bin",),
        programs=chosen.programs,
        missing=tuple(missing),
        sources=folder.count(".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts"),
    )


def _manager(folder: ProjectFolder, package: dict[str, object]) -> tuple[str, str]:
    """The package manager and the file that decides it."""
    named = package.get("packageManager")
    locks = (
        ("pnpm", "pnpm-lock.yaml"),
        ("yarn", "yarn.lock"),
        ("npm", "package-lock.json"),
        ("npm", "npm-shrinkwrap.json"),
        ("bun", "bun.lock"),
        ("bun", "bun.lockb"),
    )
    found = [(manager, lock) for manager, lock in locks if folder.has(lock)]
    if isinstance(named, str) and (match := re.match(r"(npm|pnpm|yarn|bun)@", named)):
        return match[1], next((lock for manager, lock in found if manager == match[1]), "packageManager")
    if found:
        return found[0]
    return ("pnpm", "pnpm-workspace.yaml") if folder.has("pnpm-workspace.yaml") else ("npm", "")


def _version(manager: str, package: dict[str, object]) -> str:
    named = package.get("packageManager")
    match = re.match(rf"{manager}@(\d+(?:\.\d+)*)", named) if isinstance(named, str) else None
    return match[1] if match else {"pnpm": "9", "yarn": "1"}.get(manager, "latest")


def _call(manager: str, machine: Machine, package: dict[str, object]) -> str:
    """How the manager runs a script. npm runs the scripts of all of them, and needs no second program."""
    return manager if manager != "bun" and machine.find(manager) else "npm"


def _install(folder: ProjectFolder, manager: str, lock: str, package: dict[str, object], machine: Machine) -> str:
    version = _version(manager, package)
    program = manager if machine.find(manager) else f"npx --yes {manager}@{version}"
    match manager:
        case "pnpm":
            frozen = "--frozen-lockfile" if lock == "pnpm-lock.yaml" else "--no-lockfile"
            # Real files in the project's folder: no store of another project is linked to.
            return f'{program} install {frozen} --config.package-import-method=copy --store-dir "$TMPDIR/pnpm"'
        case "yarn":
            modern = not version.startswith("1") and (folder.has(".yarnrc.yml") or "packageManager" in package)
            if modern:
                return f"YARN_NODE_LINKER=node-modules {program} install --immutable"
            return (
                f"{program} install {'--frozen-lockfile' if lock == 'yarn.lock' else '--no-lockfile'} --non-interactive"
            )
        case "bun":
            return "bun install --frozen-lockfile"
        case _:
            if lock in ("package-lock.json", "npm-shrinkwrap.json"):
                return "npm ci --no-audit --no-fund"
            return "npm install --no-audit --no-fund --no-package-lock"


def _tests(folder: ProjectFolder, package: dict[str, object], manager: str) -> tuple[str, str]:
    """The command, with `@` before a script of package.json; and where it comes from."""
    scripts = table(package.get("scripts"))
    for name in _SCRIPTS:
        command = scripts.get(name)
        if isinstance(command, str) and not _NO_TESTS.search(command):
            return ("@test" if name == "test" else f"@run {name}"), f"the script {name} of package.json"
    listed = {**table(package.get("dependencies")), **table(package.get("devDependencies"))}
    for name, command in _RUNNERS:
        if name in listed:
            return command, f"{name} in package.json"
    if any(re.search(r"(?:^|/)(?:test|tests|__tests__)/|\.(?:test|spec)\.[cm]?[jt]s$", path) for path in folder.files):
        return "node --test", "test files, and no test script"
    return "", ""


def _needs_build(folder: ProjectFolder, package: dict[str, object], scripts: dict[str, object]) -> bool:
    """Whether the package's entry is a build result that is not in the folder, and nothing builds it before tests."""
    if not isinstance(scripts.get("build"), str):
        return False
    for name in ("pretest", "prepare", "test"):
        if isinstance(command := scripts.get(name), str) and re.search(r"\bbuild\b|\btsc\b", command):
            return False
    entries = [value for key in ("main", "module", "types") if isinstance(value := package.get(key), str)]
    entries += [value for value in inner(package, "bin").values() if isinstance(value, str)]
    entries += texts([package.get("exports"), inner(package, "exports").get("."), package.get("bin")])
    built = [entry for entry in entries if _BUILT.match(entry)]
    return bool(built) and not any(folder.has(entry.removeprefix("./")) for entry in built)

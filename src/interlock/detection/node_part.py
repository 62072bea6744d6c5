"""Detects a Node project: its package manager, its lock file and its test script."""

import re

from interlock.detection.folder import ProjectFolder, inner, table, texts
from interlock.detection.found import Missing, Part
from interlock.detection.machine import Machine
from interlock.detection.node_managers import manager_of
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
    manager = manager_of(folder, package, machine)
    scripts = table(package.get("scripts"))
    tests, source = _tests(folder, package)
    chosen = choose_node(folder, package, machine)
    missing = list(chosen.missing)
    if manager.name == "bun" and not machine.find("bun"):
        missing.append(Missing("bun", "install bun: its lock file is the only one"))
    evidence = ["package.json", f"{manager.name}, by {manager.lock}" if manager.lock else "npm, no lock file"]
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
        prepare=manager.prepare if has_packages or manager.lock else (),
        setup=(f"{manager.call} run build",) if _needs_build(folder, package, scripts) else (),
        tests=tests if not tests.startswith("@") else f"{manager.call} {tests[1:]}",
        tests_from=source,
        path=("node_modules/.bin", *manager.path),
        programs=chosen.programs,
        missing=tuple(missing),
        sources=folder.count(".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts"),
    )


def _tests(folder: ProjectFolder, package: dict[str, object]) -> tuple[str, str]:
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

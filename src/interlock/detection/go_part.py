"""Detects a Go project: one module, several modules, a workspace; downloaded or vendored packages."""

import re
import shlex

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing, Part
from interlock.detection.machine import Machine
from interlock.detection.toolchains.installed import at_least, choose, version_of
from interlock.detection.toolchains.tools import GO

_MOST_MODULES = 10
_OTHERS = (
    *("pyproject.toml", "setup.py", "setup.cfg", "package.json", "Cargo.toml", "pom.xml", "build.gradle"),
    *("build.gradle.kts", "Gemfile", "composer.json", "CMakeLists.txt", "meson.build", "configure.ac"),
)
_SWITCHES = "1.21"  # from this version on, Go fetches the version that go.mod names


def go_part(folder: ProjectFolder, machine: Machine) -> Part | None:
    modules = _modules(folder)
    if not modules:
        return None
    chosen = choose(folder, machine, GO)
    vendored = folder.has("vendor/modules.txt")
    evidence = [folder.first("go.work", "go.mod") or "go.mod files", *chosen.evidence]
    if len(modules) > 1:
        evidence.append(f"modules in {', '.join(modules)}")
    if vendored:
        evidence.append("packages in vendor")
    missing = list(chosen.missing)
    lowest = _lowest(folder, modules)
    program = next(iter(chosen.programs), "") or machine.find("go")
    has = version_of(program, machine, GO) if program else ""
    fetches = False
    if has and lowest and not at_least(has, lowest):
        fetches = at_least(has, _SWITCHES) and not vendored
        if fetches:
            evidence.append(f"Go {lowest}, by go.mod: the prepare phase fetches it")
        elif not missing:
            what = f"Go {lowest} or later, which go.mod names (PATH has {has})"
            missing.append(Missing(what, GO.remedy.format(version=lowest)))
    needs_packages = not vendored and any(_requires(folder.text(_join(module, "go.mod"))) for module in modules)
    return Part(
        name="Go",
        evidence=tuple(evidence),
        prepare=(_each(modules, "go mod download"),) if needs_packages or fetches else (),
        tests=_each(modules, "go test ./...") if _has_tests(folder) else "",
        tests_from="files named _test.go",
        programs=chosen.programs,
        missing=tuple(missing),
        sources=folder.count(".go"),
    )


def _modules(folder: ProjectFolder) -> tuple[str, ...]:
    """The folders of the modules to test. Below a module, others are its examples and tools."""
    if folder.has("go.work"):
        text = re.sub(r"//.*", "", folder.text("go.work"))
        blocks = re.findall(r"^use\s*\(([^)]*)\)", text, re.MULTILINE)
        lines = [*re.findall(r"^use[ \t]+([^(\s]\S*)", text, re.MULTILINE), *" ".join(blocks).split()]
        used = (line.strip('"').removeprefix("./").rstrip("/") or "." for line in lines)
        kept = [path for path in dict.fromkeys(used) if folder.has(_join(path, "go.mod")) and ".." not in path]
        if kept:
            return tuple(kept[:_MOST_MODULES])
    if folder.has("go.mod"):
        return (".",)
    if folder.has(*_OTHERS):  # a project of another language: a module below is a tool or test data of it
        return ()
    inner = [path.removesuffix("/go.mod") for path in folder.files if path.endswith("/go.mod")]
    return tuple(path for path in inner if path.count("/") <= 1)[:_MOST_MODULES]


def _join(module: str, name: str) -> str:
    return name if module == "." else f"{module}/{name}"


def _each(modules: tuple[str, ...], command: str) -> str:
    """The command in each module's folder."""
    inside = (command if module == "." else f"(cd {shlex.quote(module)} && {command})" for module in modules)
    return " && ".join(inside)


def _lowest(folder: ProjectFolder, modules: tuple[str, ...]) -> str:
    """The lowest version of Go that the modules allow."""
    texts = [folder.text("go.work"), *(folder.text(_join(module, "go.mod")) for module in modules)]
    found = [
        match[1]
        for text in texts
        if (match := re.search(r"^go[ \t]+(\d{1,4}\.\d{1,4}(?:\.\d{1,4})?)", text, re.MULTILINE))
    ]
    return max(found, key=lambda version: [int(number) for number in version.split(".")], default="")


def _requires(text: str) -> bool:
    return re.search(r"^require\b", text, re.MULTILINE) is not None


def _has_tests(folder: ProjectFolder) -> bool:
    return any(path.endswith("_test.go") for path in folder.files)

"""Files that decide how a change is verified: tests, settings of test runners and builds, modules of a test runner.

Names alone cannot say which part of a mixed file decides: `package.json` also lists dependencies. For those files the
deciding part is read out and compared.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from fnmatch import translate
from posixpath import basename, dirname

from interlock.domain.values.gates import Gate

_TEST_FOLDERS = frozenset(
    ["tests", "test", "__tests__", "spec", "specs", "testdata", "__snapshots__", "__mocks__", "cypress", "e2e"]
)
_TEST_NAMES = (
    *(
        "test_*",
        "tests.py",
        "*_test.*",
        "*_tests.*",
        "*_spec.*",
        "*_unittest.*",
        "*.bats",
        "*.feature",
        "*.snap",
        "*.t",
    ),
    *("*.test.*", "*.tests.*", "*.spec.*", "*.cy.*", "*.e2e.*", "*-test.*", "*-spec.*"),
    *("Test[A-Z]*.java", "*Test.java", "*Tests.java", "*TestCase.java", "*IT.java", "*Spec.groovy", "*Spec.scala"),
    *(
        "*Test.kt",
        "*Tests.kt",
        "*Test.cs",
        "*Tests.cs",
        "*Test.fs",
        "*Tests.fs",
        "*Test.php",
        "*Tests.swift",
        "*Test.cpp",
    ),
)
_RUNNER_NAMES = (
    # Python
    *("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py", ".coveragerc", "setup.py", "*.pth"),
    *("sitecustomize.py", "usercustomize.py"),
    # JavaScript and TypeScript
    *("jest.*", "vitest.*", "vite.config.*", "karma.conf*", "playwright.config.*", "cypress.config.*", "ava.config.*"),
    *(
        "wdio.conf*",
        "webpack.config.*",
        "rollup.config.*",
        "babel.config.*",
        ".babelrc*",
        ".swcrc",
        ".mocharc*",
        ".nycrc*",
    ),
    *(".taprc", ".npmrc", ".yarnrc*", "bunfig.toml", "deno.json", "deno.jsonc", "tsconfig*.json"),
    # Make and other builds
    *("Makefile*", "makefile", "GNUmakefile", "*.mk", "justfile", "Justfile", "Taskfile.yml", "Taskfile.yaml"),
    *(
        "CMakeLists.txt",
        "*.cmake",
        "CMakePresets.json",
        "meson.build",
        "BUILD",
        "BUILD.bazel",
        "WORKSPACE*",
        "MODULE.bazel",
    ),
    *(
        ".bazelrc",
        "*.gradle",
        "*.gradle.kts",
        "gradle.properties",
        "gradlew",
        "mvnw",
        "pom.xml",
        "build.xml",
        "build.sbt",
    ),
    *("build.rs", "build.zig", "Rakefile", ".rspec", "spec_helper.rb", "rails_helper.rb", "test_helper.*", "mix.exs"),
    *("phpunit*.xml", "phpunit*.dist", "codeception.yml", "*.runsettings", "Directory.Build.*"),
    # Pipelines
    *(".pre-commit-config.yaml", ".gitlab-ci.yml", "azure-pipelines.yml", "Jenkinsfile", ".travis.yml", "lefthook.yml"),
    *("Dockerfile*", "docker-compose*.y*ml"),
)
_RUNNER_FOLDERS = (".github/", ".circleci/", ".ci/", ".husky/", ".cargo/", ".config/nextest", ".mvn/", "buildSrc/")
_RUNNER_MODULES = frozenset(
    [
        *(
            "pytest",
            "_pytest",
            "pluggy",
            "iniconfig",
            "packaging",
            "py",
            "nose",
            "nose2",
            "hypothesis",
            "coverage",
            "tox",
        ),
        *("nox", "mock", "xdist", "execnet", "exceptiongroup", "tomli", "attr", "attrs", "behave", "robot", "twisted"),
        *("green", "ward", "testtools", "subunit", "stestr", "zope", "sitecustomize", "usercustomize", "setuptools"),
        *("pkg_resources", "pip", "wheel", "anyio", "trio", "pytest_asyncio", "pytest_cov", "pytest_mock"),
    ]
)
_ANYWHERE = frozenset(["sitecustomize", "usercustomize", "_pytest"])


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in patterns))


_TEST_NAME, _RUNNER_NAME = _any_of(_TEST_NAMES), _any_of(_RUNNER_NAMES)
_HELPER_FOLDERS = frozenset(["scripts", "script", "tools", "hack", "ci", "bin", "build-aux", ".ci"])
_HELPER_NAME = re.compile(
    r"(?:check|verify|lint|validate|run[-_]?tests?|gate|ci)\b.* | .*\.(?:sh|bash|zsh|mk|ps1|bat|awk|sed|pl)", re.VERBOSE
)

Part = Callable[[str], object]


def is_test(path: str) -> bool:
    """Whether a path is a test or a fixture by the usual names of any language."""
    *folders, name = path.split("/")
    return not _TEST_FOLDERS.isdisjoint(folders) or _TEST_NAME.match(name) is not None


def is_runner_file(path: str) -> bool:
    """Whether a path is a settings file of a test runner or a build, which decides as a whole."""
    inside = f"/{path}"
    return _RUNNER_NAME.match(basename(path)) is not None or any(f"/{each}" in inside for each in _RUNNER_FOLDERS)


def mixed_part(path: str) -> Part | None:
    """The function that reads the deciding part of a mixed file; None for other files."""
    return _MIXED.get(basename(path))


def decides_differently(part: Part, before: str | None, after: str | None) -> bool:
    """Whether the deciding part of a mixed file differs; a text that cannot be read differs."""
    try:
        return (part(before) if before is not None else None) != (part(after) if after is not None else None)
    except (ValueError, RecursionError):
        return True


def shadows_runner(path: str, gates: Sequence[Gate], library: Collection[str]) -> bool:
    """Whether a new Python file takes the place of a module of the standard `library` or of a test runner.

    Python looks into the folder of the command and the folders of tests before the libraries.
    """
    if not path.endswith((".py", ".pyc", ".so", ".pyd")):
        return False
    parts = path.split("/")
    name = parts[-1].split(".")[0]
    module, folder = (parts[-2], parts[:-2]) if name == "__init__" and len(parts) > 1 else (name, parts[:-1])
    if module not in _RUNNER_MODULES and module not in library:
        return False
    starts = {"", "src", "lib", *(dirname(f"{(gate.cwd or '.').strip('./')}/x") for gate in gates)}
    return "/".join(folder) in starts or not _TEST_FOLDERS.isdisjoint(folder) or module in _ANYWHERE


def is_tracked_library(path: str) -> bool:
    """Whether a new file lies where a package manager installs libraries: runners load them from there."""
    return not {"node_modules", "site-packages", "vendor"}.isdisjoint(path.split("/")[:-1])


def is_helper_script(path: str) -> bool:
    """Whether a file that a gate's script names is itself a script of the checks, and not the program under test."""
    return not _HELPER_FOLDERS.isdisjoint(path.split("/")[:-1]) or _HELPER_NAME.fullmatch(basename(path)) is not None


def _json(keys: tuple[str, ...]) -> Part:
    def part(text: str) -> object:
        data = json.loads(text)
        return {key: data.get(key) for key in keys} if isinstance(data, dict) else data  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    return part


def _toml(tables: tuple[str, ...]) -> Part:
    """The lines of these tables; the whole text if a string of several lines could look like a table."""
    names = "|".join(re.escape(name) for name in tables)
    header, key = re.compile(rf"\[+\s*(?:{names})\s*[.\]]"), re.compile(rf"(?:{names})\s*[.=]|tool\s*=")

    def part(text: str) -> object:
        if '"""' in text or "'''" in text:
            return text
        return _lines_of(text.replace('"', "").replace("'", ""), header, key)

    return part


def _ini(header: re.Pattern[str]) -> Part:
    return lambda text: _lines_of(text, header, _NEVER)


def _lines_of(text: str, header: re.Pattern[str], key: re.Pattern[str]) -> list[str]:
    """The lines below headers that match, and lines before any header that begin with a key."""
    kept: list[str] = []
    inside, above = False, True
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside, above = header.match(line) is not None, False
        if line and not line.startswith(("#", ";")) and (inside or (above and key.match(line))):
            kept.append(line)
    return kept


_NEVER = re.compile(r"(?!)")
_PACKAGE_JSON = (
    "scripts",
    "jest",
    "mocha",
    "ava",
    "tap",
    "c8",
    "nyc",
    "babel",
    "vitest",
    "type",
    "main",
    "exports",
    "imports",
)
_PYPROJECT = (
    "build-system",
    *(f"tool.{name}" for name in ("pytest", "tox", "coverage", "hatch", "pdm", "poe", "taskipy", "mypy", "pyright")),
)
_MIXED: dict[str, Part] = {
    "package.json": _json(_PACKAGE_JSON),
    "composer.json": _json(("scripts", "autoload-dev", "autoload")),
    "pyproject.toml": _toml(_PYPROJECT),
    "Cargo.toml": _toml(
        ("test", "bench", "profile", "lib", "bin", "package.build", "package.autotests", "patch", "build-dependencies")
    ),
    "setup.cfg": _ini(re.compile(r"\[(?:tool:|aliases|test|mypy|flake8|coverage)")),
    "go.mod": lambda text: [
        line for line in text.splitlines() if line.split("//")[0].strip().startswith(("replace", "module"))
    ],
    "Gemfile": lambda text: [line for line in text.splitlines() if "path" in line or "require" in line],
}

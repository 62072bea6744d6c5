"""Which program runs the tests of a Python project, and which plugins its configuration requires."""

import re
import shlex

from msgspec import Struct

from interlock.detection.folder import ProjectFolder
from interlock.detection.python.declared import Declared, name_of
from interlock.detection.python.own_commands import own_command
from interlock.detection.python.test_files import is_test, pytest_config
from interlock.detection.python.tools import ToolPlan, hatch_scripts, pdm_scripts

# Options and settings that exist only with a plugin: without it, pytest stops before the first test.
_PLUGINS = (
    (r"--cov\b|--cov=|--no-cov|--cov-\w+", "pytest-cov"),
    (r"(?:^|\s)-n[\s=]?(?:auto|\d+)|--dist[\s=]|--numprocesses", "pytest-xdist"),
    (r"--timeout\b|--timeout=|^\s*timeout\s*=|\btimeout_method\b", "pytest-timeout"),
    (r"asyncio_mode|asyncio_default|--asyncio-mode", "pytest-asyncio"),
    (r"--benchmark-\w+", "pytest-benchmark"),
    (r"--reruns\b", "pytest-rerunfailures"),
    (r"--randomly|-p\s+randomly|randomly_seed", "pytest-randomly"),
    (r"DJANGO_SETTINGS_MODULE|--ds=", "pytest-django"),
    (r"--mypy\b", "pytest-mypy"),
    (r"--black\b", "pytest-black"),
    (r"--flake8\b", "pytest-flake8"),
    (r"--ruff\b", "pytest-ruff"),
    (r"--isort\b", "pytest-isort"),
    (r"--instafail", "pytest-instafail"),
    (r"--doctest-plus|doctest_plus|doctest_optionflags.*FLOAT_CMP", "pytest-doctestplus"),
    (r"--remote-data|remote_data_strict", "pytest-remotedata"),
    (r"--snapshot-\w+", "syrupy"),
    (r"--html=", "pytest-html"),
    (r"--sugar|-p\s+sugar", "pytest-sugar"),
    (r"--strict-config.*env\s*=|^\s*env\s*=", "pytest-env"),
    (r"--freeze|freezer", "pytest-freezer"),
)
# Packages for tests that projects import without declaring them, by the name in the import statement.
_IMPORTED = {
    "pytest": "pytest",
    "hypothesis": "hypothesis",
    "trio": "trio",
    "anyio": "anyio",
    "uvicorn": "uvicorn",
    "chardet": "chardet",
    "cryptography": "cryptography",
    "mock": "mock",
    "freezegun": "freezegun",
    "parameterized": "parameterized",
    "pytest_asyncio": "pytest-asyncio",
    "pytest_mock": "pytest-mock",
    "responses": "responses",
    "requests_mock": "requests-mock",
    "time_machine": "time-machine",
    "dirty_equals": "dirty-equals",
    "inline_snapshot": "inline-snapshot",
    "trustme": "trustme",
    "pretend": "pretend",
    "testpath": "testpath",
    "testtools": "testtools",
    "testfixtures": "testfixtures",
    "pyfakefs": "pyfakefs",
    "flaky": "flaky",
    "pexpect": "pexpect",
    "numpy": "numpy",
    "yaml": "PyYAML",
    "toml": "toml",
    "tomli": "tomli",
    "six": "six",
    "psutil": "psutil",
    "attr": "attrs",
    "simplejson": "simplejson",
    "docutils": "docutils",
    "setuptools": "setuptools",
    "pkg_resources": "setuptools<81",
    "nose": "pynose",
}
_FIXTURES = {
    "mocker": "pytest-mock",
    "benchmark": "pytest-benchmark",
    "httpbin": "pytest-httpbin",
    "freezer": "pytest-freezer",
    "subtests": "pytest-subtests",
    "datadir": "pytest-datadir",
    "snapshot": "syrupy",
    "data_regression": "pytest-regressions",
}
_MOST_READ = 400


class Runner(Struct, frozen=True):
    command: str = ""
    source: str = ""
    packages: tuple[str, ...] = ()  # needed, whether declared or not


def runner_of(folder: ProjectFolder, found: Declared, plan: ToolPlan, known: frozenset[str]) -> Runner:
    """`known` are the normalised names of everything that is declared."""
    test_files = [path for path in folder.files if is_test(path)]
    texts_of_tests = "\n".join(folder.text(path) for path in test_files[:_MOST_READ])
    config, place = pytest_config(folder)
    commands = (
        *plan.commands,
        *hatch_scripts(folder.toml("pyproject.toml")),
        *pdm_scripts(folder.toml("pyproject.toml")),
    )
    imports = frozenset(re.findall(r"^\s*(?:import|from)\s+(\w+)", texts_of_tests, re.MULTILINE)) - _own(folder)
    uses_pytest = (
        place
        or "pytest" in known
        or any(re.search(r"\bpy\.?test\b", command) for command in commands)
        or "pytest" in imports
    )
    if not test_files and not place:
        return Runner()
    if uses_pytest:
        return Runner(
            _pytest(folder, config, test_files),
            place or ("tests that import pytest" if "pytest" in imports else "the project's lists"),
            _packages(config + "\n" + "\n".join(commands), imports, texts_of_tests, known),
        )
    more = tuple(
        _IMPORTED[name] for name in sorted(imports) if name in _IMPORTED and name_of(_IMPORTED[name]) not in known
    )
    if command := own_command(folder, plan):
        return Runner(command, f"the commands of {plan.tool}", more)
    if folder.has("manage.py"):
        return Runner("python manage.py test", "manage.py", more)
    return Runner(_unittest(folder, test_files), "tests of unittest", more)


def _own(folder: ProjectFolder) -> frozenset[str]:
    """The packages and modules of the project itself: they are not installed by their names."""
    tops = (path.removeprefix("src/").split("/")[0] for path in folder.files if path.endswith(".py"))
    return frozenset(name.removesuffix(".py") for name in tops)


def _pytest(folder: ProjectFolder, config: str, test_files: list[str]) -> str:
    """With the folder of tests, unless the configuration names it: else files of the project are collected as tests."""
    if re.search(r"^\s*testpaths\s*=|--doctest-(?:modules|glob|plus)", config, re.MULTILINE):
        return "python -m pytest"
    for name in ("tests", "test", "testing"):
        if any(path.startswith(f"{name}/") for path in test_files):
            return f"python -m pytest {name}"
    return "python -m pytest"


def _unittest(folder: ProjectFolder, test_files: list[str]) -> str:
    for name in ("tests", "test"):
        if any(path.startswith(f"{name}/") for path in test_files):
            top = " -t ." if folder.has(f"{name}/__init__.py") else ""
            pattern = "" if any(re.search(r"/test[^/]*\.py$", path) for path in test_files) else " -p '*.py'"
            return f"python -m unittest discover -s {name}{top}{pattern}"
    if test_files and all(path.startswith("src/") for path in test_files):
        # Discovery enters packages only, and `src` is none. The first package may be below a namespace.
        packages = (path.rpartition("/")[0] for path in folder.files if path.endswith("/__init__.py"))
        top = next((package for package in packages if package.startswith("src/")), "")
        return (
            f"python -m unittest discover -s {shlex.quote(top)} -t src" if top else "python -m unittest discover -s src"
        )
    return "python -m unittest discover"


def _packages(config: str, imports: frozenset[str], text: str, known: frozenset[str]) -> tuple[str, ...]:
    needed = {"pytest": None}
    for pattern, package in _PLUGINS:
        if re.search(pattern, config, re.MULTILINE):
            needed[package] = None
    if match := re.search(r"^\s*required_plugins\s*=\s*(.+)", config, re.MULTILINE):
        needed |= dict.fromkeys(re.findall(r"[A-Za-z][\w.-]*(?:[<>=!~]=?[\w.*]+)?", match[1]))
    for name in sorted(imports & _IMPORTED.keys()):
        needed[_IMPORTED[name]] = None
    for fixture, package in _FIXTURES.items():
        if re.search(rf"def test\w*\([^)]*\b{fixture}\b", text) and not re.search(rf"def {fixture}\(", text):
            needed[package] = None
    if re.search(r"pytest\.mark\.asyncio\b", text):
        needed["pytest-asyncio"] = None
    return tuple(package for package in needed if name_of(package) not in known)

"""The command of a project's own test runner, where tox or nox name one that is not pytest."""

import posixpath
import re
import shlex

from interlock.detection.folder import ProjectFolder
from interlock.detection.python.tools import ToolPlan

_RUNNERS = frozenset(
    ("virtue", "trial", "stestr", "zope-testrunner", "green", "ward", "nose2", "testr", "tryton", "avocado")
)
_POSITIONAL = re.compile(r"\{posargs(?::([^{}]*))?\}|\[\]")


def own_command(folder: ProjectFolder, plan: ToolPlan) -> str:
    """The first command that is certain to run tests; empty without one."""
    for command in plan.commands:
        if found := _runs_tests(folder, plan.folder, _expanded(command)):
            return f"cd {shlex.quote(plan.folder)} && {found}" if plan.folder not in ("", ".") else found
    return ""


def _expanded(command: str) -> str:
    """Without the notation of tox: its prefixes and variables."""
    text = _POSITIONAL.sub(lambda match: match[1] or "", command.lstrip("-! "))
    text = re.sub(r"\{(?:toxinidir|tox_root)\}/?", "./", text)
    return re.sub(r"\{envpython\}|\{env_python\}", "python", text).strip()


def _runs_tests(folder: ProjectFolder, place: str, command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    if not words or re.search(r"[{}]", command):
        return ""
    if words[:3] == ["coverage", "run", "-m"] or words[:2] == ["coverage", "run"]:
        words = ["python", *(word for word in words[2:] if not re.fullmatch(r"-[pa]|--(?:parallel|branch).*", word))]
    if words[0] in _RUNNERS:
        return shlex.join(words)
    if re.fullmatch(r"python3?", words[0]):
        rest = [word for word in words[1:] if not re.fullmatch(r"-[bBsEuIW]\w*", word)]
        if rest[:1] and rest[0].endswith(".py") and _is_for_tests(folder, place, rest[0]):
            return shlex.join(words)
        if rest[:1] == ["-m"] and len(rest) > 1 and rest[1].split(".")[0] in (*_RUNNERS, "unittest", "twisted"):
            return shlex.join(words)
    return ""


def _is_for_tests(folder: ProjectFolder, place: str, script: str) -> bool:
    """Whether the script exists, and its name or folder speaks of tests. `setup.py test` runs nothing any more."""
    path = posixpath.normpath(posixpath.join(place, script))
    return bool(folder.first(path)) and bool(re.search(r"test", path)) and not path.endswith("setup.py")

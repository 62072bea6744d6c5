"""What tox and nox declare for tests is read from their files; nothing of them is run."""

from pathlib import Path

from interlock.detection.folder import ProjectFolder
from interlock.detection.python.noxfile import Session, nox_session
from interlock.detection.python.own_commands import own_command
from interlock.detection.python.tools import ToolPlan, tool_plan

NOXFILE = """
ROOT = Path(__file__).parent
PACKAGE = ROOT / "shop"

@session(python=SUPPORTED)
def tests(session, installable):
    session.install("--group=test", installable)
    session.install("-r", "dev.txt", ".[fast]", "attrs")
    session.run("coverage", "run", *posargs, "-m", computed())
    session.run("virtue", *session.posargs, PACKAGE)
"""


def test_the_test_session_of_a_noxfile_is_read_with_its_paths() -> None:
    assert nox_session(NOXFILE) == Session(
        requirements=("attrs",), files=("dev.txt",), extras=("fast",), groups=("test",), commands=("virtue shop",)
    )


def test_a_noxfile_without_a_session_for_tests_says_nothing() -> None:
    assert nox_session("def lint(session): pass") is None
    assert nox_session("not python (") is None


def test_lines_of_tox_for_this_python_count_and_others_do_not(tmp_path: Path) -> None:
    (tmp_path / "tox.ini").write_text(
        "[testenv]\ndeps =\n    pytest\n    py{310,311}: ipython\n    py27: mock\n    lint: ruff\n"
        "commands = pytest {posargs}\n"
    )
    assert tool_plan(ProjectFolder(tmp_path), "3.11") == ToolPlan(
        tool="tox", requirements=("pytest", "ipython"), commands=("pytest {posargs}",)
    )


def test_a_runner_script_is_run_where_tox_runs_it(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "alltests.py").touch()
    plan = ToolPlan(tool="tox", commands=("find . -name '*.pyc' -delete", "python alltests.py"), folder="test")
    assert own_command(ProjectFolder(tmp_path), plan) == "cd test && python alltests.py"


def test_a_runner_is_used_without_coverage_and_without_the_notation_of_tox(tmp_path: Path) -> None:
    folder = ProjectFolder(tmp_path)
    discover = ToolPlan(tool="tox", commands=("coverage run -p -m unittest discover -s src/zope {posargs}",))
    assert own_command(folder, discover) == "python -m unittest discover -s src/zope"
    assert own_command(folder, ToolPlan(tool="tox", commands=("{envpython} -m twisted.trial {posargs:shop}",))) == (
        "python -m twisted.trial shop"
    )


def test_commands_that_may_not_run_tests_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "setup.py").touch()
    commands = ("python setup.py test", "python missing_test.py", "sphinx-build docs", "trial {[base]pkg}", "trial '")
    assert own_command(ProjectFolder(tmp_path), ToolPlan(tool="tox", commands=commands)) == ""

"""The first run in a project that nobody has set up names its tests and the command that makes them a gate."""

import json

from tests.cli.project import Project, shell

HINT = (
    "the tests of this Python project (python -m unittest discover -s tests) are not set up as a gate yet:"
    " run 'interlock try'\n"
)


def made(project: Project) -> Project:
    project.write("tests/test_a.py", "import unittest\n")
    project.write("requirements.txt", "")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "tests")
    project.write("plan.json", json.dumps([shell("T-1", "echo 1 > one.txt")]))
    project.write("other.json", json.dumps([shell("T-1", "echo 2 > two.txt")]))
    return project


def test_the_first_run_names_the_tests_of_the_project(project: Project) -> None:
    made(project)
    first = project.run("run", "--tickets", "plan.json", "--approve", "all")
    assert (first.code, first.err) == (0, HINT)
    second = project.run("run", "--tickets", "other.json", "--approve", "all")
    assert (second.code, second.err) == (0, "")


def test_a_project_that_is_set_up_gets_no_hint(project: Project) -> None:
    project.write("interlock.toml", '[workspace]\ntests = "true"\n')
    made(project)
    assert project.run("trust", "--yes").code == 0
    ran = project.run("run", "--tickets", "plan.json", "--approve", "all")
    assert (ran.code, ran.err) == (0, "")

"""A project's settings start no program and choose no model before the user trusts them."""

import json
from pathlib import Path

import pytest

from tests.cli.project import Project, shell


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def agent_calls(project: Project) -> list[Path]:
    """The logs of calls of a CLI agent: one if its program was started."""
    return list(project.root.glob(".interlock/logs/sessions/*/clicalls.log"))


def test_a_provider_of_a_project_is_not_used_before_it_is_trusted(project: Project) -> None:
    project.settings('[gemini_cli]\ncommand = "false"\n')  # the user's own program, chosen by the project
    project.write("interlock.toml", '[provider]\nname = "gemini_cli"\n')
    result = project.run("chat", "Hello")
    assert (agent_calls(project), "interlock.toml sets provider.name, which you have not trusted" in result.err) == (
        [],
        True,
    )
    assert project.run("status").err == "", "commands that only read say nothing"
    shown = project.run("trust", "--show", "--json").json["things"]
    assert [(thing["name"], thing["content"], thing["state"]) for thing in shown] == [
        ("provider.name", "gemini_cli", "new")
    ]
    assert project.run("trust", "--yes").code == 0
    project.run("chat", "Hello")
    assert len(agent_calls(project)) == 1


def test_a_project_cannot_start_its_tickets_by_itself(project: Project) -> None:
    project.write("interlock.toml", "[conductor]\nauto_queue = true\nworkers = 256\n")
    assert project.run("tracks", "import", project.tickets("plan.json", [shell("one", "true")])).code == 0
    shown = json.loads(project.run("doctor", "--json").out)
    assert "conductor.auto_queue" in shown["settings"]["detail"]

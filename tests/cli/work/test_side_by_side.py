"""Workers of the real program in parallel; the benchmarks measure how long it takes."""

import pytest

from interlock.assembly.project import open_project, project_reader
from interlock.domain.messages.envelopes import Recorded
from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project
from tests.engine.slots import most_at_once

NAMES = tuple(f"T-{number}" for number in range(6))


def records(project: Project) -> list[Recorded]:
    reader = project_reader(open_project(project.root))
    try:
        return list(reader.read())
    finally:
        reader.close()


@pytest.mark.parametrize("workers", [1, 4])
def test_workers_are_all_at_work_while_there_is_something_to_do(project: Project, workers: int) -> None:
    rules = [rule("Created", reply="done")]
    for name in NAMES:
        rules.append(rule("# Ticket", call("write_file", path=name, content="x\n"), ticket=name, delay_s=0.3))
    file = project.tickets("plan.json", [{"id": name} for name in NAMES])
    words = ("run", "--tickets", file, "--approve", "all", "--workers", str(workers))
    result = project.run(*words, *scripted(project, rules))
    assert result.code == 0, result
    assert most_at_once(records(project)) == workers
    project.check_whole()

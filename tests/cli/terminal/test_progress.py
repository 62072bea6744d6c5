"""The progress of a run: the words and calls of workers, and a sign of life after a silence."""

import threading

from interlock.cli.terminal.sign_of_life import SignOfLife
from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project


def test_a_run_shows_what_its_workers_say_and_call(project: Project) -> None:
    rules = [
        rule("# Ticket", call("read_file", path="a.txt"), reply="First I look \x1b[31maround."),
        rule("old", call("write_file", path="b.txt", content="x\n")),
        rule("Created", reply="It is done."),
    ]
    project.write("a.txt", "old\n")
    project.git("add", "a.txt")
    project.git("commit", "-qm", "a")
    file = project.tickets("plan.json", [{"id": "T-1"}])
    result = project.run("run", "--tickets", file, "--approve", "all", *scripted(project, rules))
    assert result.code == 0, result
    assert "\x1b" not in result.out
    lines = [line.split("  ", 1)[1] for line in result.out.splitlines() if "T-1  says" in line or "T-1  calls" in line]
    assert lines == [
        "T-1  says: First I look around.",
        "T-1  calls read_file a.txt",
        "T-1  calls write_file b.txt, content=x",
        "T-1  says: It is done.",
    ]


def test_after_a_silence_a_line_is_shown_until_news_come() -> None:
    shown: list[float] = []
    twice = threading.Event()

    def show(seconds: float) -> None:
        shown.append(seconds)
        if len(shown) == 2:
            twice.set()

    life = SignOfLife(show, every_s=0.02)
    life.start()
    assert twice.wait(30)
    life.heard()
    life.end()
    assert shown[1] > shown[0] > 0
    count = len(shown)
    life.heard()
    assert len(shown) == count

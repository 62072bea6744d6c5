"""`interlock chat` on a terminal: an answer that is redrawn as Markdown, tool calls, and turn after turn."""

import os
import signal
from typing import Any

from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project
from tests.cli.terminal.screen import Screen, on_screen

LIST = "\n".join(f"{number}. point {number}" for number in range(1, 41))
RULES: list[dict[str, Any]] = [
    rule("Changed a.txt", reply="I **changed** it."),
    rule(
        "change",
        call("read_file", path="a.txt"),
        call("edit_file", path="a.txt", old_string="two", new_string="TWO"),
        reply="Let me look.",
    ),
    rule("list", reply=f"{LIST}\n\nThe end.", delay_s=2),
    rule("slowly", reply="It takes long. " * 40, delay_s=60),
    rule("evil", reply="\x1b[2Jcleared \u202e and <!-- hidden -->"),
    rule("", reply="**Hello** you."),
]


def asks(screen: Screen, name: str) -> bool:
    return bool(screen.lines) and screen.lines[-1] == f"{name}>"


def test_one_message_is_one_turn_and_its_answer_stays_on_the_screen(project: Project) -> None:
    with on_screen(project, "chat", "hi", *scripted(project, RULES)) as screen:
        assert screen.end() == 0
        assert screen.is_sane()
    assert screen.lines == [
        "Hello you.",
        "",
        "D-1 · 11 tokens of context · $0.0002",
        "continue with: interlock chat --in D-1 'TEXT'",
    ]


def test_without_a_message_the_conversation_goes_on_turn_by_turn(project: Project) -> None:
    with on_screen(project, "chat", *scripted(project, RULES), PAGER="cat") as screen:
        screen.until("Write a message.")
        screen.type("?\n")
        screen.until("view all texts")
        screen.type("/nothing\n")
        screen.until("there is no command /nothing")
        screen.type("hi\n")
        screen.until("Hello you.")
        screen.until(lambda screen: asks(screen, "D-1"))
        screen.type("change it\n")
        screen.until("✓ read_file a.txt  3 lines")
        screen.until("+TWO")
        screen.until("View all:")
        screen.type("y\n")
        screen.until("✓ edit_file")
        screen.until("I changed it.")
        screen.until(lambda screen: asks(screen, "D-1"))
        screen.type("v\n")
        screen.until("read_file a.txt:")
        screen.until(lambda screen: asks(screen, "D-1"))
        screen.type("\x04")
        assert screen.end() == 0
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"
    assert project.run("discussions", "list", "--json").json[0]["turns"] == 2


def test_an_answer_longer_than_the_screen_is_written_once(project: Project) -> None:
    with on_screen(project, "chat", "list", *scripted(project, RULES)) as screen:
        screen.until("v view  q stop")
        assert screen.end() == 0
    points = [line for line in screen.everything.split("\n") if " point " in line]
    assert points == [f" {number:2} point {number}" for number in range(1, 41)]
    assert screen.everything.count("The end.") == 1


def test_an_answer_can_be_stopped_and_the_conversation_goes_on(project: Project) -> None:
    with on_screen(project, "chat", *scripted(project, RULES)) as screen:
        screen.until("Write a message.")
        screen.type("slowly\n")
        screen.until(lambda screen: "It takes long." in screen.text and screen.has_keys())
        screen.type("q")
        screen.until("the answer was stopped")
        screen.until(lambda screen: asks(screen, "D-1"))
        screen.type("hi\n")
        screen.until("Hello you.")
        screen.until(lambda screen: asks(screen, "D-1"))
        os.kill(screen.process.pid, signal.SIGTERM)
        assert screen.end() == 130
        assert screen.is_sane()


def test_hostile_answers_neither_steer_the_terminal_nor_hide(project: Project) -> None:
    with on_screen(project, "chat", "evil", *scripted(project, RULES)) as screen:
        assert screen.end() == 0
    assert "cleared <U+202E> and <!-- hidden -->" in screen.everything
    assert b"\x1b[2J" not in screen.written


def test_plain_prints_the_answer_as_it_streams(project: Project) -> None:
    with on_screen(project, "chat", "hi", "--plain", *scripted(project, RULES)) as screen:
        assert screen.end() == 0
    assert b"\x1b" not in screen.written
    assert screen.lines[0] == "**Hello** you."

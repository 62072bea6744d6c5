"""Text of files, models and programs cannot control the terminal, whichever command prints it."""

import io
import json

import pytest

from interlock.cli.terminal import output
from tests.cli.project import Project

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202eabc \U0001bca0\ufff0\U0001d159 \x1b[0m"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(name="terminal")
def _terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def test_only_our_own_colours_reach_the_terminal(terminal: Terminal) -> None:
    output.say(f"{output.paint('done', 'good', terminal)} {HOSTILE}", terminal)
    assert terminal.getvalue() == ("\x1b[32mdone\x1b[0m red <U+009B>2J <U+202E>abc <U+1BCA0><U+FFF0><U+1D159> \n")


def test_a_painted_text_is_made_safe_too(terminal: Terminal) -> None:
    output.say(output.paint(HOSTILE, "bad", terminal), terminal)
    assert terminal.getvalue().count("\x1b") == 2


def test_json_keeps_every_character_and_prints_none_that_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    output.say_json({"text": HOSTILE})
    output.say_json_line({"text": HOSTILE})
    printed = capsys.readouterr().out
    assert not set("\x1b\x9b\u202e\U0001bca0\ufff0") & set(printed)
    assert json.loads(printed[: printed.index("}") + 1]) == {"text": HOSTILE}


def test_the_reason_of_a_blocked_ticket_is_printed_without_its_escapes(project: Project) -> None:
    project.run("init")
    project.write("t.json", json.dumps([{"id": "T-1", "assigned_to": "shell", "script": "true"}]))
    project.run("tracks", "import", "t.json")
    assert project.run("tickets", "block", "T-1", "--message", HOSTILE).code == 0
    for command in (
        ("tickets", "show", "T-1"),
        ("tickets", "list"),
        ("tracks", "show", "t"),
        ("status",),
        ("journal", "show"),
    ):
        printed = project.run(*command)
        assert not set("\x1b\x9b\u202e\U0001bca0\ufff0") & set(printed.out + printed.err), command


def test_an_error_that_quotes_a_hostile_name_is_printed_without_its_escapes(project: Project) -> None:
    project.run("init")
    printed = project.run("tickets", "show", HOSTILE)
    assert printed.code != 0
    assert not set("\x1b\x9b\u202e") & set(printed.err)

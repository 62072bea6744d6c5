"""`interlock chat` and `interlock discussions`: discussions from the command line, and their failures."""

import os
import subprocess
from typing import Any

import pytest

from tests.cli.epic import call, rule, scripted
from tests.cli.project import CommandResult, Project

SLOW = (  # a preview ends at once, and cannot show a pipe
    'mkfifo pipe; if [ "$(stat -f -c %T .)" != overlayfs ]; then sleep 30; fi; echo too late > late.txt'
)
RULES: list[dict[str, Any]] = [
    rule("unknown whether", reply="Then I check."),
    rule("look", call("read_file", path="a.txt")),
    rule("change", call("edit_file", path="a.txt", old_string="two", new_string="TWO")),
    rule("slowly", call("run_shell", script=SLOW)),
    rule("Changed a.txt", reply="I changed it."),
    rule("REJECTED", reply="As you wish."),
    rule("exit code", reply="It ran."),
    rule("one\ntwo", reply="Three lines."),
    rule("", reply="Hello."),
]
NOT_TEXT = os.fsdecode(b"caf\xe9 \xff\xfe")


def error_of(result: CommandResult) -> str:
    assert (result.code, "Traceback" in result.err) == (1, False), result
    return result.json["error"]


# ── discussions ──────────────────────────────────────────────────────────────────────────


def test_reading_is_free_and_the_answer_is_all_of_stdout(project: Project) -> None:
    model = scripted(project, RULES)
    result = project.run("chat", "look at it", *model)
    assert (result.code, result.out) == (0, "Three lines.\n"), result
    assert "continue with: interlock chat --in D-1" in result.err
    result = project.run("chat", "hello", "--in", "D-1", "--json", *model)
    assert result.json == {
        "id": "D-1",
        "title": "look at it",
        "state": "your turn",
        "turns": 2,
        "error": None,
        "answer": "Hello.",
        "pending_approvals": [],
    }
    shown = project.run("discussions", "show", "D-1", "--json").json
    assert [m["role"] for m in shown["messages"]] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert [d["id"] for d in project.run("discussions", "list", "--json").json] == ["D-1"]
    assert project.run("usage", "--json").json["Discussion"]["input"] == 30
    assert project.run("tracks", "list", "--json").json == []


def test_a_change_asks_and_the_turn_goes_on_with_the_answer(project: Project) -> None:
    model = scripted(project, RULES)
    result = project.run("chat", "change it", "--json", *model)
    assert (result.code, result.json["answer"], result.json["state"]) == (4, None, "waits for an answer"), result
    (asked,) = result.json["pending_approvals"]
    assert (asked["kind"], "+TWO" in asked["payload"]["diff"]) == ("tool", True)
    assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert project.run("approvals", "answer", asked["id"], "approve").code == 0
    result = project.run("chat", "--in", "D-1", *model)
    assert (result.code, result.out) == (0, "I changed it.\n"), result
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"
    result = project.run("chat", "change it", *model)
    assert (result.code, "interlock chat --in D-2" in result.err) == (0, True), "there is no such text any more"


def test_a_rejected_change_goes_back_to_the_model_and_nothing_changes(project: Project) -> None:
    model = scripted(project, RULES)
    project.run("chat", "change it", *model)
    project.run("approvals", "answer", "A-1", "reject", "-m", "not now")
    assert project.run("chat", "--in", "D-1", *model).out == "As you wish.\n"
    assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize(("decision", "answer", "code"), [("skip", "Then I check.\n", 0), ("abort", "", 1)])
def test_a_kill_in_the_middle_of_a_change_asks_what_is_not_known(
    project: Project, decision: str, answer: str, code: int
) -> None:
    model = scripted(project, RULES)
    assert project.run("chat", "slowly", *model).code == 4
    assert project.run("approvals", "answer", "A-1", "approve").code == 0
    process = project.start("chat", "--in", "D-1", *model)
    begun(project, process)
    process.kill()
    process.communicate()
    result = project.run("chat", "--in", "D-1", "--json", *model)
    assert result.code == 4, result
    (asked,) = result.json["pending_approvals"]
    assert (asked["kind"], asked["answers"]) == ("unknown", ["retry", "skip", "abort"])
    assert not (project.root / "late.txt").exists()
    assert project.run("chat", "--in", "D-1", "--approve", "all", *model).code == 4, "never answered automatically"
    assert project.run("approvals", "answer", asked["id"], decision).code == 0
    result = project.run("chat", "--in", "D-1", *model)
    assert (result.code, result.out) == (code, answer), result
    assert not (project.root / "late.txt").exists(), "it was not done again"
    project.check_whole()


def begun(project: Project, process: subprocess.Popen[str]) -> None:
    """Wait until the start of the change is recorded."""
    while "discussion_tool_begun" not in project.run("journal", "show", "--json").out:
        assert process.poll() is None


def test_money_that_runs_out_in_a_discussion_ends_with_5(project: Project) -> None:
    """Discussions have no budget; only their rounds are limited."""
    project.write("interlock.toml", "[budgets]\ntier3_usd = 0.0001\n")
    model = scripted(project, RULES)
    assert project.run("chat", "hello", *model).code == 0
    result = project.run("do", "hello", "--json", *model)
    assert (result.code, result.json["exit_code"]) == (5, 5), result
    assert "over budget" in result.json["ticket"]["blocked_reason"]


def test_a_model_that_fails_ends_the_turn_with_1_and_json_all_the_same(project: Project) -> None:
    result = project.run("chat", "hello", "--json", *scripted(project, [rule("goodbye", reply="x")]))
    assert (result.code, "no rule of the script answers" in result.json["error"], result.json["answer"]) == (
        1,
        True,
        None,
    )
    result = project.run("chat", "hello", "--json")
    assert (result.code, "no model is configured to talk with" in result.json["error"]) == (1, True)


def test_a_message_may_come_from_stdin_in_any_encoding(project: Project) -> None:
    model = scripted(project, RULES)
    assert project.run("chat", "-", *model, stdin="look\n").out == "Three lines.\n"
    result = project.run("chat", NOT_TEXT, "--json", *model)
    assert (result.code, result.json["title"]) == (0, "caf\ufffd \ufffd\ufffd"), result
    nul = project.run("chat", "-", "--json", *model, stdin="a\0b")
    assert (nul.code, nul.json["answer"]) == (0, "Hello."), nul
    assert "a\0b" not in project.run("discussions", "show", "D-3").out


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_message_is_refused_and_begins_no_discussion(project: Project, text: str) -> None:
    assert "the message is empty" in error_of(project.run("chat", text, "--json", *scripted(project, RULES)))
    assert project.run("discussions", "list", "--json").json == []


def test_a_message_too_long_is_refused_and_begins_no_discussion(project: Project) -> None:
    result = project.run("chat", "-", "--json", *scripted(project, RULES), stdin="x" * 1_000_000)
    assert "at most 400,000 characters, this one 1,000,000" in error_of(result)
    assert project.run("discussions", "list", "--json").json == []


def test_unknown_discussions_are_reported(project: Project) -> None:
    model = scripted(project, RULES)
    for words in (["chat", "hello", "--in", "D-9", *model], ["discussions", "show", "D-9"]):
        assert "no discussion 'D-9'" in error_of(project.run(*words, "--json"))
    for name in ("", "D-1\n", NOT_TEXT, "x" * 100_000):
        assert "no discussion" in error_of(project.run("discussions", "show", name, "--json"))
    assert "write a message" in error_of(project.run("chat", "--json", *model))


# ── do ───────────────────────────────────────────────────────────────────────────────────

WORKER: list[dict[str, Any]] = [
    rule("Created", reply="It is written."),
    rule("Write NEWS", call("write_file", path="news.txt", content="news\n"), tier="Tier 3"),
    rule("", reply="Said."),
]


def test_a_prompt_file_becomes_a_ticket_that_asks_for_its_changes_but_not_for_its_start(project: Project) -> None:
    project.write("prompts/news.md", "---\ndescription: news\n---\nWrite {{args}} now.\n")
    project.run("trust", "--yes")
    model = scripted(project, WORKER)
    result = project.run("do", ">>news NEWS", "--json", *model)
    assert (result.code, result.json["exit_code"], result.json["answer"]) == (4, 4, None), result
    (asked,) = result.json["pending_approvals"]
    assert (asked["kind"], asked["ticket"]) == ("tool", "do")
    assert project.run("approvals", "answer", asked["id"], "approve").code == 0
    result = project.run("resume", "do-1", *model)
    assert result.code == 0, result
    assert project.git("show", "interlock/do-1:news.txt") == "news"
    result = project.run("do", "just talk", *model)
    assert (result.code, result.out) == (0, "Said.\n")
    project.check_whole()


def test_a_command_with_everything_approved_lands_where_it_should(project: Project) -> None:
    result = project.run("do", "Write NEWS", "--approve", "all", "--land", "--json", *scripted(project, WORKER))
    assert (result.code, result.json["answer"]) == (0, "It is written."), result
    assert (project.root / "news.txt").read_text() == "news\n"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("", "the command is empty"),
        ("  \n", "the command is empty"),
        (">>nwes", "there is no prompt 'nwes'; did you mean news?"),
        (">>../../etc/passwd", "is no name of a prompt"),
        (">>", "is no name of a prompt"),
        (f">>{NOT_TEXT}", "is no name of a prompt"),
    ],
)
def test_a_command_that_cannot_be_run_is_a_mistake_of_usage(project: Project, command: str, sentence: str) -> None:
    project.write("prompts/news.md", "Write {{args}} now.\n")
    result = project.run("do", command, "--json", *scripted(project, WORKER))
    assert (result.code, sentence in result.json["error"], sentence in result.err) == (2, True, True), result
    assert project.run("tracks", "list", "--json").json == []


def test_a_long_or_strange_command_is_done_or_refused_in_words(project: Project) -> None:
    model = scripted(project, WORKER)
    result = project.run("do", NOT_TEXT, "--json", *model)
    assert (result.code, result.json["ticket"]["description"]) == (0, "caf\ufffd \ufffd\ufffd"), result
    result = project.run("do", "x" * 131_000, "--json", *model)
    assert "at most 100,000 characters" in error_of(result)
    project.write("prompts/huge.md", "x" * 1_000_000)
    assert "longer than 100,000 bytes" in error_of(project.run("do", ">>huge", "--json", *model))

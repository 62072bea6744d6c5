"""`interlock chat`, `discussions` and `do`: talking with a model from the command line, and what may go wrong."""

import os
import subprocess
from typing import Any

import pytest

from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project, Said

SLOW = "sleep 30; echo too late > late.txt"
RULES: list[dict[str, Any]] = [
    rule("nobody knows whether", reply="Then I check."),
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


def error_of(said: Said) -> str:
    assert (said.code, "Traceback" in said.err) == (1, False), said
    return said.json["error"]


# ── discussions ──────────────────────────────────────────────────────────────────────────


def test_reading_is_free_and_the_answer_is_all_of_stdout(project: Project) -> None:
    model = scripted(project, RULES)
    said = project.run("chat", "look at it", *model)
    assert (said.code, said.out) == (0, "Three lines.\n"), said
    assert "continue with: interlock chat --in D-1" in said.err
    said = project.run("chat", "hello", "--in", "D-1", "--json", *model)
    assert said.json == {
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
    said = project.run("chat", "change it", "--json", *model)
    assert (said.code, said.json["answer"], said.json["state"]) == (4, None, "waits for an answer"), said
    (asked,) = said.json["pending_approvals"]
    assert (asked["kind"], "+TWO" in asked["payload"]["diff"]) == ("tool", True)
    assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert project.run("approvals", "answer", asked["id"], "approve").code == 0
    said = project.run("chat", "--in", "D-1", *model)
    assert (said.code, said.out) == (0, "I changed it.\n"), said
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"
    said = project.run("chat", "change it", *model)
    assert (said.code, "interlock chat --in D-2" in said.err) == (0, True), "there is no such text any more"


def test_a_rejected_change_is_told_to_the_model_and_nothing_changes(project: Project) -> None:
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
    said = project.run("chat", "--in", "D-1", "--json", *model)
    assert said.code == 4, said
    (asked,) = said.json["pending_approvals"]
    assert (asked["kind"], asked["answers"]) == ("unknown", ["retry", "skip", "abort"])
    assert not (project.root / "late.txt").exists()
    assert project.run("chat", "--in", "D-1", "--approve", "all", *model).code == 4, "never answered by itself"
    assert project.run("approvals", "answer", asked["id"], decision).code == 0
    said = project.run("chat", "--in", "D-1", *model)
    assert (said.code, said.out) == (code, answer), said
    assert not (project.root / "late.txt").exists(), "it was not done again"
    project.check_whole()


def begun(project: Project, process: subprocess.Popen[str]) -> None:
    """Until the change is recorded as begun."""
    while "discussion_tool_begun" not in project.run("journal", "show", "--json").out:
        assert process.poll() is None


def test_money_that_runs_out_in_a_discussion_ends_with_5(project: Project) -> None:
    """Discussions have no budget of their own: only their rounds are limited."""
    project.write("interlock.toml", "[budgets]\ntier3_usd = 0.0001\n")
    model = scripted(project, RULES)
    assert project.run("chat", "hello", *model).code == 0
    said = project.run("do", "hello", "--json", *model)
    assert (said.code, said.json["exit_code"]) == (5, 5), said
    assert "over budget" in said.json["ticket"]["blocked_reason"]


def test_a_model_that_fails_ends_the_turn_with_1_and_json_all_the_same(project: Project) -> None:
    said = project.run("chat", "hello", "--json", *scripted(project, [rule("goodbye", reply="x")]))
    assert (said.code, "no rule of the script answers" in said.json["error"], said.json["answer"]) == (1, True, None)
    said = project.run("chat", "hello", "--json")
    assert (said.code, "no model is configured to talk with" in said.json["error"]) == (1, True)


def test_what_is_said_may_come_from_stdin_and_need_not_be_text(project: Project) -> None:
    model = scripted(project, RULES)
    assert project.run("chat", "-", *model, stdin="look\n").out == "Three lines.\n"
    said = project.run("chat", NOT_TEXT, "--json", *model)
    assert (said.code, said.json["title"]) == (0, "caf\ufffd \ufffd\ufffd"), said
    nul = project.run("chat", "-", "--json", *model, stdin="a\0b")
    assert (nul.code, nul.json["answer"]) == (0, "Hello."), nul
    assert "a\0b" not in project.run("discussions", "show", "D-3").out


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_word_is_refused_and_begins_no_discussion(project: Project, text: str) -> None:
    assert "the text is empty" in error_of(project.run("chat", text, "--json", *scripted(project, RULES)))
    assert project.run("discussions", "list", "--json").json == []


def test_a_word_too_long_is_refused_and_begins_no_discussion(project: Project) -> None:
    said = project.run("chat", "-", "--json", *scripted(project, RULES), stdin="x" * 1_000_000)
    assert "at most 400,000 characters, this one 1,000,000" in error_of(said)
    assert project.run("discussions", "list", "--json").json == []


def test_discussions_that_are_not_there_are_said_to_be(project: Project) -> None:
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
    said = project.run("do", ">>news NEWS", "--json", *model)
    assert (said.code, said.json["exit_code"], said.json["answer"]) == (4, 4, None), said
    (asked,) = said.json["pending_approvals"]
    assert (asked["kind"], asked["ticket"]) == ("tool", "do")
    assert project.run("approvals", "answer", asked["id"], "approve").code == 0
    said = project.run("resume", "do-1", *model)
    assert said.code == 0, said
    assert project.git("show", "interlock/do-1:news.txt") == "news"
    said = project.run("do", "just talk", *model)
    assert (said.code, said.out) == (0, "Said.\n")
    project.check_whole()


def test_a_command_with_everything_approved_lands_where_it_should(project: Project) -> None:
    said = project.run("do", "Write NEWS", "--approve", "all", "--land", "--json", *scripted(project, WORKER))
    assert (said.code, said.json["answer"]) == (0, "It is written."), said
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
    said = project.run("do", command, "--json", *scripted(project, WORKER))
    assert (said.code, sentence in said.json["error"], sentence in said.err) == (2, True, True), said
    assert project.run("tracks", "list", "--json").json == []


def test_a_long_or_strange_command_is_done_or_refused_in_words(project: Project) -> None:
    model = scripted(project, WORKER)
    said = project.run("do", NOT_TEXT, "--json", *model)
    assert (said.code, said.json["ticket"]["description"]) == (0, "caf\ufffd \ufffd\ufffd"), said
    said = project.run("do", "x" * 131_000, "--json", *model)
    assert "at most 100,000 characters" in error_of(said)
    project.write("prompts/huge.md", "x" * 1_000_000)
    assert "longer than 100,000 bytes" in error_of(project.run("do", ">>huge", "--json", *model))

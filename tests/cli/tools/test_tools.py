"""`interlock tools list` and `interlock tools call`: reading at once, changing after an approval."""

import json

from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project
from tests.cli.terminal.test_terminal import terminal
from tests.tools.web.pages import Answer, served

ALLOWED = '[[policy]]\nverdict = "allow"\ntool = "edit_file"\n[[policy]]\nverdict = "deny"\ntool = "write_file"\n'
EDIT = ("tools", "call", "edit_file", "path=a.txt", "old_string=two", "new_string=TWO")


def test_the_list_says_what_each_tool_does_and_which_are_off(project: Project) -> None:
    project.write("interlock.toml", '[tools]\noff = ["grep"]\n')
    rows = {row["name"]: row for row in project.run("tools", "list", "--json", "--schema").json}
    kinds = {name: rows[name]["kind"] for name in ("read_file", "edit_file", "fetch_url")}
    assert kinds == {"read_file": "reads", "edit_file": "changes", "fetch_url": "network"}
    assert rows["read_file"]["schema"]["required"] == ["path"]
    assert (rows["grep"]["on"], rows["grep"]["why"]) == (False, "it is switched off by the settings of this project")
    assert (rows["web_search"]["on"], "no search provider is set up" in rows["web_search"]["why"]) == (False, True)
    shown = project.run("tools", "list")
    assert (shown.code, "web_search is off: no search provider" in shown.out) == (0, True)


def test_a_reading_tool_runs_at_once_and_makes_no_project(project: Project) -> None:
    result = project.run("tools", "call", "get_file_slice", "path=a.txt", "start_line=2", "end_line=2")
    assert (result.code, result.out) == (0, "two\n"), result
    assert (
        project.run("tools", "call", "read_file", "--args", "-", stdin='{"path": "a.txt"}').out == "one\ntwo\nthree\n"
    )
    result = project.run("tools", "call", "get_ui_performance", "--json")
    assert json.loads(result.json["text"]) == {"fps": None, "frame_time_ms": None, "input_lag_ms": None, "cpu": None}
    assert not (project.root / ".interlock").exists()


def test_a_secret_file_is_refused_and_a_secret_in_a_result_is_marked(project: Project) -> None:
    project.write(".env", "KEY=1")
    result = project.run("tools", "call", "read_file", "path=.env")
    assert (result.code, "ACCESS DENIED" in result.err) == (1, True)
    key = "ghp_" + "a1B2" * 9
    project.write("notes.txt", f"token: {key}\n")
    assert key not in project.run("tools", "call", "read_file", "path=notes.txt").out


def test_without_a_terminal_a_change_does_not_happen(project: Project) -> None:
    result = project.run(*EDIT)
    assert (result.code, "it needs an approval" in result.err) == (4, True), result
    result = project.run(*EDIT, "--json")
    assert (result.code, result.json["pending_approvals"][0]["kind"]) == (4, "tool")
    assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert project.run("approvals", "list", "--json").json == []  # the question went with the command


def test_a_rule_allows_it_and_another_denies_it(project: Project) -> None:
    project.settings(ALLOWED)
    result = project.run(*EDIT, "--json")
    assert (result.code, result.json["allowed_by"], result.json["failed"]) == (0, "policy:user-1", False), result
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"
    result = project.run("tools", "call", "write_file", "path=b.txt", "content=x")
    assert (result.code, "DENIED by the rule 'user-2'" in result.err) == (3, True)
    assert not (project.root / "b.txt").exists()
    assert project.run("undo", "--yes").code == 0
    assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n"


def test_in_a_terminal_the_person_is_asked(project: Project) -> None:
    with terminal(project, *EDIT) as screen:
        screen.until("+TWO")
        screen.until("View all: ")
        screen.type("y\n")
        screen.until("Changed a.txt")
        assert screen.end() == 0
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"
    with terminal(project, "tools", "call", "fetch_url", "url=http://127.0.0.1:9/x") as screen:
        screen.until("Fetch http://127.0.0.1:9/x")
        screen.until("contacts 127.0.0.1:9")
        screen.until("View all: ")
        screen.type("y\n")
        screen.until("ACCESS DENIED")
        assert screen.end() == 1
    with terminal(project, "tools", "call", "write_file", "path=b", "content=x") as screen:
        screen.until("View all: ")
        screen.type("n\n")
        screen.until("why?")
        screen.type("no\n")
        screen.until("REJECTED by the human: no")
        assert screen.end() == 3


def test_wrong_calls_are_sentences(project: Project) -> None:
    wrong = {
        ("nonsense",): "There is no tool 'nonsense'",
        ("read_file",): "read_file needs the argument 'path'",
        ("read_file", "path=a", "path=b"): "is given twice",
        ("read_file", "a.txt"): "write KEY=VALUE",
        ("read_file", "--args", "[1]"): "--args must be a JSON object",
        ("read_file", "wrong=1"): "has no argument 'wrong'",
        ("fetch_url", "url=ftp://x"): "Only addresses that begin with",
        ("web_search", "query=x"): "no search provider is set up",
    }
    for words, message in wrong.items():
        result = project.run("tools", "call", *words)
        assert (result.code, message in result.err, "Traceback" in result.err) == (1, True, False), result


def test_a_search_asks_and_a_rule_allows_it(project: Project) -> None:
    with served() as pages:
        body = json.dumps({"results": [{"title": "T", "url": "https://a.test/", "content": "about"}]}).encode()
        pages.answers["/search"] = Answer(body)
        project.settings(f'[web_search]\nprovider = "searxng"\naddress = "{pages.url}"\n')
        assert project.run("tools", "call", "web_search", "query=x y").code == 4
        assert pages.requests == []
        project.settings(
            f'[web_search]\nprovider = "searxng"\naddress = "{pages.url}"\n'
            '[[policy]]\nverdict = "allow"\ntool = "web_search"\n'
        )
        result = project.run("tools", "call", "web_search", "query=x y")
        assert (result.code, result.out) == (0, "1. T\n   https://a.test/\n   about\n"), result
        assert [request.path for request in pages.requests] == ["/search?q=x+y&format=json"]


def test_a_project_cannot_choose_the_search_provider(project: Project) -> None:
    project.write("interlock.toml", '[web_search]\nprovider = "custom"\naddress = "http://evil.test/{query}"\n')
    result = project.run("tools", "list")
    assert (result.code, "a project must not choose the search provider" in result.err) == (1, True)


def test_always_allowing_a_fetch_writes_a_rule_for_its_host(project: Project) -> None:
    model = scripted(
        project,
        [
            rule("read", call("fetch_url", url="http://docs.invalid/guide")),
            rule("other", call("fetch_url", url="http://other.invalid/")),
            rule("", reply="Well."),
        ],
    )
    assert project.run("chat", "read it", *model).code == 4
    shown = project.run("approvals", "show", "A-1", "--json").json
    assert (shown["kind"], shown["payload"]["hosts"]) == ("tool", ["docs.invalid"])
    answered = project.run("approvals", "answer", "A-1", "approve", "--always")
    assert (answered.code, 'hosts = ["docs.invalid"]' in answered.err) == (0, True), answered
    assert project.run("chat", "--in", "D-1", *model).code == 0
    result = project.run("chat", "read it again", *model)  # by the rule, without a question
    assert (result.code, result.out) == (0, "Well.\n"), result
    assert project.run("chat", "the other one", *model).code == 4
    rows = project.run("policy", "rules", "--json").json
    assert [row["about"] for row in rows] == ["tool fetch_url on docs.invalid"]

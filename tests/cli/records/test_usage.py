"""`interlock usage` in a terminal, and `usage cache`: the blocks paid for twice."""

import json
from itertools import pairwise
from pathlib import Path

from interlock.cli.terminal.output import say
from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project

SHELL = call("run_shell", script="echo four >> a.txt")
READ = call("read_file", path="a.txt")


def logged(project: Project) -> Path:
    (file,) = (project.root / ".interlock" / "logs" / "sessions").glob("*/prefixes.log")
    return file


def chatted(project: Project) -> None:
    """A turn that changes a file which the prompt shows."""
    rules = [
        rule("go", READ),
        rule("one\ntwo\nthree", SHELL, times=1),
        rule("FILES UPDATED", READ, times=1),
        rule("", reply="Done."),
    ]
    result = project.run("chat", "go", "--approve", "all", *scripted(project, rules))
    assert result.code == 0, result


def test_money_is_shown_as_bars_where_there_is_room(project: Project) -> None:
    assert project.run("usage").out == "no model was called yet\n"
    chatted(project)
    wide = project.run("usage").out.splitlines()
    assert wide[0].split() == ["TIER", "INPUT", "OUTPUT", "CACHE", "READ", "CACHE", "WRITE", "COST", "UNKNOWN"]
    assert any(line.startswith("Discussion  $") and line.endswith("█") for line in wide)
    project.env["COLUMNS"] = "40"
    assert "█" not in project.run("usage").out
    project.env |= {"COLUMNS": "80", "PYTHONIOENCODING": "ascii"}
    assert any(line.endswith("#") for line in project.run("usage").out.splitlines())


def test_a_cost_without_a_price_is_shown_as_unknown(project: Project) -> None:
    (project.home / "agent").write_text(
        "#!/bin/sh\ncat >/dev/null\n"
        """echo '{"type":"message","role":"assistant","content":"Hello."}'\n"""
        """echo '{"type":"result","status":"success","stats":{"total_tokens":7}}'\n"""
    )
    (project.home / "agent").chmod(0o755)
    project.settings(f"[gemini_cli]\ncommand = {json.dumps(str(project.home / 'agent'))}\n")
    assert project.run("chat", "hi", "--provider", "gemini_cli").code == 0
    shown = project.run("usage").out
    assert ("unknown" in shown.splitlines()[1], "cost unknown of 1 call" in shown) == (True, True), shown
    assert project.run("usage", "--json").json["Discussion"]["unpriced"] == 1
    free = "[prices.gemini_cli]\ninput = 0\noutput = 0\n"
    project.settings(f"[gemini_cli]\ncommand = {json.dumps(str(project.home / 'agent'))}\n{free}")
    assert project.run("chat", "hi", "--provider", "gemini_cli").code == 0
    assert project.run("usage", "--json").json["Discussion"]["unpriced"] == 1


def test_the_block_that_broke_a_prefix_is_named(project: Project) -> None:
    assert "no request is in the logs yet" in project.run("usage", "cache").out
    chatted(project)
    report = project.run("usage", "cache", "--json").json
    requests = [json.loads(line) for line in logged(project).read_text().splitlines()]
    assert report["requests"] == len(requests)
    for one, other in pairwise(requests):
        assert other["blocks"][0] == one["blocks"][0]  # the tools block is unchanged
    assert "one\\ntwo" not in logged(project).read_text()  # the log holds digests, not texts
    broken = [each["block"] for each in report["breaks"]]
    shown = project.run("usage", "cache").out
    assert all(name in shown for name in broken)
    assert f"{len(requests)} requests, {len(broken)} broke their prefix" in shown


def test_a_log_that_was_cut_off_is_read_as_far_as_it_goes(project: Project) -> None:
    chatted(project)
    before = project.run("usage", "cache", "--json").json["requests"]
    with logged(project).open("a") as file:
        say('{"ts": "2026', file)
    assert project.run("usage", "cache", "--json").json["requests"] == before

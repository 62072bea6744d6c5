"""`interlock parse`: a command of the command language as JSON."""

import subprocess
import sys
from pathlib import Path

import pytest

from interlock.library.gate_ids import GateIds
from tests.cli.project import CommandResult, Project


def parse(project: Project, command: str, *words: str, cwd: Path | None = None) -> CommandResult:
    return project.run("parse", command, *words, cwd=cwd)


def test_a_whole_command_is_printed_with_effective_values(project: Project) -> None:
    project.write("prompts/review.md", "Review {{args}}\n")
    project.write("gates/tidy.md", "---\ncommand: ruff check\n---\n")
    result = parse(
        project,
        '%judge @deep #short >>review don\'t "x * 3 " :: verify:\'npm "t"\' :fast max:3 timeout:9999 loop:true'
        ' :: "reads well" :: safe:"no secrets" :: tidy * 2 --> >>fix :: verify:"a --> b" :: nope ==> >>tell',
    )
    assert (result.code, result.err) == (0, "")
    shown = result.json
    ids = [one["gate_id"] for one in shown["operators"] if one["type"] == "gate"]
    assert [one.split("-")[0] for one in ids] == ["shell", "criteria", "safe", "tidy", "shell", "nope"]
    for one in [*shown["operators"], *shown["steps"]]:
        one.pop("column")
    assert shown == {
        "has_operators": True,
        "operator_types": ["modifier", "framework", "style", "gate", "repeat", "chain", "delegate"],
        "operators": [
            {"type": "modifier", "name": "judge"},
            {"type": "framework", "name": "deep", "known": False},
            {"type": "style", "name": "short", "known": False},
            {
                "type": "gate",
                "step": 1,
                "gate_id": ids[0],
                "shell_verify": {
                    "command": 'npm "t"',
                    "preset": "fast",
                    "max_attempts": 3,
                    "timeout_ms": 600_000,
                    "loop": True,
                },
            },
            {"type": "gate", "step": 1, "gate_id": ids[1], "criteria": "reads well"},
            {"type": "gate", "step": 1, "gate_id": "safe", "criteria": "no secrets"},
            {"type": "gate", "step": 1, "gate_id": "tidy", "known": True},
            {"type": "repeat", "step": 1, "count": 2},
            {"type": "chain", "step": 2},
            {
                "type": "gate",
                "step": 2,
                "gate_id": ids[4],
                "shell_verify": {
                    "command": "a --> b",
                    "preset": None,
                    "max_attempts": 5,
                    "timeout_ms": 300_000,
                    "loop": False,
                },
            },
            {"type": "gate", "step": 2, "gate_id": "nope", "known": False},
            {"type": "delegate", "step": 3},
        ],
        "steps": [
            {
                "step": 1,
                "prompt": "review",
                "known": True,
                "args": 'don\'t "x * 3 "',
                "repeat": 2,
                "delegate": False,
                "gates": ids[:4],
            },
            {"step": 2, "prompt": "fix", "known": False, "args": "", "repeat": 1, "delegate": False, "gates": ids[4:]},
            {"step": 3, "prompt": "tell", "known": False, "args": "", "repeat": 1, "delegate": True, "gates": []},
        ],
    }


def test_no_project_is_needed_and_none_is_made(project: Project) -> None:
    result = parse(project, '>>a :: verify:"x" :extended', cwd=project.home)
    assert result.code == 0
    assert result.json["operators"][0]["shell_verify"] == {
        "command": "x",
        "preset": "extended",
        "max_attempts": 10,
        "timeout_ms": 600_000,
        "loop": False,
    }
    assert list(project.home.iterdir()) == []


def test_words_alone_have_no_operators(project: Project) -> None:
    result = parse(project, "Fix it, don't wait", "--json")
    assert result.json == {
        "has_operators": False,
        "operator_types": [],
        "operators": [],
        "steps": [
            {
                "step": 1,
                "prompt": None,
                "args": "Fix it, don't wait",
                "column": 1,
                "repeat": 1,
                "delegate": False,
                "gates": [],
            }
        ],
    }


def test_a_value_that_gate_and_preset_omit_comes_from_the_settings(project: Project) -> None:
    project.write("interlock.toml", "[gates]\nmax_attempts = 2\ntimeout_s = 7\n")
    shown = parse(project, '>>a :: verify:"x" :: verify:"y" :fast :: verify:"z" timeout:0').json["operators"]
    effective = [(one["shell_verify"]["max_attempts"], one["shell_verify"]["timeout_ms"]) for one in shown]
    assert effective == [(2, 7_000), (1, 30_000), (2, 1_000)]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ('>>a :: verify:"x', 'the quote " is never closed (column 15)'),
        (">>a + >>b", "running steps in parallel (+) is not supported; steps are joined by --> (column 5)"),
        ('>>a ? "x" : >>b', 'conditions (? "…" : >>prompt) are not supported (column 5)'),
        ("", "the command is empty; write words, or >>name of a prompt (column 1)"),
        ("--> >>a", "a prompt is missing here: >>name (column 1)"),
        (">>a * 0", "a step is repeated a whole number of times, from 1 to 100 (column 5)"),
    ],
)
def test_a_mistake_is_said_in_one_sentence_with_its_column(project: Project, command: str, sentence: str) -> None:
    result = parse(project, command)
    assert (result.code, result.out, result.err) == (2, "", f"interlock parse: {sentence}\n")
    assert parse(project, command, "--json").json == {"error": f"parse: {sentence}", "kind": "Usage"}


def test_a_thousand_gates_at_once_have_names_of_their_own() -> None:
    one, other = GateIds("a"), GateIds("b")
    names = {ids.shell() for ids in (one, other) for _ in range(1_000)}
    assert len(names) == 2_000
    assert all(name.startswith("shell-verify-") for name in names)


def test_two_processes_use_different_names(project: Project) -> None:
    first, second = (parse(project, '>>a :: verify:"x"').json["operators"][0]["gate_id"] for _ in range(2))
    assert first != second


def test_little_is_imported(project: Project) -> None:
    script = (
        "import sys; from interlock.cli.main import main\n"
        "main(['parse', '>>a :: verify:\"x\"'])\nsys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run(
        (sys.executable, "-c", script), cwd=project.root, env=project.env, capture_output=True, text=True, check=True
    )
    heavy = {
        "asyncio",
        "sqlite3",
        "immutables",
        "rich",
        "socket",
        "concurrent",
        "subprocess",
        "interlock.assembly.build",
    }
    assert set(done.stderr.split()) & heavy == set()

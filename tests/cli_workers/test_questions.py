"""Calls of agents as calls of ours: the same rules apply, and an edit goes back in the agent's own words."""

from typing import Any

import pytest

from interlock.cli_workers.questions import from_acp, patch_hunks, translated

ROOT = "/state/worktrees/p/x/T"
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@ def f\n-old\n+new\n*** Add File: b.py\n+x\n*** End Patch\n"


@pytest.mark.parametrize(
    ("agent", "tool", "args", "name", "ours"),
    [
        ("claude", "Bash", {"command": "ls", "description": "d"}, "run_shell", {"script": "ls"}),
        ("codex", "Bash", {"command": "ls"}, "run_shell", {"script": "ls"}),
        ("gemini", "run_shell_command", {"command": "ls"}, "run_shell", {"script": "ls"}),
        ("claude", "Write", {"file_path": f"{ROOT}/a", "content": "x"}, "write_file", {"path": "a", "content": "x"}),
        (
            "gemini",
            "replace",
            {"file_path": "src/a", "old_string": "x", "new_string": "y", "allow_multiple": True},
            "edit_file",
            {"path": "src/a", "old_string": "x", "new_string": "y", "replace_all": True},
        ),
    ],
)
def test_equal_calls_have_our_names(agent: str, tool: str, args: dict[str, Any], name: str, ours: Any) -> None:
    call = translated(agent, "c", tool, args, ROOT).call
    assert (call.name, call.args) == (name, ours)


@pytest.mark.parametrize(
    ("agent", "tool", "args"),
    [
        ("claude", "Write", {"file_path": "/etc/passwd", "content": "x"}),
        ("claude", "Edit", {"file_path": f"{ROOT}/../U/a", "old_string": "x", "new_string": "y"}),
        ("claude", "Write", {"file_path": f"{ROOT}/a\0b", "content": "x"}),
        ("claude", "Bash", {"command": ["ls"]}),
        ("claude", "WebFetch", {"url": "https://example.com"}),
    ],
)
def test_what_has_no_equal_call_keeps_its_own_name(agent: str, tool: str, args: dict[str, Any]) -> None:
    call = translated(agent, "c", tool, args, ROOT).call
    assert (call.name, call.args) == (tool, args)


@pytest.mark.parametrize(
    ("agent", "tool", "args", "name"),
    [
        ("claude", "edit_file", {"path": "a"}, "claude_edit_file"),
        ("gemini", "write_file", {"file_path": "/etc/x", "content": ""}, "gemini_write_file"),
        ("codex", "apply_patch", {"command": "*** Begin Patch\n*** Add File: ../x\n+x\n"}, "codex_apply_patch"),
        ("claude", "mcp__time__now", {}, "claude_mcp__time__now"),
        ("claude", "run_shell", {}, "claude_run_shell"),
        ("claude", "run_shell\x1b[31m", {}, "run_shell?[31m"),
    ],
)
def test_a_tool_with_the_name_of_one_of_ours_is_not_taken_for_it(
    agent: str, tool: str, args: dict[str, Any], name: str
) -> None:
    assert translated(agent, "c", tool, args, ROOT).call.name == name
    assert from_acp("c", "other", tool, args, ROOT).call.name != tool


def test_an_edit_goes_back_in_the_agents_own_words() -> None:
    args = {"command": "ls", "description": "List"}
    restore = translated("claude", "c", "Bash", args, ROOT).restore
    assert restore({"script": "ls -l"}) == {"command": "ls -l", "description": "List"}
    edit = {"file_path": f"{ROOT}/a", "old_string": "x", "new_string": "y"}
    restore = translated("claude", "c", "Edit", edit, ROOT).restore
    assert restore({"path": "a", "old_string": "x", "new_string": "z"}) == {**edit, "new_string": "z"}


def test_a_patch_of_codex_is_shown_by_file() -> None:
    first, second = patch_hunks(PATCH)
    assert (first.path, first.text, second.path, second.text) == ("a.py", "-old\n+new\n", "b.py", "+x\n")
    assert translated("codex", "c", "apply_patch", {"command": PATCH}, ROOT).call.name == "apply_patch"


def test_a_request_of_acp_shows_its_diff() -> None:
    diff = {"path": f"{ROOT}/a", "old": "one\ntwo\n", "new": "one\nTWO\n"}
    one = from_acp("c", "edit", "Edit a", {"diffs": [diff]}, ROOT)
    assert one.preview is not None
    assert (one.call.name, one.preview.paths) == ("edit_file", ("a",))
    assert one.preview.hunks[0].text == " one\n-two\n+TWO\n"
    outside = from_acp("c", "edit", "Edit", {"diffs": [{**diff, "path": "/etc/passwd"}]}, ROOT)
    assert outside.call.name == "Edit"
    assert from_acp("c", "execute", "t", {"command": ["ls", "-l"]}, ROOT).call.args == {"script": "ls -l"}

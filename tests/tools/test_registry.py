"""The tool registry: offered tools, and the messages about wrong calls."""

import asyncio
import threading
from typing import Any

import pytest

from interlock.codeviews.python.structure import PythonStructure
from interlock.domain.checks.closed_names import ClosedNames
from interlock.errors import ToolFailure
from interlock.ports.tools import Tools
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from interlock.tools.files import files
from interlock.tools.files.paths import Root
from interlock.tools.registry import WorkerTools
from tests.tools.desk import Desk

READING = [
    *("read_file", "get_file_slice", "list_directory", "get_tree", "search_files", "grep", "get_git_diff"),
    *("get_file_summary", "py_get_skeleton", "py_get_code_outline", "py_get_definition", "py_get_signature"),
    *("py_get_class_summary", "py_get_var_declaration", "py_get_docstring", "py_get_imports", "py_check_syntax"),
    *("py_find_usages", "py_get_hierarchy", "get_ui_performance"),
]
CHANGING = [
    *("edit_file", "write_file", "set_file_slice", "apply_patch"),
    *("py_update_definition", "py_set_signature", "py_set_var_declaration", "run_shell"),
    "fetch_url",
]


def test_all_tools_are_offered_or_only_those_that_change_nothing(desk: Desk) -> None:
    tools: Tools = desk.tools
    assert [spec.name for spec in tools.offered(changing=True)] == READING + CHANGING
    assert [spec.name for spec in tools.offered(changing=False)] == READING
    assert [spec.name for spec in tools.offered(changing=True) if spec.changes] == CHANGING


def test_a_tool_that_is_switched_off_is_neither_offered_nor_run(desk: Desk) -> None:
    off = ("run_shell", "grep")
    tools = WorkerTools(UnconfinedSandbox(), {}, PythonStructure(), ClosedNames(), off=off)
    offered = [spec.name for spec in tools.offered(changing=True)]
    assert offered == [name for name in READING + CHANGING if name not in off]
    outcome = asyncio.run(tools.run(desk.place, "run_shell", {"script": "echo"}))
    assert (outcome.failed, outcome.text) == (
        True,
        "The tool 'run_shell' cannot be used: it is switched off by the settings of this project.",
    )
    with pytest.raises(ToolFailure, match="switched off"):
        asyncio.run(tools.preview(desk.place, "run_shell", {"script": "echo"}))


def test_a_schema_is_plain_and_describes_every_argument(desk: Desk) -> None:
    schemas = {spec.name: spec.schema for spec in desk.tools.offered(changing=True)}
    assert schemas["edit_file"] == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Path of the file, relative to the worktree."},
            "old_string": {
                "type": "string",
                "description": "The text to replace, exactly as it stands in the file.",
            },
            "new_string": {"type": "string", "description": "What takes its place."},
            "replace_all": {
                "type": "boolean",
                "description": "Replace every match; otherwise there must be exactly one.",
                "default": False,
            },
        },
        "required": ["path", "old_string", "new_string"],
        "additionalProperties": False,
    }
    for schema in schemas.values():
        for argument in schema["properties"].values():
            assert argument["description"].endswith(".")
            assert argument["type"] in ("string", "integer", "boolean")


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("readfile", {}, "There is no tool 'readfile'. The nearest: read_file, edit_file, write_file."),
        ("read_file", {}, "read_file needs the argument 'path'."),
        ("read_file", {"path": None}, "read_file needs the argument 'path'."),
        ("read_file", {"pth": "x"}, "read_file has no argument 'pth'; did you mean 'path'?"),
        ("read_file", {"path": "x", "zzz": 1}, "read_file has no argument 'zzz'; it takes path."),
        ("read_file", {"path": 5}, "read_file: the argument 'path' is wrong: expected `str`, got `int`."),
        ("read_file", {"path": ["x"]}, "read_file: the argument 'path' is wrong: expected `str`, got `array`."),
        (
            "get_file_slice",
            {"path": "x", "start_line": "one", "end_line": 2},
            "get_file_slice: the argument 'start_line' is wrong: expected `int`, got `str`.",
        ),
        ("grep", {"pattern": "x", "context": 99}, "grep: the argument 'context' is wrong: expected `int` <= 20."),
    ],
)
def test_a_wrong_call_is_answered_with_what_would_be_right(
    desk: Desk, name: str, args: dict[str, Any], message: str
) -> None:
    assert desk.refuses(name, **args) == message
    with pytest.raises(ToolFailure) as raised:
        desk.preview(name, **args)
    assert str(raised.value) == message


def test_an_unknown_tool_with_no_near_name_is_answered_with_all(desk: Desk) -> None:
    assert desk.refuses("zzz") == f"There is no tool 'zzz'. The nearest: {', '.join(READING + CHANGING)}."


def test_numbers_as_texts_and_nulls_are_understood(desk: Desk) -> None:
    desk.put("file", "1\n2\n3\n")
    assert desk.does("get_file_slice", path="file", start_line="2", end_line=2.0) == "2\n"
    desk.does("edit_file", path="file", old_string="1", new_string="x", replace_all=None)
    assert desk.does("read_file", path="file") == "x\n2\n3\n"


def test_a_preview_refuses_what_running_would_refuse(desk: Desk) -> None:
    desk.put("file", "x\n")
    for path, message in ((".env", "^ACCESS DENIED"), ("../x", "^ACCESS DENIED"), ("file", "already holds exactly")):
        with pytest.raises(ToolFailure, match=message):
            desk.preview("write_file", path=path, content="x\n")


def test_a_preview_of_what_changes_nothing_is_its_name(desk: Desk) -> None:
    assert desk.preview("read_file", path="x").title == "read_file"


def test_a_new_file_is_previewed_as_one(desk: Desk) -> None:
    preview = desk.preview("write_file", path="./sub/../new", content="x")
    assert (preview.title, [hunk.path for hunk in preview.hunks]) == ("Create new", ["new"])


def test_nothing_is_written_after_a_cancelled_call_has_returned(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    real = files.write

    def slow(root: Root, path: str, data: bytes) -> None:
        begun.set()
        go_on.wait(10)
        real(root, path, data)

    monkeypatch.setattr(files, "write", slow)

    async def cancelled() -> bool:
        call = asyncio.create_task(desk.tools.run(desk.place, "write_file", {"path": "new", "content": "x"}))
        await asyncio.to_thread(begun.wait, 10)
        call.cancel()
        asyncio.get_running_loop().call_later(0.05, go_on.set)
        with pytest.raises(asyncio.CancelledError):
            await call
        return (desk.folder / "new").exists()

    assert asyncio.run(cancelled())

"""Only `sandbox` starts processes, also without an import; the pure packages open no file."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "interlock"
STARTS_A_PROCESS = {
    "create_subprocess_exec",
    "create_subprocess_shell",
    "subprocess_exec",
    "subprocess_shell",
    "fork",
    "forkpty",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "ProcessPoolExecutor",
    "startfile",
    *(f"exec{ending}" for ending in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    *(f"spawn{ending}" for ending in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
}
POOL = Path("codeviews", "folders", "pool.py")  # docs/decisions/0005: runs only Interlock's own code on bytes
TOUCHES_THE_WORLD = {"open", "print", "input", "breakpoint", "exec", "eval", "__import__"}


def test_only_the_sandbox_starts_processes() -> None:
    outside = (
        path
        for path in SOURCE.rglob("*.py")
        if (place := path.relative_to(SOURCE)).parts[0] != "sandbox" and place != POOL
    )
    assert [call for path in outside for call in process_starts(path.name, path.read_text())] == []


@pytest.mark.parametrize("room", ["domain", "views"])
def test_the_pure_packages_call_no_function_with_side_effects(room: str) -> None:
    assert [call for path in (SOURCE / room).rglob("*.py") for call in world_calls(path.name, path.read_text())] == []


def test_preexec_fn_is_used_nowhere() -> None:
    assert [path.name for path in SOURCE.rglob("*.py") if "preexec_fn=" in path.read_text()] == []


@pytest.mark.parametrize(
    "line",
    [
        "await asyncio.create_subprocess_exec('ls')",
        "from asyncio import create_subprocess_shell",
        "start = loop.subprocess_exec",
        "os.fork()",
        "from os import execvp as go",
        "os.system('ls')",
        "import multiprocessing.pool",
        "from multiprocessing import Process",
        "from concurrent.futures import ProcessPoolExecutor",
        "concurrent.futures.ProcessPoolExecutor(2)",
    ],
)
def test_a_planted_process_start_is_found(line: str) -> None:
    assert list(process_starts("x.py", f"async def f():\n    {line}")) == ["x.py:2"]


def test_a_planted_open_is_found() -> None:
    assert list(world_calls("x.py", "def f():\n    return open('x').read()")) == ["x.py:2"]


def process_starts(name: str, source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr="system"):
                yield f"{name}:{node.lineno}"
            case ast.Attribute(attr=attr) if attr in STARTS_A_PROCESS:
                yield f"{name}:{node.lineno}"
            case ast.ImportFrom(module="os" | "asyncio", names=names) if any(
                alias.name in STARTS_A_PROCESS or alias.name == "system" for alias in names
            ):
                yield f"{name}:{node.lineno}"
            case ast.Import(names=names) if any(alias.name.split(".")[0] == "multiprocessing" for alias in names):
                yield f"{name}:{node.lineno}"
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] == "multiprocessing" or any(
                alias.name == "ProcessPoolExecutor" for alias in names
            ):
                yield f"{name}:{node.lineno}"
            case _:
                pass


def world_calls(name: str, source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=called)) if called in TOUCHES_THE_WORLD:
                yield f"{name}:{node.lineno}"
            case _:
                pass


def test_no_test_signals_every_process_unless_it_is_confined() -> None:
    """Such a script ends everything on the machine if its sandbox fails."""
    signals = re.compile(r"kill +-\w+ +-1\b|kill\(-1,(?! *0\))")
    found = {
        path.name: path.read_text().count("only_if_confined(script)")
        for path in SOURCE.parents[1].joinpath("tests").rglob("*.py")
        if path != Path(__file__) and signals.search(path.read_text())
    }
    assert found == {"test_landlock.py": 1, "test_bubblewrap.py": 1}

"""Records what a process and its children do to files, with strace: SQLite and git are recorded like our own code."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_TRACED = (
    "open,openat,creat,write,pwrite64,lseek,ftruncate,fsync,fdatasync,sync_file_range,rename,renameat,renameat2,link,"
    "linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,symlink,symlinkat"
)
_LINE = re.compile(rb"^(\d+) +(.*)$")
_RESUMED = re.compile(rb"^<\.\.\. \w+ resumed>(.*)$")
_CALL = re.compile(rb"^(\w+)\((.*)\) += (-?\d+)(?:<([^>]*)>)?", re.DOTALL)
_ARGUMENT = re.compile(
    rb"\"((?:\\x[0-9a-f]{2})*)\"(?:\.\.\.)?|(-?\w+)<((?:\\x[0-9a-f]{2})*)>(?:\(deleted\))?|([^,\s][^,]*)"
)


@dataclass(frozen=True)
class Call:
    """A system call that succeeded. An argument is a text, or a descriptor with its path."""

    name: str
    arguments: tuple[bytes, ...]
    result: int
    opened: str = ""  # the path of the descriptor that it returned


def record(folder: Path, module: str, *arguments: str) -> list[Call]:
    """Runs a Python module under strace; returns its calls in the order in which they ended."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    out = folder / "calls"
    command = [strace, "-f", "-y", "-xx", "-s", "100000000", "-e", f"trace={_TRACED}", "-o", str(out)]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [*command, sys.executable, "-m", module, *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    if "ptrace" in done.stderr and not out.exists():
        pytest.skip("strace may not trace processes here")
    assert done.returncode == 0, done.stdout + done.stderr
    return list(_calls(out))


def _calls(file: Path) -> Iterator[Call]:
    begun: dict[bytes, bytes] = {}
    for line in file.read_bytes().split(b"\n"):
        match = _LINE.match(line)
        if match is None:
            continue
        process, text = match[1], match[2]
        if text.endswith(b"<unfinished ...>"):
            begun[process] = text.removesuffix(b"<unfinished ...>").rstrip()
            continue
        if resumed := _RESUMED.match(text):
            text = begun.pop(process) + resumed[1].lstrip()
        call = _CALL.match(text)
        if call is None or int(call[3]) < 0:
            continue
        yield Call(call[1].decode(), tuple(_arguments(call[2])), int(call[3]), os.fsdecode(_plain(call[4] or b"")))


def _arguments(text: bytes) -> Iterator[bytes]:
    """The texts decoded; a descriptor as its path."""
    for match in _ARGUMENT.finditer(text):
        if match[2] is not None:
            yield _plain(match[3])
        elif match[4] is not None:
            yield match[4].strip()
        else:
            yield _plain(match[1])


def _plain(text: bytes) -> bytes:
    return bytes.fromhex(text.decode().replace("\\x", ""))

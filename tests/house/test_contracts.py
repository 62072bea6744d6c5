"""Each import contract breaks when somebody breaks it, and only that one.

The contracts are the real ones; the tree is a bare copy of the house with one empty file per room, so that rooms
that are not built yet are guarded too and an unfinished change elsewhere does not show here.
"""

import configparser
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = Path(__file__).parents[2] / ".importlinter"
FILES = (
    "app",
    "model_choice",
    "session_logs",
    "session_files",
    "client",
    "projects",
    "locations",
    "settings",
    "observe",
    "wire",
    "model_port",
    "ports",
    "errors",
    "toml_lines",
    "version",
)

# contract: (the file that breaks it, the line it does it with)
VIOLATIONS = {
    "layers": [
        ("domain/room.py", "import interlock.ports"),
        ("domain/room.py", "from interlock import views"),
        ("views/room.py", "import interlock.wire"),
        ("ports.py", "import interlock.wire"),
        ("ports.py", "import interlock.model_port"),
        ("engine/room.py", "import interlock.journal.room"),
        ("journal/room.py", "def later():\n    from interlock.engine import room"),
        ("gui/room.py", "import interlock.app"),
        ("app.py", "import interlock.cli.room"),
        ("settings.py", "import interlock.uitest.room"),
        ("helpers.py", ""),
    ],
    "cycles": [("domain/room.py", "import interlock.domain.other")],
    "client": [("client.py", "import interlock.errors"), ("client.py", "from interlock.api import room")],
    "pure": [
        ("domain/room.py", "import time"),
        ("domain/room.py", "from os import path"),
        ("views/room.py", "import asyncio"),
        ("errors.py", "import sys"),
    ],
    "sqlite": [("engine/room.py", "import sqlite3"), ("app.py", "from sqlite3 import dbapi2")],
    "subprocess": [("gates/room.py", "import subprocess"), ("cli/room.py", "from subprocess import run")],
    "imgui": [("cli/room.py", "from imgui_bundle import imgui")],
    "http": [("gui/room.py", "import litestar"), ("cli/room.py", "from uvicorn import Server")],
    "grpc": [("gui/room.py", "import grpc"), ("cli/room.py", "from grpc_reflection.v1alpha import reflection")],
    "mcp": [("engine/room.py", "import mcp.server"), ("providers/room.py", "import acp")],
    "ray": [("app.py", "import ray")],
    "parsing": [("tools/room.py", "import tree_sitter"), ("cli/room.py", "from tree_sitter import Parser")],
    "vendors": [("engine/room.py", "import anthropic"), ("tools/room.py", "from google import genai")],
}

# What each room may do and others may not.
ALLOWED = [
    ("journal/room.py", "import sqlite3"),
    ("sandbox/room.py", "import subprocess"),
    ("gui/room.py", "from imgui_bundle import imgui"),
    ("api/room.py", "import litestar.openapi, uvicorn, uvloop"),
    ("uitest/room.py", "import grpc, imgui_bundle, grpc_reflection.v1alpha"),
    ("tools/room.py", "import mcp.server, acp"),
    ("crew/room.py", "import ray"),
    ("codeviews/room.py", "import splintr, tree_sitter"),
    ("providers/room.py", "import anthropic, openai\nfrom google import genai"),
    ("app.py", "import interlock.engine.room, interlock.journal.room, interlock.settings"),
    ("domain/room.py", "import re, enum, hashlib, msgspec, immutables"),
]


def test_every_contract_has_a_violation_here() -> None:
    assert set(contracts()) == set(VIOLATIONS)


@pytest.mark.parametrize(
    ("contract", "file", "line"),
    [(contract, *violation) for contract, violations in VIOLATIONS.items() for violation in violations],
)
def test_a_planted_violation_breaks_its_contract_and_no_other(
    tmp_path: Path, contract: str, file: str, line: str
) -> None:
    build_house(tmp_path)
    plant(tmp_path, file, line)
    assert broken_contracts(tmp_path) == [contract]


def test_what_is_allowed_breaks_nothing(tmp_path: Path) -> None:
    build_house(tmp_path)
    for file, line in ALLOWED:
        plant(tmp_path, file, line)
    assert broken_contracts(tmp_path) == []


def contracts() -> dict[str, str]:
    """The names of all contracts by their ids."""
    config = configparser.ConfigParser()
    config.read(CONFIG)
    return {
        section.removeprefix("importlinter:"): config[section]["name"]
        for section in config.sections()
        if section.startswith("importlinter:")
    }


def build_house(root: Path) -> None:
    config = configparser.ConfigParser()
    config.read(CONFIG)
    for room in re.findall(r"\((\w+)\)|\b(\w+)\b", config["importlinter:layers"]["layers"]):
        name = "".join(room)
        if name in FILES:
            plant(root, f"{name}.py", "")
        else:
            plant(root, f"{name}/__init__.py", "")
            plant(root, f"{name}/room.py", "")
    plant(root, "__init__.py", "")
    plant(root, "domain/other.py", "import interlock.domain.room")


def plant(root: Path, file: str, line: str) -> None:
    path = root / "interlock" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{line}\n" if line else "")


def broken_contracts(root: Path) -> list[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    result = subprocess.run(
        [*command, "--config", str(CONFIG), "--no-cache", "--no-logo"],
        cwd=root,
        # A wide terminal, so that no name is broken over two lines; the copy comes before the installed package.
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    verdicts = {
        contract: re.search(rf"^{re.escape(name)} (KEPT|BROKEN)\b", result.stdout, re.MULTILINE)
        for contract, name in contracts().items()
    }
    assert all(verdicts.values()), result.stdout + result.stderr
    broken = [contract for contract, verdict in verdicts.items() if verdict and verdict[1] == "BROKEN"]
    assert (result.returncode != 0) == bool(broken)
    return broken

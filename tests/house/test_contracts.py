"""Every import contract is broken by a planted violation.

The contracts are the real ones. The tree is a bare copy of the package: one empty module per listed name, so an
unfinished change elsewhere does not show here. All violations are planted in one copy, each in a separate file,
because one run of import-linter takes a second.
"""

import configparser
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = Path(__file__).parents[2] / ".importlinter"
FILES = ("client", "wire", "json_lines", "errors", "version")  # top-level names that are modules, not packages
PACKAGE_OF = {"layers": "", "assembly": "assembly/", "domain": "domain/"}  # the contracts that list layers

# contract: lines that break it. FILE is planted with LINE; `EDGE` is how the report names the import.
VIOLATIONS = {
    "layers": [
        ("domain/values/p0.py", "import interlock.ports.room", "interlock.domain.values.p0 -> interlock.ports.room"),
        ("domain/values/p1.py", "from interlock import views", "interlock.domain.values.p1 -> interlock.views"),
        ("views/p2.py", "import interlock.wire", "interlock.views.p2 -> interlock.wire"),
        ("ports/p3.py", "import interlock.wire", "interlock.ports.p3 -> interlock.wire"),
        ("engine/p4.py", "import interlock.journal.room", "interlock.engine.p4 -> interlock.journal.room"),
        (
            "journal/p5.py",
            "def later():\n    from interlock.engine import room",
            "interlock.journal.p5 -> interlock.engine.room",
        ),
        ("gui/p6.py", "import interlock.assembly.build", "interlock.gui.p6 -> interlock.assembly.build"),
        ("assembly/logs.py", "import interlock.cli.room", "interlock.assembly.logs -> interlock.cli.room"),
    ],
    "assembly": [
        (
            "assembly/project.py",
            "import interlock.assembly.build",
            "interlock.assembly.project -> interlock.assembly.build",
        ),
    ],
    "domain": [
        (
            "domain/state/p7.py",
            "import interlock.domain.rules.room",
            "interlock.domain.state.p7 -> interlock.domain.rules.room",
        ),
        (
            "domain/facts/p8.py",
            "import interlock.domain.rules.room",
            "interlock.domain.facts.p8 -> interlock.domain.rules.room",
        ),
    ],
    "cycles": [
        ("views/first.py", "import interlock.views.second", "in interlock.views"),
        ("views/second.py", "import interlock.views.first", ".second -> .first"),
    ],
    "client": [("client.py", "import interlock.errors", "interlock.client -> interlock.errors")],
    "pure": [
        ("domain/values/p9.py", "import time", "interlock.domain.values.p9 -> time"),
        ("domain/values/p10.py", "from os import path", "interlock.domain.values.p10 -> os"),
        ("views/p11.py", "import asyncio", "interlock.views.p11 -> asyncio"),
        ("errors.py", "import sys", "interlock.errors -> sys"),
    ],
    "sqlite": [
        ("engine/p12.py", "import sqlite3", "interlock.engine.p12 -> sqlite3"),
        ("assembly/build.py", "from sqlite3 import dbapi2", "interlock.assembly.build -> sqlite3"),
    ],
    "subprocess": [
        ("runners/p13.py", "import subprocess", "interlock.runners.p13 -> subprocess"),
        ("cli/p14.py", "from subprocess import run", "interlock.cli.p14 -> subprocess"),
    ],
    "imgui": [("cli/p15.py", "from imgui_bundle import imgui", "interlock.cli.p15 -> imgui_bundle")],
    "textual": [
        ("gui/p33.py", "from textual.app import App", "interlock.gui.p33 -> textual"),
        ("cli/p34.py", "import pygments", "interlock.cli.p34 -> pygments"),
    ],
    "http": [
        ("gui/p16.py", "import litestar", "interlock.gui.p16 -> litestar"),
        ("cli/p17.py", "from uvicorn import Server", "interlock.cli.p17 -> uvicorn"),
    ],
    "httpx": [
        ("engine/p30.py", "import httpx2", "interlock.engine.p30 -> httpx2"),
        ("tools/p31.py", "from httpx2 import get", "interlock.tools.p31 -> httpx2"),
    ],
    "mcp": [
        ("tools/p40.py", "import mcp", "interlock.tools.p40 -> mcp"),
        ("cli/p41.py", "from mcp.client.session import ClientSession", "interlock.cli.p41 -> mcp"),
        ("engine/p42.py", "import mcp_types", "interlock.engine.p42 -> mcp_types"),
        ("api/p43.py", "import anyio, starlette", "interlock.api.p43 -> anyio"),
    ],
    "grpc": [
        ("gui/p18.py", "import grpc", "interlock.gui.p18 -> grpc"),
        ("cli/p19.py", "from grpc_reflection.v1alpha import reflection", "interlock.cli.p19 -> grpc_reflection"),
    ],
    "parsing": [
        ("tools/p20.py", "import tree_sitter", "interlock.tools.p20 -> tree_sitter"),
        ("cli/p21.py", "from tree_sitter import Parser", "interlock.cli.p21 -> tree_sitter"),
    ],
    "acp": [
        ("tools/p30.py", "import acp", "interlock.tools.p30 -> acp"),
        ("cli/p31.py", "from acp.schema import PermissionOption", "interlock.cli.p31 -> acp"),
    ],
    "vendors": [
        ("engine/p22.py", "import anthropic", "interlock.engine.p22 -> anthropic"),
        ("tools/p23.py", "from google import genai", "interlock.tools.p23 -> google"),
    ],
}

# Imports that only these packages may use.
ALLOWED = [
    ("journal/room.py", "import sqlite3"),
    ("sandbox/room.py", "import subprocess"),
    ("gui/room.py", "from imgui_bundle import imgui"),
    ("tui/room.py", "import pygments.lexers, textual\nfrom textual.app import App"),
    ("api/room.py", "import litestar.openapi, uvicorn, uvloop"),
    ("uitest/room.py", "import grpc, imgui_bundle, grpc_reflection.v1alpha"),
    ("mcp_server/room.py", "import anyio, mcp, mcp_types\nfrom mcp.server.lowlevel.server import Server"),
    ("mcp_tools/room.py", "import anyio, mcp, mcp_types, starlette"),
    ("codeviews/room.py", "import splintr, tree_sitter"),
    ("providers/room.py", "import anthropic, openai\nfrom google import genai"),
    ("editor/room.py", "import acp\nfrom acp.schema import PermissionOption"),
    ("cli_workers/room.py", "import acp.connection"),
    ("assembly/build.py", "import interlock.engine.room, interlock.journal.room, interlock.assembly.settings"),
    ("domain/values/room.py", "import re, enum, hashlib, msgspec, immutables"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The report of import-linter about the copy with all violations: a text for each broken contract."""
    root = tmp_path_factory.mktemp("violations")
    build_house(root)
    for violations in VIOLATIONS.values():
        for file, line, _ in violations:
            plant(root, file, line)
    return broken_contracts(root)


def test_every_contract_has_a_violation_here() -> None:
    assert set(contracts()) == set(VIOLATIONS)


@pytest.mark.parametrize(
    ("contract", "edge"),
    [(contract, edge) for contract, violations in VIOLATIONS.items() for _, _, edge in violations],
)
def test_a_planted_violation_is_named_by_its_contract(report: dict[str, str], contract: str, edge: str) -> None:
    named = [broken for broken, text in report.items() if re.search(re.escape(edge) + r"\b", text)]
    assert contract in named
    assert set(named) <= {contract, "cycles"}  # an upward import may also create a cycle


def test_a_module_that_no_layer_lists_is_named(tmp_path: Path) -> None:
    build_house(tmp_path)
    for package in PACKAGE_OF.values():
        plant(tmp_path, f"{package}unlisted.py", "")
    broken = broken_contracts(tmp_path)
    assert set(broken) == set(PACKAGE_OF)
    assert all("unlisted" in text for text in broken.values())


def test_allowed_imports_break_no_contract(tmp_path: Path) -> None:
    build_house(tmp_path)
    for file, line in ALLOWED:
        plant(tmp_path, file, line)
    assert broken_contracts(tmp_path) == {}


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
    """An empty module for every name that a contract of layers lists."""
    config = configparser.ConfigParser()
    config.read(CONFIG)
    plant(root, "__init__.py", "")
    for contract, package in PACKAGE_OF.items():
        for name in re.findall(r"\w+", config[f"importlinter:{contract}"]["layers"]):
            if name in FILES or package == "assembly/":
                plant(root, f"{package}{name}.py", "")
            elif name not in ("assembly", "domain"):
                plant(root, f"{package}{name}/__init__.py", "")
                plant(root, f"{package}{name}/room.py", "")
        if package:
            plant(root, f"{package}__init__.py", "")


def plant(root: Path, file: str, line: str) -> None:
    path = root / "interlock" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{line}\n" if line else "")


def broken_contracts(root: Path) -> dict[str, str]:
    """Each broken contract with its part of the report."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    result = subprocess.run(
        [*command, "--config", str(CONFIG), "--no-cache", "--no-logo"],
        cwd=root,
        # A wide terminal, so that no name is broken over two lines; the copy comes before the installed package.
        env={**os.environ, "COLUMNS": "400", "NO_COLOR": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    verdicts, _, details = result.stdout.partition("Broken contracts")
    names = contracts()
    states = {
        name: re.search(rf"^{re.escape(name)} (KEPT|BROKEN)\b", verdicts, re.MULTILINE) for name in names.values()
    }
    assert all(states.values()), result.stdout + result.stderr
    headings = re.compile("^(" + "|".join(map(re.escape, names.values())) + r")\n-+$", re.MULTILINE)
    pieces = headings.split(details)[1:]
    texts = dict(zip(pieces[::2], pieces[1::2], strict=True))
    broken = {
        contract: texts[name] for contract, name in names.items() if (state := states[name]) and state[1] == "BROKEN"
    }
    assert (result.returncode != 0) == bool(broken)
    return broken

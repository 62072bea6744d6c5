"""Every documented command exists, and every command is documented."""

import argparse
import re
from pathlib import Path

from interlock.cli.words.parser import build

ROOT = Path(__file__).parents[2]


def commands(parser: argparse.ArgumentParser, path: str = "interlock") -> set[str]:
    paths: set[str] = set()
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            for name, child in dict(action.choices).items():  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType, reportUnknownVariableType]
                paths |= commands(child, f"{path} {name}")  # pyright: ignore[reportUnknownArgumentType]
    return paths or {path}


def test_every_command_has_its_row_in_the_interface_and_every_row_its_command() -> None:
    text = (ROOT / "docs" / "interface.md").read_text()
    rows = set(re.findall(r"^\| `(interlock [a-z -]+)` \|", text, re.MULTILINE))
    assert rows == commands(build())


def test_commands_named_in_the_readme_exist() -> None:
    text = (ROOT / "README.md").read_text()
    known = commands(build())
    named = set(re.findall(r"`interlock ((?:tracks|tickets|approvals|journal|workers) [a-z]+|run|resume|doctor)", text))
    assert named
    assert {f"interlock {name}" for name in named} <= known


def test_links_between_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"

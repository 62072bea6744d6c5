"""The project for the corpus of commands: with secrets, links to the outside, and a repository."""

import json
import subprocess
from pathlib import Path
from typing import Any

from interlock.domain.checks.closed_names import ClosedNames
from interlock.policy.sources import shipped_rules
from interlock.policy.verdict import ShellPolicy

CORPUS = Path(__file__).with_name("policy_corpus.jsonl")
FILES = {
    "README.md": "# Shop\n",
    "src/app.py": "def main(): ...\n",
    "tests/test_app.py": "def test_main(): ...\n",
    "docs/my guide.md": "guide\n",
    ".env": "KEY=secret\n",
    "config/server.pem": "-----BEGIN PRIVATE KEY-----\n",
    "interlock.toml": "",
}


def corpus() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CORPUS.read_text().splitlines()]


def make_project(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "link").symlink_to("/etc")
    (folder / "src" / "away").symlink_to("/etc/passwd")
    (folder / "secretlink").symlink_to(".env")
    (folder / "docs" / "deep").mkdir()
    (folder / "src" / "lnk").symlink_to("../docs/deep")
    (folder / "src" / "up").symlink_to("..")
    subprocess.run(["git", "init", "-q", str(folder)], check=True, capture_output=True)
    return folder


def shipped_policy(home: str = "/users/me") -> ShellPolicy:
    """A policy with only the shipped rules."""
    return ShellPolicy(shipped_rules, ClosedNames().refusal, home)

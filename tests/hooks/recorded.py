"""Puts the recorded agents on a PATH."""

import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("recorded_agent.py")


def put_agents(folder: Path, fault: str = "") -> str:
    """Makes programs `claude`, `codex` and `gemini`. Returns a PATH with them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("claude", "codex", "gemini"):
        program = folder / name
        program.write_text(f"#!{sys.executable}\n{SOURCE.read_text()}")
        program.chmod(0o755)
    (folder / "FAULT").write_text(fault)
    return f"{folder}:/usr/bin:/bin"

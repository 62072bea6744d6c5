"""Current file contents, with the same path rules and refusals as all tools."""

import asyncio
import os
from pathlib import Path

from interlock.ports.tools import ToolPlace
from tests.tools.desk import Desk


def test_texts_are_read_only_where_tools_may_read(desk: Desk, tmp_path: Path) -> None:
    (desk.folder / "a.py").write_text("a\n")
    (desk.folder / ".env").write_text("SECRET=1")
    (desk.folder / "binary").write_bytes(b"\0\1\2")
    (desk.folder / "folder").mkdir()
    outside = tmp_path / "outside"
    outside.write_text("outside")
    os.symlink(outside, desk.folder / "link")
    asked = ["a.py", "gone.py", "no/such/folder", ".env", "binary", "folder", "link", "../outside", "a\0b"]
    texts = asyncio.run(desk.tools.texts(ToolPlace(str(desk.folder)), asked))
    assert texts == {"a.py": "a\n", "gone.py": None, "no/such/folder": None}

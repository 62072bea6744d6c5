"""Files as they are now: by the same paths, and with the same refusals, as every tool's."""

import asyncio
import os
from pathlib import Path

from interlock.ports.tools import ToolPlace
from tests.tools.desk import Desk


def test_texts_are_read_where_tools_may_read_and_nothing_else_is_told(desk: Desk, tmp_path: Path) -> None:
    (desk.folder / "a.py").write_text("a\n")
    (desk.folder / ".env").write_text("SECRET=1")
    (desk.folder / "binary").write_bytes(b"\0\1\2")
    (desk.folder / "folder").mkdir()
    outside = tmp_path / "outside"
    outside.write_text("outside")
    os.symlink(outside, desk.folder / "link")
    asked = ["a.py", "gone.py", "no/such/folder", ".env", "binary", "folder", "link", "../outside", "a\0b"]
    found = asyncio.run(desk.tools.texts(ToolPlace(str(desk.folder)), asked))
    assert found == {"a.py": "a\n", "gone.py": None, "no/such/folder": None}

"""A small project, the real sandbox, and a comparison of two folders."""

import hashlib
import os
import stat
from pathlib import Path

from interlock.ports.effects import FoundEffect
from interlock.ports.processes import Job, Layer, Sandbox
from interlock.ports.tools import ToolOutcome
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox, program
from interlock.workspaces.effects.previews import Previews
from interlock.workspaces.effects.undo_store import UndoStore

AVAILABLE = program() is not None
PATCH = """--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,3 @@
 one
+between
 line
"""


def make_project(root: Path) -> Path:
    for folder in ("docs/sub", "src", "empty", "closed"):
        (root / folder).mkdir(parents=True)
    (root / "a.txt").write_text("one\nline\n")
    (root / "docs/guide.md").write_text("title\n\nsome text\nend\n")
    (root / "docs/sub/deep.md").write_text("deep\n")
    (root / "src/main.py").write_text("import util\n\n\ndef main():\n    pass\n")
    (root / "src/util.py").write_text("def util():\n    pass\n")
    (root / "run.sh").write_text("#!/bin/sh\necho hi\n")
    (root / "run.sh").chmod(0o755)
    (root / "data.bin").write_bytes(bytes(range(256)) * 8)
    (root / "change.patch").write_text(PATCH)
    (root / "link").symlink_to("docs")
    (root / "twin1").write_text("twin\n")
    os.link(root / "twin1", root / "twin2")
    (root / "closed").chmod(0o555)
    return root


def tree(root: Path) -> dict[str, tuple[object, ...]]:
    """Kind, permissions, content, target and hard links of everything below a folder."""
    found: dict[str, tuple[object, ...]] = {}
    names: dict[int, list[str]] = {}
    _look(os.fsencode(root), b"", found, names)
    for paths in names.values():
        for path in paths:
            found[path] += tuple(sorted(paths))
    return found


def _look(root: bytes, folder: bytes, found: dict[str, tuple[object, ...]], names: dict[int, list[str]]) -> None:
    for name in sorted(os.listdir(os.path.join(root, folder))):
        if not folder and name in (b".interlock", b".git"):
            continue
        path = os.path.join(folder, name)
        full, shown = os.path.join(root, path), path.decode("latin-1")
        status = os.lstat(full)
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            found[shown] = ("link", os.readlink(full))
            continue
        os.chmod(full, 0o700)  # an ordinary user could not look into a closed one
        if stat.S_ISDIR(status.st_mode):
            found[shown] = ("folder", mode)
            _look(root, path, found, names)
        else:
            found[shown] = ("file", mode, hashlib.sha256(_read(full)).hexdigest())
            names.setdefault(status.st_ino, []).append(shown)
        os.chmod(full, mode)


def _read(full: bytes) -> bytes:
    with open(full, "rb") as file:
        return file.read()


class Scene:
    """A project with previews of its own."""

    def __init__(self, folder: Path, sandbox: Sandbox | None = None) -> None:
        self.root = make_project(folder / "project")
        self.timeout_s = 20.0
        self.undo = UndoStore(self.root / ".interlock" / "undo", lambda: "2026-01-01T00:00:00Z")
        self.sandbox = sandbox or BubblewrapSandbox(hidden=(str(folder / "state"),))
        self.previews = Previews(folder / "state" / "previews" / "p", self.undo, self.sandbox.level)

    async def run(self, script: str, layer: Layer | None = None, root: Path | None = None) -> ToolOutcome:
        place = str(root or self.root)
        job = Job(
            argv=("bash", "-c", script),
            cwd=place,
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"},
            writable=(place,),
            timeout_s=self.timeout_s,
            layer=layer,
        )
        finished = await self.sandbox.run(job)
        text = f"{finished.message}\n{finished.stdout}\n{finished.stderr}"
        return ToolOutcome(text, not finished.succeeded, None if finished.status == "error" else finished.exit_code)

    async def preview(self, script: str, key: str = "k") -> FoundEffect:
        return await self.previews.preview(key, str(self.root), lambda layer: self.run(script, layer))

    async def apply(self, digest: str, key: str = "k") -> ToolOutcome:
        return await self.previews.apply(key, str(self.root), digest, "a script")

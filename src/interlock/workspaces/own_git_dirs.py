"""Git folders of our own, without objects and branches: git finds no foreign setting, filter, driver or hook there.

They are written again at each opening, so that no foreign file survives. Attributes of `info/attributes` override
every `.gitattributes`.
"""

import contextlib
import os
import shutil
from pathlib import Path

_BYTES_AS_THEY_ARE = b"* -text !eol -ident -filter -working-tree-encoding\n"
_NO_PROGRAMS = b"* -filter\n"
"""Line endings and encodings stay as the user's attributes say: git converts them itself."""
_SPARSE = "info/sparse-checkout"


def write_for_work(folder: Path, object_format: str, shared: str, ignored: bytes) -> None:
    """For the files of workers: they are stored and restored byte for byte."""
    _write(folder, object_format, shared, _BYTES_AS_THEY_ARE)
    (folder / "info" / "exclude").write_bytes(ignored)


def write_for_users_files(folder: Path, object_format: str, shared: str, git_dir: str) -> None:
    """For the user's own work tree, with the patterns of its sparse checkout."""
    _write(folder, object_format, shared, _NO_PROGRAMS)
    with contextlib.suppress(FileNotFoundError):
        (folder / _SPARSE).unlink()
    patterns = os.path.join(git_dir, _SPARSE)
    if os.path.isfile(patterns):
        shutil.copyfile(patterns, folder / _SPARSE)


def share_index_parts(folder: Path, git_dir: str) -> None:
    """Links the shared parts of the user's split index, which git looks for in its own folder."""
    for old in folder.glob("sharedindex.*"):
        old.unlink(missing_ok=True)
    for part in Path(git_dir).glob("sharedindex.*"):
        (folder / part.name).symlink_to(part)


def set_head(folder: Path, commit: str) -> None:
    part = folder / f"HEAD.{os.getpid()}"
    part.write_text(f"{commit}\n")
    part.replace(folder / "HEAD")


def _write(folder: Path, object_format: str, shared: str, attributes: bytes) -> None:
    for name in ("refs", "info"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    lines = ["[core]", "\trepositoryFormatVersion = 1", "\tbare = false"]
    if shared:
        lines.append(f"\tsharedRepository = {shared}")
    lines += ["[extensions]", f"\tobjectFormat = {object_format}", ""]
    (folder / "config").write_text("\n".join(lines))
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    (folder / "info" / "attributes").write_bytes(attributes)

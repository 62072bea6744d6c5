"""Rules about files: their location, their length, and forbidden contents."""

import re
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "interlock"
MODULES = sorted(SOURCE.rglob("*.py"))
GENERATED = re.compile(r"_pb2(_grpc)?\.pyi?$")


def test_init_files_are_empty_so_that_a_name_has_one_address() -> None:
    assert [_name(path) for path in MODULES if path.name == "__init__.py" and path.stat().st_size] == []


def test_every_package_has_an_init_file() -> None:
    folders = {path.parent for path in MODULES}
    assert [_name(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_no_module_is_longer_than_500_lines() -> None:
    lengths = {_name(path): len(path.read_text().splitlines()) for path in MODULES if not GENERATED.search(path.name)}
    assert {name: length for name, length in lengths.items() if length > 500} == {}


def test_no_folder_holds_more_than_15_modules() -> None:
    crowded = Counter(_name(path.parent) for path in MODULES)
    assert {folder: count for folder, count in crowded.items() if count > 15} == {}


def test_no_module_is_named_after_nothing() -> None:
    empty_words = re.compile(r"(^|_)(utils?|common|helpers?|manager|misc)(_|$)")
    names = {part for path in MODULES for part in path.relative_to(SOURCE).with_suffix("").parts}
    assert [name for name in sorted(names) if empty_words.search(name)] == []


def test_the_lock_file_has_hashes_and_names_no_index() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert [line for line in lines if re.search(r"https?:|file:|index|find-links|trusted-host|@", line)] == []
    pinned = [line for line in lines if "==" in line]
    assert pinned
    assert [line for line in pinned if not line.endswith(" \\")] == [], "each version is followed by its hashes"


def test_no_tracked_file_names_a_folder_of_one_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    home = re.compile(r"(?<![\w.])/(home|Users|root)/\w")
    own = str(ROOT)
    guilty: list[str] = []
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_file() and path.suffix not in {".png", ".gif", ".db"}:
            text = path.read_text(errors="replace")
            guilty += [f"{name}:{text.count(chr(10), 0, match.start()) + 1}" for match in home.finditer(text)]
            guilty += [name] if own in text else []
    assert guilty == []


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))

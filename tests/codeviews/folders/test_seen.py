"""Files that have not changed are not read again, and nobody is ever shown what a file held before."""

import mmap
import os
import shutil
import subprocess
import sys
from ast import literal_eval
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from interlock.codeviews.folders import many, read_file, seen
from interlock.codeviews.folders.cache import Cache
from interlock.codeviews.folders.many import views
from interlock.codeviews.folders.one import Skipped, Viewed
from interlock.codeviews.folders.seen import SETTLED_NS, Note, Seen, State, state_of
from interlock.codeviews.folders.walk import FoundFile, find
from interlock.codeviews.views.view import KINDS, VERSION, Kind

OLD = b"def f():\n    return 1\nold = 1\n"
NEW = b"def f():\n    return 1\nnew = 2\n"
STATE = State(1, 2, 3, 4, 5)
NOTE = Note(STATE, "python", b"digest")


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes are taken at once: the files of a test are new."""
    monkeypatch.setattr(seen, "SETTLED_NS", 0)


def looked_at(path: Path, cache: Path | None, kind: Kind = "skeleton") -> list[Viewed | Skipped]:
    return list(views(kind, find([str(path)]), Cache(cache) if cache is not None else None, 1))


def test_old_and_new_are_of_one_size() -> None:
    assert len(OLD) == len(NEW)


@pytest.mark.usefixtures("hasty")
def test_what_has_not_changed_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    for name, content in {"a.py": OLD, "b.bin": b"\0", "c": b"-----BEGIN PRIVATE KEY", "d.xy": b"text"}.items():
        (tmp_path / "src" / name).write_bytes(content)
    before = looked_at(tmp_path / "src", tmp_path / "cache")
    assert before == looked_at(tmp_path / "src", None)

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(many, "make", never)
    assert looked_at(tmp_path / "src", tmp_path / "cache") == before


@pytest.mark.usefixtures("hasty")
def test_one_note_serves_every_kind_of_view_and_every_name_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_bytes(OLD)
    monkeypatch.chdir(tmp_path)
    for kind in KINDS:
        for path in (Path("a.py"), tmp_path / "a.py"):
            for _ in range(2):
                assert looked_at(path, tmp_path / "cache", kind) == looked_at(path, None, kind)
    cache = Cache(tmp_path / "cache")
    state = state_of(FoundFile("a.py"))
    assert state is not None
    assert cache.seen.recall(str(tmp_path / "a.py"), state) == cache.seen.recall("a.py", state) is not None


def written(path: Path) -> None:
    path.write_bytes(NEW)


def written_with_the_old_time(path: Path) -> None:
    told = path.stat()
    path.write_bytes(NEW)
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))


def moved_over(path: Path) -> None:
    told = path.stat()
    other = path.with_name("other")
    other.write_bytes(NEW)
    os.utime(other, ns=(told.st_atime_ns, told.st_mtime_ns))
    other.replace(path)


def restored_from_a_backup(path: Path) -> None:
    backup = path.with_name("backup")
    backup.write_bytes(NEW)
    os.utime(backup, (1_000_000_000, 1_000_000_000))
    shutil.copy2(backup, path)
    backup.unlink()


def written_by_another_name(path: Path) -> None:
    other = path.parent.parent / "linked"
    other.unlink(missing_ok=True)
    os.link(path, other)
    other.write_bytes(NEW)


def made_a_link(path: Path) -> None:
    other = path.parent.parent / "elsewhere"
    other.write_bytes(NEW)
    path.unlink(missing_ok=True)
    path.symlink_to(other)


def made_a_fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def made_a_folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def made_binary(path: Path) -> None:
    path.write_bytes(b"\0" * len(OLD))


def removed(path: Path) -> None:
    path.unlink()


CHANGES = [
    *(written, written_with_the_old_time, moved_over, restored_from_a_backup, written_by_another_name),
    *(made_a_link, made_a_fifo, made_a_folder, made_binary, removed),
]


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("before", [OLD, b"\0old"], ids=["a text", "a binary file"])
def test_a_change_is_seen_however_it_is_made(tmp_path: Path, before: bytes, change: Callable[[Path], None]) -> None:
    path = tmp_path / "src" / "a.py"
    path.parent.mkdir()
    path.write_bytes(before)
    state = state_of(FoundFile(str(path)))
    for _ in range(2):
        looked_at(path.parent, tmp_path / "cache")
    change(path)
    while state_of(FoundFile(str(path))) == state:  # within a tick: of such a file no note would have been taken
        change(path)
    found = [FoundFile(str(path))]
    assert list(views("skeleton", iter(found), Cache(tmp_path / "cache"), 1)) == list(
        views("skeleton", iter(found), None, 1)
    )
    assert looked_at(path.parent, tmp_path / "cache") == looked_at(path.parent, None)


@pytest.mark.parametrize(
    ("age_ns", "noted"),
    [(0, False), (SETTLED_NS - 1, False), (SETTLED_NS, True), (-3_600 * 10**9, False)],
    ids=["in the same tick", "a moment ago", "long ago", "in the future: the clock was set back"],
)
def test_only_a_file_that_changed_long_ago_is_noted(tmp_path: Path, age_ns: int, noted: bool) -> None:
    known = Seen(str(tmp_path), now=lambda: STATE.changed + age_ns)
    known.note("/a/b.py", NOTE)
    known.save()
    assert known.recall("/a/b.py", STATE) == Seen(str(tmp_path)).recall("/a/b.py", STATE) == (NOTE if noted else None)


def test_a_file_that_was_just_written_is_read_again(tmp_path: Path) -> None:
    """Also if nothing tells that it has changed: the second write may come in the same tick."""
    path = tmp_path / "a.py"
    for content in (OLD, NEW, OLD, NEW) * 20:
        path.write_bytes(content)
        os.utime(path, (1, 1))
        (one,) = looked_at(path, tmp_path / "cache")
        assert isinstance(one, Viewed)
        assert one.view.endswith(content[-8:])
    assert not (tmp_path / "cache" / VERSION / "seen").exists()


@pytest.mark.parametrize("field", State._fields)
def test_every_part_of_the_state_counts(tmp_path: Path, field: str) -> None:
    known = Seen(str(tmp_path))
    known.note("/a/b.py", NOTE)
    assert known.recall("/a/b.py", STATE._replace(**{field: 9})) is None


@pytest.mark.usefixtures("hasty")
def test_no_byte_of_the_notes_can_change_what_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(OLD)
    cache = tmp_path / "cache"
    before = looked_at(tmp_path / "a.py", cache)
    (notes,) = (cache / VERSION / "seen").iterdir()
    content = notes.read_bytes()
    for at in range(len(content)):
        notes.write_bytes(content[:at] + bytes([content[at] ^ 0xC4]) + content[at + 1 :])
        assert looked_at(tmp_path / "a.py", cache) == before


@pytest.mark.parametrize("content", [b"", b"\xff", b"\x81\xa1a", b"\x81\xa1a\x01", b"[]"])
def test_damaged_notes_count_as_missing_and_are_written_anew(tmp_path: Path, content: bytes) -> None:
    known = Seen(str(tmp_path))
    known.note("/a/b.py", NOTE)
    known.save()
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    again = Seen(str(tmp_path))
    assert again.recall("/a/b.py", STATE) is None
    again.note("/a/b.py", NOTE)
    again.save()
    assert Seen(str(tmp_path)).recall("/a/b.py", STATE) == NOTE


def test_notes_that_cannot_be_written_cost_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    known = Seen(str(tmp_path / "file" / "seen"))
    known.note("/a/b.py", NOTE)
    known.save()
    assert Seen(str(tmp_path / "file" / "seen")).recall("/a/b.py", STATE) is None


def test_of_a_name_that_is_no_text_no_note_is_taken(tmp_path: Path) -> None:
    known = Seen(str(tmp_path))
    name = os.fsdecode(b"/a/\xff.py")
    known.note(name, NOTE)
    known.note("/a/b.py", NOTE)
    known.save()
    again = Seen(str(tmp_path))
    assert (again.recall(name, STATE), again.recall("/a/b.py", STATE)) == (None, NOTE)


def test_notes_do_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "MOST", 3)
    known = Seen(str(tmp_path))
    for number in range(4):
        known.note(f"/a/{number}", NOTE)
    assert [known.recall(f"/a/{number}", STATE) for number in range(4)] == [None, None, None, NOTE]


def test_many_may_take_notes_at_once(tmp_path: Path) -> None:
    def use(number: int) -> bool:
        known = Seen(f"{tmp_path}/seen")
        known.note(f"/a/{number % 5}", NOTE)
        known.save()
        return Seen(f"{tmp_path}/seen").recall("/a/0", STATE) in (NOTE, None)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(use, range(200)))


@pytest.mark.usefixtures("hasty")
def test_a_view_that_is_gone_from_the_cache_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(OLD)
    before = looked_at(tmp_path / "a.py", tmp_path / "cache")
    for entry in (tmp_path / "cache" / VERSION).glob("??"):
        shutil.rmtree(entry)
    assert looked_at(tmp_path / "a.py", tmp_path / "cache") == before


# ── files that changed a moment ago ──────────────────────────────────────────────────────


def quiet(path: Path) -> bool:
    return read_file.read(FoundFile(str(path)), leases=True).quiet


def test_whether_anybody_writes_a_file_is_asked_of_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_file, "TICK_NS", 0)
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    assert quiet(path)
    assert not read_file.read(FoundFile(str(path))).quiet  # nobody said that this process may ask
    with open(path, "r+b") as file:
        assert not quiet(path)
        mapped = mmap.mmap(file.fileno(), len(OLD))
    assert not quiet(path)
    mapped[:3] = b"abc"
    assert not quiet(path)
    mapped.close()
    assert quiet(path)
    (tmp_path / "b.bin").write_bytes(b"\0")
    assert read_file.read(FoundFile(str(tmp_path / "b.bin")), leases=True) == (b"", "a binary file", True)


def test_what_changed_in_the_last_seconds_is_never_quiet(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    os.utime(path, (1, 1))
    assert not quiet(path)


def run_in_processes(folder: Path, cache: Path) -> list[tuple[str, bytes | str]]:
    """A minute is as long as ever, but ticks are short."""
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from interlock.codeviews.folders import many, read_file\n"
        "from interlock.codeviews.folders.cache import Cache\n"
        "from interlock.codeviews.folders.walk import find\n"
        "read_file.TICK_NS, many.WORTH_A_POOL, many.CHUNK_BYTES = 0, 10, 100\n"
        "made = many.views('skeleton', find([sys.argv[1]]), Cache(Path(sys.argv[2])), 2)\n"
        "print([(one.path, getattr(one, 'view', '') or one.reason) for one in made])\n"
    )
    words = [sys.executable, "-c", script, folder, cache]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return literal_eval(done.stdout)


def test_a_file_that_nobody_writes_is_noted_at_once_and_one_that_is_mapped_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    for name in ("a.py", "mapped.py"):
        (folder / name).write_bytes(OLD)
    (folder / "c.bin").write_bytes(b"\0")
    with open(folder / "mapped.py", "r+b") as file, mmap.mmap(file.fileno(), len(OLD)) as mapped:
        mapped[-8:] = OLD[-8:]  # the page is written to; what follows tells nobody anything
        run_in_processes(folder, tmp_path / "cache")
        known = Cache(tmp_path / "cache").seen
        states = {name: state_of(FoundFile(str(folder / name))) for name in ("a.py", "mapped.py", "c.bin")}
        noted = {name for name, state in states.items() if state and known.recall(str(folder / name), state)}
        assert noted == {"a.py", "c.bin"}
        mapped[:] = NEW
        assert state_of(FoundFile(str(folder / "mapped.py"))) == states["mapped.py"]  # the kernel says nothing of it
        told = dict(run_in_processes(folder, tmp_path / "cache"))
        assert told[str(folder / "mapped.py")] == b"def f():\n    ...\nnew = 2\n"
        assert told[str(folder / "a.py")] == b"def f():\n    ...\nold = 1\n"

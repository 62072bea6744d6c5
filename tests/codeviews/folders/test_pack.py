"""Packs: unchanged files are not read again, and no view of an old content is shown."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from interlock.codeviews.folders import many, pack
from interlock.codeviews.folders.cache import Cache
from interlock.codeviews.folders.many import shown, views
from interlock.codeviews.folders.one import Skipped, Viewed
from interlock.codeviews.folders.pack import TICK_NS, FileState, Pack, SeenFile, View, see_file
from interlock.codeviews.folders.walk import FoundFile, find
from interlock.codeviews.views import tokens
from interlock.codeviews.views.view import KINDS
from interlock.domain.checks.closed_names import ClosedNames

OLD = b"def f():\n    return 1\nold = 1\n"
NEW = b"def f():\n    return 1\nnew = 2\n"
STATE = FileState(1, 2, 3, 4, 5)
SEEN = SeenFile(STATE, settled=True)
VIEW = View(b"view\nof it", 10, 3)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled at once. The tests make each change in a separate clock tick."""
    monkeypatch.setattr(pack, "TICK_NS", 0)


def tick(place: Path) -> None:
    """Wait until the file system's clock advances."""
    probe = place.parent.parent / "probe"
    probe.touch()
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        probe.touch()


def cached(place: Path, cache: Path) -> list[Viewed | Skipped]:
    tick(place)
    result = list(shown("skeleton", [str(place)], Cache(cache), ClosedNames(), 1))
    tick(place)
    return result


def uncached(place: Path) -> list[Viewed | Skipped]:
    return list(views("skeleton", find([str(place)], ClosedNames()), None, 1))


def the_pack(cache: Path) -> Path:
    (path,) = (path for path in cache.iterdir() if path.name != "pruned")
    return path


def never(*_: object) -> None:
    raise AssertionError


# ── the file ─────────────────────────────────────────────────────────────────────────────


def filled(path: Path, count: int = 3) -> dict[str, View]:
    stored = {f"f{number}.py": View(b"view %d\n" % number * number, number, number + 1) for number in range(count)}
    new = Pack(str(path))
    for name, view in stored.items():
        new.add(name, SEEN, name.encode(), "python", view, "")
    new.save(complete=True)
    return stored


def read(path: Path) -> Iterator[tuple[str, View | None]]:
    stored = Pack(str(path))
    for name in ("f0.py", "f1.py", "f2.py"):
        packed = stored.find(name)
        if packed is not None:
            yield name, stored.view(packed)


def test_a_pack_gives_back_what_was_added(tmp_path: Path) -> None:
    stored = filled(tmp_path / "pack")
    assert dict(read(tmp_path / "pack")) == stored
    assert os.listdir(tmp_path) == ["pack"]


def test_a_pack_that_ends_anywhere_counts_as_missing(tmp_path: Path) -> None:
    filled(tmp_path / "pack")
    content = (tmp_path / "pack").read_bytes()
    for end in range(len(content)):
        (tmp_path / "pack").write_bytes(content[:end])
        assert list(read(tmp_path / "pack")) == []


def test_a_changed_byte_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    stored = filled(tmp_path / "pack")
    content = (tmp_path / "pack").read_bytes()
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1
        (tmp_path / "pack").write_bytes(damaged)
        assert all(view in (stored[name], None) for name, view in read(tmp_path / "pack"))


def test_a_pack_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    filled(tmp_path / "file" / "pack")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_bytes(OLD)
    (one,) = shown("skeleton", [str(tmp_path / "src")], Cache(tmp_path / "file" / "cache"), ClosedNames(), 1)
    assert isinstance(one, Viewed)


def test_many_write_one_pack_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        results = list(
            threads.map(lambda _: dict(read(tmp_path / "pack")) if filled(tmp_path / "pack") else {}, range(40))
        )
    assert all(set(result) in ({"f0.py", "f1.py", "f2.py"}, set()) for result in results)


def test_a_file_whose_name_is_not_text_is_shown_and_not_packed(tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "a.py").write_bytes(OLD)
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff.py"))).write_bytes(OLD)
    for _ in range(2):
        assert cached(folder, tmp_path / "cache") == uncached(folder)


@pytest.mark.usefixtures("settled")
def test_few_changes_do_not_write_the_pack_again(tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    for number in range(100):
        (folder / f"f{number}.py").write_bytes(OLD)
    cached(folder, tmp_path / "cache")
    before = the_pack(tmp_path / "cache").stat().st_ino
    (folder / "f0.py").write_bytes(NEW)
    assert cached(folder, tmp_path / "cache") == uncached(folder)
    assert the_pack(tmp_path / "cache").stat().st_ino == before
    for number in range(3):
        (folder / f"f{number}.py").write_bytes(NEW + b"\n")
    assert cached(folder, tmp_path / "cache") == uncached(folder)
    assert the_pack(tmp_path / "cache").stat().st_ino != before


def test_old_packs_and_the_oldest_above_the_size_limit_are_removed_once_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, age in {"new": 0, "older": 100, "oldest": 200}.items():
        filled(tmp_path / name)
        then = (tmp_path / name).stat().st_mtime - age
        os.utime(tmp_path / name, (then, then))
    filled(tmp_path / "month")
    os.utime(tmp_path / "month", (0, 0))
    (tmp_path / "4" / "ab").mkdir(parents=True)  # as an earlier version stored views
    monkeypatch.setattr("interlock.codeviews.folders.cache.KEEP_BYTES", (tmp_path / "new").stat().st_size * 2)
    Cache(tmp_path).prune()
    assert sorted(os.listdir(tmp_path)) == ["new", "older", "pruned"]
    filled(tmp_path / "month")
    os.utime(tmp_path / "month", (0, 0))
    Cache(tmp_path).prune()
    assert (tmp_path / "month").exists()


# ── files read again ────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("settled")
def test_unchanged_files_are_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    for name, content in {"a.py": OLD, "b.bin": b"\0", "c": b"-----BEGIN PRIVATE KEY", "d.xy": b"text"}.items():
        (folder / name).write_bytes(content)
    before = cached(folder, tmp_path / "cache")
    assert before == uncached(folder)
    monkeypatch.setattr(many, "make", never)
    assert cached(folder, tmp_path / "cache") == before


@pytest.mark.usefixtures("settled")
def test_a_file_with_a_new_time_and_the_same_content_is_read_and_not_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "a.py").write_bytes(OLD)
    before = cached(folder, tmp_path / "cache")
    (folder / "a.py").touch()
    monkeypatch.setattr("interlock.codeviews.folders.one.view", never)
    assert cached(folder, tmp_path / "cache") == before


@pytest.mark.usefixtures("settled")
def test_every_kind_and_every_way_of_counting_has_its_own_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "a.py").write_bytes(OLD)
    for method in ("counted", "estimated"):
        monkeypatch.setattr(tokens, "method", lambda method=method: method)
        for kind in KINDS:
            for _ in range(2):
                result = list(shown(kind, [str(folder)], Cache(tmp_path / "cache"), ClosedNames(), 1))
                assert result == list(views(kind, find([str(folder)], ClosedNames()), None, 1))
    assert len(os.listdir(tmp_path / "cache")) == 2 * len(KINDS) + 1


@pytest.mark.parametrize(
    ("age_ns", "settled"),
    [(0, False), (TICK_NS, False), (TICK_NS + 1, True), (-3_600 * 10**9, False)],
    ids=["in the same tick", "within a tick", "before", "in the future: the clock was set back"],
)
def test_a_file_is_settled_when_its_last_change_is_more_than_a_tick_ago(
    tmp_path: Path, age_ns: int, settled: bool
) -> None:
    (tmp_path / "a.py").write_bytes(OLD)
    changed = (tmp_path / "a.py").stat().st_ctime_ns
    seen = see_file(str(tmp_path / "a.py"), follow=False, now_ns=lambda: changed + age_ns)
    assert seen is not None
    assert seen.settled == settled


def test_a_file_that_was_just_written_is_read_again(tmp_path: Path) -> None:
    """Two writes may happen in one tick: then only the content differs."""
    folder = tmp_path / "src"
    folder.mkdir()
    for content in (OLD, NEW, OLD, NEW) * 20:
        (folder / "a.py").write_bytes(content)
        os.utime(folder / "a.py", (1, 1))
        (one,) = shown("skeleton", [str(folder)], Cache(tmp_path / "cache"), ClosedNames(), 1)
        assert isinstance(one, Viewed)
        assert one.view.endswith(content[-8:])


@pytest.mark.parametrize("field", FileState._fields)
def test_every_part_of_the_state_counts(tmp_path: Path, field: str) -> None:
    filled(tmp_path / "pack")
    stored = Pack(str(tmp_path / "pack"))
    packed = stored.find("f1.py")
    assert packed is not None
    assert stored.is_current(packed, SEEN)
    assert not stored.is_current(packed, SeenFile(STATE._replace(**{field: 9}), settled=True))


def written(path: Path) -> None:
    path.write_bytes(NEW)


def written_with_the_old_time(path: Path) -> None:
    status = path.stat()
    path.write_bytes(NEW)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def moved_over(path: Path) -> None:
    status = path.stat()
    other = path.with_name("other")
    other.write_bytes(NEW)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
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


FILE_CHANGES = [
    *(written, written_with_the_old_time, moved_over, restored_from_a_backup, written_by_another_name),
    *(made_a_link, made_a_fifo, made_a_folder, made_binary, removed),
]


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", FILE_CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("before", [OLD, b"\0old"], ids=["a text", "a binary file"])
def test_a_change_is_seen_however_it_is_made(tmp_path: Path, before: bytes, change: Callable[[Path], None]) -> None:
    path = tmp_path / "src" / "a.py"
    path.parent.mkdir()
    path.write_bytes(before)
    for _ in range(2):
        cached(path.parent, tmp_path / "cache")
    change(path)
    files = [FoundFile(str(path))]
    stored = Cache(tmp_path / "cache").pack("skeleton", [str(path.parent)])
    assert list(views("skeleton", iter(files), stored, 1)) == list(views("skeleton", iter(files), None, 1))
    assert cached(path.parent, tmp_path / "cache") == uncached(path.parent)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder `repo/src` with files of several kinds."""
    place = tmp_path / "repo" / "src"
    (place / "deep" / "deeper").mkdir(parents=True)
    (place / "empty").mkdir()
    for name in ("a.py", "b.py", "deep/c.py", "deep/deeper/d.py", "note.txt"):
        (place / name).write_text(f"def {name[-4]}():\n    return 1\n")
    (place / "binary").write_bytes(b"\0")
    (place / "server.pem").write_text("secret")
    (place / "link").symlink_to("a.py")
    (place / "deep" / ".gitignore").write_text("*.log\n")
    (place / "deep" / "x.log").write_text("log\n")
    (tmp_path / "repo" / ".git" / "info").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "info" / "exclude").write_text("*.bak\n")
    (tmp_path / "repo" / ".gitignore").write_text("build\n")
    return place


Change = Callable[[Path], object]
CHANGES: dict[str, Change] = {
    "a file is written": lambda place: (place / "deep" / "c.py").write_text("def new():\n    return 2\n"),
    "with its old time": lambda place: _with_its_old_time(place / "a.py"),
    "a file comes": lambda place: (place / "deep" / "deeper" / "new.py").write_text("x = 1\n"),
    "a file goes": lambda place: (place / "b.py").unlink(),
    "a file is renamed": lambda place: (place / "b.py").rename(place / "z.py"),
    "two files change places": lambda place: _swapped(place / "a.py", place / "deep" / "c.py"),
    "a file becomes a link": lambda place: ((place / "a.py").unlink(), (place / "a.py").symlink_to("b.py")),
    "a file becomes a FIFO": lambda place: ((place / "a.py").unlink(), os.mkfifo(place / "a.py")),
    "a file becomes a folder": lambda place: ((place / "a.py").unlink(), (place / "a.py").mkdir()),
    "something comes into an empty folder": lambda place: (place / "empty" / "e.py").write_text("x\n"),
    "a folder goes": lambda place: shutil.rmtree(place / "deep"),
    "a folder is replaced by another": lambda place: _replaced(place / "deep"),
    "the binary file becomes text": lambda place: (place / "binary").write_text("x\n"),
    "a rule within": lambda place: (place / "deep" / ".gitignore").write_text("*.py\n"),
    "a rule goes": lambda place: (place / "deep" / ".gitignore").unlink(),
    "a rule comes": lambda place: (place / ".gitignore").write_text("b.py\n"),
    "a rule above": lambda place: (place.parent / ".gitignore").write_text("a.py\n"),
    "a rule above goes": lambda place: (place.parent / ".gitignore").unlink(),
    "the repository's own exclusions": lambda place: (place.parent / ".git/info/exclude").write_text("b.py\n"),
    "no repository any more": lambda place: shutil.rmtree(place.parent / ".git"),
    "a repository of its own": lambda place: (place / ".git").mkdir(),
}


def _with_its_old_time(path: Path) -> None:
    status = path.stat()
    assert path.is_file()
    path.write_text(path.read_text().replace("1", "2"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _swapped(one: Path, two: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    two.rename(one)
    aside.rename(two)


def _replaced(folder: Path) -> None:
    shutil.copytree(folder, folder.with_name("copy"))
    (folder.with_name("copy") / "c.py").write_text("def other():\n    return 3\n")
    shutil.rmtree(folder)
    folder.with_name("copy").rename(folder)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", CHANGES)
def test_each_change_of_a_folder_is_seen(tmp_path: Path, repository: Path, change: str) -> None:
    for _ in range(2):
        cached(repository, tmp_path / "cache")
    CHANGES[change](repository)
    for _ in range(2):
        assert cached(repository, tmp_path / "cache") == uncached(repository)


@pytest.mark.usefixtures("settled")
def test_any_number_of_changes_one_after_the_other(tmp_path: Path, repository: Path) -> None:
    chance = random.Random(7)
    for _ in range(60):
        with suppress(OSError, AssertionError):  # an earlier change has removed the file
            CHANGES[chance.choice(list(CHANGES))](repository)
        if not (repository / "a.py").is_file():
            if (repository / "a.py").is_dir():
                shutil.rmtree(repository / "a.py")
            (repository / "a.py").unlink(missing_ok=True)
            (repository / "a.py").write_text("def a():\n    return 1\n")
        for _ in range(chance.randint(1, 2)):
            assert cached(repository, tmp_path / "cache") == uncached(repository)


# ── interruption, damage, parallel ───────────────────────────────────────────────────────


@pytest.mark.usefixtures("settled")
def test_a_run_that_stops_early_keeps_what_it_made_and_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    for number in range(10):
        (folder / f"f{number}.py").write_bytes(OLD)
    monkeypatch.setattr(many, "BATCH", 2)
    cached(folder, tmp_path / "cache")
    for number in range(10):
        (folder / f"f{number}.py").write_bytes(NEW)
    tick(folder)
    some = shown("skeleton", [str(folder)], Cache(tmp_path / "cache"), ClosedNames(), 1)
    next(some)
    some.close()  # pyright: ignore[reportAttributeAccessIssue]  # a generator
    stored = Pack(str(the_pack(tmp_path / "cache")))
    digests = {packed.digest for number in range(10) if (packed := stored.find(str(folder / f"f{number}.py")))}
    assert len(digests) == 2, "some new views, the others unchanged"
    assert cached(folder, tmp_path / "cache") == uncached(folder)


@pytest.mark.usefixtures("settled")
def test_a_damaged_view_is_made_again(tmp_path: Path, repository: Path) -> None:
    cached(repository, tmp_path / "cache")
    path = the_pack(tmp_path / "cache")
    content = bytearray(path.read_bytes())
    content[3] ^= 1
    path.write_bytes(content)
    assert cached(repository, tmp_path / "cache") == uncached(repository)


def test_two_runs_with_processes_at_once_and_a_kill_show_the_truth(tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    for number in range(200):
        (folder / f"f{number:03}.py").write_bytes(b"x = %d\n" % number + OLD)
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from interlock.codeviews.folders import many\n"
        "from interlock.codeviews.folders.cache import Cache\n"
        "from interlock.domain.checks.closed_names import ClosedNames\n"
        "many.WORTH_A_POOL, many.CHUNK_BYTES, many.BATCH = 10, 500, 50\n"
        "for one in many.shown('skeleton', [sys.argv[1]], Cache(Path(sys.argv[2])), ClosedNames(), 2):\n"
        "    print(one.path, flush=True)\n"
    )
    words = [sys.executable, "-c", script, str(folder), str(tmp_path / "cache")]
    killed, whole = (subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(2))
    assert killed.stdout is not None
    killed.stdout.readline()
    killed.kill()
    killed.communicate()
    assert len(whole.communicate()[0].splitlines()) == 200
    assert list(shown("skeleton", [str(folder)], Cache(tmp_path / "cache"), ClosedNames(), 1)) == uncached(folder)

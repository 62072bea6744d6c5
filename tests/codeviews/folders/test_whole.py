"""A folder in which nothing has changed is shown again at once, and whatever changes is seen."""

import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from interlock.codeviews.folders import many, read_file, seen, whole
from interlock.codeviews.folders.cache import Cache
from interlock.codeviews.folders.many import shown, views
from interlock.codeviews.folders.one import Skipped, Viewed
from interlock.codeviews.folders.walk import find
from interlock.codeviews.views.view import VERSION


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits until files have settled; the tests see to it that each change comes in a tick of its own."""
    monkeypatch.setattr(seen, "SETTLED_NS", 0)
    monkeypatch.setattr(whole, "SETTLED_NS", 0)
    monkeypatch.setattr(whole, "TICK_NS", 0)
    monkeypatch.setattr(read_file, "TICK_NS", 0)
    monkeypatch.setattr(whole, "WORTH_IT", 3)
    monkeypatch.setattr(many, "WORTH_A_PACK", 2)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """`repo/src` is what is looked at."""
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


def tick(place: Path) -> None:
    """Until the clock of the file system has moved on."""
    probe = place.parent.parent / "probe"
    probe.touch()
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        probe.touch()


def looked_at(place: Path, cache: Path) -> list[Viewed | Skipped]:
    tick(place)
    made = list(shown("skeleton", [str(place)], Cache(cache), 1))
    tick(place)
    return made


def truth(place: Path) -> list[Viewed | Skipped]:
    return list(views("skeleton", find([str(place)]), None, 1))


def never(*_: object, **__: object) -> None:
    raise AssertionError


def test_what_has_not_changed_is_not_even_walked_through(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = looked_at(repository, tmp_path / "cache")
    assert first == truth(repository)
    assert len(list((tmp_path / "cache" / VERSION / "whole").iterdir())) == 1
    with monkeypatch.context() as patch:
        patch.setattr(whole, "walk", never)
        patch.setattr(many, "views", never)
        assert looked_at(repository, tmp_path / "cache") == first
        monkeypatch.chdir(repository.parent)
        (tmp_path / "other-name").symlink_to(repository)
        for name in ("src", "./src/", str(tmp_path / "other-name")):
            again = list(shown("skeleton", [name], Cache(tmp_path / "cache"), 1))
            assert [one.path.rpartition("/")[2] for one in again] == [one.path.rpartition("/")[2] for one in first]
    assert list(shown("skeleton", ["src"], Cache(tmp_path / "cache"), 1)) == truth(Path("src"))


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
    told = path.stat()
    assert path.is_file()
    path.write_text(path.read_text().replace("1", "2"))
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))


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


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_seen(tmp_path: Path, repository: Path, change: str) -> None:
    for _ in range(2):
        looked_at(repository, tmp_path / "cache")
    CHANGES[change](repository)
    for _ in range(2):
        assert looked_at(repository, tmp_path / "cache") == truth(repository)


def test_any_number_of_changes_one_after_the_other(tmp_path: Path, repository: Path) -> None:
    chance = random.Random(7)
    for _ in range(60):
        with suppress(OSError, AssertionError):  # what it would change is something else by now
            CHANGES[chance.choice(list(CHANGES))](repository)
        if not (repository / "a.py").is_file():
            if (repository / "a.py").is_dir():
                shutil.rmtree(repository / "a.py")
            (repository / "a.py").unlink(missing_ok=True)
            (repository / "a.py").write_text("def a():\n    return 1\n")
        for _ in range(chance.randint(1, 2)):
            assert looked_at(repository, tmp_path / "cache") == truth(repository)


@pytest.mark.parametrize("what", ["whole", "packs"])
def test_what_is_damaged_or_gone_counts_as_unknown(tmp_path: Path, repository: Path, what: str) -> None:
    first = looked_at(repository, tmp_path / "cache")
    for file in (tmp_path / "cache" / VERSION / what).iterdir():
        content = file.read_bytes()
        for at in range(0, len(content), max(1, len(content) // 40)):
            file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
            assert list(shown("skeleton", [str(repository)], Cache(tmp_path / "cache"), 1)) == first
        file.write_bytes(content[: len(content) // 2])
        assert list(shown("skeleton", [str(repository)], Cache(tmp_path / "cache"), 1)) == first
        file.unlink()
        assert list(shown("skeleton", [str(repository)], Cache(tmp_path / "cache"), 1)) == first


def test_nothing_is_noted_of_a_folder_that_has_just_changed(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "TICK_NS", 10**12)
    looked_at(repository, tmp_path / "cache")
    assert not (tmp_path / "cache" / VERSION / "whole").exists()


def test_nothing_is_noted_if_the_rules_have_just_changed(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "SETTLED_NS", 10**12)
    looked_at(repository, tmp_path / "cache")
    assert not (tmp_path / "cache" / VERSION / "whole").exists()


def test_of_a_folder_of_large_files_that_lie_in_no_pack_nothing_is_held(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "MOST_HERE", 30)
    monkeypatch.setattr(many, "WORTH_A_PACK", 1_000)
    for _ in range(2):
        assert looked_at(repository, tmp_path / "cache") == truth(repository)
    assert not (tmp_path / "cache" / VERSION / "whole").exists()


def test_whoever_looks_away_early_leaves_no_note(tmp_path: Path, repository: Path) -> None:
    rest = shown("skeleton", [str(repository)], Cache(tmp_path / "cache"), 1)
    next(rest)
    rest.close()  # pyright: ignore[reportAttributeAccessIssue]  it is a generator
    assert not (tmp_path / "cache" / VERSION / "whole").exists()


def test_each_kind_has_its_own(tmp_path: Path, repository: Path) -> None:
    for kind in ("skeleton", "outline", "summary", "curated"):
        for _ in range(2):
            tick(repository)
            made = list(shown(kind, [str(repository)], Cache(tmp_path / "cache"), 1))
            assert made == list(views(kind, find([str(repository)]), None, 1))
    assert len(list((tmp_path / "cache" / VERSION / "whole").iterdir())) == 4

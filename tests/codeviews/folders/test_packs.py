"""Many views in one file: whoever wrote it, however it ended, nobody is shown anything else than what was put in."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.codeviews.folders import many, packs, seen
from interlock.codeviews.folders.cache import Cache
from interlock.codeviews.folders.many import views
from interlock.codeviews.folders.one import Skipped, Viewed
from interlock.codeviews.folders.packs import Entry, Packs, Where
from interlock.codeviews.folders.walk import find
from interlock.codeviews.views.view import VERSION


def key(number: int) -> bytes:
    return number.to_bytes(20, "big")


def entry(number: int) -> Entry:
    return Entry(b"view of %d\n" % number * (number % 50), number * 7, number)


def packed(place: Path, numbers: range) -> dict[int, Where]:
    made = Packs(str(place))
    found = {number: made.add(key(number), entry(number)) for number in numbers}
    made.close()
    assert None not in found.values()
    return {number: where for number, where in found.items() if where is not None}


def shown(place: Path, number: int) -> Entry | None:
    read = Packs(str(place))
    where = read.find(key(number))
    try:
        return read.read(where) if where is not None else None
    finally:
        read.close()


def test_what_was_put_in_is_found_by_another(tmp_path: Path) -> None:
    wheres = packed(tmp_path, range(100))
    packed(tmp_path, range(100, 120))
    read = Packs(str(tmp_path))
    assert [read.read(where) for where in wheres.values()] == [entry(number) for number in range(100)]
    assert all(shown(tmp_path, number) == entry(number) for number in range(120))
    assert shown(tmp_path, 120) is None


@given(st.lists(st.binary(min_size=20, max_size=20), min_size=1, max_size=60, unique=True), st.data())
def test_one_by_one_or_all_at_once_the_same_is_found(keys: list[bytes], data: st.DataObject) -> None:
    rows = packs._Writing.__new__(packs._Writing)
    rows._name, rows._rows, rows._end, rows._known = "p", [], 0, {}
    with open(os.devnull, "wb") as rows._pack:
        wheres = {one: rows.add(one, Entry(one, 1, 2)) for one in keys}
    index = b"".join(rows._rows)[: data.draw(st.integers(0, 48 * len(keys)))]
    whole = len(index) // 48
    asked = keys + [one[1:] + one[:1] for one in keys]
    expected = [wheres[one] if one in keys[:whole] else None for one in asked]
    for few in (0, len(asked)):
        read = Packs("nowhere")
        read._indexes = {"p": index}
        read._asked = packs._FEW - few
        assert [read.find(one) for one in asked] == expected


def test_a_file_like_another_is_kept_once(tmp_path: Path) -> None:
    made = Packs(str(tmp_path))
    assert made.add(key(3), entry(3)) == made.add(key(3), entry(3))
    made.close()
    assert sum(file.stat().st_size for file in tmp_path.glob("*.pack")) == len(entry(3).view)


@pytest.mark.parametrize("suffix", ["pack", "index"])
def test_wherever_a_file_ends_what_is_missing_is_missing_and_the_rest_is_right(tmp_path: Path, suffix: str) -> None:
    packed(tmp_path, range(1, 12))
    (file,) = tmp_path.glob(f"*.{suffix}")
    content = file.read_bytes()
    there: list[Entry] = []
    for length in range(len(content), -1, -7):
        file.write_bytes(content[:length])
        found = [shown(tmp_path, number) for number in range(1, 12)]
        there = [one for one in found if one is not None]
        assert there == [entry(number) for number in range(1, len(there) + 1)]
    assert there == []


@pytest.mark.parametrize("suffix", ["pack", "index"])
def test_a_byte_that_changed_is_noticed(tmp_path: Path, suffix: str) -> None:
    packed(tmp_path, range(1, 6))
    (file,) = tmp_path.glob(f"*.{suffix}")
    content = file.read_bytes()
    for at in range(0, len(content), 5):
        file.write_bytes(content[:at] + bytes([content[at] ^ 8]) + content[at + 1 :])
        found = [shown(tmp_path, number) for number in range(1, 6)]
        assert [one for one in found if one is not None] == [
            entry(number) for number, one in enumerate(found, 1) if one is not None
        ]
        assert found.count(None) == 1


def test_packs_that_cannot_be_written_or_read_cost_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    made = Packs(str(tmp_path / "file"))
    assert made.add(key(1), entry(1)) is None
    assert made.find(key(1)) is None
    assert made.read(Where("x", 0, 1, 2, 3, 4)) is None
    made.flush()
    made.close()


def test_many_write_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: packed(tmp_path, range(number, number + 20)), range(0, 400, 10)))
    assert all(shown(tmp_path, number) == entry(number) for number in range(0, 410, 13))


# ── in a run over a folder ───────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its files are settled, and enough for a pack."""
    monkeypatch.setattr(seen, "SETTLED_NS", 0)
    monkeypatch.setattr(many, "WORTH_A_PACK", 5)
    made = tmp_path / "src"
    made.mkdir()
    for number in range(40):
        (made / f"f{number:02}.py").write_bytes(b"x = %d\ndef f():\n    return 1\n" % number)
    return made


def looked_at(folder: Path, cache: Path | None, workers: int = 1) -> list[Viewed | Skipped]:
    return list(views("skeleton", find([str(folder)]), Cache(cache) if cache is not None else None, workers))


def test_many_views_are_one_file_and_come_from_it(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = looked_at(folder, tmp_path / "cache")
    assert cold == looked_at(folder, None)
    kept = sorted(path.name for path in (tmp_path / "cache" / VERSION).iterdir())
    assert kept == ["packs", "seen"]
    assert len(list((tmp_path / "cache" / VERSION / "packs").iterdir())) == 2

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(many, "make", never)
    monkeypatch.setattr(Cache, "get", never)
    assert looked_at(folder, tmp_path / "cache") == cold


def test_the_same_contents_elsewhere_are_not_made_again(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = looked_at(folder, tmp_path / "cache")
    for path in folder.iterdir():
        path.replace(path.with_name(f"g{path.name}"))
    monkeypatch.setattr("interlock.codeviews.folders.one.view", None)
    again = looked_at(folder, tmp_path / "cache")
    assert [one.view for one in again if isinstance(one, Viewed)] == [
        one.view for one in cold if isinstance(one, Viewed)
    ]
    monkeypatch.setattr("interlock.codeviews.folders.one.make", None)
    assert looked_at(folder, tmp_path / "cache") == again  # and now it is noted where they lie


def test_what_is_found_by_its_content_is_found_by_its_place_the_next_time(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = looked_at(folder, tmp_path / "cache")
    monkeypatch.setattr(many, "maker_of", lambda *known: f"another {known}")
    assert looked_at(folder, tmp_path / "cache") == cold
    monkeypatch.setattr(Cache, "get", None)
    assert looked_at(folder, tmp_path / "cache") == cold


def test_one_changed_file_among_many_is_a_file_of_its_own(tmp_path: Path, folder: Path) -> None:
    looked_at(folder, tmp_path / "cache")
    (folder / "f07.py").write_bytes(b"def new():\n    return 7\n")
    for _ in range(2):
        assert looked_at(folder, tmp_path / "cache") == looked_at(folder, None)
    assert len(list((tmp_path / "cache" / VERSION / "packs").iterdir())) == 2


def test_each_kind_and_each_way_of_counting_has_its_own_place(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for method in ("counted", "estimated"):
        monkeypatch.setattr("interlock.codeviews.views.tokens.method", lambda method=method: method)
        for kind in ("skeleton", "outline", "summary"):
            for _ in range(2):
                cache = Cache(tmp_path / "cache")
                found = list(views(kind, find([str(folder)]), cache, 1))
                assert found == list(views(kind, find([str(folder)]), None, 1))
    state = seen.state_of(next(iter(find([str(folder / "f00.py")]))))
    assert state is not None
    note = Cache(tmp_path / "cache").seen.recall(str(folder / "f00.py"), state)
    assert note is not None
    assert len(note.views) == 6


def test_whoever_looks_away_early_keeps_what_was_made(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = views("skeleton", find([str(folder)]), Cache(tmp_path / "cache"), 1)
    first = [next(rest) for _ in range(20)]
    rest.close()  # pyright: ignore[reportAttributeAccessIssue]  it is a generator
    made: list[str] = []
    real = many.make
    monkeypatch.setattr(many, "make", lambda kind, found, cache: made.append(found.path) or real(kind, found, cache))
    assert looked_at(folder, tmp_path / "cache")[:20] == first
    assert len(made) == 20


def test_after_a_kill_what_was_flushed_is_found(tmp_path: Path, folder: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from interlock.codeviews.folders import many\n"
        "from interlock.codeviews.folders.cache import Cache\n"
        "from interlock.codeviews.folders.walk import find\n"
        "many.BATCH, many.WORTH_A_PACK = 10, 5\n"
        "for number, _ in enumerate(many.views('skeleton', find([sys.argv[1]]), Cache(Path(sys.argv[2])), 1)):\n"
        "    if number == 25: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    cache = tmp_path / "cache"
    done = subprocess.run([sys.executable, script, folder, cache], check=False)
    assert done.returncode == -signal.SIGKILL
    (index,) = (cache / VERSION / "packs").glob("*.index")
    assert index.stat().st_size == 20 * 48
    assert looked_at(folder, cache) == looked_at(folder, None)


def test_two_at_once_and_processes_beside_them(tmp_path: Path, folder: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "from interlock.codeviews.folders import many, seen\n"
        "from interlock.codeviews.folders.cache import Cache\n"
        "from interlock.codeviews.folders.walk import find\n"
        "seen.SETTLED_NS, many.WORTH_A_POOL, many.CHUNK_BYTES, many.WORTH_A_PACK = 0, 100, 100, 5\n"
        "if __name__ == '__main__':\n"
        "    for one in many.views('skeleton', find([sys.argv[1]]), Cache(Path(sys.argv[2])), 2):\n"
        "        print(one.path, one.view)\n"
    )
    words = [sys.executable, script, folder, tmp_path / "cache"]
    several = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {each.communicate(timeout=120)[0] for each in several}
    assert [each.returncode for each in several] == [0, 0, 0]
    assert len(said) == 1
    assert looked_at(folder, tmp_path / "cache") == looked_at(folder, None)


def test_packs_of_a_month_ago_are_removed_and_made_again(tmp_path: Path, folder: Path) -> None:
    cold = looked_at(folder, tmp_path / "cache")
    for file in (tmp_path / "cache" / VERSION / "packs").iterdir():
        os.utime(file, (0, 0))
    (tmp_path / "cache" / "pruned").unlink()
    looked_at(folder, tmp_path / "cache")
    assert list((tmp_path / "cache" / VERSION / "packs").iterdir()) == []
    assert looked_at(folder, tmp_path / "cache") == cold

"""Views of many files: order, cache, processes, crashes."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.codeviews.folders import many
from interlock.codeviews.folders.cache import Cache, cache_folder, installed_parsers
from interlock.codeviews.folders.many import views
from interlock.codeviews.folders.one import Skipped, Viewed
from interlock.codeviews.folders.walk import FoundFile, find
from interlock.codeviews.views import tokens
from interlock.domain.checks.closed_names import ClosedNames

SOURCE = b"def f():\n    return 1\n"


def make_files(folder: Path, count: int) -> None:
    for number in range(count):
        path = folder / f"d{number % 7}" / f"f{number:04}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x = %d\n" % number + SOURCE)


def test_views_come_in_order_from_processes_and_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "WORTH_A_POOL", 1_000)
    monkeypatch.setattr(many, "CHUNK_BYTES", 100)
    monkeypatch.setattr(many, "BATCH", 40)
    (tmp_path / "src").mkdir()
    make_files(tmp_path / "src", 100)
    files = list(find([str(tmp_path / "src")], ClosedNames()))
    pack = Cache(tmp_path / "cache").pack
    cold = list(views("skeleton", iter(files), pack("skeleton", ["src"]), 2))
    assert [one.path for one in cold] == [one.path for one in files]
    assert [one for one in cold if isinstance(one, Skipped)] == []
    assert all(isinstance(one, Viewed) and one.view.endswith(b"def f():\n    ...\n") for one in cold)
    assert list(views("skeleton", iter(files), pack("skeleton", ["src"]), 2)) == cold
    assert list(views("skeleton", iter(files), None, 1)) == cold


@pytest.mark.parametrize("worth", [0, 100, 300], ids=["a file a batch", "few files", "many files"])
@pytest.mark.parametrize("threads", [True, False], ids=["spawned", "forked"])
def test_a_process_that_dies_costs_its_file_only(tmp_path: Path, worth: int, threads: bool) -> None:
    """In the other process `one.make` crashes for some files, as a faulty parser would."""
    script = tmp_path / "run.py"
    script.write_text(
        "import os, sys, threading\n"
        "from interlock.codeviews.folders import many, one\n"
        "from interlock.codeviews.folders.walk import find\n"
        "from interlock.domain.checks.closed_names import ClosedNames\n"
        "real = one.make\n"
        "def make(kind, found, *more):\n"
        "    if found.path.endswith('f0003.py') or found.path.endswith('f0017.py'): os._exit(11)\n"
        "    return real(kind, found, *more)\n"
        "one.make = make\n"
        f"many.WORTH_A_POOL, many.CHUNK_BYTES = {worth}, 50\n"
        "if __name__ == '__main__':\n"
        f"    if {threads}: threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "    for got in many.views('skeleton', find([sys.argv[1]], ClosedNames()), None, 2):\n"
        "        print(os.path.basename(got.path), getattr(got, 'reason', 'fine'))\n"
    )
    (tmp_path / "src").mkdir()
    make_files(tmp_path / "src", 20)
    done = subprocess.run([sys.executable, script, tmp_path / "src"], capture_output=True, text=True, check=True)
    outcomes = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    crashed = {name for name, how in outcomes.items() if how != "fine"}
    assert len(outcomes) == 20
    assert crashed == {"f0003.py", "f0017.py"}
    assert list(outcomes) == [os.path.basename(file.path) for file in find([str(tmp_path / "src")], ClosedNames())]


def test_without_processes_it_goes_on_alone(tmp_path: Path) -> None:
    """A script with threads and without a main guard cannot start processes."""
    script = tmp_path / "run.py"
    script.write_text(
        "import sys, threading\n"
        "from interlock.codeviews.folders import many\n"
        "from interlock.codeviews.folders.walk import find\n"
        "from interlock.domain.checks.closed_names import ClosedNames\n"
        "many.WORTH_A_POOL = 0\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "print(len(list(many.views('skeleton', find([sys.argv[1]], ClosedNames()), None, 2))))\n"
    )
    (tmp_path / "src").mkdir()
    make_files(tmp_path / "src", 5)
    done = subprocess.run([sys.executable, script, tmp_path / "src"], capture_output=True, text=True, check=True)
    assert done.stdout == "5\n"


def test_processes_are_forked_only_where_there_is_no_other_thread() -> None:
    script = (
        "import threading\n"
        "from interlock.codeviews.folders import pool\n"
        "print(pool._is_single_threaded())\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "print(pool._is_single_threaded())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\nFalse\n"


def test_buffered_output_is_printed_once(tmp_path: Path) -> None:
    """A forked process has a copy of the unflushed output."""
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\n"
        "from interlock.codeviews.folders import many\n"
        "from interlock.codeviews.folders.walk import find\n"
        "from interlock.domain.checks.closed_names import ClosedNames\n"
        "many.WORTH_A_POOL, many.CHUNK_BYTES = 100, 50\n"
        "print('begun')\n"
        "for got in many.views('skeleton', find([sys.argv[1]], ClosedNames()), None, 2): print(got.path)\n"
    )
    (tmp_path / "src").mkdir()
    make_files(tmp_path / "src", 20)
    done = subprocess.run([sys.executable, script, tmp_path / "src"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["begun", *(file.path for file in find([str(tmp_path / "src")], ClosedNames()))]


def test_the_processes_die_with_the_one_that_started_them(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "import os, signal\n"
        "from interlock.codeviews.folders.pool import Pool\n"
        "if __name__ == '__main__':\n"
        "    pool = Pool(1)\n"
        "    assert pool.is_usable()\n"
        "    print(pool._running().submit(os.getpid).result(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, text=True, check=False)
    worker = int(done.stdout)
    assert done.returncode == -9
    assert is_gone(worker, within_s=30)


def is_gone(pid: int, within_s: float) -> bool:
    """True if the process ends in time; the kernel kills it shortly after its parent."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], within_s)[0])
    finally:
        os.close(fd)


def test_a_file_that_vanishes_before_its_turn_is_named(tmp_path: Path) -> None:
    files = [FoundFile(str(tmp_path / "gone.py"))]
    assert list(views("skeleton", iter(files), None, 1)) == [Skipped(files[0].path, "it is gone", False)]


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    usual = tmp_path / ".cache" / "interlock" / "views"
    assert cache_folder({"XDG_CACHE_HOME": "/x"}) == Path("/x/interlock/views")
    assert cache_folder({"XDG_CACHE_HOME": "relative"}) == cache_folder({}) == usual


def test_tokens_are_counted_where_that_is_possible_and_else_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(many.__file__).read_bytes()
    monkeypatch.setattr(tokens, "_tokenizer", lambda: None)
    estimated = tokens.count(text, "python")
    monkeypatch.undo()
    pytest.importorskip("splintr")
    assert tokens.method() == "counted"
    assert tokens.count(b"hello world", "text") == 2
    assert tokens.count(b"\xff\xfe", "text") > 0
    assert 0.7 < estimated / tokens.count(text, "python") < 1.4


def test_the_versions_of_the_parsers_are_those_that_are_installed() -> None:
    from importlib.metadata import version

    versions = installed_parsers()
    assert len(versions) > 10
    assert {name: version(name.replace("_", "-")) for name in versions} == versions

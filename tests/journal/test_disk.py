"""Full or read-only disks: a clear message, all confirmed rows stay, and writing works again afterwards."""

import os
import shutil
import subprocess
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from interlock.errors import JournalUnwritable
from interlock.journal.reading import JournalReader
from interlock.journal.sqlite import SqliteJournal
from interlock.journal.verify import verify
from interlock.ports.journal import Checkpoint
from tests.journal.rows import opened, records, written

BIG = "x" * 20_000


@contextmanager
def mounted(folder: Path, options: str) -> Generator[Path]:
    """A small tmpfs, mounted on the folder."""
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("mounting needs root")
    folder.mkdir()
    done = subprocess.run([mount, "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"mounting is not possible here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(file: Path) -> None:
    """Fills the file system to its last byte."""
    with file.open("wb", buffering=0) as out, pytest.raises(OSError, match="No space left"):
        while True:
            out.write(b"\0" * 4096)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", folder], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", "size=1m,mode=700") as folder:
        yield folder


def test_a_full_disk_refuses_the_batch_and_keeps_all_that_was_confirmed(small_disk: Path) -> None:
    folder = small_disk / ".interlock"
    with opened(folder) as journal:
        journal.append(records(1, 3))
        blob = journal.put_blob(b"kept")
        filler = small_disk / "filler"
        last = 3
        fill(filler)
        with pytest.raises(JournalUnwritable, match="the disk is full; free some space and start again"):
            while True:
                journal.append(records(last + 1, last + 20, BIG))
                last += 20
        with pytest.raises(JournalUnwritable, match="cannot store a text of 1,000,000 bytes: No space left on device"):
            journal.put_blob(b"y" * 1_000_000)
        journal.save_checkpoint(Checkpoint(journal.head(), b"z" * 1_000_000))
        assert journal.load_checkpoint() is None
        assert journal.head().version == last
        assert [record.version for record in journal.read()] == list(range(1, last + 1))
        assert journal.get_blob(blob) == b"kept"
        with closing(JournalReader(folder)) as reader:
            assert reader.head() == journal.head()
        assert verify(folder).ok

        filler.unlink()
        journal.append(records(last + 1, last + 1))
        assert verify(folder).rows == last + 1
    assert not [path for path in folder.rglob("*") if path.name.startswith(".") or path.name.startswith("state.")]
    with opened(folder) as journal:
        assert journal.head().version == last + 1


def test_a_disk_filled_by_the_journal_itself_refuses_and_stays_whole(small_disk: Path) -> None:
    folder = small_disk / ".interlock"
    with opened(folder) as journal:
        last = 0
        with pytest.raises(JournalUnwritable, match="the disk is full"):
            while True:
                journal.append(records(last + 1, last + 7, BIG[:999]))
                last += 7
        assert last > 50
        assert len(list(journal.read())) == journal.head().version == last
    remount(small_disk, "size=4m")
    with opened(folder) as journal:
        assert journal.head().version == last
        journal.append(records(last + 1, last + 100, BIG[:999]))
    assert (verify(folder).ok, verify(folder).rows) == (True, last + 100)


def test_a_new_journal_on_a_full_disk_says_so(small_disk: Path) -> None:
    fill(small_disk / "filler")
    with pytest.raises(JournalUnwritable, match=r"No space left|disk is full"):
        SqliteJournal(small_disk / ".interlock")


def test_a_journal_that_is_opened_on_a_full_disk_says_so(small_disk: Path) -> None:
    """SQLite reports its own new files as an I/O error there."""
    with opened(small_disk):
        pass
    fill(small_disk / "filler")
    with pytest.raises(JournalUnwritable, match="the disk is full; free some space"):
        SqliteJournal(small_disk)


def test_a_read_only_disk_can_be_read_but_not_written(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=4m,mode=700") as disk:
        folder = written(disk / ".interlock")
        with opened(folder) as journal:
            journal.save_checkpoint(Checkpoint(journal.head(), b"state"))
            blob = journal.put_blob(b"kept")
        remount(disk, "ro")
        with pytest.raises(JournalUnwritable, match="Read-only file system"):
            SqliteJournal(folder)
        with pytest.raises(JournalUnwritable, match="cannot make"):
            SqliteJournal(disk / "other")
        with closing(JournalReader(folder)) as reader:
            assert list(reader.read()) == records(1, 5)
            assert reader.get_blob(blob) == b"kept"
            assert reader.load_checkpoint() is not None
        assert verify(folder).ok
        remount(disk, "rw")
        with opened(folder) as journal:
            journal.append(records(6, 6))


def test_a_disk_that_becomes_read_only_under_a_crashed_writer_is_still_read_whole(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=4m,mode=700") as disk:
        folder = disk / ".interlock"
        with opened(folder) as journal:
            journal.append(records(1, 4))
            saved = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        crashed = disk / "crashed"
        crashed.mkdir()
        for name in ("journal.db", "journal.db-wal", "journal.head"):
            (crashed / name).write_bytes(saved[name])
        remount(disk, "ro")
        with closing(JournalReader(crashed)) as reader:
            assert list(reader.read()) == records(1, 4), "rows in the WAL file count too"
        assert verify(crashed).ok


def test_a_folder_without_rights_says_so(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    folder = written(tmp_path / ".interlock")
    folder.chmod(0o500)
    (folder / "lock").chmod(0o400)
    try:
        with pytest.raises(JournalUnwritable, match="Permission denied"):
            SqliteJournal(folder)
    finally:
        folder.chmod(0o700)

"""The journal on disk: its files, its single writer, its readers, and its state after a crash."""

import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from interlock.errors import JournalCorrupt, JournalError, JournalInUse, JournalUnwritable
from interlock.journal.reading import JournalReader, stored_lines
from interlock.journal.sqlite import SqliteJournal
from interlock.journal.verify import verify
from interlock.ports.journal import Checkpoint
from tests.journal.rows import opened, records, tamper, written

ROOT = Path(__file__).parents[2]

WRITER = """
import sys
from pathlib import Path
from interlock.journal.sqlite import SqliteJournal
from tests.journal.rows import records
journal = SqliteJournal(Path(sys.argv[1]))
print("open", flush=True)
version = journal.head().version
for line in sys.stdin:
    count = int(line)
    journal.append(records(version + 1, version + count))
    version += count
    print(version, flush=True)
"""


def writer(folder: Path) -> "subprocess.Popen[str]":
    """A second process that holds the journal; each input line is the number of rows to append."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert next_line(process) == "open"
    return process


def next_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: "subprocess.Popen[str]", *counts: int) -> None:
    assert process.stdin is not None
    process.stdin.writelines(f"{count}\n" for count in counts)
    process.stdin.flush()


def end(process: "subprocess.Popen[str]") -> None:
    with process:
        process.kill()


def test_a_reopened_journal_continues_where_it_ended(tmp_path: Path) -> None:
    written(tmp_path, 3)
    with opened(tmp_path) as journal:
        assert list(journal.read()) == records(1, 3)
        journal.append(records(4, 5))
    assert verify(tmp_path).ok
    assert verify(tmp_path).rows == 5


def test_its_files_are_private(tmp_path: Path) -> None:
    folder = written(tmp_path / "made")
    with opened(folder) as journal:
        journal.put_blob(b"x")
        journal.save_checkpoint(Checkpoint(journal.head(), b"x"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
    assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}


def test_a_second_writer_is_refused_with_the_holders_pid(tmp_path: Path) -> None:
    process = writer(tmp_path)
    try:
        with pytest.raises(JournalInUse, match=f"in use by process {process.pid}") as refused:
            SqliteJournal(tmp_path)
        assert refused.value.pid == process.pid
    finally:
        end(process)
    with opened(tmp_path), pytest.raises(JournalInUse, match=f"process {os.getpid()}"):
        SqliteJournal(tmp_path)


def test_a_holder_that_left_no_pid_is_still_a_holder(tmp_path: Path) -> None:
    with opened(tmp_path):
        (tmp_path / "lock").write_text("")
        with pytest.raises(JournalInUse, match="in use by another process") as refused:
            SqliteJournal(tmp_path)
        assert refused.value.pid is None


def test_a_failed_opening_lets_go_of_the_lock(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "journal.head").unlink()
    for _ in range(2):
        with pytest.raises(JournalCorrupt):
            SqliteJournal(tmp_path)


def test_reading_works_while_another_process_writes(tmp_path: Path) -> None:
    process = writer(tmp_path)
    try:
        tell(process, 3)
        assert next_line(process) == "3"
        with closing(JournalReader(tmp_path)) as reader:
            assert list(reader.read()) == records(1, 3)
            half = reader.read()
            assert next(half) == records(1, 1)[0]
            tell(process, 2)
            assert next_line(process) == "5"
            assert list(half) == records(2, 3), "a read sees one version of the journal"
            assert list(reader.read(after=3)) == records(4, 5)
            assert reader.head().version == 5
        assert verify(tmp_path).ok
    finally:
        end(process)


def test_a_reader_sees_texts_and_checkpoints(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        journal.append(records(1, 2))
        name = journal.put_blob(b"big")
        checkpoint = Checkpoint(journal.head(), b"state")
        journal.save_checkpoint(checkpoint)
    with closing(JournalReader(tmp_path)) as reader:
        assert reader.get_blob(name) == b"big"
        assert reader.load_checkpoint() == checkpoint


def test_there_must_be_a_journal_to_read(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no journal in"):
        JournalReader(tmp_path)


@pytest.mark.parametrize("seed", range(5))
def test_every_acknowledged_append_survives_kill_9(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    acknowledged = 0
    for _ in range(3):
        process = writer(tmp_path)
        with process:
            tell(process, *(random.randrange(1, 40) for _ in range(200)))
            for _ in range(random.randrange(1, 100)):  # killed while it still writes
                acknowledged = int(next_line(process))
            os.kill(process.pid, signal.SIGKILL)
            assert process.stdout is not None
            for line in process.stdout:
                acknowledged = int(line) if line.endswith("\n") else acknowledged
        with opened(tmp_path) as journal:
            rows = list(journal.read())
            assert rows == records(1, len(rows))
            assert len(rows) >= acknowledged
        report = verify(tmp_path)
        assert (report.ok, report.rows, report.problem) == (True, len(rows), "")


def test_a_big_text_outlives_the_process_and_its_removal_breaks_nothing(tmp_path: Path) -> None:
    written(tmp_path)
    with opened(tmp_path) as journal:
        name = journal.put_blob(b"text")
        before = (tmp_path / "blobs" / name).stat()
        assert journal.put_blob(b"text") == name
        assert (tmp_path / "blobs" / name).stat().st_mtime_ns == before.st_mtime_ns, "kept once"
    assert [path.name for path in (tmp_path / "blobs").iterdir()] == [name]
    (tmp_path / "blobs" / name).unlink()
    assert verify(tmp_path).ok
    with opened(tmp_path) as journal, pytest.raises(JournalError, match="is missing from the blobs"):
        journal.get_blob(name)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda text: text[:-1], id="torn"),
        pytest.param(lambda text: text.replace(b"state", b"wrong"), id="altered"),
        pytest.param(lambda text: re.sub(rb'"schema":\d+', b'"schema":0', text), id="another shape"),
        pytest.param(lambda text: b"", id="empty"),
        pytest.param(lambda text: b"\xff\xfe", id="garbage"),
    ],
)
def test_a_checkpoint_that_is_not_whole_is_not_used(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    with opened(tmp_path) as journal:
        journal.append(records(1, 3))
        journal.save_checkpoint(Checkpoint(journal.head(), b"state"))
        file = tmp_path / "cache" / "state"
        file.write_bytes(spoil(file.read_bytes()))
        assert journal.load_checkpoint() is None


def test_a_checkpoint_from_before_the_journal_was_changed_is_not_used(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        journal.append(records(1, 3))
        journal.save_checkpoint(Checkpoint(journal.head(), b"state"))
        tamper(tmp_path, "UPDATE events SET hash = 'other' WHERE version = 3")
        assert journal.load_checkpoint() is None
        tamper(tmp_path, "DROP TABLE events")
        assert journal.load_checkpoint() is None


def test_a_checkpoint_that_cannot_be_saved_is_no_trouble(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        journal.append(records(1, 1))
        (tmp_path / "cache").write_text("a file in the way")
        journal.save_checkpoint(Checkpoint(journal.head(), b"state"))
        assert journal.load_checkpoint() is None


def test_the_stored_rows_can_be_written_out_line_by_line(tmp_path: Path) -> None:
    written(tmp_path, 2)
    with closing(JournalReader(tmp_path)) as reader:
        lines = list(stored_lines(reader))
        assert len(lines) == 2
        assert lines[1].startswith(
            '{"version": 2, "at": "2026-01-01T00:00:00.000000Z", "actor": "human:ada", "cause": "c2"'
        )
        assert reader.head().hash in lines[1]


def test_a_text_cannot_be_kept_where_a_file_is_in_the_way(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        (tmp_path / "blobs").write_text("a file in the way")
        with pytest.raises(JournalUnwritable, match="cannot store a text of 4 bytes"):
            journal.put_blob(b"text")


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    with pytest.raises(JournalUnwritable, match="cannot make"):
        SqliteJournal(tmp_path / "f")
    with pytest.raises(JournalUnwritable, match="cannot make"):
        SqliteJournal(tmp_path / "f" / "g")


def test_a_text_that_was_damaged_on_disk_is_written_again(tmp_path: Path) -> None:
    with opened(tmp_path / ".interlock") as journal:
        name = journal.put_blob(b"the text")
        (tmp_path / ".interlock/blobs" / name).write_bytes(b"")
        assert journal.put_blob(b"the text") == name
        assert journal.get_blob(name) == b"the text"


def test_a_name_of_a_text_that_could_be_a_path_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / ".interlock") as journal:
        journal.put_blob(b"x")
        (tmp_path / ".interlock/blobs" / ("a" * 31 + "..." + "b" * 30)).write_bytes(b"x")
        for name in ("../" + "a" * 61, "a" * 31 + "..." + "b" * 30, "/" * 64):
            with pytest.raises(JournalError, match="is not a blob's name"):
                journal.get_blob(name)

"""Exported and archived journals are read, verified and replayed like the journal itself."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.errors import JournalCorrupt, JournalError
from interlock.journal.exported import ExportedJournal
from tests.journal.stored import SAMPLES, read_sample, replayed

SAMPLE = SAMPLES / "0.6.0.jsonl"


@pytest.mark.parametrize("packed", [False, True])
def test_it_holds_the_same_rows_plain_and_compressed(tmp_path: Path, packed: bool) -> None:
    file = tmp_path / "journal"
    file.write_bytes(gzip.compress(SAMPLE.read_bytes()) if packed else SAMPLE.read_bytes())
    rows, journal = read_sample(SAMPLE), ExportedJournal(file)
    assert journal.verify().ok
    assert (journal.verify().rows, journal.verify().head) == (len(rows), rows[-1].hash)
    assert journal.last_version() == len(rows)
    assert [record.version for record in journal.read(len(rows) - 2)] == [len(rows) - 1, len(rows)]
    assert replayed(rows).version == len(rows)


def altered(text: str) -> str:
    return text.replace("human:ada", "human:eve", 1)


def removed(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[:5] + lines[6:])


def swapped(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:5], lines[6], lines[5], *lines[7:]])


@pytest.mark.parametrize("change", [altered, removed, swapped])
def test_changed_rows_are_found(tmp_path: Path, change: Callable[[str], str]) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_text(change(SAMPLE.read_text()))
    assert not ExportedJournal(file).verify().ok


def test_a_cut_off_archive_and_a_file_of_another_kind_are_reported(tmp_path: Path) -> None:
    cut, other = tmp_path / "cut.gz", tmp_path / "other"
    cut.write_bytes(gzip.compress(SAMPLE.read_bytes())[:-200])
    report = ExportedJournal(cut).verify()
    assert (report.ok, report.rows > 0, "cannot be read after line" in report.problem) == (False, True, True), report
    other.write_text(json.dumps({"version": 1}) + "\n")
    with pytest.raises(JournalCorrupt, match=r"line 1 of .* is not a row of a journal"):
        list(ExportedJournal(other).read())
    other.write_bytes(b"\xff\x00 nonsense")
    assert not ExportedJournal(other).verify().ok
    with pytest.raises(JournalError, match="there is no file"):
        ExportedJournal(tmp_path / "none")

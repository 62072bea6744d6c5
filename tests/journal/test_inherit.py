"""A journal from elsewhere: only plain tables, only texts that have their name's hash, and no link is followed."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from interlock.errors import JournalCorrupt
from interlock.journal.inherit import copy_blobs, inherited_reader, private_copy, write_history
from interlock.journal.reading import JournalReader
from interlock.journal.verify import verify
from tests.journal.rows import opened, records, tamper, written


def test_only_texts_with_the_hash_of_their_name_are_copied_and_links_are_not(tmp_path: Path) -> None:
    source, secret = tmp_path / "source", b"a secret outside"
    source.mkdir()
    good, altered = sha256(b"good").hexdigest(), sha256(b"altered").hexdigest()
    (source / good).write_bytes(b"good")
    (source / altered).write_bytes(b"something else")
    (tmp_path / "outside").write_bytes(secret)
    os.symlink(tmp_path / "outside", source / sha256(secret).hexdigest())
    assert copy_blobs(source, tmp_path / "target") == 2
    assert os.listdir(tmp_path / "target") == [good]


def test_a_database_with_a_virtual_table_or_a_trigger_is_no_journal(tmp_path: Path) -> None:
    for number, statement in enumerate(
        ("CREATE VIRTUAL TABLE v USING fts5(text)", "CREATE VIEW w AS SELECT * FROM events")
    ):
        folder = written(tmp_path / f"{number}")
        tamper(folder, statement)
        with private_copy(folder) as copy, pytest.raises(JournalCorrupt, match="more than plain tables"):
            inherited_reader(copy)


def test_a_copied_history_is_a_whole_journal(tmp_path: Path) -> None:
    folder, target = written(tmp_path / "old"), tmp_path / "new"
    target.mkdir()
    reader = JournalReader(folder)
    write_history(reader, target)
    reader.close()
    assert verify(target).ok
    with opened(target) as journal:
        assert list(journal.read()) == records(1, 5)

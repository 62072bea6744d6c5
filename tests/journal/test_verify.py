"""`verify` detects any altered, removed or reordered row; opening the journal detects the cheap cases."""

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested, ApprovalsAnswered
from interlock.domain.values.approvals import ScriptPayload, digest
from interlock.errors import JournalCorrupt, JournalInUse, NotAJournal
from interlock.journal.reading import JournalReader
from interlock.journal.sqlite import SqliteJournal
from interlock.journal.verify import VerifyReport, rebuild_head, verify
from tests.journal.rows import AT, opened, records, tamper, written

SWAP = (
    "UPDATE events SET version = -1 WHERE version = 2",
    "UPDATE events SET version = 2 WHERE version = 3",
    "UPDATE events SET version = 3 WHERE version = -1",
)


def test_an_untouched_journal_is_in_order(tmp_path: Path) -> None:
    written(tmp_path)
    with closing(JournalReader(tmp_path)) as reader:
        assert verify(tmp_path) == VerifyReport(True, 5, reader.head().hash)


def test_an_empty_journal_is_in_order(tmp_path: Path) -> None:
    with opened(tmp_path):
        assert verify(tmp_path) == VerifyReport(True, 0, "0" * 64)


@pytest.mark.parametrize(
    ("statements", "rows", "problem"),
    [
        (["UPDATE events SET event = replace(event, 'T', 'U') WHERE version = 3"], 2, "row 3 was altered"),
        (["UPDATE events SET event = CAST(event AS BLOB) WHERE version = 3"], 2, "row 3 was altered"),
        (["UPDATE events SET event = CAST(x'ff' AS TEXT) WHERE version = 3"], 0, "after row 0: the journal"),
        (["UPDATE events SET at = '2027' WHERE version = 1"], 0, "row 1 was altered"),
        (["UPDATE events SET actor = 'human:eve' WHERE version = 5"], 4, "row 5 was altered"),
        (["UPDATE events SET cause = '' WHERE version = 5"], 4, "row 5 was altered"),
        (["UPDATE events SET schema = 0 WHERE version = 2"], 1, "row 2 was altered"),
        (["UPDATE events SET hash = 'f' WHERE version = 2"], 1, "row 2 was altered"),
        (["DELETE FROM events WHERE version = 1"], 0, "row 1 is missing"),
        (["DELETE FROM events WHERE version IN (2, 3)"], 1, "rows 2 to 3 are missing"),
        (["DELETE FROM events WHERE version = 5"], 4, "the last rows are missing: 4 of 5 are there"),
        (["DELETE FROM events"], 0, "the last rows are missing: 0 of 5 are there"),
        (SWAP, 1, "row 2 was altered, moved, or follows a row that was"),
    ],
)  # fmt: skip
def test_a_changed_journal_is_found_out(tmp_path: Path, statements: list[str], rows: int, problem: str) -> None:
    written(tmp_path)
    tamper(tmp_path, *statements)
    report = verify(tmp_path)
    assert not report.ok
    assert report.problem.startswith(problem)
    assert report.rows == rows


@pytest.mark.parametrize(
    ("statements", "problem"),
    [
        (["DELETE FROM events WHERE version = 5"], "the last 1 row of the journal are missing .4 of 5 are there"),
        (["DELETE FROM events WHERE version > 2"], "the last 3 rows of the journal are missing"),
        (["UPDATE events SET hash = 'f' WHERE version = 5"], "row 5 of the journal differs from the written row"),
        (["DROP TABLE events"], "the last 5 rows"),
    ],
)
def test_opening_finds_out_about_the_last_rows(tmp_path: Path, statements: list[str], problem: str) -> None:
    written(tmp_path)
    tamper(tmp_path, *statements)
    with pytest.raises(JournalCorrupt, match=problem):
        SqliteJournal(tmp_path)


def test_a_journal_cut_short_is_found_out_or_is_no_database_any_more(tmp_path: Path) -> None:
    whole = (written(tmp_path / "whole", 400) / "journal.db").read_bytes()
    for number, size in enumerate((0, 50, 5000, len(whole) // 2, len(whole) - 4096)):
        folder = written(tmp_path / str(number), 400)
        (folder / "journal.db").write_bytes(whole[:size])
        with pytest.raises(JournalCorrupt), closing(SqliteJournal(folder)) as journal:
            list(journal.read())
        with suppress(JournalCorrupt):
            assert not verify(folder).ok


def test_a_chain_that_was_forged_to_its_end_is_given_away_by_the_head_file(tmp_path: Path) -> None:
    head = (written(tmp_path) / "journal.head").read_bytes()
    tamper(tmp_path, "DELETE FROM events WHERE version > 2")
    (tmp_path / "journal.head").unlink()
    rebuild_head(tmp_path)
    with opened(tmp_path) as journal:
        journal.append(records(3, 5, "forged"))
    assert verify(tmp_path).ok
    (tmp_path / "journal.head").write_bytes(head)
    assert verify(tmp_path).problem == "row 5 is not the one journal.head remembers"
    assert not rebuild_head(tmp_path).ok
    with pytest.raises(JournalCorrupt, match="row 5 of the journal differs from the written row"):
        SqliteJournal(tmp_path)


def test_a_head_that_lags_behind_is_accepted_and_catches_up(tmp_path: Path) -> None:
    """A crash between writing the row and the head file causes this."""
    old = (written(tmp_path, 3) / "journal.head").read_bytes()
    with opened(tmp_path) as journal:
        journal.append(records(4, 6))
    new = (tmp_path / "journal.head").read_bytes()
    (tmp_path / "journal.head").write_bytes(old)
    assert verify(tmp_path).ok
    with opened(tmp_path) as journal:
        assert journal.head().version == 6
    assert (tmp_path / "journal.head").read_bytes() == new


@pytest.mark.parametrize(
    "lose",
    [
        pytest.param(lambda file: file.unlink(), id="missing"),
        pytest.param(lambda file: file.write_bytes(b""), id="empty"),
        pytest.param(lambda file: file.write_bytes(b"\xff" * 500), id="garbage"),
        pytest.param(lambda file: file.write_text("5 not-a-hash"), id="no hash"),
    ],
)
def test_a_lost_head_file_is_reported_and_can_be_made_anew(tmp_path: Path, lose: Callable[[Path], object]) -> None:
    expected = verify(written(tmp_path))
    lose(tmp_path / "journal.head")
    problem = "journal.head is missing or unreadable: removed last rows cannot be detected"
    assert verify(tmp_path) == VerifyReport(False, 5, expected.head, problem)
    with pytest.raises(JournalCorrupt, match="verify --rebuild-head"):
        SqliteJournal(tmp_path)
    assert rebuild_head(tmp_path) == expected
    with opened(tmp_path) as journal:
        journal.append(records(6, 6))


def test_rebuilding_the_head_accepts_missing_last_rows_but_no_broken_chain(tmp_path: Path) -> None:
    tamper(written(tmp_path), "DELETE FROM events WHERE version > 3")
    report = rebuild_head(tmp_path)
    assert (report.ok, report.rows) == (True, 3)
    tamper(tmp_path, "UPDATE events SET cause = '' WHERE version = 2")
    assert rebuild_head(tmp_path).problem.startswith("row 2 was altered")


def test_rebuilding_the_head_needs_the_writers_lock(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(JournalInUse):
        rebuild_head(tmp_path)


@pytest.mark.parametrize("content", [b"hello, I am a text file\n" * 100, b"SQLite format 3\0" + b"\x11" * 5000])
def test_a_file_that_is_no_database_is_no_journal(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "journal.db").write_bytes(content)
    with pytest.raises(NotAJournal, match="is not a database: another file has taken its place"):
        SqliteJournal(tmp_path)
    with pytest.raises(NotAJournal, match="is not a database: another file has taken its place"):
        JournalReader(tmp_path)


def test_another_database_is_no_journal(tmp_path: Path) -> None:
    tamper(tmp_path, "CREATE TABLE songs (title TEXT)")
    with pytest.raises(NotAJournal, match="is a database of another program"):
        JournalReader(tmp_path)


def test_a_journal_that_is_being_made_has_no_events_yet(tmp_path: Path) -> None:
    """A reader may come between the file and its table, also after a kill at that moment."""
    (tmp_path / "journal.db").write_bytes(b"")
    for head in (None, b"", b"0 " + b"0" * 64 + b"\n"):
        if head is not None:
            (tmp_path / "journal.head").write_bytes(head)
        reader = JournalReader(tmp_path)
        assert (list(reader.read()), reader.head().version) == ([], 0)
        reader.close()


@pytest.mark.parametrize("head", [b"5 " + b"a" * 64 + b"\n", b"damaged"])
def test_an_emptied_journal_is_not_taken_for_a_new_one(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "journal.db").write_bytes(b"")
    (tmp_path / "journal.head").write_bytes(head)
    with pytest.raises(NotAJournal, match="or empty: it has no events"):
        JournalReader(tmp_path)


def test_reading_a_row_that_is_no_event_says_so(tmp_path: Path) -> None:
    tamper(written(tmp_path), 'UPDATE events SET event = \'{"type":"nonsense"}\' WHERE version = 3')
    with opened(tmp_path) as journal, pytest.raises(JournalCorrupt, match="data that is not an event"):
        list(journal.read())


def test_a_set_of_answers_that_is_not_the_recorded_one_is_found(tmp_path: Path) -> None:
    """Also if the chain is whole: the root is computed again from the requests."""
    script = ScriptPayload("make", "/w", (), "bubblewrap")
    asked = ApprovalRequested(
        approval="A-1", kind="script", asker="w", track="x", payload=script, digest=digest(script)
    )
    events = [asked, ApprovalAnswered("A-1", "approve"), ApprovalsAnswered("0" * 64, "approve", ("A-1",))]
    with opened(tmp_path) as journal:
        journal.append([Recorded(number, AT, "human:ada", "c", event) for number, event in enumerate(events, 1)])
    report = verify(tmp_path)
    assert (report.ok, report.problem) == (
        False,
        "row 3: the set of answers 0000000000000000 is not the set of its approvals",
    )

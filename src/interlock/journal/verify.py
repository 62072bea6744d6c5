"""Verifies a journal: every row, the hash chain, and the head file."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from interlock.errors import JournalError
from interlock.journal.chain import GENESIS, row_hash
from interlock.journal.headfile import HeadFile, parse_head
from interlock.journal.lock import WriterLock
from interlock.journal.reading import JournalReader, Row, rows
from interlock.journal.upcast import read_event
from interlock.ports.journal import Head
from interlock.views.answer_sets import SetCheck


class VerifyReport(Struct, frozen=True):
    ok: bool
    rows: int
    head: str
    problem: str = ""

    @property
    def only_head(self) -> bool:
        """Whether the rows are an unbroken chain, and only the head file is missing or knows of more rows."""
        return self.problem.startswith(("journal.head", "the last rows"))


def verify(folder: Path) -> VerifyReport:
    reader = JournalReader(folder)
    try:
        return verify_rows(folder, reader.connection)
    finally:
        reader.close()


def verify_rows(folder: Path, connection: sqlite3.Connection) -> VerifyReport:
    # The head first: rows may be appended during the check, never removed.
    try:
        remembered = parse_head((folder / "journal.head").read_bytes())
    except OSError:
        remembered = None
    at_head: list[str] = [GENESIS] if remembered is not None and remembered.version == 0 else []

    def note(version: int, digest: str) -> None:
        if remembered is not None and version == remembered.version:
            at_head.append(digest)

    report = check_rows(rows(connection), note)
    if not report.ok:
        return report
    count, last = report.rows, report.head
    if remembered is None:
        return VerifyReport(
            False, count, last, "journal.head is missing or unreadable: removed last rows cannot be detected"
        )
    if not at_head:
        return VerifyReport(False, count, last, f"the last rows are missing: {count} of {remembered.version} are there")
    if at_head[0] != remembered.hash:
        return VerifyReport(False, count, last, f"row {remembered.version} is not the one journal.head remembers")
    return report


def check_rows(stored: Iterator[Row], note: Callable[[int, str], None] = lambda version, digest: None) -> VerifyReport:
    """Whether the rows are an unbroken chain of events from the first on. `note` gets each row that is."""
    last, count = GENESIS, 0
    sets = SetCheck()
    try:
        for version, at, actor, cause, schema, event, digest in stored:
            if version != count + 1:
                missing = (
                    f"row {count + 1} is missing"
                    if version == count + 2
                    else f"rows {count + 1} to {version - 1} are missing"
                )
                return VerifyReport(False, count, last, missing)
            if row_hash(last, version, at, actor, cause, schema, str(event).encode()) != digest:
                return VerifyReport(False, count, last, f"row {version} was altered, moved, or follows a row that was")
            try:
                problem = sets.take(read_event(schema, event))
            except JournalError as error:
                return VerifyReport(False, count, last, f"row {version} is no event this Interlock knows: {error}")
            if problem:
                return VerifyReport(False, count, last, f"row {version}: {problem}")
            last, count = digest, version
            note(version, digest)
    except JournalError as error:
        return VerifyReport(False, count, last, f"after row {count}: {error}")
    return VerifyReport(True, count, last)


def rebuild_head(folder: Path) -> VerifyReport:
    """Accepts the existing rows as complete if they form an unbroken chain."""
    lock = WriterLock(folder / "lock")
    try:
        report = verify(folder)
        if report.ok or report.only_head:
            file = HeadFile(folder / "journal.head")
            file.write(Head(report.rows, report.head))
            file.sync()
            file.close()
            return verify(folder)
        return report
    finally:
        lock.release()

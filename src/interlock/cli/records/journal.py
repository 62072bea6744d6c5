"""`interlock journal …`: reading needs no lock, and no row is changed."""

import gzip
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from interlock.assembly.project import (
    Project,
    export_rows,
    exported_journal,
    journal_report,
    project_reader,
    rebuild_journal_head,
)
from interlock.cli.arguments import CommandArgs, ProjectArgs
from interlock.cli.terminal.exits import DONE, ERROR, wrong_usage
from interlock.cli.terminal.output import paint, say, say_json
from interlock.cli.terminal.sessions import RemoteSession, project_of
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.step import replay as replayed
from interlock.errors import Misconfigured, Rejected, Unavailable
from interlock.journal.verify import VerifyReport
from interlock.views.board import track_rows
from interlock.views.display import counted, one_line
from interlock.wire import encode, event_name, labelled_state, to_plain


class ShowArgs(CommandArgs, frozen=True):
    file: str | None
    after: int
    last: int
    follow: bool


class VerifyArgs(CommandArgs, frozen=True):
    file: str | None
    rebuild_head: bool


class ExportArgs(ProjectArgs, frozen=True):
    file: str | None


class ArchiveArgs(CommandArgs, frozen=True):
    file: str | None


class ReplayArgs(CommandArgs, frozen=True):
    file: str | None
    to: int | None


def show(args: ShowArgs) -> int:
    if args.file:
        return _show_file(args, args.file)
    project = project_of(args)
    reader = project_reader(project)
    try:
        after = max(args.after, reader.head().version - args.last if args.last else 0)
        for recorded in reader.read(after):
            _say(recorded, as_json=args.json)
            after = recorded.version
    finally:
        reader.close()
    if args.follow:
        sys.stdout.flush()  # the reader of a pipe waits for these lines
        _follow(project, after, as_json=args.json)
    return DONE


def _show_file(args: ShowArgs, file: str) -> int:
    if args.follow:
        return wrong_usage("journal show: a file does not grow: leave out --follow or --file", as_json=args.json)
    journal = exported_journal(file)
    after = max(args.after, journal.last_version() - args.last if args.last else 0)
    for recorded in journal.read(after):
        _say(recorded, as_json=args.json)
    return DONE


def verify(args: VerifyArgs) -> int:
    if args.file and args.rebuild_head:
        return wrong_usage("journal verify: a file has no head: leave out --rebuild-head or --file", as_json=args.json)
    report = exported_journal(args.file).verify() if args.file else _verified(args)
    if args.json:
        say_json(to_plain(report))
    elif report.ok:
        say(paint(f"ok: {counted(report.rows, 'row')}, unbroken; head {report.head[:16]}…", "good"))
    else:
        say(paint(f"NOT OK: {report.problem}", "bad"), sys.stderr)
        say(f"rows unchanged before that: {report.rows}", sys.stderr)
    return DONE if report.ok else ERROR


def _verified(args: VerifyArgs) -> VerifyReport:
    project = project_of(args)
    return rebuild_journal_head(project) if args.rebuild_head else journal_report(project)


def export(args: ExportArgs) -> int:
    project = project_of(args)
    if not args.file or args.file == "-":
        for line in export_rows(project):
            sys.stdout.write(line)
        return DONE
    try:
        with Path(args.file).open("w", encoding="utf-8") as file:
            count = sum(1 for line in export_rows(project) if file.write(line))
    except OSError as error:
        raise Misconfigured(f"{args.file} cannot be written: {error.strerror}") from error
    say(f"{counted(count, 'event')} in {args.file}")
    return DONE


def archive(args: ArchiveArgs) -> int:
    """Write a verified, compressed copy; the journal itself is not changed."""
    project = project_of(args)
    report = journal_report(project)
    if not report.ok:
        raise Misconfigured(f"the journal is damaged, so it is not archived: {report.problem}")
    name = args.file or f"journal-{report.rows:08d}.jsonl.gz"
    try:
        with gzip.open(name, "xt", encoding="utf-8") as file:
            for line in islice(export_rows(project), report.rows):
                file.write(line)
    except FileExistsError:
        raise Rejected(f"{name} exists already; name another file") from None
    except OSError as error:
        raise Misconfigured(f"{name} cannot be written: {error.strerror}") from error
    shown = {"file": name, "rows": report.rows, "head": report.head}
    if args.json:
        say_json(shown)
    else:
        say(f"{counted(report.rows, 'event')} in {name}, up to hash {report.head[:16]}…")
    return DONE


def replay(args: ReplayArgs) -> int:
    if args.file:
        journal = exported_journal(args.file)
        to, state = _state_at(journal.read(), journal.last_version(), args.to)
    else:
        reader = project_reader(project_of(args))
        try:
            to, state = _state_at(reader.read(), reader.head().version, args.to)
        finally:
            reader.close()
    if args.json:
        say_json(labelled_state(state))
        return DONE
    tracks, approvals = counted(len(state.track_order), "track"), counted(len(state.pending), "open approval")
    say(f"after version {to}: {tracks}, {approvals}")
    for row in track_rows(state):
        say(f"  {row.id}: {row.status}, {row.progress.completed} of {row.progress.total} done")
    return DONE


def _state_at(records: Iterator[Recorded], last: int, version: int | None) -> tuple[int, State]:
    to = last if version is None else version
    if not 0 <= to <= last:
        raise Rejected(f"there are versions 0 to {last}, not {to}")
    return to, replayed(islice(records, to))


def _say(recorded: Recorded, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(encode(recorded).decode() + "\n")
        return
    plain = to_plain(recorded.event)
    facts = " ".join(f"{key}={one_line(str(value), 60)}" for key, value in plain.items() if key != "type")
    at = paint(recorded.at[:23], "dim")
    say(f"{recorded.version:6}  {at}  {recorded.actor:20}  {event_name(recorded.event):20} {one_line(facts, 160)}")


def _follow(project: Project, after: int, *, as_json: bool) -> None:
    try:
        session = RemoteSession(project)
    except Unavailable:
        say("no workbench runs on this project; there is nothing to follow", sys.stderr)
        return
    with session:
        for batch in session.follow(after):
            for recorded in batch:
                _say(recorded, as_json=as_json)
            sys.stdout.flush()

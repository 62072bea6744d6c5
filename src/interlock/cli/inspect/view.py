"""`interlock view`: code views of files, folders and patterns, in a project or not."""

import gc
import os
import sys
from collections.abc import Iterator
from typing import Any, Literal

from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE, ERROR
from interlock.cli.terminal.output import colour_on, say, say_json
from interlock.codeviews.folders.cache import Cache, cache_folder
from interlock.codeviews.folders.many import processors, shown
from interlock.codeviews.folders.one import Skipped, Viewed
from interlock.codeviews.folders.walk import FoundFile
from interlock.codeviews.views import tokens
from interlock.views.display import name_of_file, safe


class ViewArgs(CommandArgs, frozen=True):
    kind: Literal["skeleton", "curated", "summary", "outline"]
    paths: tuple[str, ...]
    no_cache: bool


def view(args: ViewArgs) -> int:
    paths: list[str] = [os.path.join(args.project or "", path) for path in args.paths]
    alone = len(paths) == 1 and not os.path.isdir(paths[0]) and os.path.lexists(paths[0])
    done = _Done()
    plain: list[dict[str, Any]] = []
    terminal = sys.stdout.isatty()
    cache = None if args.no_cache else Cache(cache_folder(os.environ))
    gc.set_threshold(100_000)  # thousands of small things without circles: there is nothing to look for
    for one in _with_progress(shown(args.kind, paths, cache, processors(), done.count), done):
        if isinstance(one, Skipped):
            done.skip(one)
        else:
            done.add(one)
            if args.json:
                plain.append(_plain(one))
            else:
                _print(one, alone, first=done.files == 1, terminal=terminal)
    if args.json:
        skipped = [{"path": _name(one.path), "reason": one.reason} for one in done.skipped]
        say_json({"kind": args.kind, "files": plain, "skipped": skipped, "totals": done.totals()})
    sys.stdout.flush()
    _tell(done.text())
    return ERROR if any(one.asked for one in done.skipped) else DONE


class _Done:
    def __init__(self) -> None:
        self.found = self.files = self.before = self.after = 0
        self.skipped: list[Skipped] = []

    def count(self, files: Iterator[FoundFile]) -> Iterator[FoundFile]:
        for found in files:
            self.found += 1
            yield found

    def add(self, one: Viewed) -> None:
        self.files += 1
        self.before += one.before
        self.after += one.after

    def skip(self, one: Skipped) -> None:
        self.skipped.append(one)
        _tell(f"skipped {name_of_file(one.path)}: {one.reason}")

    def totals(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "skipped": len(self.skipped),
            "tokens_before": self.before,
            "tokens_after": self.after,
            "tokens": tokens.method(),
        }

    def text(self) -> str:
        files = f"{self.files:,} file{'' if self.files == 1 else 's'}"
        skipped = f", {len(self.skipped):,} skipped" if self.skipped else ""
        return f"{files}{skipped}: {self.before:,} → {self.after:,} tokens ({tokens.method()})"


def _plain(one: Viewed) -> dict[str, Any]:
    return {
        "path": _name(one.path),
        "language": one.language,
        "tokens_before": one.before,
        "tokens_after": one.after,
        "view": one.view.decode(errors="replace"),
    }


def _print(one: Viewed, alone: bool, *, first: bool, terminal: bool) -> None:
    """The bytes as they are, but on a terminal, where they could do harm."""
    text = one.view
    if terminal:
        text = safe(text.decode(errors="replace")).encode()
    if not alone:
        text = (b"" if first else b"\n") + f"==> {name_of_file(one.path)} <==\n".encode() + text
        if not text.endswith(b"\n"):
            text += b"\n"
    sys.stdout.buffer.write(text)
    if terminal:
        sys.stdout.buffer.flush()


def _name(path: str) -> str:
    """A name need not be text: what is none shows as �."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


def _tell(text: str) -> None:
    say(text, sys.stderr)


def _with_progress(results: Iterator[Viewed | Skipped], done: _Done) -> Iterator[Viewed | Skipped]:
    """A line that changes, on a terminal and only while the views themselves go elsewhere."""
    if not colour_on(sys.stderr) or sys.stdout.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("files"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        for one in results:
            yield one
            bar.update(task, total=done.found, completed=done.files + len(done.skipped))

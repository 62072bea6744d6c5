"""`interlock view`: code views of files, folders and patterns, with or without a project."""

import gc
import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

from interlock.assembly.settings.secret_files import own_closed_names
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE, ERROR
from interlock.cli.terminal.output import colour_on, say, say_json
from interlock.codeviews.folders.cache import Cache, cache_folder
from interlock.codeviews.folders.many import processors, shown
from interlock.codeviews.folders.one import Skipped, Viewed
from interlock.codeviews.folders.walk import FoundFile
from interlock.codeviews.views import tokens
from interlock.views.display import counted, quoted_path, safe

_WRITE_BYTES = 1_000_000
_NAMED = 5
"""Files of a folder that are named for each reason to skip them; the rest are counted."""


class ViewArgs(CommandArgs, frozen=True):
    kind: Literal["skeleton", "curated", "summary", "outline"]
    paths: tuple[str, ...]
    no_cache: bool


def view(args: ViewArgs) -> int:
    paths: list[str] = [os.path.join(args.project or "", path) for path in args.paths]
    alone = len(paths) == 1 and not os.path.isdir(paths[0]) and os.path.lexists(paths[0])
    done = _Totals()
    plain: list[dict[str, Any]] = []
    printer = _Printer(alone=alone, terminal=sys.stdout.isatty())
    cache = None if args.no_cache else Cache(cache_folder(os.environ))
    gc.set_threshold(100_000)  # many small objects without reference cycles: collecting would only cost time
    for result in _with_progress(shown(args.kind, paths, cache, own_closed_names(), processors(), done.count), done):
        if isinstance(result, Skipped):
            done.skip(result)
        else:
            done.add(result)
            if args.json:
                plain.append(_as_dict(result))
            else:
                printer.add(result)
    printer.flush()
    if args.json:
        skipped = [{"path": _name(skipped.path), "reason": skipped.reason} for skipped in done.skipped]
        say_json({"kind": args.kind, "files": plain, "skipped": skipped, "totals": done.totals()})
    sys.stdout.flush()
    for line in done.unnamed():
        _warn(line)
    _warn(done.text())
    return ERROR if any(skipped.asked for skipped in done.skipped) else DONE


class _Totals:
    def __init__(self) -> None:
        self.found = self.files = self.before = self.after = 0
        self.skipped: list[Skipped] = []
        self._reasons: Counter[str] = Counter()

    def count(self, files: Iterator[FoundFile]) -> Iterator[FoundFile]:
        for file in files:
            self.found += 1
            yield file

    def add(self, viewed: Viewed) -> None:
        self.files += 1
        self.before += viewed.before
        self.after += viewed.after

    def skip(self, skipped: Skipped) -> None:
        self.skipped.append(skipped)
        if not skipped.asked:
            self._reasons[skipped.reason] += 1
        if skipped.asked or self._reasons[skipped.reason] <= _NAMED:
            _warn(f"skipped {quoted_path(skipped.path)}: {skipped.reason}")

    def unnamed(self) -> Iterator[str]:
        """A line for each reason that holds for more files than were named."""
        for reason, number in self._reasons.items():
            if number > _NAMED:
                yield f"skipped {number - _NAMED:,} more for the same reason: {reason}"

    def totals(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "skipped": len(self.skipped),
            "tokens_before": self.before,
            "tokens_after": self.after,
            "tokens": tokens.method(),
        }

    def text(self) -> str:
        files = counted(self.files, "file")
        skipped = f", {len(self.skipped):,} skipped" if self.skipped else ""
        return f"{files}{skipped}: {self.before:,} → {self.after:,} tokens ({tokens.method()})"


def _as_dict(viewed: Viewed) -> dict[str, Any]:
    return {
        "path": _name(viewed.path),
        "language": viewed.language,
        "tokens_before": viewed.before,
        "tokens_after": viewed.after,
        "view": viewed.view.decode(errors="replace"),
    }


class _Printer:
    """Prints the exact bytes of views; on a terminal control characters are made harmless."""

    def __init__(self, *, alone: bool, terminal: bool) -> None:
        self._alone = alone
        self._terminal = terminal
        self._first = True
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, viewed: Viewed) -> None:
        text = safe(viewed.view.decode(errors="replace")).encode() if self._terminal else viewed.view
        if not self._alone:
            gap = "" if self._first else "\n"
            self._pieces.append(f"{gap}==> {quoted_path(viewed.path)} <==\n".encode())
        self._pieces.append(text)
        if not self._alone and text and not text.endswith(b"\n"):
            self._pieces.append(b"\n")
        self._first = False
        self._size += len(text)
        if self._terminal or self._size > _WRITE_BYTES:
            self.flush()

    def flush(self) -> None:
        """One write for many views: thousands of small writes would take a quarter of a run from the cache."""
        sys.stdout.buffer.write(b"".join(self._pieces))
        if self._terminal:
            sys.stdout.buffer.flush()
        self._pieces.clear()
        self._size = 0


def _name(path: str) -> str:
    """A file name for JSON: bytes that are no UTF-8 become �."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


def _warn(text: str) -> None:
    say(text, sys.stderr)


def _with_progress(results: Iterator[Viewed | Skipped], done: _Totals) -> Iterator[Viewed | Skipped]:
    """A progress bar on stderr, if that is a terminal and stdout is not."""
    if not colour_on(sys.stderr) or sys.stdout.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("files"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        for result in results:
            yield result
            bar.update(task, total=done.found, completed=done.files + len(done.skipped))

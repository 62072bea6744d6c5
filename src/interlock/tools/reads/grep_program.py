"""The search of `grep`, run as a separate program in the sandbox: a runaway pattern is killed with it.

Reads a JSON object and, after a NUL, the paths to search (separated by NUL) from standard input; prints the matches.
Each path is opened name by name, never through a link. Imports nothing of Interlock: the file itself is executed.
"""

import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from re import _parser  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]  no public way to look in
from typing import Any

_LONGEST_LINE = 10_000  # searched characters of a line
_SHOWN_OF_LINE = 300
_MOST_BYTES = 16 * 1024 * 1024
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def main() -> int:
    head, _, names = sys.stdin.buffer.read().partition(b"\0")
    asked = json.loads(head)
    try:
        pattern = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0)
        needle = literal(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        sys.stdout.write(f"The pattern is not a regular expression: {error}.\n")
        return 2
    printer = Printer(asked["most_matches"], asked["most_characters"])
    deadline = time.monotonic() + asked["seconds"]
    for name, data in contents(names.split(b"\0") if names else []):
        text = decoded(data, needle)
        if text and not search(name, text, pattern, needle, asked["context"], printer, deadline):
            break
    printer.end()
    return 0


def search(
    name: bytes, text: str, pattern: re.Pattern[str], needle: str, context: int, printer: "Printer", deadline: float
) -> bool:
    """False if the search should stop."""
    shown_to = 0  # lines before this number are printed
    lines = text.removesuffix("\n").split("\n")
    path = name.decode("utf-8", "replace")
    path = path if path.isprintable() else json.dumps(path, ensure_ascii=False)

    def around(first: int, last: int) -> None:
        for number in range(first, min(last, len(lines)) + 1):
            printer.line(f"{path}-{number}- {piece(lines[number - 1], 0)}")

    candidates = [number for number, line in enumerate(lines, 1) if needle in line]
    for count, number in enumerate(candidates):
        if count % 256 == 0 and time.monotonic() > deadline:
            printer.stopped = "stopped: there was no time to search everything; give a path or a glob"
            return False
        line = lines[number - 1]
        match = pattern.search(line[:_LONGEST_LINE].rstrip("\r"))
        if not match:
            continue
        if not printer.room():
            return False
        if shown_to:
            after = min(shown_to + context, number - 1)
            around(shown_to + 1, after)
            if context and number - context > after + 1:
                printer.line("--")
            shown_to = after
        around(max(shown_to + 1, number - context), number - 1)
        printer.match(f"{path}:{number}: {piece(line, match.start())}")
        shown_to = number
    if shown_to:
        around(shown_to + 1, shown_to + context)
    return True


def contents(names: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """The contents of regular files. Files of one folder are adjacent, so the folder stays open between them."""
    here, folder = -1, b""
    for name in names:
        above, _, last = name.rpartition(b"/")
        if here < 0 or above != folder:
            if here >= 0:
                os.close(here)
            here, folder = open_folder(above), above
        if here >= 0 and (data := read(here, last)):
            yield name, data


def open_folder(path: bytes) -> int:
    """A descriptor of the folder; −1 if it does not exist or contains a link."""
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    for name in path.split(b"/") if path else []:
        try:
            folder_fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
        except OSError:
            return -1
        finally:
            os.close(here)
        here = folder_fd
    return here


def read(folder: int, name: bytes) -> bytes:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=folder)
    except OSError:
        return b""
    with open(fd, "rb", buffering=0) as file:
        try:
            return file.read(_MOST_BYTES) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
        except OSError:
            return b""


def decoded(data: bytes, needle: str) -> str:
    """The lines; none for binary data, or if the required text is absent."""
    if data.startswith(_WIDE):
        return data.decode("utf-16", "replace")
    if (needle.isascii() and needle.encode() not in data) or b"\0" in data[:8192]:
        return ""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def literal(pattern: re.Pattern[str]) -> str:
    """A literal text that every match contains; empty if none is obvious."""
    if pattern.flags & re.IGNORECASE:
        return ""
    runs = [""]

    def look(parts: Any) -> None:
        for kind, detail in parts:
            match str(kind):
                case "LITERAL":
                    runs[-1] += chr(detail)
                case "AT":  # an anchor, not a character
                    pass
                case "SUBPATTERN" if not detail[1] and not detail[2]:  # without inline flags
                    look(detail[3])
                case "MAX_REPEAT" | "MIN_REPEAT" if detail[0] > 0:
                    runs.append("")
                    look(detail[2])
                    runs.append("")
                case _:
                    runs.append("")

    look(_parser.parse(pattern.pattern))  # pyright: ignore[reportUnknownMemberType]  as above
    return max(runs, key=len)


def piece(line: str, start: int) -> str:
    line = line.rstrip("\r")
    if len(line) <= _SHOWN_OF_LINE:
        return line
    begin = max(0, start - _SHOWN_OF_LINE // 3)
    end = begin + _SHOWN_OF_LINE
    return ("…" if begin else "") + line[begin:end] + ("…" if end < len(line) else "")


class Printer:
    """Prints within the limit and flushes: matches before a kill are not lost."""

    def __init__(self, most_matches: int, most_characters: int) -> None:
        self.matches = 0
        self.most_matches = most_matches
        self.characters = most_characters
        self.stopped = ""

    def room(self) -> bool:
        if self.matches < self.most_matches and self.characters > 0:
            return True
        self.stopped = f"only the first {self.matches:,} matches are shown; narrow the pattern, path or glob"
        return False

    def match(self, text: str) -> None:
        self.matches += 1
        self.line(text)

    def line(self, text: str) -> None:
        if self.characters > 0:
            self.characters -= len(text) + 1
            self.say(text)

    def say(self, text: str) -> None:
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()

    def end(self) -> None:
        if not self.matches and not self.stopped:
            self.say("No line matches.")
        if self.stopped:
            self.say(f"[… {self.stopped}]")


if __name__ == "__main__":
    sys.exit(main())

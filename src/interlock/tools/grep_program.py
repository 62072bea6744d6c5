"""The searching half of `grep`, run by itself in the sandbox: a pattern that never ends is killed there with it.

Reads a JSON object and, after a NUL, the paths to search (NUL between them) from standard input; prints what it finds.
It opens each path name by name, never through a link. Imports nothing of ours: its text is what runs.
"""

import json
import os
import re
import stat
import sys
import time

_LONGEST_LINE = 10_000  # what is searched of a line
_SHOWN_OF_LINE = 300
_MOST_BYTES = 16 * 1024 * 1024
_NOT_PLAIN = set("|([{\\")


def main() -> int:
    head, _, names = sys.stdin.buffer.read().partition(b"\0")
    asked = json.loads(head)
    try:
        pattern = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0)
    except (re.error, RecursionError, OverflowError) as error:
        sys.stdout.write(f"The pattern is not a regular expression: {error}.\n")
        return 2
    needle = "" if asked["ignore_case"] else literal(asked["pattern"])
    printer = Printer(asked["most_matches"], asked["most_characters"])
    deadline = time.monotonic() + asked["seconds"]
    for name in names.split(b"\0") if names else []:
        lines = read_lines(name, needle)
        if not search(name, lines, pattern, asked["context"], printer, deadline):
            break
    printer.end()
    return 0


def search(
    name: bytes, lines: list[str], pattern: re.Pattern[str], context: int, printer: "Printer", deadline: float
) -> bool:
    """False when there is no need or no time to go on."""
    shown_to = 0  # lines before this number have been printed
    after = 0  # so many more lines belong to the last match
    path = name.decode("utf-8", "replace")
    path = path if path.isprintable() else json.dumps(path, ensure_ascii=False)
    for number, line in enumerate(lines, 1):
        if number % 256 == 1 and time.monotonic() > deadline:
            printer.stopped = "stopped: there was no time to search everything; give a path or a glob"
            return False
        found = pattern.search(line[:_LONGEST_LINE].rstrip("\r"))
        if found:
            if not printer.room():
                return False
            if context and shown_to and number - context > shown_to + 1:
                printer.line("--")
            for before in range(max(shown_to + 1, number - context), number):
                printer.line(f"{path}-{before}- {piece(lines[before - 1], 0)}")
            printer.match(f"{path}:{number}: {piece(line, found.start())}")
            shown_to, after = number, context
        elif after:
            printer.line(f"{path}-{number}- {piece(line, 0)}")
            shown_to, after = number, after - 1
    return True


def read_lines(name: bytes, needle: str) -> list[str]:
    """The lines of a plain text file that can hold the needle; none of anything else."""
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        *folders, last = name.split(b"/")
        for folder in folders:
            there = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = there
        fd = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=here)
    except OSError:
        return []
    finally:
        os.close(here)
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return []
        try:
            data = file.read(_MOST_BYTES)
        except OSError:
            return []
    text = decoded(data)
    if not text or needle not in text:
        return []
    return text.removesuffix("\n").split("\n")


def decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:8192]:
        return ""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def literal(pattern: str) -> str:
    """A text that every match holds, the longest that is easy to see; often empty."""
    if _NOT_PLAIN & set(pattern):
        return ""
    return max(re.split(r".[*?][?+]?|\+[?+]?|[.^$]", pattern), key=len, default="")


def piece(line: str, start: int) -> str:
    line = line.rstrip("\r")
    if len(line) <= _SHOWN_OF_LINE:
        return line
    begin = max(0, start - _SHOWN_OF_LINE // 3)
    end = begin + _SHOWN_OF_LINE
    return ("…" if begin else "") + line[begin:end] + ("…" if end < len(line) else "")


class Printer:
    """Within bounds, and at once: what was found before a kill is not lost."""

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

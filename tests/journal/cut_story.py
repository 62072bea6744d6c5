"""A process that writes a journal and says what it has promised: `python -m tests.journal.cut_story FOLDER`."""

import os
import sys
from pathlib import Path

from interlock.ports.journal import Checkpoint
from tests.journal.rows import opened, records


def main(folder: Path) -> None:
    with opened(folder / ".interlock") as journal:
        for last in (2, 4):
            journal.append(records(last - 1, last))
            say(f"rows {last}")
        for text in (b"first", b"second" * 2_000):
            say(f"blob {journal.put_blob(text)}")
        journal.save_checkpoint(Checkpoint(journal.head(), b"state" * 1_000))
        journal.append(records(5, 6))
        say("rows 6")
        journal.save_checkpoint(Checkpoint(journal.head(), b"later" * 1_000))


def say(text: str) -> None:
    os.write(1, f"mark {text}\n".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))

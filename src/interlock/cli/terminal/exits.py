"""Exit codes, and the printing of errors for people (stderr) and scripts (JSON on stdout)."""

import json
import sys

from interlock.errors import InterlockError, JournalCorrupt, JournalInUse, NotAJournal

DONE = 0
ERROR = 1
USAGE = 2
BLOCKED = 3
APPROVAL = 4
BUDGET = 5
INTERRUPTED = 130


def wrong_usage(sentence: str, *, as_json: bool) -> int:
    """Report arguments that parse but contradict each other."""
    if as_json:
        sys.stdout.write(json.dumps({"error": sentence, "kind": "Usage"}) + "\n")
    sys.stderr.write(f"interlock {_safe(sentence)}\n")
    return USAGE


def report(error: InterlockError, *, as_json: bool) -> int:
    if as_json:
        shown: dict[str, object] = {"error": str(error), "kind": type(error).__name__}
        if isinstance(error, JournalInUse):
            shown["pid"] = error.pid
        sys.stdout.write(json.dumps(shown) + "\n")
    hint = ""
    if isinstance(error, JournalCorrupt) and not isinstance(error, NotAJournal):
        hint = "\nThe journal can still be read: 'interlock journal show' and 'interlock journal export' work."
    sys.stderr.write(f"interlock: {_safe(str(error))}{hint}\n")
    return ERROR


def _safe(text: str) -> str:
    """Errors quote names and texts of files, models and programs."""
    from interlock.views.display import safe  # most commands end without an error

    return safe(text)

"""Whether a worker has changed what judges it: tests that were there before, files that its gate runs (SPEC G8)."""

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from interlock.domain.gates import Gate

SHOWN = 20


class Change(Struct, frozen=True, gc=False):
    """A file that differs between two commits; `blob` is what it is now, empty where it is gone."""

    how: Literal["added", "changed", "deleted"]
    path: str  # from the project's folder
    blob: str


def tampered(
    changes: Sequence[Change], gates: Sequence[Gate], test_paths: Sequence[str], target: str | None = None
) -> tuple[str, ...]:
    """`path@content` of each; the same change has the same name. New files are nobody's judge yet; nor is the file that
    the ticket itself is about, where a gate names it: it is what is judged.
    """
    named = frozenset(word for gate in gates for word in _words(gate)) - {target}
    return tuple(
        f"{change.path}@{change.blob[:12] or 'deleted'}"
        for change in changes
        if change.how != "added" and (change.path in named or any(_fits(change.path, one) for one in test_paths))
    )


def asks(files: Sequence[str]) -> str:
    """For the human."""
    lines = [f"- {file}" for file in files[:SHOWN]]
    if len(files) > SHOWN:
        lines.append(f"- and {len(files) - SHOWN} more")
    return "\n".join(
        [
            "## Existing Tests Were Changed",
            "",
            "The worker has changed or deleted files that its work is verified with, and that were there before it:",
            "",
            *lines,
            "",
            "gate_action: `retry` (the changes are fine: verify with them), `skip` (go on, unverified) or `abort`.",
        ]
    )


def _words(gate: Gate) -> list[str]:
    """Whatever in a command could be a file of the project."""
    found = re.split(r"[\s'\"`;|&<>()=,:]+", gate.command)
    folder = f"{gate.cwd.strip('/')}/" if gate.cwd and gate.cwd.strip("./") else ""
    return [re.sub(r"^(\./)+", "", word) for word in found] + [folder + word for word in found if folder]


def _fits(path: str, pattern: str) -> bool:
    """A pattern without a slash is about the name alone; `**` is any number of folders."""
    if "/" not in pattern:
        return _compiled(pattern).match(path.rpartition("/")[2]) is not None
    return _compiled(pattern).match(path) is not None


@lru_cache(256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.replace("**/", "*").replace("/**", "/*")))

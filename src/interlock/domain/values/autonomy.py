"""Autonomy: which of a worker's actions ask a person first."""

from typing import Literal

Autonomy = Literal["ask", "review", "land"]

CONTAINING = frozenset(["bubblewrap"])
"""Sandboxes that contain all effects. With Landlock a command can still change modes and times of the user's files."""

MEANING: dict[Autonomy, str] = {
    "ask": "every change asks before it runs",
    "review": "work inside the sandboxed worktree runs without a question; the finished diff of each ticket asks",
    "land": "work inside the sandboxed worktree runs without a question; only the landing asks",
}

"""Comments of a review: their text form, their limits, and the note to the worker about requested changes."""

import re
from collections.abc import Sequence

from interlock.domain.values.approvals import Comment
from interlock.errors import BadValue

MOST_COMMENTS = 100
MOST_TEXT = 16_000
"""Characters of a review's message and comments together: the event holds them."""

_COMMENT = re.compile(r"(?P<file>\S.*?)(?::(?P<line>\d{1,7}))?:\s+(?P<text>\S.*)", re.DOTALL)


def changes_note(approval: str, message: str, comments: Sequence[Comment]) -> str:
    """What the worker reads when a person requests changes."""
    parts = [f"## Changes requested ({approval})", *remarks(message, comments)]
    parts.append(
        "A person reviewed your work and asks for these changes. Your worktree is as you left it. Make them, then"
        " report the end of your work as before; the gates run again."
    )
    return "\n\n".join(parts)


def parts_note(approval: str, message: str, comments: Sequence[Comment]) -> str:
    """What the worker reads, if a gate fails on the parts that a person accepted."""
    return "\n\n".join(
        [
            f"## Only parts of your work were accepted ({approval})",
            *remarks(message, comments),
            "A person took the other parts out. Your worktree has only what was accepted. Do not add them again.",
        ]
    )


def remarks(message: str, comments: Sequence[Comment]) -> list[str]:
    """The message and the comments, one paragraph each."""
    parts = [message.strip()] if message.strip() else []
    if comments:
        parts.append("\n".join(f"- {_place(comment)}: {comment.text.strip()}" for comment in comments))
    return parts


def comment_from(text: str) -> Comment:
    """`src/a.py:12: use a set`, or `src/a.py: …` for the whole file. Raises BadValue for anything else."""
    match = _COMMENT.fullmatch(text.strip())
    if match is None:
        raise BadValue(f"a comment is written FILE:LINE: TEXT or FILE: TEXT, not {text[:80]!r}")
    return Comment(match["file"], match["text"], int(match["line"] or 0))


def _place(comment: Comment) -> str:
    return f"`{comment.file}` line {comment.line}" if comment.line else f"`{comment.file}`"

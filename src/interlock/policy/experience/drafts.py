"""A rule that could be suggested, before it has a name: as text, with its examples."""

import json
import shlex
from collections.abc import Sequence

from msgspec import Struct

from interlock.policy.experience.shapes import Fit
from interlock.policy.reading.second_reader import plain_commands
from interlock.policy.reading.words import Word

_MOST_EXAMPLES = 3


class Draft(Struct, frozen=True):
    """Exactly one of `exactly`, `command` and `tool` is set. A wide draft may replace several narrow ones."""

    exactly: str = ""
    command: str = ""
    tool: str = ""
    options: tuple[str, ...] = ()
    operands: str = ""
    first: str = ""
    whole_words: bool = False
    paths: tuple[str, ...] = ()
    match: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """The rule in a few words."""
        if self.tool:
            return f"{self.tool} on {', '.join(self.paths)}"
        if self.exactly:
            return f"exactly: {self.exactly}"
        options = f" [{' '.join(self.options)}]" if self.options else ""
        operands = {"project": " PATHS IN THE WORKTREE", "none": ""}[self.operands]
        return f"{self.command}{options}{' EXPRESSION' if self.first else ''}{operands}"

    @property
    def program(self) -> str:
        return (self.exactly or self.command or self.tool).split()[0].rsplit("/", 1)[-1]

    def toml(self, name: str, not_match: Sequence[str] = (), since: str = "") -> str:
        """A `[[policy]]` table."""
        rows: list[tuple[str, object]] = [("name", name), ("verdict", "allow")]
        if self.exactly:
            rows.append(("exactly", self.exactly))
        elif self.tool:
            rows += [("tool", self.tool), ("paths", self.paths)]
        else:
            rows.append(("command", self.command))
            rows += [("options", self.options)] if self.options else []
            rows += [("whole_words", True)] if self.whole_words else []
            rows += [("first", self.first)] if self.first else []
            rows.append(("operands", self.operands))
        rows.append(("match", self.match[:_MOST_EXAMPLES]))
        rows += [("not_match", not_match[:_MOST_EXAMPLES])] if not_match else []
        rows += [("since", since)] if since else []
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in rows]
        return "\n".join(["[[policy]]", *lines, ""])


def exact_draft(words: Sequence[Word]) -> Draft | None:
    """The draft that allows this command and nothing else; None if no rule can be that narrow."""
    text = command_text(words)
    if text is None or any(word.glob for word in words):
        return None
    return Draft(exactly=text, match=(text,))


def wide_draft(fits: Sequence[Fit], texts: Sequence[str]) -> Draft:
    """The draft for commands of one shape and beginning: the options that were approved, and no other."""
    shape = fits[0].shape
    names = frozenset[str]().union(*(fit.options for fit in fits))
    has_operands = shape.operands == "project" and any(len(fit.operands) > bool(shape.first) for fit in fits)
    return Draft(
        command=fits[0].begin,
        options=shape.spelled(names),
        operands="project" if has_operands else "none",
        first=shape.first,
        whole_words=shape.whole_words,
        match=tuple(dict.fromkeys(texts)),
    )


def tool_draft(tool: str, pattern: str, examples: Sequence[str]) -> Draft:
    """The draft that allows a tool on the files that fit a pattern."""
    return Draft(tool=tool, paths=(pattern,), match=tuple(f"{tool} {path}" for path in dict.fromkeys(examples)))


def command_text(words: Sequence[Word]) -> str | None:
    """A command as a script, if that script is read as exactly these words."""
    text = " ".join(word.text if word.glob else shlex.quote(word.text) for word in words)
    commands = plain_commands(text)
    same = commands is not None and len(commands) == 1 and commands[0].words == tuple(words)
    return text if same else None

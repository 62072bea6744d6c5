"""Prompts are files: `prompts/<id>.md` of the project, else of the user; `>>id words` names one (SPEC G10)."""

import os
import re
import stat
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from interlock.domain.ids import is_id
from interlock.errors import Misconfigured

MOST = 100_000  # bytes of a prompt
ARGS = "{{args}}"

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*\n", re.DOTALL | re.MULTILINE)
_OPERATORS = {"::": "gates", "-->": "chains", "==>": "delegation"}


class WrongCommand(Exception):
    """What is typed is not a command that can be run."""


def command_prompt(command: str, folders: Sequence[Path]) -> str:
    """What a worker is told: the prompt's text with the words after its name, or the words themselves."""
    text = command.strip()
    if not text:
        raise WrongCommand("the command is empty; try: interlock do '>>NAME what to do'")
    for operator, what in _OPERATORS.items():
        if (column := text.find(operator)) >= 0:
            raise WrongCommand(f"column {column + 1}: {what} ({operator}) are not supported yet")
    if text[0] in "%@#":
        raise WrongCommand(f"column 1: {text.split()[0]!r}: modifiers, frameworks and styles are not supported yet")
    if not text.startswith(">>"):
        return text
    name, _, words = text[2:].partition(" ")
    if not is_id(name):
        raise WrongCommand(f"column 3: {name!r} is no name of a prompt; after >> comes one, such as >>review")
    body = _FRONT_MATTER.sub("", _read(name, folders), count=1).strip()
    if ARGS in body:
        return body.replace(ARGS, words.strip())
    return f"{body}\n\n{words.strip()}".strip()


def _read(name: str, folders: Sequence[Path]) -> str:
    for folder in folders:
        file = folder / f"{name}.md"
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise Misconfigured(f"{file} cannot be read: {error.strerror}") from error
        with open(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Misconfigured(f"{file} is not a file")
            content = opened.read(MOST + 1)
        if len(content) > MOST:
            raise Misconfigured(f"{file} is longer than {MOST:,} bytes")
        return content.decode(errors="replace")
    known = sorted({file.stem for folder in folders if folder.is_dir() for file in folder.glob("*.md")})
    near = get_close_matches(name, known, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise WrongCommand(f"there is no prompt {name!r}{hint} (make {folders[0] / f'{name}.md'})")

"""Plain commands: a second, much smaller reading of a script, by hand.

It knows words, quotes, pipes, `&&`, `||`, `;`, lines, comments and output thrown away, and gives up at anything else.
Only what both this and the grammar read the same way can be allowed: a difference between a grammar and a real shell
is where tricks live.
"""

import re
import unicodedata

from msgspec import Struct

from interlock.policy.words import Word


class PlainCommand(Struct, frozen=True):
    words: tuple[Word, ...]
    then: str  # what stands after it: && || ; | or nothing


_THROWN_AWAY = re.compile(r"(?:[12]?>[ \t]*/dev/null|2>&1|1?>&2)(?=[\s;|&]|\Z)")
_SEPARATOR = re.compile(r"&&|\|\||;|\n|\|(?!&)")
_BLANK = re.compile(r"[ \t]+")
_COMMENT = re.compile(r"#[^\n]*")
_UNQUOTED = re.compile(r"[A-Za-z0-9_./:@%+,=^*?!#~-]+")
_TILDE = re.compile(r"(?:^|[=:])~")
_SINGLE = re.compile(r"'([^']*)'")
_DOUBLE = re.compile(r'"((?:[^"\\$`]|\\[^$`\n])*)"')  # a backslash stays before all but quotes and backslashes
_ESCAPE = re.compile(r"\\([^\n])")
_RESERVED = frozenset(
    (
        *("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in"),
        *("select", "function", "coproc", "!", "{", "}", "[[", "]]", "(("),
    )
)


def plain_commands(script: str) -> list[PlainCommand] | None:
    """The commands in order, or None where the script is not plain."""
    if not is_clean(script):
        return None
    made: list[PlainCommand] = []
    words: list[Word] = []
    at, end = 0, len(script)
    while at < end:
        if (found := _BLANK.match(script, at)) or (found := _COMMENT.match(script, at)):
            at = found.end()
        elif found := _THROWN_AWAY.match(script, at):
            if not words:
                return None
            at = found.end()
        elif found := _SEPARATOR.match(script, at):
            if not _close(made, words, found[0]):
                return None
            words, at = [], found.end()
        else:
            read = _word(script, at)
            if read is None:
                return None
            word, at = read
            words.append(word)
    if words:
        made.append(PlainCommand(tuple(words), ""))
    elif made and made[-1].then in ("&&", "||", "|"):
        return None
    return made if all(_begins_well(command.words[0]) for command in made) else None


def is_clean(script: str) -> bool:
    """No character that hides, or looks like another."""
    if script.isascii():
        return all(character.isprintable() or character in "\n\t" for character in script)
    return all(
        character in "\n\t" or (character.isprintable() and unicodedata.is_normalized("NFKC", character))
        for character in script
    )


def _close(made: list[PlainCommand], words: list[Word], separator: str) -> bool:
    if words:
        made.append(PlainCommand(tuple(words), ";" if separator == "\n" else separator))
        return True
    # A line may be empty, and a line may end after && or |; two other separators in a row are a mistake.
    return separator == "\n"


def _begins_well(word: Word) -> bool:
    return word.literal and not word.glob and "=" not in word.text and word.text not in _RESERVED


def _word(script: str, start: int) -> tuple[Word, int] | None:
    parts: list[str] = []
    glob = False
    at = start
    while at < len(script):
        if found := _UNQUOTED.match(script, at):
            if _TILDE.search(found[0]) and (at == start or found[0][0] != "~"):
                return None
            glob = glob or "*" in found[0] or "?" in found[0]
            parts.append(found[0])
        elif found := _SINGLE.match(script, at):
            parts.append(found[1])
        elif found := _DOUBLE.match(script, at):
            parts.append(re.sub(r'\\(["\\])', r"\1", found[1]))
        elif found := _ESCAPE.match(script, at):
            if not found[1].isascii():
                return None
            parts.append(found[1])
        elif script.startswith("{}", at):  # of find
            parts.append("{}")
            at += 2
            continue
        else:
            break
        at = found.end()
    if at == start or (at < len(script) and script[at] not in " \t\n;|&"):
        return None  # something this does not know is glued to the word
    return Word("".join(parts), True, glob), at

"""A second, much smaller parser of scripts, written by hand.

It supports words, quotes, pipes, `&&`, `||`, `;`, lines, comments and discarded output, and rejects everything else.
Only a script that both parsers read the same way can be allowed: attacks use differences between a grammar and a
real shell.
"""

import re
import unicodedata

from msgspec import Struct

from interlock.policy.reading.words import Word


class PlainCommand(Struct, frozen=True):
    words: tuple[Word, ...]
    then: str  # the separator after it: && || ; | or empty


_THROWN_AWAY = re.compile(r"(?:[12]?>[ \t]*/dev/null|2>&1|1?>&2)(?=[\s;|&]|\Z)")
_SEPARATOR = re.compile(r"&&|\|\||;|\n|\|(?!&)")
_BLANK = re.compile(r"[ \t]+")
_COMMENT = re.compile(r"#[^\n]*")
_UNQUOTED = re.compile(r"[A-Za-z0-9_./:@%+,=^*?!#~-]+")
_TILDE = re.compile(r"(?:^|[=:])~")
_SINGLE = re.compile(r"'([^']*)'")
_DOUBLE = re.compile(r'"((?:[^"\\$`]|\\[^$`\n])*)"')  # a backslash escapes only quotes and backslashes
_ESCAPE = re.compile(r"\\([^\n])")
_RESERVED = frozenset(
    (
        *("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in"),
        *("select", "function", "coproc", "!", "{", "}", "[[", "]]", "(("),
    )
)


def plain_commands(script: str) -> list[PlainCommand] | None:
    """The commands in order; None if the script is not plain."""
    if not is_clean(script):
        return None
    commands: list[PlainCommand] = []
    words: list[Word] = []
    at, end = 0, len(script)
    while at < end:
        if (match := _BLANK.match(script, at)) or (match := _COMMENT.match(script, at)):
            at = match.end()
        elif match := _THROWN_AWAY.match(script, at):
            if not words:
                return None
            at = match.end()
        elif match := _SEPARATOR.match(script, at):
            if not _close(commands, words, match[0]):
                return None
            words, at = [], match.end()
        else:
            read = _word(script, at)
            if read is None:
                return None
            word, at = read
            words.append(word)
    if words:
        commands.append(PlainCommand(tuple(words), ""))
    elif commands and commands[-1].then in ("&&", "||", "|"):
        return None
    return commands if all(_has_plain_start(command.words[0]) for command in commands) else None


def is_clean(script: str) -> bool:
    """True without invisible or confusable characters."""
    if script.isascii():
        return all(character.isprintable() or character in "\n\t" for character in script)
    return all(
        character in "\n\t" or (character.isprintable() and unicodedata.is_normalized("NFKC", character))
        for character in script
    )


def _close(commands: list[PlainCommand], words: list[Word], separator: str) -> bool:
    if words:
        commands.append(PlainCommand(tuple(words), ";" if separator == "\n" else separator))
        return True
    # Empty lines and line breaks after && or | are allowed; other repeated separators are errors.
    return separator == "\n"


def _has_plain_start(word: Word) -> bool:
    return word.literal and not word.glob and "=" not in word.text and word.text not in _RESERVED


def _word(script: str, start: int) -> tuple[Word, int] | None:
    parts: list[str] = []
    glob = False
    at = start
    while at < len(script):
        if match := _UNQUOTED.match(script, at):
            if _TILDE.search(match[0]) and (at == start or match[0][0] != "~"):
                return None
            glob = glob or "*" in match[0] or "?" in match[0]
            parts.append(match[0])
        elif match := _SINGLE.match(script, at):
            parts.append(match[1])
        elif match := _DOUBLE.match(script, at):
            parts.append(re.sub(r'\\(["\\])', r"\1", match[1]))
        elif match := _ESCAPE.match(script, at):
            if not match[1].isascii():
                return None
            parts.append(match[1])
        elif script.startswith("{}", at):  # of find
            parts.append("{}")
            at += 2
            continue
        else:
            break
        at = match.end()
    if at == start or (at < len(script) and script[at] not in " \t\n;|&"):
        return None  # unsupported syntax follows the word
    return Word("".join(parts), True, glob), at

"""Words of a shell command: the text that the program receives, if it is known without running the shell."""

import re
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from tree_sitter import Node

UNKNOWN = "\ufffd"
"""Placeholder for text that is known only when the shell runs."""


class Word(Struct, frozen=True):
    """`text` is a guess if the word is not `literal`: it may deny a command, never allow it."""

    text: str
    literal: bool = True
    glob: bool = False


_ESCAPED = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ANSI_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_GLOB = re.compile(r"[*?\[]")
_BRACES = re.compile(r"\{[^{}]*(,|\.\.)[^{}]*\}")
_HOME = re.compile(r"\$(HOME\b|\{HOME\})")


def word_of(node: "Node", home: str) -> Word:
    """The word of a syntax node."""
    text = _text(node)
    match node.type:
        case "word" | "number" | "variable_name" | "special_variable_name" | "command_name":
            if node.named_child_count:
                return _joined(node, home)
            return _bare(text, home)
        case "raw_string":
            return Word(text[1:-1])
        case "ansi_c_string":
            return Word(_ansi(text[2:-1]), literal=False)
        case "string" | "translated_string":
            return _quoted(node, home)
        case "concatenation":
            return _joined(node, home)
        case "simple_expansion" | "expansion" if _HOME.fullmatch(text):
            return Word(home, literal=False)
        case _:
            return Word(UNKNOWN, literal=False)


def _text(node: "Node") -> str:
    return (node.text or b"").decode(errors="replace")


def _bare(text: str, home: str) -> Word:
    plain = _ESCAPED.sub("", text)
    literal = not _BRACES.search(plain) and not text.startswith(("~", "="))
    unescaped = _ESCAPED.sub(lambda match: "" if match[1] == "\n" else match[1], text)
    if text.startswith("~") and (len(text) == 1 or text[1] == "/"):
        unescaped = home + unescaped[1:]
    return Word(unescaped, literal, _GLOB.search(plain) is not None)


def _quoted(node: "Node", home: str) -> Word:
    """A string in double quotes. Expansions in it are unknown, except the home folder."""
    text = _text(node).removeprefix("$")
    if all(child.type == "string_content" for child in node.named_children):
        return Word(_ESCAPED_IN_QUOTES.sub(lambda match: match[1].strip("\n"), text[1:-1]), node.type == "string")
    parts: list[str] = []
    for child in node.children[1:-1]:
        known = child.type == "string_content"
        parts.append(_text(child) if known else word_of(child, home).text)
    return Word("".join(parts), literal=False)


def _joined(node: "Node", home: str) -> Word:
    parts = [word_of(child, home) for child in node.children]
    text = "".join(part.text for part in parts)
    literal = all(part.literal for part in parts) and not _BRACES.search(_text(node))
    return Word(text, literal, any(part.glob for part in parts))


def _ansi(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "xuU" and len(code) > 1:
            value = int(code[1:], 16)
        elif code[0] in "01234567":
            value = int(code, 8) & 0xFF
        else:
            return _ANSI_LETTERS.get(code, code[-1])
        return chr(value) if value < 0x110000 else UNKNOWN

    return _ANSI.sub(one, text)

"""Splits HTML into tags and texts, in one pass over the document.

The standard library's parser needs minutes for a hostile page of 200 kB, because it searches for the end of every
unfinished tag again. Here an unfinished construct ends the document, so each character is looked at a few times.
"""

import html
import re
from collections.abc import Iterator

from msgspec import Struct

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9:-]{0,40}")
_STOP = re.compile(r"[>\"']")
_MOST_TAG = 4_000
"""Characters of a tag in which attributes are looked for."""

_SKIPPED = ("script", "style", "template", "svg", "noscript", "iframe", "object", "canvas", "math")
_PLAIN = ("title", "textarea")  # they contain text only
_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in (*_SKIPPED, *_PLAIN)}
_ATTRIBUTES = {
    name: re.compile(rf"""\s{name}\s*=\s*("[^"]*"|'[^']*'|[^\s>"']+)""", re.IGNORECASE)
    for name in ("href", "alt", "content", "charset", "class")
}


class Opened(Struct, frozen=True):
    name: str
    source: str  # the tag as it is written, cut if it is long

    def attribute(self, name: str) -> str:
        """The value of an attribute; empty without one."""
        found = _ATTRIBUTES[name].search(self.source)
        return unescaped(found[1].strip("\"'")).strip() if found else ""


class Closed(Struct, frozen=True):
    name: str


Piece = Opened | Closed | str
"""A tag, or a text between two tags."""


def unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a number with thousands of digits
        return text


def pieces(document: str) -> Iterator[Piece]:
    at = 0
    while at < len(document):
        begin = document.find("<", at)
        if begin < 0:
            yield unescaped(document[at:])
            return
        if begin > at:
            yield unescaped(document[at:begin])
        if document.startswith("<!--", begin):
            at = _after(document, "-->", begin + 4)
        elif document.startswith(("<!", "<?"), begin):
            at = _after(document, ">", begin)
        elif document.startswith("</", begin):
            named = _NAME.match(document, begin + 2)
            at = _after(document, ">", begin)
            if named:
                yield Closed(named[0].lower())
        elif (named := _NAME.match(document, begin + 1)) is None:
            yield "<"
            at = begin + 1
        else:
            at = _tag_end(document, named.end())
            tag = Opened(named[0].lower(), document[begin : min(at, begin + _MOST_TAG)])
            if tag.name not in _ENDS:
                yield tag
                continue
            ended = _ENDS[tag.name].search(document, at)
            content = document[at : ended.start() if ended else len(document)]
            at = _after(document, ">", ended.start()) if ended else len(document)
            if tag.name in _PLAIN:
                yield tag
                yield unescaped(content)
                yield Closed(tag.name)


def _after(document: str, mark: str, start: int) -> int:
    found = document.find(mark, start)
    return len(document) if found < 0 else found + len(mark)


def _tag_end(document: str, at: int) -> int:
    """The place after the `>` of a tag. A `>` in a quoted value is none."""
    while (stop := _STOP.search(document, at)) is not None:
        if stop[0] == ">":
            return stop.end()
        quoted = document[max(at, stop.start() - 20) : stop.start()].rstrip().endswith("=")
        at = _after(document, stop[0], stop.end()) if quoted else stop.end()
    return len(document)

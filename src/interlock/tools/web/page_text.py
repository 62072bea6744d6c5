"""The readable text of an HTML page, as Markdown: title, headings, paragraphs, lists, links, tables, code."""

import re
from urllib.parse import urljoin

from interlock.tools.web.markup import Closed, Opened, pieces

MOST_CHARACTERS = 400_000
"""A longer text is not made any further."""

_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body details dialog div dd dl dt fieldset figcaption figure footer form"
        " header html main nav ol p section summary table tbody tfoot thead ul",
    )
)
_MOST_LINK = 500
_DEEPEST = 10  # of lists that are indented
_SPACE = re.compile(r"\s+")


class _Writer:
    """Collects text. Blank lines and spaces between pieces are written when the next text comes."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._done: list[str] = []
        self._size = 0
        self._breaks = 0  # line ends to write before the next text
        self._space = False
        self._start = ""  # of the line: a mark of a list
        self._lists: list[int] = []  # the next number of each open list; 0 in a list without numbers
        self._links: list[str] = []
        self._pre = False

    @property
    def is_full(self) -> bool:
        return self._size > MOST_CHARACTERS

    @property
    def text(self) -> str:
        if self._pre:
            self._write("\n```")
        return "".join(self._done).strip()

    def break_line(self, lines: int = 1) -> None:
        self._breaks = max(self._breaks, lines)
        self._space = False

    def add(self, text: str) -> None:
        if self._pre:
            self._write(text)
            return
        words = _SPACE.sub(" ", text)
        if not words.strip():
            self._space = self._space or bool(words)
            return
        if self._breaks and self._done:
            self._write("\n" * self._breaks)
        elif (self._space or words.startswith(" ")) and self._done and not self._done[-1].endswith(("[", " ", "\n")):
            self._write(" ")
        self._write(self._start + words.strip())
        self._breaks, self._start, self._space = 0, "", words.endswith(" ")

    def opened(self, tag: Opened) -> None:
        name = tag.name
        if self._pre and name != "br":
            return
        if name in _HEADINGS:
            self.break_line(2)
            self._start = f"{_HEADINGS[name]} "
        elif name in ("ul", "ol"):
            self.break_line(1 if self._lists else 2)
            self._lists.append(1 if name == "ol" else 0)
        elif name == "li":
            self._item()
        elif name == "pre":
            self.break_line(2)
            self.add("```")
            self._write("\n")
            self._pre = True
        elif name == "a":
            link = self._link(tag.attribute("href"))
            self._links.append(link)
            if link:
                self.add(" [" if self._space else "[")
        elif name == "img" and (alt := tag.attribute("alt")):
            self.add(f" (image: {alt[:200]}) ")
        elif name == "code":
            self.add(" `" if self._space else "`")
        else:
            self._opened_layout(name)

    def _opened_layout(self, name: str) -> None:
        if name == "br":
            self._write("\n") if self._pre else self.break_line()
        elif name == "hr":
            self.break_line(2)
            self.add("---")
            self.break_line(2)
        elif name == "tr":
            self.break_line()
        elif name in ("td", "th"):
            self.add(" | ")
        elif name in _BLOCKS:
            self.break_line(2)

    def closed(self, name: str) -> None:
        if self._pre and name != "pre":
            return
        if name in _HEADINGS or name in _BLOCKS - {"ul", "ol"}:
            self._start = ""
            self.break_line(2)
        elif name in ("ul", "ol") and self._lists:
            self._lists.pop()
            self.break_line(1 if self._lists else 2)
        elif name == "pre" and self._pre:
            self._pre = False
            self._write("" if self._done and self._done[-1].endswith("\n") else "\n")
            self._write("```")
            self.break_line(2)
        elif name == "a" and self._links:
            self._end_link(self._links.pop())
        elif name == "code":
            self._attach("`")

    def _end_link(self, link: str) -> None:
        if not link:
            return
        if self._done and self._done[-1] == "[":  # a link without a text
            self._done.pop()
        else:
            self._attach(f"]({link})")

    def _item(self) -> None:
        self.break_line()
        number = self._lists[-1] if self._lists else 0
        if number:
            self._lists[-1] += 1
        self._start = "  " * min(max(len(self._lists) - 1, 0), _DEEPEST) + (f"{number}. " if number else "- ")

    def _link(self, href: str) -> str:
        try:
            link = urljoin(self._address, href)
        except ValueError:
            return ""
        is_other = link.partition("#")[0] != self._address
        usable = href and is_other and len(link) <= _MOST_LINK and not re.search(r"[\s()<>]", link)
        return link if usable and link.startswith(("http://", "https://")) else ""

    def _attach(self, mark: str) -> None:
        """Directly after the text before it; a space before the mark moves behind it."""
        self._write(mark)

    def _write(self, text: str) -> None:
        self._done.append(text)
        self._size += len(text)


def page_text(document: str, address: str) -> tuple[str, str]:
    """The title and the text of a page; `address` completes its links."""
    writer, title, in_title = _Writer(address), "", False
    for piece in pieces(document):
        match piece:
            case Opened(name="title"):
                in_title = True
            case Closed(name="title"):
                in_title = False
            case Opened():
                writer.opened(piece)
            case Closed(name=name):
                writer.closed(name)
            case str() if in_title:
                title = title or _SPACE.sub(" ", piece).strip()[:300]
            case str():
                writer.add(piece)
        if writer.is_full:
            break
    return title, writer.text

"""Makes untrusted text safe to show: no terminal escapes, no invisible or bidirectional characters.

`safe` is for text to read, `exact` for text that will run: it omits nothing, because a shell does not skip characters
that a terminal hides. `quoted_path` is for file names: two different names never look alike, and each is on one line.
"""

import re
import unicodedata
from functools import lru_cache

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[@-Z\\-_]?)"
)
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001345f\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)
"""Control, bidirectional and invisible characters, without tab and line break."""
_DECEIVING = re.compile(
    HIDDEN.pattern[:-1] + "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"  # combining
    "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"  # looks like a space, but is a letter to a shell
)

_UNPLAIN = re.compile(f'{_DECEIVING.pattern[:-1]}\n\t"\\\\]')
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def safe(text: str) -> str:
    """Removes escape sequences; control, bidirectional and invisible characters show as <U+202E>."""
    if text.isascii() and text.isprintable():  # true for most texts, and much faster
        return text
    text = HIDDEN.sub(_named, _ESCAPES.sub("", text.replace("\r\n", "\n")))
    return text if text.isascii() else _FOREIGN.sub(_seen, text)


def exact(text: str) -> str:
    """Shows every character; deceptive ones show as <U+001B>."""
    if text.isascii() and text.isprintable():
        return text
    text = _DECEIVING.sub(_named, text)
    return text if text.isascii() else _FOREIGN.sub(_seen_exactly, text)


def quoted_path(path: str) -> str:
    """The path, in quotes with C escapes (as git prints it) if it could be misread."""
    if not _UNPLAIN.search(path) and (path.isascii() or exact(path) == path):
        return path
    return f'"{"".join(_escaped_or_plain(char) for char in path)}"'


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 ticket`, `2,000 tickets`, `2 more entries`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def one_line(text: str, width: int = 100) -> str:
    """The first line, cut to `width`."""
    line = safe(text.strip().split("\n", 1)[0])
    return line if len(line) <= width else line[: width - 1] + "…"


def pieces(line: str, columns: int) -> tuple[str, ...]:
    """The line in pieces of `columns` characters; at least one piece."""
    return tuple(line[at : at + columns] for at in range(0, len(line), columns)) or ("",)


_FOREIGN = re.compile("[^\x00-\x7e]")


def _seen(match: re.Match[str]) -> str:
    return _named(match) if _category(match[0]) in _NO_GLYPH else match[0]


def _seen_exactly(match: re.Match[str]) -> str:
    return _named(match) if _category(match[0]) in _NO_GLYPH_OF_ITS_OWN else match[0]


_NO_GLYPH = frozenset(["Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"])
_NO_GLYPH_OF_ITS_OWN = _NO_GLYPH | {"Mn", "Me", "Zs"}
_category = lru_cache(8_192)(unicodedata.category)


def _named(match: re.Match[str]) -> str:
    return f"<U+{ord(match[0]):04X}>"


def _escaped_or_plain(char: str) -> str:
    if not _UNPLAIN.match(char) and (char.isascii() or _category(char) not in _NO_GLYPH_OF_ITS_OWN):
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # Python's surrogateescape of an undecodable byte
        return f"\\x{code - 0xDC00:02x}"
    long = f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return _SHORT.get(char) or long

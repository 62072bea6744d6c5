"""Makes untrusted text safe to show: no terminal escapes, no invisible or bidirectional characters.

`safe` is for text to read, `exact` for text that will run: it omits nothing, because a shell does not skip characters
that a terminal hides. `quoted_path` is for file names: two different names never look alike, and each is on one line.
"""

import re

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[@-Z\\-_]?)"
)
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
"""Control, bidirectional and invisible characters, without tab and line break."""
_DECEIVING = re.compile(
    HIDDEN.pattern[:-1]
    + "\u0300-\u036f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3164"
    "\ufe00-\ufe0f\ufe20-\ufe2f\uffa0\U0001d173-\U0001d17a\U000e0080-\U000e0fff"  # invisible or combining
    "\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000]"  # looks like a space, but is a letter to a shell
)

_UNPLAIN = re.compile(f'{_DECEIVING.pattern[:-1]}\n\t"\\\\]')
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def safe(text: str) -> str:
    """Removes escape sequences; control, bidirectional and invisible characters show as <U+202E>."""
    if text.isprintable():  # true for most texts, and much faster
        return text
    return HIDDEN.sub(_named, _ESCAPES.sub("", text.replace("\r\n", "\n")))


def exact(text: str) -> str:
    """Shows every character; deceptive ones show as <U+001B>."""
    return text if text.isascii() and text.isprintable() else _DECEIVING.sub(_named, text)


def quoted_path(path: str) -> str:
    """The path, in quotes with C escapes (as git prints it) if it could be misread."""
    return f'"{_UNPLAIN.sub(_escaped, path)}"' if _UNPLAIN.search(path) else path


def one_line(text: str, width: int = 100) -> str:
    """The first line, cut to `width`."""
    line = safe(text.strip().split("\n", 1)[0])
    return line if len(line) <= width else line[: width - 1] + "…"


def pieces(line: str, columns: int) -> tuple[str, ...]:
    """The line in pieces of `columns` characters; at least one piece."""
    return tuple(line[at : at + columns] for at in range(0, len(line), columns)) or ("",)


def _named(match: re.Match[str]) -> str:
    return f"<U+{ord(match[0]):04X}>"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # Python's surrogateescape of an undecodable byte
        return f"\\x{code - 0xDC00:02x}"
    long = f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return _SHORT.get(match[0]) or long

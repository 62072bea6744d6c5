"""Text from elsewhere made safe to show: no terminal escapes, nothing invisible or turned around.

`safe` is for what is read, `exact` for what will run: a shell does not skip what a terminal would, so there nothing is
left out. `name_of_file` is for names in headings and lists: no two are shown alike, and each on one line.
"""

import re

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[@-Z\\-_]?)"
)
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
"""Control, bidirectional and invisible characters; a tab and a line break are none."""
_DECEIVING = re.compile(
    HIDDEN.pattern[:-1]
    + "\u0300-\u036f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3164"
    "\ufe00-\ufe0f\ufe20-\ufe2f\uffa0\U0001d173-\U0001d17a\U000e0080-\U000e0fff"  # nothing, or a part of a neighbour
    "\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000]"  # a space to people, and to a shell a letter
)

_UNPLAIN = re.compile(f'{_DECEIVING.pattern[:-1]}\n\t"\\\\]')
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def safe(text: str) -> str:
    """Escape sequences go; control, bidirectional and invisible characters show as <U+202E>."""
    if text.isprintable():  # nearly all texts, and much quicker to tell
        return text
    return HIDDEN.sub(_named, _ESCAPES.sub("", text.replace("\r\n", "\n")))


def exact(text: str) -> str:
    """Every character; those that could pass for nothing, a space or another letter show as <U+001B>."""
    return text if text.isascii() and text.isprintable() else _DECEIVING.sub(_named, text)


def quoted_path(path: str) -> str:
    """As it is, or in quotes with escapes, as C and git write them, if it could be taken for anything else."""
    return f'"{_UNPLAIN.sub(_escaped, path)}"' if _UNPLAIN.search(path) else path


def one_line(text: str, width: int = 100) -> str:
    """The first line, shortened to fit a row."""
    line = safe(text.strip().split("\n", 1)[0])
    return line if len(line) <= width else line[: width - 1] + "…"


def pieces(line: str, columns: int) -> tuple[str, ...]:
    """All of a line, in pieces of so many letters; at least one piece."""
    return tuple(line[at : at + columns] for at in range(0, len(line), columns)) or ("",)


def _named(found: re.Match[str]) -> str:
    return f"<U+{ord(found[0]):04X}>"


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # how Python keeps a byte that is no text
        return f"\\x{code - 0xDC00:02x}"
    long = f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return _SHORT.get(found[0]) or long

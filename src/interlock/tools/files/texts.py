"""Decodes files to text and encodes them back exactly: encoding, byte order mark and line endings stay."""

import codecs
import re

from msgspec import Struct

from interlock.errors import ToolFailure

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 8_192
_CONTROL = re.compile(rb"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_LONE_NEWLINE = re.compile(r"(?<!\r)\n")


class Text(Struct, frozen=True):
    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def is_plain(self) -> bool:
        return self.encoding == "utf-8" and not self.mark

    @property
    def name(self) -> str:
        """A description of the encoding for messages."""
        return f"{self.encoding} with a byte order mark" if self.mark else self.encoding


def decode(data: bytes, *, cut: bool = False) -> Text | None:
    """The text; None for binary data. `cut`: the end is missing, so the last character may be incomplete."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _decoded(data[len(mark) :], encoding, cut)
            return None if text is None else Text(text, encoding, mark)
    if b"\0" in data:
        return None
    text = _decoded(data, "utf-8", cut)
    if text is not None:
        return Text(text)
    head = data[:_LOOKED_AT]
    if len(_CONTROL.findall(head)) * 20 > len(head):
        return None
    if any(0x80 <= byte < 0xA0 for byte in data) and (text := _decoded(data, "cp1252", cut)) is not None:
        return Text(text, "cp1252")
    return Text(data.decode("latin-1"), "latin-1")


def encode(text: str, like: Text) -> bytes:
    """The text in the encoding of the file."""
    try:
        return like.mark + text.encode(like.encoding)
    except UnicodeEncodeError as error:
        character = text[error.start]
        if like.encoding.startswith("utf"):
            raise ToolFailure(f"The text holds U+{ord(character):04X}, which no file can hold.") from None
        raise ToolFailure(
            f"The file is {like.encoding} text, which cannot hold {character!r} (U+{ord(character):04X})."
        ) from None


def lines(text: str) -> list[str]:
    """Lines with their line breaks; only a newline ends a line."""
    pieces = text.split("\n")
    last = pieces.pop()
    return [*(f"{line}\n" for line in pieces), *([last] if last else [])]


def has_crlf_only(text: str) -> bool:
    return "\r\n" in text and _LONE_NEWLINE.search(text) is None


def with_crlf(text: str) -> str:
    return _LONE_NEWLINE.sub("\r\n", text)


def _decoded(data: bytes, encoding: str, cut: bool) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(data, final=not cut)
    except UnicodeDecodeError:
        return None

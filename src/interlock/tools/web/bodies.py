"""The body of an HTTP answer: unpacked within limits, and decoded."""

import codecs
import re
import zlib
from collections.abc import AsyncIterator

from interlock.errors import ToolFailure

_META = re.compile(rb"""<meta[^>]{0,200}charset\s{0,5}=\s{0,5}["']?([\w.:-]{2,40})""", re.IGNORECASE)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]{2,40})""", re.IGNORECASE)
_CODECS = re.compile(
    r"ascii|utf-(?:8|8-sig|16|16-le|16-be|32)|iso8859-\d+|cp(?:437|850|866|874|125\d|932|949|950)|koi8-[ru]|mac-\w+"
    r"|gb2312|gbk|gb18030|big5\w*|shift_jis\w*|euc_(?:jp|kr)|tis-620"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


async def unpacked(raw: AsyncIterator[bytes], encoding: str, most: int) -> tuple[bytes, bool]:
    """At most so many bytes of a body, and whether there are more. Raises ToolFailure for an unknown encoding."""
    encoding = encoding.strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise ToolFailure(f"The answer is packed with {encoding[:40]!r}, which was not asked for.")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding not in ("", "identity") else None
    parts: list[bytes] = []
    left, received = most + 1, 0
    async for piece in raw:
        received += len(piece)
        try:
            part = piece[:left] if unpack is None else unpack.decompress(piece, left)
        except zlib.error:
            raise ToolFailure("The answer cannot be unpacked.") from None
        parts.append(part)
        left -= len(part)
        if left <= 0 or received > most:
            break
    whole = b"".join(parts)
    return whole[:most], len(whole) > most or received > most


def decoded(body: bytes, content_type: str) -> str:
    """The text, by the charset of the answer or of the page, else UTF-8; line ends are `\\n`."""
    named = _CHARSET.search(content_type)
    name = named[1] if named else ""
    if not name and (found := _META.search(body[:2_000])):
        name = found[1].decode()
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        name = "utf-16"
    text = body.decode(_known(name), errors="replace").removeprefix("\ufeff")
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _known(name: str) -> str:
    """The name of a codec for pages; UTF-8 if the name stands for none. Other codecs are no texts, or slow."""
    try:
        codec = codecs.lookup(name or "utf-8").name
    except (LookupError, ValueError):
        return "utf-8"
    return codec if _CODECS.fullmatch(codec) else "utf-8"

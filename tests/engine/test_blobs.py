"""Texts in events: what fits stands there whole, and more is stored beside the journal."""

import asyncio

from interlock.domain.values.gates import Blob
from interlock.engine.blobs import INLINE, KeptTexts


def test_a_text_is_cut_and_stored_only_if_it_is_too_long_for_an_event() -> None:
    stored: list[bytes] = []

    async def keep(content: bytes) -> str:
        stored.append(content)
        return "name"

    texts = KeptTexts(keep, lambda _: b"")
    fits, long = "x" * INLINE, "é" * (INLINE + 1)
    assert asyncio.run(texts.shortened(fits)) == (fits, None)
    assert asyncio.run(texts.shortened(long)) == (long[:INLINE], Blob("name", 2 * INLINE + 2))
    assert stored == [long.encode()]

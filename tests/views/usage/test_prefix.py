"""The block that broke the cached prefix, and its cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.views.usage.prefix import (
    BrokenRequest,
    PrefixBreak,
    SentBlock,
    SentRequest,
    broken_requests,
    prefix_break,
)

TOOL, SYSTEM, CONTEXT = (
    SentBlock("tool grep", "t1", 400),
    SentBlock("system", "s1", 2_000),
    SentBlock("context 1", "c1", 8_000),
)
ONE, TWO, THREE = (SentBlock(f"message {n} (user)", f"m{n}", 100 * n) for n in (1, 2, 3))
SENT = (TOOL, SYSTEM, CONTEXT, ONE, TWO)


def other(block: SentBlock, size: int) -> SentBlock:
    return SentBlock(block.label, block.sha + "x", size)


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        (SENT, None),
        ((*SENT, THREE), None),
        ((TOOL, other(SYSTEM, 2_004), CONTEXT, ONE, TWO, THREE), PrefixBreak("system", "changed", 501, 2_075)),
        ((TOOL, SYSTEM, other(CONTEXT, 8_001), ONE, TWO, THREE), PrefixBreak("context 1", "changed", 2_001, 75)),
        ((TOOL, SYSTEM, CONTEXT, ONE, other(TWO, 50), THREE), PrefixBreak("message 2 (user)", "changed", 13, 0)),
        ((SentBlock("tool ls", "t0", 40), *SENT), PrefixBreak("tool ls", "added", 10, 2_675)),
        ((SYSTEM, CONTEXT, ONE, TWO), PrefixBreak("tool grep", "removed", 100, 2_575)),
        (SENT[:3], PrefixBreak("message 1 (user)", "removed", 25, 0)),
        ((), PrefixBreak("tool grep", "removed", 100, 0)),
    ],
)
def test_the_first_block_that_is_not_as_it_was_is_named(
    current: tuple[SentBlock, ...], expected: PrefixBreak | None
) -> None:
    assert prefix_break(SENT, current) == expected


blocks = st.lists(st.builds(SentBlock, st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(0, 100)), max_size=6)


@given(blocks, blocks)
def test_a_session_that_only_grows_never_breaks_its_prefix(before: list[SentBlock], more: list[SentBlock]) -> None:
    assert prefix_break(before, before + more) is None


@given(blocks, blocks)
def test_where_it_is_no_prefix_something_is_named(before: list[SentBlock], after: list[SentBlock]) -> None:
    whole = after[: len(before)] == before
    difference = prefix_break(before, after)
    assert (difference is None) == whole
    assert difference is None or 0 <= difference.again <= -(-sum(block.size for block in after) // 4)


def sent(call: str, *blocks: SentBlock, **more: object) -> SentRequest:
    known: dict[str, object] = {"key": "Tier 3 (Worker): T", "attempt": 1, "provider": "anthropic", "model": "m"}
    return SentRequest(ts="now", call=call, blocks=blocks, **{**known, **more})  # type: ignore[arg-type]


def test_only_requests_of_one_session_and_one_model_are_compared() -> None:
    broken = sent("C-4", SYSTEM, TWO, THREE)
    breaks = broken_requests(
        [
            sent("C-1", SYSTEM, ONE),
            sent("C-2", TOOL, key="Tier 1 (Orchestrator)"),
            sent("C-3", TOOL, model="other"),
            sent("C-5", TOOL, attempt=2),
            sent("C-6", SYSTEM, ONE, TWO),
            broken,
        ]
    )
    assert breaks == (BrokenRequest(broken, PrefixBreak("message 1 (user)", "removed", 25, 50)),)

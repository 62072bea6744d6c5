"""After any change of what a gate depends on, its earlier pass does not count; without a change it does."""

import asyncio
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.runners.reuse_bench import MUTATIONS, ReuseBench


def stale_reuses(folder: Path, number: int, seed: int) -> tuple[int, list[str], Counter[str]]:
    """How many unchanged runs were reused, which changes a reuse did not notice, and what was changed how often."""

    async def story() -> tuple[int, list[str], Counter[str]]:
        bench, random = ReuseBench(folder), Random(seed)
        reused, stale, kinds = 0, list[str](), Counter[str]()
        await bench.run("T-0")
        for round_ in range(number):
            ticket = f"T-{round_}"  # each has a worktree of its own
            before = len(bench.runs)
            again = await bench.run(ticket)
            reused += bool(again.reused)
            assert again.reused or len(bench.runs) == before + 1, again
            mutate = MUTATIONS[round_ % len(MUTATIONS)]
            mutate(bench, random)
            kinds[mutate.__name__] += 1
            if (changed := await bench.run(f"{ticket}-changed")).reused:
                stale.append(mutate.__name__)
            assert changed.passed, (mutate.__name__, changed)
        return reused, stale, kinds

    return asyncio.run(story())


def test_a_pass_counts_again_only_while_nothing_has_changed(tmp_path: Path) -> None:
    reused, stale, kinds = stale_reuses(tmp_path, 42, 1)
    assert stale == []
    assert reused == 42, "what did not change is not run again"
    assert len(kinds) == len(MUTATIONS)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_none_of_1000_changes_leaves_a_stale_pass(tmp_path: Path) -> None:
    reused, stale, _ = stale_reuses(tmp_path, 1_000, 2)
    assert stale == []
    assert reused == 1_000

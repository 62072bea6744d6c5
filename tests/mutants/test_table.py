"""The table of planted bugs fits the source, and a planted bug is noticed."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants.scratch import Scratch
from tests.mutants.table import CLASSES, ROOT, Mutant, problems_of, read_table

IDS = "domain/values/ids.py"
GOOD = Mutant(IDS, "trust", 'and ".." not in text', "", ("tests/domain/values/test_ids.py",))


def test_every_planted_bug_of_the_table_fits_the_source() -> None:
    assert problems_of(read_table()) == []


def test_the_table_has_at_least_three_hundred_bugs_of_every_class() -> None:
    mutants = read_table()
    assert len(mutants) >= 300
    assert {mutant.kind for mutant in mutants} == set(CLASSES)
    explained = [mutant for mutant in mutants if mutant.explained]
    assert len(explained) <= len(mutants) * 0.05


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (replace(GOOD, old="no such text"), "is there 0 times, not once"),
        (replace(GOOD, old="text"), "times, not once"),
        (replace(GOOD, new="and ("), "does not compile"),
        (replace(GOOD, new=GOOD.old), "changes nothing"),
        (replace(GOOD, kind="luck"), "unknown class"),
        (replace(GOOD, tests=("tests/nowhere.py",)), "names missing tests"),
    ],
)
def test_a_row_that_does_not_fit_is_reported(wrong: Mutant, problem: str) -> None:
    assert any(problem in found for found in problems_of([wrong]))


def test_a_row_that_is_there_twice_is_reported() -> None:
    assert any("is there twice" in found for found in problems_of([GOOD, GOOD]))


def test_planted_bugs_are_noticed_and_the_source_is_left_as_it_was(tmp_path: Path) -> None:
    before = (ROOT / GOOD.path).read_bytes()
    harmless = replace(GOOD, new='and True and ".." not in text')
    endless = replace(
        GOOD, old="def is_id(text: object) -> bool:\n", new="def is_id(text: object) -> bool:\n    while True: pass\n"
    )
    scratch = Scratch(tmp_path / "scratch")
    try:
        outcomes: list[str] = []
        for mutant, timeout_s in ((GOOD, 100), (harmless, 100), (endless, 10), (GOOD, 100)):
            scratch.plant(mutant)
            outcomes.append(scratch.run(mutant.tests, timeout_s).outcome)
            scratch.restore(mutant)
        assert outcomes == ["noticed", "not noticed", "timed out", "noticed"]
        assert (scratch.folder / GOOD.path).read_bytes() == before
    finally:
        scratch.close()
        shutil.rmtree(scratch.folder)
    assert (ROOT / GOOD.path).read_bytes() == before

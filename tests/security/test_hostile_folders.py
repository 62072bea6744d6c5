"""No hostile folder changes anything outside of it, opens a connection or starts a program of its own."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.security.hostile_folders import Scene, try_folder

QUICK, WHOLE, PART = 50, 2_000, 10


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Generator[Scene]:
    made = Scene(tmp_path_factory.mktemp("scene"))
    yield made
    made.close()


def tried(scene: Scene, folder: Path, seeds: range, commands: int) -> list[str]:
    return [found for seed in seeds for found in try_folder(scene, folder / str(seed), seed, commands)]


@pytest.mark.parametrize("first", range(0, QUICK, PART))
def test_no_hostile_folder_reaches_out(scene: Scene, tmp_path: Path, first: int) -> None:
    assert tried(scene, tmp_path, range(first, first + PART), 3) == []


@pytest.mark.soak
@pytest.mark.parametrize("first", range(QUICK, WHOLE, PART))
def test_no_hostile_folder_of_two_thousand_reaches_out(scene: Scene, tmp_path: Path, first: int) -> None:
    assert tried(scene, tmp_path, range(first, first + PART), 4) == []

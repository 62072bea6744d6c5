"""No hostile folder changes anything outside of it, opens a connection or starts a program of its own."""

import json
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.security.hostile_folders import Scene, try_folder
from tests.security.ordinary_user import as_ordinary_user

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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_no_hostile_folder_reaches_out_from_an_ordinary_user(own_folder: Path) -> None:
    assert json.loads(as_ordinary_user(own_folder, "tests.security.hostile_folders", *tries(own_folder, 0, 6, 3))) == []


@pytest.fixture
def own_folder() -> Generator[Path]:
    """A folder that another user can reach, with a short path."""
    folder = Path(tempfile.mkdtemp(prefix="il-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def tries(folder: Path, first: int, last: int, commands: int) -> tuple[str, ...]:
    return str(folder), str(first), str(last), str(commands)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, 400, PART))
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_no_hostile_folder_of_four_hundred_reaches_out_from_an_ordinary_user(own_folder: Path, first: int) -> None:
    words = tries(own_folder, first, first + PART, 4)
    assert json.loads(as_ordinary_user(own_folder, "tests.security.hostile_folders", *words)) == []


@pytest.mark.soak
@pytest.mark.parametrize("first", range(QUICK, WHOLE, PART))
def test_no_hostile_folder_of_two_thousand_reaches_out(scene: Scene, tmp_path: Path, first: int) -> None:
    assert tried(scene, tmp_path, range(first, first + PART), 4) == []

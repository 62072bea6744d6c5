from pathlib import Path

import pytest

from tests.tools.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "worktree"
    folder.mkdir()
    return Desk(folder)

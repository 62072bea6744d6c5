from pathlib import Path

import pytest

from tests.trackfiles.project import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)

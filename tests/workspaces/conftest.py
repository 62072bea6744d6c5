from pathlib import Path

import pytest

from tests.workspaces.desk import Desk


@pytest.fixture(name="desk")
def _desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    return Desk(tmp_path)

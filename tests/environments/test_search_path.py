"""The programs that a project chose are found first in PATH."""

from pathlib import Path

from interlock.environments.search_path import path_with


def test_a_program_that_path_does_not_find_brings_its_folder_to_the_front(tmp_path: Path) -> None:
    node = _program(tmp_path / "v20" / "node")
    _program(tmp_path / "bin" / "node")
    assert path_with([node], f"{tmp_path}/bin:/usr/bin") == f"{tmp_path}/v20:{tmp_path}/bin:/usr/bin"


def test_a_folder_is_not_moved_if_path_finds_its_program_anyway(tmp_path: Path) -> None:
    """Else other programs of that folder would come before those that the user put first."""
    _program(tmp_path / "first" / "node")
    _program(tmp_path / "second" / "node")
    python = _program(tmp_path / "second" / "python3.12")
    (tmp_path / "second" / "python3").symlink_to("python3.12")
    path = f"{tmp_path}/first:{tmp_path}/second"
    assert path_with([python], path) == path


def test_another_python_in_path_does_not_replace_the_projects_own(tmp_path: Path) -> None:
    _program(tmp_path / "bin" / "python3")
    python = _program(tmp_path / "own" / "python3.12")
    assert path_with([python], f"{tmp_path}/bin") == f"{tmp_path}/own:{tmp_path}/bin"


def _program(path: Path) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    path.chmod(0o755)
    return str(path)

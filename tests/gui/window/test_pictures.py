"""Pixels without a display: the documentation's pictures can be made and are not blank."""

import ctypes
from pathlib import Path

import pytest
from PIL import Image

from interlock.desk.palette import THEMES
from tests.cli.project import Project


def needs_egl() -> None:
    try:
        ctypes.CDLL("libEGL.so.1")
        ctypes.CDLL("libOpenGL.so.0")
    except OSError as error:
        pytest.skip(f"no pixels here: install libegl1 libegl-mesa0 libgl1-mesa-dri libopengl0 ({error})")


@pytest.mark.parametrize("theme", THEMES)
def test_a_picture_has_the_size_the_ground_and_something_on_it(tmp_path: Path, theme: str) -> None:
    needs_egl()
    project = Project(tmp_path)
    file = tmp_path / "window.png"
    result = project.run("gui", "--backend", "egl", "--theme", theme, "--screenshot", str(file))
    assert result.code == 0, result
    with Image.open(file) as picture:
        assert picture.size == (1500, 950)
        colours = {f"#{r:02x}{g:02x}{b:02x}": count for count, (r, g, b) in picture.getcolors(1 << 24)}  # pyright: ignore
    palette = THEMES[theme]
    assert picture_part(colours, palette.panel) > 0.5
    assert picture_part(colours, palette.ground) > 0.02
    assert len(colours) > 100  # anti-aliased letters have many shades


def picture_part(colours: dict[str, int], colour: str) -> float:
    return colours.get(colour, 0) / sum(colours.values())

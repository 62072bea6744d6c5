"""What the page about the window names is there, and its pictures are those of this window."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from interlock.desk.buttons import BUTTONS
from interlock.desk.fields import FIELDS
from tests.gui.bench import windowed

ROOT = Path(__file__).parents[2]
PICTURES = (
    "first-run",
    "running",
    "approval-with-diff",
    "blocked",
    "done",
    "error",
    "thousand-tickets",
)


def test_every_panel_has_its_section() -> None:
    text = (ROOT / "docs" / "window.md").read_text()
    sections = set(re.findall(r"^## (.+)$", text, re.MULTILINE))
    with windowed() as bench:
        assert {panel.name for panel in bench.window.panels} <= sections


def test_every_key_named_there_exists() -> None:
    text = (ROOT / "docs" / "window.md").read_text()
    named = set(re.findall(r"`((?:btn|mma|ai|current|gcli|files)_\w+)`", text))
    assert named
    assert named <= set(BUTTONS) | set(FIELDS)


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_have_one_size(name: str) -> None:
    with Image.open(ROOT / "docs" / "screenshots" / f"{name}.png") as picture:
        assert picture.size == (1500, 950)


@pytest.mark.soak
def test_the_pictures_are_not_stale(tmp_path: Path) -> None:
    """Drawn anew they look the same but for times, ids and how far a run had come."""
    subprocess.run([sys.executable, "scripts/screenshots.py", str(tmp_path)], cwd=ROOT, check=True, timeout=600)
    for name in PICTURES:
        with (
            Image.open(ROOT / "docs" / "screenshots" / f"{name}.png") as old,
            Image.open(tmp_path / f"{name}.png") as new,
        ):
            difference = ImageStat.Stat(ImageChops.difference(old.convert("L"), new.convert("L"))).mean[0]
        assert difference < 4, f"{name}: {difference:.1f} of 255 on average; make screenshots"

"""The window looks as stored, in each typical state: pixels are compared with tolerance."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from imgui_bundle import imgui
from PIL import Image

from tests.gui.bench import Bench
from tests.gui.pixels import ALLOWED, BLOCK, compare, differing
from tests.gui.stills import GOLDENS, SCENES, SETTLE, photograph, still
from tests.gui.window.test_pictures import needs_egl


@pytest.mark.parametrize("name", SCENES)
def test_the_window_looks_as_stored(name: str, tmp_path: Path) -> None:
    needs_egl()
    with still(name, backend="egl") as bench:
        file = photograph(bench, tmp_path / f"{name}.png")
        # The line number in the error text changes with the source.
        but = [widget.rect for widget in bench.window.ui.shown.all() if widget.key == "panel.trace"]
    difference = compare(GOLDENS / f"{name}.png", file, but)
    assert not difference, difference


# ── visible changes are detected ─────────────────────────────────────────────────────────


def moved_button(bench: Bench) -> None:
    before: Any = bench.window.ui.button

    def moved(key: str, *words: Any, **more: Any) -> bool:
        if key == "btn_reject_script":
            imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + 12)
        return before(key, *words, **more)

    bench.window.ui.button = moved


def wrong_colour(bench: Bench) -> None:
    look = bench.window.look
    look.by_role["bad"] = look.by_role["good"]


def missing_panel(bench: Bench) -> None:
    bench.window.panels[:] = [panel for panel in bench.window.panels if panel.name != "Tests"]


def no_bottom_line(bench: Bench) -> None:
    bench.window.look.faint = bench.window.look.ground


def cut_text(bench: Bench) -> None:
    inbox: Any = next(panel for panel in bench.window.panels if panel.name == "Inbox")
    before = inbox.draw

    def narrow(*words: Any) -> None:
        low = imgui.get_window_pos()
        imgui.push_clip_rect(low, imgui.ImVec2(low.x + 200, low.y + 900), True)
        before(*words)
        imgui.pop_clip_rect()

    inbox.draw = narrow


@pytest.mark.parametrize("plant", [moved_button, wrong_colour, missing_panel, no_bottom_line, cut_text])
def test_visible_changes_are_detected(plant: Callable[[Bench], None], tmp_path: Path) -> None:
    needs_egl()
    with still("blocked", backend="egl") as bench:
        plant(bench)
        bench.draw(SETTLE)
        file = photograph(bench, tmp_path / "blocked.png")
    difference = compare(GOLDENS / "blocked.png", file)
    assert difference.startswith("blocked.png: ")
    assert (tmp_path / "blocked-difference.png").is_file()


def test_differences_between_renderers_are_tolerated(tmp_path: Path) -> None:
    """Small differences of all pixels, and of the edges of a few letters."""
    chance = np.random.default_rng(7)
    golden = GOLDENS / "running.png"
    with Image.open(golden) as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(np.int16)
    pixels += chance.integers(-4, 5, pixels.shape, dtype=np.int16)
    for y, x in chance.integers(0, 900, (6, 2)):
        pixels[y : y + BLOCK, x : x + BLOCK] = np.roll(pixels[y : y + BLOCK, x : x + BLOCK], 1, axis=1)
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(tmp_path / "noisy.png")
    assert compare(golden, tmp_path / "noisy.png") == ""


def test_excluded_rectangles_are_not_compared(tmp_path: Path) -> None:
    golden = GOLDENS / "running.png"
    with Image.open(golden) as picture:
        spoilt = picture.convert("RGB")
    spoilt.paste((255, 0, 0), (100, 200, 300, 400))
    spoilt.save(tmp_path / "spoilt.png")
    assert int(differing(golden, tmp_path / "spoilt.png").sum()) == 20 * 20
    assert compare(golden, tmp_path / "spoilt.png", [(100, 200, 299, 399)]) == ""
    assert ALLOWED < 0.001

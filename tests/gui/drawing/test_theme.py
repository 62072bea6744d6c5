"""Text has enough contrast (WCAG AA) in both themes."""

import pytest

from interlock.desk.palette import THEMES, TINT, mixed
from interlock.gui.drawing.theme import contrast

TEXT = ("text", "dim", "faint", "good", "running", "waiting", "bad", "accent", "planner")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("role", TEXT)
def test_text_stands_out_from_everything_it_is_written_on(theme: str, role: str) -> None:
    palette = THEMES[theme]
    colour = getattr(palette, role)
    for ground in (palette.ground, palette.panel, palette.raised, palette.code):
        assert contrast(colour, ground) >= 4.5, (role, ground)
    if role not in ("faint",):  # has no tint
        assert contrast(colour, mixed(colour, palette.panel, TINT)) >= 4.5, role


@pytest.mark.parametrize("theme", THEMES)
def test_buttons_and_diffs_can_be_read(theme: str) -> None:
    palette = THEMES[theme]
    assert contrast(palette.on_good, palette.good) >= 4.5
    for role in ("good", "bad"):
        assert contrast(palette.text, mixed(getattr(palette, role), palette.panel, TINT)) >= 4.5


def test_contrast_is_counted_as_wcag_does() -> None:
    assert round(contrast("#000000", "#ffffff"), 1) == 21.0
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48

"""The pages about the window name all widget keys and no others, and their pictures are current."""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from PIL import Image, ImageChops, ImageStat

from interlock.desk.buttons import BUTTONS
from interlock.desk.fields import FIELDS
from interlock.domain.values.approvals import Decision
from tests.gui.bench import windowed

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "interlock" / "gui"
PICTURES = sorted(path.stem for path in (DOCS / "screenshots").glob("*.png"))
MODULES_OF = {
    "window": ("window/topbar", "drawing/guard", "drawing/widgets", "drawing/text_widgets"),
    "panels/dashboard": ("panels/dashboard_panel",),
    "panels/inbox": (
        "panels/inbox_panel",
        "drawing/payload_view",
        "drawing/marks",
        "drawing/diffs/effect_view",
        "drawing/diffs/hunk_view",
        "drawing/diffs/change_view",
        "drawing/diffs/review_view",
    ),
    "panels/rules": ("panels/rules_panel",),
    "panels/tickets": ("panels/graph_panel", "drawing/ticket_view"),
    "panels/streams": ("panels/streams_panel",),
    "panels/discussion": ("panels/chat_panel",),
    "panels/provider": ("panels/provider_panel",),
    "panels/usage": ("panels/usage_panel",),
    "panels/timeline": ("panels/timeline_panel",),
    "panels/tests": ("panels/tests_panel",),
    "panels/diagnostics": ("panels/diagnostics_panel",),
}
"""The pages, with the modules that draw their subject."""

_KEY = re.compile(
    r'\.(?:button|input|checkbox|row|note|note_at)\(\s*"([\w.]+)"|\bkey="([\w.]+)"|"(btn_[a-z_]+)"|lever\(\s*"(\w+)"'
)
_WORDS = re.compile(r'"([\w. ]+)"')


def text_of(page: str) -> str:
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


def named_in(page: str) -> set[str]:
    """The keys in the table of keys."""
    table = text_of(page).partition("| widget key |")[2].partition("\n\n")[0]
    firsts = [row.split("|")[0] for row in table.split("\n|")[2:]]
    return {key for first in firsts for key in re.findall(r"`([\w.]+)`", first)}


def source_of(page: str) -> str:
    return "\n".join((SOURCE / f"{name}.py").read_text(encoding="utf-8") for name in MODULES_OF[page])


def test_every_panel_has_its_page() -> None:
    with windowed() as bench:
        panels = {f"panels/{panel.name.lower()}" for panel in bench.window.panels}
    assert panels == set(MODULES_OF) - {"window"}
    assert panels == {f"panels/{path.stem}" for path in (DOCS / "panels").glob("*.md")}
    assert [page for page in panels if f"({page}.md)" not in text_of("window")] == []
    assert [page for page in panels if "(../window.md)" not in text_of(page)] == []


@pytest.mark.parametrize("page", MODULES_OF)
def test_every_key_named_there_exists(page: str) -> None:
    source = source_of(page)
    known = set(BUTTONS) | set(FIELDS) | {key for match in _KEY.findall(source) for key in match if key}
    words = {word.replace(" ", "_") for word in _WORDS.findall(source)} | set(get_args(Decision))
    for key in named_in(page) - known:
        if f'"{key}"' in source:
            continue
        family, _, last = key.partition(".")  # built from a name: tests.logs, inbox.edit_script, window.inbox
        assert re.search(rf'f"{family}\.[a-z_]*{{', source + _docks()), key
        panel = f"panels/{last}" in MODULES_OF
        assert panel or last in words or last.removeprefix("edit_") in words, key


@pytest.mark.parametrize("page", MODULES_OF)
def test_every_key_that_is_drawn_is_named_there(page: str) -> None:
    drawn = {key for match in _KEY.findall(source_of(page)) for key in match if key}
    assert sorted(drawn - named_in(page)) == []


def _docks() -> str:
    return (SOURCE / "window" / "docks.py").read_text(encoding="utf-8")


def test_every_picture_is_shown_somewhere_and_every_one_shown_is_drawn() -> None:
    """`make screenshots` draws all pictures and removes old ones."""
    pages = [*DOCS.rglob("*.md"), ROOT / "README.md"]
    shown = {
        (page.parent / target).resolve()
        for page in pages
        for target in re.findall(r"!\[[^]]*\]\(([^)]+\.png)\)", page.read_text(encoding="utf-8"))
    }
    script = (ROOT / "scripts" / "screenshots.py").read_text(encoding="utf-8")
    whole, panels = (
        re.findall(r'"([\w-]+)"', script.partition(f"{name} = (")[2].partition(")")[0]) for name in ("WHOLE", "PANELS")
    )
    drawn = {*whole, *(f"panel-{name}" for name in panels)}
    assert set(PICTURES) == drawn
    of_the_page = {(DOCS / "screenshots" / "page").resolve()}  # tests/page/pictures.py draws them
    expected = {(DOCS / "screenshots" / f"{name}.png").resolve() for name in drawn}
    assert {path for path in shown if path.parent not in of_the_page} == expected


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_of_the_whole_window_have_one_size(name: str) -> None:
    with Image.open(DOCS / "screenshots" / f"{name}.png") as picture:
        whole = picture.size == (1500, 950)
        assert whole != name.startswith("panel-"), picture.size


@pytest.mark.soak
def test_the_pictures_are_not_stale(tmp_path: Path) -> None:
    """New pictures differ only in times, ids and progress."""
    subprocess.run([sys.executable, "scripts/screenshots.py", str(tmp_path)], cwd=ROOT, check=True, timeout=600)
    for name in PICTURES:
        with (
            Image.open(DOCS / "screenshots" / f"{name}.png") as old,
            Image.open(tmp_path / f"{name}.png") as new,
        ):
            difference = ImageStat.Stat(ImageChops.difference(old.convert("L"), new.convert("L"))).mean[0]
        assert difference < 4, f"{name}: {difference:.1f} of 255 on average; make screenshots"

"""Every character of a text is visible, and nothing of an approval is left out."""

import pytest
from imgui_bundle import imgui
from immutables import Map

from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval, ScriptPayload, digest
from interlock.domain.values.runs.effects import EffectFile, ScriptEffect
from interlock.gui.drawing import payload_view, symbols
from interlock.gui.drawing.diffs.hunk_view import _rows
from interlock.gui.drawing.theme import NORMAL
from interlock.gui.panels.graph_panel import _within
from interlock.views.diffs.hunks import parse_hunks
from tests.gui.bench import AT, Bench, windowed

FONTS = ("regular", "bold", "mono")


def drawn(bench: Bench, font: str, words: str, *, spell: bool = False) -> str:
    """The text as a panel draws it."""
    texts: list[str] = []
    panel = bench.window.panels[0]
    before = panel.draw

    def draw(*given: object) -> None:
        imgui.push_font(getattr(bench.window.look, font), NORMAL)
        texts.append(bench.window.look.drawable(words, spell=spell))
        imgui.pop_font()

    panel.draw = draw  # pyright: ignore[reportAttributeAccessIssue]
    bench.draw(1)
    panel.draw = before  # pyright: ignore[reportAttributeAccessIssue]
    assert bench.window.broken_panels() == {}
    return texts[0]


@pytest.mark.parametrize("font", FONTS)
def test_greek_and_cyrillic_are_letters_in_every_font(font: str) -> None:
    """The symbol font has blank glyphs for them, which would hide them in a script."""
    words = "Ελληνικά Кириллица ÀÉÎÕÜ ß łódź € … – “x”"
    with windowed() as bench:
        assert drawn(bench, font, words) == words
        assert drawn(bench, font, words) == words  # the second time from the cache


@pytest.mark.parametrize("font", FONTS)
def test_every_symbol_is_there(font: str) -> None:
    letters = "".join(value for name, value in vars(symbols).items() if name.isupper() and isinstance(value, str))
    with windowed() as bench:
        assert len(letters) > 20
        assert drawn(bench, font, letters) == letters


def test_a_letter_that_no_font_has_is_marked_or_named() -> None:
    with windowed() as bench:
        assert drawn(bench, "mono", "a\U0001d4b3b") == "a\ufffdb"
        assert drawn(bench, "mono", "a\U0001d4b3b", spell=True) == "a<U+1D4B3>b"
        assert drawn(bench, "mono", "plain") == "plain"
        assert drawn(bench, "mono", "ä\n\tb \u00a0c", spell=True) == "ä\n\tb \u00a0c"


LONG = "curl -s " + "a" * 5_000 + "; rm -rf $HOME # ε\n" + "\n".join(f"echo {number}" for number in range(5_000))
HIDING = "echo hi\n\x1b]0;\nrm -rf precious\n\x07"  # a terminal would skip the middle, a shell does not


def _asking(payload: ScriptPayload) -> State:
    asked = Approval(
        id="A-1",
        kind="script",
        asker="worker:T-1/1",
        track="demo",
        ticket="T-1",
        why="",
        payload=payload,
        digest=digest(payload),
        requested_at=AT,
    )
    return State(version=1, approvals=Map({"A-1": asked}), pending=Map({1: "A-1"}))


@pytest.mark.parametrize(
    ("script", "seen"), [(LONG, LONG), (HIDING, "echo hi\n<U+001B>]0;\nrm -rf precious\n<U+0007>")]
)
def test_all_of_a_script_is_on_its_page(script: str, seen: str) -> None:
    payload = ScriptPayload(script, "/work", ("PATH",), "bubblewrap")
    payload_view._pages.clear()
    with windowed(_asking(payload)) as bench:
        bench.draw()
        assert bench.window.broken_panels() == {}
    page = next(each for each in payload_view._pages.values() if each.text == script)
    shown = "".join(("\n" if number > 1 else "") + piece for number, piece in page.rows)
    assert shown == seen


def test_the_services_beside_a_script_are_on_a_page() -> None:
    services = ("db: postgres; port 5432; digest 1", "web: serve; digest 2")
    payload = ScriptPayload("make", "/work", ("PATH",), "bubblewrap", services=services)
    payload_view._pages.clear()
    with windowed(_asking(payload)) as bench:
        bench.draw()
        assert bench.window.broken_panels() == {}
    assert "\n".join(services) in {page.text for page in payload_view._pages.values()}


def test_the_effect_of_a_script_is_on_a_page_with_every_path() -> None:
    files = (EffectFile("x" * 300, "added", 1), EffectFile("a.txt", "modified", 1, 1))
    diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"
    effect = ScriptEffect("d" * 64, files, 3, diff, ended="exit code: 0")
    payload = ScriptPayload("make", "/work", ("PATH",), "bubblewrap", effect=effect)
    payload_view._pages.clear()
    with windowed(_asking(payload)) as bench:
        bench.draw()
        assert bench.window.broken_panels() == {}
    assert "\n".join(effect.lines) in {page.text for page in payload_view._pages.values()}


@pytest.mark.parametrize("both_sides", [False, True])
def test_a_long_line_of_a_diff_is_broken_and_not_cut(both_sides: bool) -> None:
    old, new = "x" * 1_000, "y" * 1_500
    (hunk,) = parse_hunks(f"a.py [1] @@ -1,2 +1,2 @@\n keep\n-{old}\n+{new}\n")
    with windowed() as bench:
        rows = _rows(bench.window.ui, hunk, 40, both_sides)
    for mark, line in (("-", old), ("+", new)):
        cells = [cell for row in rows for cell in row if cell is not None and cell.line.mark == mark]
        assert "".join(cell.text for cell in cells) == line
        assert [cell.first for cell in cells] == [True] + [False] * (len(cells) - 1)


@pytest.mark.parametrize("letter", ["i", "W", "ש", "ن", "漢"])
def test_a_ticket_text_without_room_ends_with_dots(letter: str) -> None:
    with windowed() as bench:
        font = bench.window.look.regular
        measured: list[tuple[str, float]] = []
        panel = bench.window.panels[0]

        def draw(*_: object) -> None:
            words = _within(font, NORMAL, bench.window.look.drawable(letter * 40), 100)
            imgui.push_font(font, NORMAL)
            measured.append((words, imgui.calc_text_size(words).x))
            imgui.pop_font()

        panel.draw = draw  # pyright: ignore[reportAttributeAccessIssue]
        bench.draw(1)
    (words, wide) = measured[-1]
    assert words.endswith("…")
    assert 60 < wide <= 100

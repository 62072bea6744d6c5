"""The parts that need no screen: notifications, colours, rows, the tree of tickets, found commands."""

from typing import Any

import pytest
from immutables import Map

from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Ticket, TicketSpec
from interlock.tui.colours import Colours, colour_mode
from interlock.tui.lines.line_list import strip_of
from interlock.tui.lines.prose import prose_rows
from interlock.tui.lines.rows import Row, Span, pieces, row, wrapped
from interlock.tui.notifying import BELL, notification
from interlock.tui.panels.graph import branches
from interlock.tui.screens.palette import Entry, found
from tests.gui.bench import AT, asking_all

PENDING = asking_all().pending_approvals()


def text_of(one: Row) -> str:
    return "".join(span.text for span in one.spans)


def test_a_notification_names_kind_and_id_and_nothing_else() -> None:
    said = notification(PENDING[:1], "auto", {"TERM": "xterm-256color"})
    assert said == "\x1b]9;Interlock: script A-1\x1b\\" + BELL
    assert "A-4" not in notification(PENDING, "auto", {})
    assert "and 7 more" in notification(PENDING, "auto", {})


def test_the_setting_decides_how_loud_it_is() -> None:
    assert notification(PENDING, "off", {}) == ""
    assert notification(PENDING, "bell", {}) == BELL
    assert notification((), "auto", {}) == ""


@pytest.mark.parametrize(
    ("environment", "begins"),
    [
        ({"TERM": "xterm-kitty"}, "\x1b]99;"),
        ({"VTE_VERSION": "7600"}, "\x1b]777;"),
        ({"TERM": "xterm"}, "\x1b]9;"),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x"}, "\x1bPtmux;\x1b\x1b]9;"),
    ],
)
def test_each_terminal_gets_its_own_sequence(environment: dict[str, str], begins: str) -> None:
    assert notification(PENDING, "auto", environment).startswith(begins)


@pytest.mark.parametrize(
    ("environment", "mode"),
    [
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "true"),
        ({"TERM": "tmux-256color"}, "true"),
        ({"TERM": "xterm"}, "16"),
        ({"TERM": "xterm", "COLORTERM": "truecolor", "NO_COLOR": "1"}, "none"),
        ({"TERM": "xterm", "NO_COLOR": ""}, "16"),
    ],
)
def test_the_environment_chooses_the_colours(environment: dict[str, str], mode: str) -> None:
    assert colour_mode(environment) == mode


def test_without_colours_no_style_has_one_and_the_chosen_row_is_reversed() -> None:
    colours = Colours("none")
    for role in ("good", "bad", "waiting", "faint", "text"):
        style = colours.style(role, "tint-good", chosen=True)
        assert (style.color, style.bgcolor, style.reverse) == (None, None, True)


@pytest.mark.parametrize("width", [1, 2, 7, 30])
def test_a_row_fills_exactly_its_width(width: int) -> None:
    made = row(Span("漢字 and\nmore\x1b[31m"), right=[Span("right")])
    assert strip_of(made, width, Colours("true")).cell_length == width


@pytest.mark.parametrize("width", [1, 3, 8, 80])
def test_pieces_of_a_line_omit_nothing(width: int) -> None:
    line = "x = '漢字' # " + "y" * 40
    assert "".join(span.text for part in pieces([Span(line)], width) for span in part) == line


def test_prose_is_broken_at_blanks_and_keeps_every_word() -> None:
    words = " ".join(f"word{number}" for number in range(60)) + " " + "z" * 90
    rows = wrapped(words, 40)
    assert "".join("".join(text_of(one).split()) for one in rows) == "".join(words.split())
    assert all(len(text_of(one)) <= 40 for one in rows)


def test_markdown_is_shown_as_headings_lists_and_code_and_no_link_is_made() -> None:
    rows = prose_rows("# Head\n- item **bold**\n```python\nx = 1\n```\n[a](http://b)\n> said", 60)
    assert [text_of(one) for one in rows] == ["Head", "• item bold", "  x = 1", "[a](http://b)", "│ said"]


def test_an_unfinished_fence_is_code_while_it_streams() -> None:
    rows = prose_rows("so:\n```sh\nls -la", 60)
    assert (text_of(rows[-1]), rows[-1].on) == ("  ls -la", "code")


def graph(**needs: tuple[str, ...]) -> Track:
    tickets: dict[str, Any] = {
        name: Ticket(track="demo", spec=TicketSpec(id=name, depends_on=before), created_at=AT)
        for name, before in needs.items()
    }
    return Track(
        id="demo", title="", description="", created_at=AT, updated_at=AT, order=tuple(tickets), tickets=Map(tickets)
    )


def test_each_ticket_is_once_in_the_tree_below_the_last_that_it_waits_for() -> None:
    made = branches(graph(a=(), b=("a",), c=("a",), d=("b", "c"), e=()))
    assert [(one.lead + one.name, one.besides) for one in made] == [
        ("a", ()),
        ("├ b", ()),
        ("│ └ d", ("c",)),
        ("└ c", ()),
        ("e", ()),
    ]
    assert {one.name for one in made if one.critical} == {"a", "b", "d"}


def test_a_chain_of_ten_thousand_tickets_is_a_tree() -> None:
    needs: dict[str, tuple[str, ...]] = {"t0": ()}
    needs |= {f"t{number}": (f"t{number - 1}",) for number in range(1, 10_000)}
    assert len(branches(graph(**needs))) == 10_000


def test_a_command_is_found_by_some_of_its_letters() -> None:
    entries = [Entry(words, "", print) for words in ("Show Board", "Land the track", "Plan a goal")]
    assert [entry.words for entry in found(entries, "lnd")] == ["Land the track"]
    assert found(entries, "track")[0].words == "Land the track"
    assert found(entries, "zzz") == []

"""The rows of the board: what is at work, what waits, the totals, and what is left out where there is no room."""

from datetime import datetime, timedelta
from typing import Any

from immutables import Map
from msgspec.structs import replace

from interlock.cli.terminal.board.picture import Shown, clock, picture
from interlock.cli.terminal.board.rows import Row, cut, line_of_row, width, with_end
from interlock.domain.messages.commands.attempt_commands import AskScript
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.ticket_commands import BlockTicket, CancelTicket
from interlock.domain.messages.commands.track_commands import AddTrack, PauseTrack, StartTrack
from interlock.domain.state.state import State
from interlock.domain.values.budgets import Caps, Ledger, Scope, Usage
from interlock.domain.values.gates import GateDefaults
from interlock.domain.values.tickets import TicketSpec
from tests.domain.given import AT, SCRIPT, Bench, shell

NOW = datetime.fromisoformat(AT) + timedelta(seconds=65)


def texts(rows: list[Row], columns: int) -> list[str]:
    lines = [line_of_row(row, columns) for row in rows]
    assert all(cells <= columns for _, cells in lines)
    return [text for text, _ in lines]


def drawn(state: State, columns: int = 79, most: int = 16, **more: Any) -> list[str]:
    shown = Shown(state=state, tracks=("a",), now=NOW, seconds=65, **more)
    rows = picture(shown, columns, most)
    assert len(rows) <= most
    return texts(rows, columns)


def bench(*tickets: TicketSpec) -> Bench:
    project = Bench()
    project.send(
        StartConductor(2, auto_queue=True, approve_all=False, gates=GateDefaults(), caps=Caps(track=2_000_000))
    )
    project.send(AddTrack("a", "Title", "", tickets))
    project.send(StartTrack("a"))
    return project


def test_tickets_at_work_come_first_then_those_that_wait() -> None:
    one = replace(shell("one"), description="Write\x1b[31m one\u202e")
    project = bench(one, shell("two", "one"), shell("x"), shell("y"), shell("z", "y"))
    project.send(AskScript("a", "x", 1, SCRIPT, ""))
    lines = drawn(project.state)
    assert [" ".join(line.split()) for line in lines] == [
        "a ░░░░░░░░░░░░░░░░░░░░ 0/5 1:05",
        "▶ one running Write one<U+202E> 1:05",
        "? x waits for you: A-1 run the script of x 1:05",
        "▶ y running 1:05",
        "· two after one",
        "· z after y",
        "2 running · 1 waits for you · ? keys",
    ]


def test_a_narrow_terminal_has_the_same_rows_without_the_lesser_columns() -> None:
    lines = drawn(bench(replace(shell("one"), description="Long " * 20), shell("two", "one")).state, 39)
    assert lines == [
        "a  0/2                             1:05",
        "▶ one  running                     1:05",
        "· two  after one",
        "1 running · ? keys",
    ]


def test_ten_thousand_tickets_fit_on_the_board() -> None:
    project = bench(shell("first"), *(shell(f"t{number}", "first") for number in range(9_999)))
    lines = drawn(project.state)
    assert "0/10,000" in lines[0]
    assert lines[-2] == "  … 9,996 more wait"
    assert len(drawn(project.state, most=6)) == 6
    assert drawn(project.state, most=3) == ["1 running · ? keys"]


def test_more_at_work_than_there_is_room_for_are_counted() -> None:
    project = Bench()
    project.send(StartConductor(9, auto_queue=True, approve_all=False, gates=GateDefaults()))
    project.send(AddTrack("a", "", "", tuple(shell(f"t{number}") for number in range(9))))
    project.send(StartTrack("a"))
    lines = drawn(project.state, most=6)
    assert [line.split()[1] for line in lines[1:4]] == ["t0", "t1", "t2"]
    assert lines[4:] == ["  … 6 more rows", "9 running · ? keys"]


def test_blocked_cancelled_and_paused_are_said() -> None:
    project = bench(shell("one"), shell("two"), shell("three"))
    project.send(BlockTicket("a", "three", "later"))
    project.send(PauseTrack("a"))
    project.send(CancelTicket("a", "two", "no"))
    head = drawn(project.state)[0]
    for words in ("a paused", "1 blocked", "1 cancelled"):
        assert words in head


def test_the_spend_is_shown_of_its_limit_and_lesser_parts_are_left_out() -> None:
    state = bench(shell("one")).state
    spent = replace(state, ledger=Ledger(used=Map({Scope("track", "a"): Usage(10, 1, cost=123_400)})))
    assert drawn(spent, forecast="done in 5–9 min")[-1] == "1 running · $0.1234 of $2.00 · done in 5–9 min · ? keys"
    assert drawn(spent, 39, forecast="done in 5–9 min")[-1] == "1 running · $0.1234 of $2.00"
    unpriced = replace(state, ledger=Ledger(used=Map({Scope("track", "a"): Usage(10, 1, unpriced=1)})))
    assert "cost unknown" in drawn(unpriced)[-1]


def test_the_end_of_a_streaming_line_is_shown() -> None:
    state = bench(shell("one")).state
    lines = drawn(state, 39, heard=("Tier 3 (Worker): one", "beginning " * 9 + "end"))
    assert lines[-2].startswith("Tier 3 (Worker): o…: …")
    assert lines[-2].endswith("beginning end")
    wide = drawn(state, 39, heard=("key", "文字" * 40))
    assert wide[-2].endswith("文字")


def test_before_anything_is_known_the_board_says_what_happens() -> None:
    for epics, word in ((("E-1",), "planning"), ((), "starting")):
        shown = Shown(state=State(), tracks=(), epics=epics, now=NOW, seconds=3_725)
        assert texts(picture(shown, 40, 9), 40)[0] == f"{word}{'1:02:05':>{40 - len(word)}}"


def test_the_keys_take_the_place_of_the_tickets() -> None:
    lines = drawn(bench(shell("one")).state, keys=True)
    assert [line.split()[0] for line in lines[1:-1]] == ["?", "v", "p", "o", "q"]


def test_without_unicode_other_characters_are_used() -> None:
    lines = drawn(bench(shell("one"), shell("two", "one")).state, ascii=True)
    assert all(line.isascii() for line in lines), lines


def test_a_text_is_cut_by_its_width_on_the_screen() -> None:
    assert cut("日本語のテキスト", 7) == "日本語…"
    assert width(cut("日本語のテキスト", 6)) <= 6
    assert cut("a\nb\tc", 10) == "a b c"
    assert cut("abc", 0) == ""
    assert with_end((("left", ""),), ("a long end", ""), 12) == (("left", ""),)
    assert clock(-1) == "0:00"

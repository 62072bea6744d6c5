"""`interlock run` on a terminal: a board that is redrawn in place, with keys, and a terminal that is left in order."""

import os
import re
import shlex
import signal
from typing import Any

import pytest

from tests.cli.epic import rule, scripted
from tests.cli.project import Project, shell
from tests.cli.terminal.screen import Screen, on_screen

FOREVER = "sleep 300"
HOSTILE = "\x1b[2J\x1b]0;owned\x07 evil \u202e txt.eno"


def plan(project: Project, *tickets: dict[str, Any]) -> str:
    return project.tickets("plan.json", list(tickets))


def is_drawn(screen: Screen) -> bool:
    return "? keys" in screen.text and screen.has_keys()


def test_a_stream_and_the_clock_are_redrawn_in_place_without_scrolling(project: Project) -> None:
    rules = [rule("PATH: Epic Initialization", reply="A plan that takes its time. " * 20, delay_s=20)]
    with on_screen(project, "run", "Do something", *scripted(project, rules)) as screen:
        screen.until("Tier 1 (Orchestrator)  planning")
        screen.until("Tier 1 (Orchestrator): …")
        screen.until("0:03")
        screen.until(lambda screen: "1 running" in screen.lines[-1])
        assert screen.scrolled == []
        assert len(screen.lines) <= 6, screen.text
        screen.type("q")
        assert screen.end() == 130
        assert screen.is_sane()
        assert "Tier 1" not in screen.text, "the board is gone"


def test_what_has_ended_stays_above_the_board_and_the_report_follows(project: Project) -> None:
    tickets = [shell("one", "echo 1 > one.txt", description="Write one"), shell("two", "false", "one")]
    with on_screen(project, "run", "--tickets", plan(project, *tickets), "--approve", "all") as screen:
        assert screen.end() == 3
    stamped = [line.split("  ", 1)[1] for line in screen.everything.split("\n") if re.match(r"\d\d:\d\d:\d\d ", line)]
    assert [re.sub("[0-9a-f]{10}$", "COMMIT", line) for line in stamped] == [
        "one  completed (unverified), merged as COMMIT",
        "two  blocked: the script failed with exit code 1",
        "track plan is blocked",
    ]
    assert screen.lines[-2].startswith("track plan: blocked, 1 of 2 done")
    assert screen.lines[-1] == "  two is blocked: the script failed with exit code 1"
    assert "started" not in screen.everything


def test_a_narrow_terminal_and_a_resized_one_show_each_line_once(project: Project) -> None:
    file = plan(project, shell("one", FOREVER, description="A ticket with a long description " * 3))
    with on_screen(project, "run", "--tickets", file, "--approve", "all", size=(40, 10)) as screen:
        screen.until("▶ one  running")
        screen.until(lambda screen: all(len(line) < 40 for line in screen.lines))
        screen.resize(100, 30)
        screen.until("A ticket with a long description")
        screen.resize(40, 12)
        screen.until(lambda screen: "description" not in screen.text and "▶ one  running" in screen.text)
        assert screen.text.count("? keys") == 1
        assert screen.text.count("▶ one") == 1
        screen.type("\x03")
        assert screen.end() == 130
        assert screen.is_sane()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(project: Project, number: signal.Signals) -> None:
    file = plan(project, shell("one", FOREVER))
    with on_screen(project, "run", "--tickets", file, "--approve", "all") as screen:
        screen.until(is_drawn)
        if number is signal.SIGINT:
            screen.type("\x03")  # as the person does
        else:
            os.kill(screen.process.pid, number)
        assert screen.end() == 130
        assert screen.is_sane()
        assert screen.lines[-1] == "interrupted"


def test_suspending_puts_the_terminal_in_order_and_continuing_draws_again(project: Project) -> None:
    file = plan(project, shell("one", FOREVER))
    with on_screen(project, "run", "--tickets", file, "--approve", "all") as screen:
        screen.until(is_drawn)
        screen.type("\x1a")
        screen.until_stopped()
        assert screen.is_sane()
        assert "▶ one" not in screen.text
        screen.go_on()
        screen.until(lambda screen: "▶ one" in screen.text and screen.has_keys())
        screen.type("\x1a")
        screen.until_stopped()
        screen.go_on()
        screen.until(lambda screen: "▶ one" in screen.text and screen.has_keys())
        screen.type("q")
        assert screen.end() == 130
        assert screen.is_sane()


def test_without_colours_the_board_is_drawn_all_the_same(project: Project) -> None:
    file = plan(project, shell("one", "echo 1 > one.txt"))
    with on_screen(project, "run", "--tickets", file, "--approve", "all") as screen:
        screen.until("one  completed")
        assert screen.end() == 0
    assert b"\x1b[K" in screen.written
    assert re.search(rb"\x1b\[[0-9;]*m", screen.written) is None


def test_only_sixteen_colours_are_used(project: Project) -> None:
    file = plan(project, shell("one", "echo 1 > one.txt"))
    with on_screen(project, "run", "--tickets", file, "--approve", "all", NO_COLOR="") as screen:
        assert screen.end() == 0
    colours = set(re.findall(rb"\x1b\[([0-9;]*)m", screen.written))
    assert colours
    assert all(len(code) <= 2 for colour in colours for code in colour.split(b";")), colours


@pytest.mark.parametrize(("words", "kind"), [(("--plain",), "xterm"), ((), "dumb")])
def test_plain_lines_move_no_cursor(project: Project, words: tuple[str, ...], kind: str) -> None:
    file = plan(project, shell("one", "echo 1 > one.txt"))
    with on_screen(project, "run", "--tickets", file, "--approve", "all", *words, TERM=kind) as screen:
        assert screen.end() == 0
    assert b"\x1b" not in screen.written
    for event in ("one  started", "A-1  asks: run the script of one", "one  completed", "track plan is done"):
        assert event in screen.everything


def test_ten_thousand_tickets_are_totals_and_failures(project: Project) -> None:
    rest = [shell(f"t{number}", "true", "first") for number in range(9_999)]
    file = plan(project, shell("first", "false"), *rest)
    with on_screen(project, "run", "--tickets", file, "--approve", "all") as screen:
        assert screen.end() == 3
    written = screen.written.decode()
    assert "0/10,000" in written
    stamped = [line for line in screen.everything.split("\n") if re.match(r"\d\d:\d\d:\d\d ", line)]
    assert [line.split("  ", 1)[1] for line in stamped] == [
        "first  blocked: the script failed with exit code 1",
        "track plan is blocked",
    ]
    assert len(screen.everything.split("\n")) < 12


def test_hostile_text_neither_steers_the_terminal_nor_hides(project: Project) -> None:
    file = plan(project, shell("one", FOREVER, description=HOSTILE))
    with on_screen(project, "run", "--tickets", file, "--approve", "all") as screen:
        screen.until("evil <U+202E> txt.eno")
        screen.type("q")
        assert screen.end() == 130
    assert b"\x1b[2J" not in screen.written
    assert b"\x1b]" not in screen.written


def test_what_is_typed_before_an_approval_appears_is_no_answer_to_it(project: Project) -> None:
    file = plan(project, shell("one", "sleep 1"), shell("two", "echo 2 > two.txt", "one"))
    with on_screen(project, "run", "--tickets", file) as screen:
        screen.until("View all:")
        screen.type("y\n")
        screen.until(lambda screen: "▶ one  running" in screen.text and screen.has_keys())
        screen.type("y\ny\n")  # too early
        screen.until("run the script of two")
        screen.until("View all:")
        assert not screen.has_keys()
        screen.type("n\n")
        screen.until("why? (may be empty):")
        screen.type("\n")
        assert screen.end() == 3
    assert "A-2  reject by human:ann" in screen.everything


def test_the_keys_help_pause_continue_view_and_quit(project: Project) -> None:
    tickets = [shell("one", "sleep 1; echo 1 > one.txt"), shell("two", FOREVER, "one")]
    file = plan(project, *tickets)
    with on_screen(project, "run", "--tickets", file, "--approve", "all", PAGER="cat") as screen:
        screen.until(is_drawn)
        screen.type("?")
        screen.until("quit, as Ctrl-C")
        screen.type("p")
        screen.until("paused: what runs is finished")
        screen.type("?")
        screen.until("one  completed")
        screen.until("· two  ready")
        screen.type("p")
        screen.until("▶ two  running")
        screen.type("v")
        screen.until("A-1  asks: run the script of one")
        screen.until(lambda screen: screen.lines[-1].startswith("1 running"))
        screen.type("q")
        assert screen.end() == 130
        assert screen.is_sane()


def test_a_pager_keeps_the_terminal_while_an_approval_waits(project: Project) -> None:
    pager = project.home / "pager"
    pager.write_text("#!/bin/sh\necho READING; read line; echo READ; exit 0\n")
    pager.chmod(0o755)
    file = plan(project, shell("one", "sleep 2; echo 1 > one.txt"), shell("two", "echo 2 > two.txt", "one"))
    with on_screen(project, "run", "--tickets", file, PAGER=str(pager)) as screen:
        screen.until("View all:")
        screen.type("y\n")
        screen.until(lambda screen: "▶ one  running" in screen.text and screen.has_keys())
        screen.type("v")
        screen.until("READING")
        assert not screen.has_keys()
        while project.run("approvals", "list", "--json").json == []:
            pass
        assert "run the script of two" not in screen.text
        screen.type("\n")
        screen.until("READ\n")
        screen.until("run the script of two")
        screen.type("y\n")
        assert screen.end() == 0


def test_the_full_screen_workbench_attaches_to_the_run_and_the_board_returns_after_it(project: Project) -> None:
    file = plan(project, shell("one", FOREVER))
    with on_screen(project, "run", "--tickets", file, "--approve", "all") as screen:
        screen.until(is_drawn)
        screen.type("o")
        screen.until("Nothing waits for you")
        screen.type("q")
        screen.until(is_drawn)
        screen.type("q")
        assert screen.end() == 130


def test_equal_approvals_are_answered_at_once_and_the_journal_binds_them(project: Project) -> None:
    tickets = [*(shell(name, "touch made.txt") for name in ("a", "b", "c")), shell("d", "touch other.txt")]
    project.run("run", "--tickets", plan(project, *tickets), "--workers", "4")
    with on_screen(project, "resume", "--workers", "4", size=(120, 40)) as screen:
        screen.until("3 equal approvals")
        screen.until("[m] All 3 equal, [v] View all:")
        screen.type("m\n")
        screen.until("all 3 at once: [a] Approve, [r] Reject, [n] Not:")
        screen.type("n\n")
        screen.until(lambda screen: screen.text.count("[m] All 3 equal") == 2)
        screen.type("m\n")
        screen.until(lambda screen: screen.text.count("all 3 at once") == 2)
        screen.type("a\n")
        screen.until("answered 3 of 3")
        screen.until("touch other.txt")
        screen.until(lambda screen: screen.text.endswith("[x] Abort track, [v] View all:"))
        screen.type("r\n")
        screen.until("why? (may be empty):")
        screen.type("\n")
        assert screen.end() == 3
    assert project.run("journal", "verify").code == 0


def test_in_the_background_nothing_is_drawn_and_in_the_foreground_again_the_board_returns(project: Project) -> None:
    """A shell sends no signal when it brings back a job that already runs."""
    command = shlex.join(project.argv("run", "--tickets", plan(project, shell("one", FOREVER)), "--approve", "all"))
    with on_screen(project, program=("bash", "--norc", "-i"), size=(100, 30), PS1="$ ", HISTFILE="") as screen:
        screen.until("$")
        screen.type(f"{command}\n")
        screen.until(is_drawn)
        screen.type("\x1a")
        screen.until("Stopped")
        screen.type("clear; bg\n")
        screen.until(lambda screen: "&" in screen.text and "Stopped" not in screen.text)
        screen.type("echo still $((6 * 7))\n")
        screen.until("still 42")
        assert "▶ one" not in screen.text
        screen.type("fg\n")
        screen.until(lambda screen: "▶ one  running" in screen.text and screen.has_keys())
        screen.type("\x03")
        screen.until("interrupted")
        screen.type("exit\n")
        screen.end()

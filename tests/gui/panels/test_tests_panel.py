"""The tests panel: rows, filter, details."""

from msgspec.structs import replace

from interlock.domain.checks.test_history_texts import fit
from interlock.domain.messages.commands.test_history_commands import ForgetTests, RecordTests
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.state.state import State
from interlock.domain.values.test_history import Assertion
from tests.domain.runs import history_of, ran
from tests.gui.bench import Bench, windowed


def rows(bench: Bench) -> list[str]:
    return [each.name[-2:] for each in bench.window.ui.shown.all() if each.key == "tests.row"]


def test_the_empty_panel_shows_what_to_do() -> None:
    with windowed() as bench:
        bench.show("tests")
        assert "tests.filter" not in bench.reachable()
        assert bench.window.broken_panels() == {}


def test_tests_appear_as_they_end_the_latest_first_and_go_when_they_are_forgotten() -> None:
    with windowed() as bench:
        bench.show("tests")
        bench.submit(RecordTests((ran(1), ran(2, "failed"))))
        bench.until(lambda: rows(bench) == ["02", "01"])
        bench.submit(RecordTests((ran(3, "timeout"),)))
        bench.until(lambda: rows(bench) == ["03", "02", "01"])
        assert bench.widget("tests.count").value == "3 of 3 runs"
        bench.submit(ForgetTests(1, ""), SYSTEM)
        bench.until(lambda: rows(bench) == ["03"])
        assert bench.window.broken_panels() == {}


def test_a_filter_by_outcome_category_or_name() -> None:
    history = history_of(ran(1), ran(2, "failed"), ran(3, category="unit", name="tests.test_money"))
    with windowed(replace(State(), tests=history)) as bench:
        bench.show("tests")
        bench.click("tests.filter")
        for word, left in (("failed", ["02"]), ("unit", ["03"]), ("MONEY", ["03"]), ("nothing", [])):
            panel = next(panel for panel in bench.window.panels if panel.name == "Tests")
            panel._filter = word  # pyright: ignore[reportAttributeAccessIssue]
            bench.draw()
            assert (word, rows(bench)) == (word, left)
        assert bench.window.broken_panels() == {}


def test_a_click_opens_one_and_another_closes_it() -> None:
    long = fit(
        ran(
            7,
            "failed",
            error_message="no such widget",
            assertions=(Assertion("title", False, "Inbox", "Outbox"), Assertion("there", True)),
            logs=tuple(f"line {number}" for number in range(1_000)),
            screenshot_path=".interlock/artifacts/a.png",
            metrics=(("frames", 3),),
            parent="e2e_10000000",
            widget_tree="window Inbox",
        )
    )
    assert long.text is not None
    with windowed() as bench:
        bench.engine.call(bench.front.workbench.keep(long.text))
        bench.submit(RecordTests((ran(1), long.execution)))
        bench.show("tests")
        bench.click("tests.row@grpc_click_10000007")
        bench.until(lambda: bench.widget("tests.logs").value.startswith("line 500\n"))
        assert bench.widget("tests.error").value == "no such widget"
        assert bench.widget("tests.picture").value == ".interlock/artifacts/a.png"
        assert bench.widget("tests.so_far").value == "2 runs: 1 passed, 1 failed, 50% flake; 10 ms on average"
        bench.click("tests.row@grpc_click_10000007")
        assert "tests.error" not in bench.reachable()
        assert bench.window.broken_panels() == {}


def test_ten_thousand_are_drawn_as_quickly_as_ten() -> None:
    """Only visible rows are drawn."""
    state = replace(State(), tests=history_of(*(ran(number) for number in range(1, 10_001))))
    with windowed(state) as bench:
        bench.show("tests")
        assert bench.widget("tests.count").value == "10,000 of 10,000 runs"
        assert 0 < len(rows(bench)) < 100

"""The inbox with many approvals: equal ones once, marks, one answer; and the panel of rules."""

from collections.abc import Iterator

import pytest
from imgui_bundle import imgui

from interlock.desk.authority import Authority
from interlock.domain.messages.commands.attempt_commands import AskScript
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.answer_sets import Seen, merkle_root
from interlock.domain.values.approvals import Answered, ScriptPayload
from interlock.domain.values.tickets import TicketSpec
from tests.gui import bench as benches
from tests.gui.bench import Bench, windowed


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Three equal scripts and another one."""
    names = ("a", "b", "c", "d")
    with windowed() as bench:
        specs = tuple(TicketSpec(id=name, assigned_to="shell", script="make") for name in names)
        bench.submit(AddTrack("demo", "Demo", "", specs))
        bench.submit(StartConductor(4, True), "system")
        bench.submit(StartTrack("demo"))
        for name in names:
            script = "make other" if name == "d" else "make"
            payload = ScriptPayload(script, f"/srv/{name}", ("PATH",), "bubblewrap")
            bench.submit(AskScript("demo", name, 1, payload, "no rule"), "system")
        bench.draw(4)
        yield bench


def test_equal_approvals_are_one_row_and_are_marked_together(bench: Bench) -> None:
    rows = [each.name for each in bench.window.ui.shown.all() if each.key == "inbox.row"]
    assert rows == ["inbox.row@A-1", "inbox.row@A-4"]
    assert bench.widget("inbox.count").value == "4 waiting"
    seen = [Seen(name, bench.state.approval(name).digest) for name in ("A-1", "A-2", "A-3")]
    bench.click("inbox.mark@A-1")
    assert bench.widget("inbox.marked").value == "3 approvals marked"
    bench.click("inbox.approve_marked")
    bench.until(lambda: list(bench.state.pending.values()) == ["A-4"])
    answer = bench.state.approval("A-2").state
    assert isinstance(answer, Answered)
    assert (answer.decision, answer.together) == ("approve", merkle_root(seen))
    bench.until(lambda: any(note.text == "answered 3 of 3" for note in bench.window.send.notes))
    bench.draw(2)
    assert "inbox.marked" not in bench.reachable()


def test_what_was_answered_after_it_was_marked_is_left_out(bench: Bench) -> None:
    bench.click("inbox.mark@A-1")
    bench.click("inbox.mark_alike")
    assert bench.widget("inbox.marked").value == "4 approvals marked"
    bench.click("inbox.unmark")
    assert "inbox.marked" not in bench.reachable()
    bench.click("inbox.mark@A-4")
    bench.click("inbox.reject_marked")
    bench.until(lambda: "A-4" not in bench.state.pending.values())
    assert len(bench.state.pending) == 3


def test_a_letter_marks_and_a_key_answers_after_the_pause(bench: Bench) -> None:
    bench.click("inbox.row@A-1")
    bench.press(imgui.Key.m)
    assert bench.widget("inbox.marked").value == "3 approvals marked"
    bench.press(imgui.Key.m)
    assert "inbox.marked" not in bench.reachable()


def test_a_suggested_rule_is_accepted_and_forgotten(bench: Bench) -> None:
    benches.LEARNED.rules.clear()
    bench.show("rules")
    bench.until(lambda: "rules.row" in bench.reachable())
    assert "none of the 1 that you refused" in bench.widget("rules.sentence").value
    assert bench.widget("rules.withheld").value == "1 not offered"
    bench.click("rules.accept")
    bench.until(lambda: "rules.forget" in bench.reachable())
    assert benches.LEARNED.rules == [("make", False)]
    assert "2 answered" in bench.widget("rules.used@make").value
    bench.click("rules.forget@make")
    bench.until(lambda: "rules.forget" not in bench.reachable())
    bench.click("rules.everywhere")
    bench.until(lambda: benches.LEARNED.rules == [("make", True)])
    bench.click("rules.refresh")


def test_one_key_accepts_a_rule_after_the_pause_and_any_key_takes_it_back(bench: Bench) -> None:
    benches.LEARNED.rules.clear()
    bench.show("rules")
    bench.until(lambda: "rules.row" in bench.reachable())
    bench.click("rules.row@learned-make")  # the keyboard is in this panel now
    bench.press(imgui.Key.a)
    assert bench.widget("answer.held").value.startswith("Accepting the rule learned-make")
    bench.press(imgui.Key.z)
    assert (bench.window.send.held, benches.LEARNED.rules) == (None, [])
    bench.press(imgui.Key.a)
    bench.until(lambda: bool(benches.LEARNED.rules), frames=20_000)
    bench.press(imgui.Key.j)
    bench.press(imgui.Key.k)


def test_a_test_accepts_no_rule(bench: Bench) -> None:
    benches.LEARNED.rules.clear()
    bench.window.send.by = Authority("test:1", answers=True, places=True)
    bench.show("rules")
    bench.until(lambda: "rules.row" in bench.reachable())
    bench.click("rules.accept")
    bench.until(lambda: any("not write policy rules" in note.text for note in bench.window.send.notes))
    assert benches.LEARNED.rules == []

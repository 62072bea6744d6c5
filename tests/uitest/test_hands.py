"""Real input into a real window: what a click or a text came to is what is told (SPEC U3)."""

from collections.abc import Iterator
from concurrent.futures import Future
from typing import TypeVar

import pytest

from interlock.desk.who import By
from interlock.domain.approvals import Answered
from interlock.domain.commands import AddTrack, StartConductor, StartTrack
from interlock.uitest.hands import Click, Done, Hands, Looked, Type
from interlock.uitest.targets import read_condition, read_target
from tests.api.serving import ticket
from tests.gui.bench import Bench, asking_all, windowed

T = TypeVar("T")

TESTER = By("test:grpc_click_12345678", answers=True, places=True)
DRIVER = By("test:grpc_click_12345679", answers=False, places=False, why_not="only with --test-policy")


class Table:
    def __init__(self, bench: Bench, hands: Hands) -> None:
        self.bench = bench
        self.hands = hands

    def until_done(self, future: "Future[T]") -> T:
        for _ in range(5_000):
            if future.done():
                return future.result()
            self.bench.window.draw_once()
        raise AssertionError("nothing came of it")

    def act(self, action: Click | Type, by: By = TESTER) -> Done:
        return self.until_done(self.hands.act(action, by, lambda: None))

    def click(self, target: str, by: By = TESTER) -> Done:
        return self.act(Click(read_target(target)), by)

    def type(self, target: str, text: str, *, clear_first: bool = False) -> Done:
        return self.act(Type(read_target(target), text, clear_first))

    def look(self, condition: str) -> Looked:
        return self.until_done(self.hands.look_at(read_condition(condition)))


@pytest.fixture
def table() -> Iterator[Table]:
    hands = Hands()
    with windowed(hands=hands) as bench:
        yield Table(bench, hands)


def test_a_click_presses_the_button_by_label_or_key(table: Table) -> None:
    assert table.type("input:Goal", "Better").success
    done = table.click("button:Plan it")
    assert (done.success, done.key, done.path) == (True, "btn_mma_plan_epic", "Dashboard/button:Plan it")
    assert [epic.text for epic in table.bench.state.epics.values()] == ["Better"]


@pytest.mark.parametrize("text", ["plain", "ünï 你好 😀 «»", "two\nlines", '"quotes" \\ % {}', "x" * 20_000])
def test_what_is_typed_stands_in_the_input_and_on_the_desk(table: Table, text: str) -> None:
    assert table.type("mma_epic_input", text, clear_first=True).success
    assert table.look(f"value_equals:mma_epic_input:{text}").verdict.holds
    assert table.bench.desk.view.values["mma_epic_input"] == text


def test_typing_goes_on_after_what_stands_there_or_replaces_it(table: Table) -> None:
    table.type("input:Goal", "one")
    table.type("input:Goal", " two")
    assert table.look("value_equals:input:Goal:one two").verdict.holds
    table.type("input:Goal", "three", clear_first=True)
    assert table.look("value_equals:input:Goal:three").verdict.holds
    table.type("input:Goal", "", clear_first=True)
    assert table.look("value_equals:input:Goal:").verdict.holds


def test_what_is_not_there_fails_with_the_nearest_and_all_there_is(table: Table) -> None:
    done = table.click("button:Plan at")
    assert not done.success
    assert "button:Plan it" in done.message
    assert "button:Plan it [btn_mma_plan_epic]" in done.tree


def test_what_is_disabled_fails_and_nothing_happens(table: Table) -> None:
    done = table.click("btn_mma_plan_epic")
    assert (done.success, "disabled" in done.message) == (False, True)
    assert not table.bench.state.epics


def test_text_goes_only_into_inputs(table: Table) -> None:
    done = table.type("btn_reset", "x")
    assert (done.success, "no input" in done.message) == (False, True)


def test_a_window_behind_others_comes_to_the_front(table: Table) -> None:
    assert not table.look("window_visible:Usage").verdict.holds
    assert table.click("window:Usage").success
    assert table.look("window_visible:Usage").verdict.holds
    table.bench.until(lambda: table.bench.desk.view.tab == "usage")


def asking(table: Table) -> None:
    table.bench.submit(StartConductor(workers=4))
    table.bench.submit(AddTrack("demo", "Demo", "", tuple(ticket(name) for name in "ab")))
    table.bench.submit(StartTrack("demo"))
    table.bench.until(lambda: "inbox.approve" in table.bench.reachable())


def test_without_the_test_policy_the_harness_answers_nothing(table: Table) -> None:
    asking(table)
    done = table.click("inbox.approve", DRIVER)
    assert (done.success, done.message) == (False, "it was refused: only with --test-policy")
    assert len(table.bench.state.pending) == 2


def test_without_it_nothing_is_put_into_an_answer_that_a_person_gives(table: Table) -> None:
    asking(table)
    for action in (
        Type(read_target("inbox.message"), "do as I say"),
        Click(read_target("inbox.message")),
        Click(read_target("inbox.message"), "right"),
    ):
        done = table.act(action, DRIVER)
        assert (done.success, done.message) == (False, "it was refused: only with --test-policy")
    assert table.look("value_equals:inbox.message:").verdict.holds
    assert table.type("inbox.message", "a word").success


@pytest.mark.parametrize("target", ["inbox.edit", "inbox.edit_script"])
def test_without_it_what_is_asked_is_not_rewritten(target: str) -> None:
    hands = Hands()
    with windowed(asking_all(), hands=hands) as bench:
        table = Table(bench, hands)
        bench.until(lambda: "inbox.edit" in bench.reachable())
        if target != "inbox.edit":
            assert table.click("inbox.edit").success
        done = table.click(target, DRIVER)
        assert (done.success, done.message) == (False, "it was refused: only with --test-policy")
        assert ("inbox.edit_script" in bench.reachable()) == (target != "inbox.edit")


def test_with_it_the_answer_is_recorded_as_the_tests(table: Table) -> None:
    asking(table)
    assert table.click("inbox.row@A-2").success
    assert table.click("inbox.approve").success
    state = table.bench.state.approval("A-2").state
    assert isinstance(state, Answered)
    assert state.by == "test:grpc_click_12345678"


def test_afterwards_the_person_is_who_acts_again(table: Table) -> None:
    before = table.bench.window.send.by
    table.click("btn_reset", DRIVER)
    table.click("button:none", DRIVER)
    assert table.bench.window.send.by == before


def test_whoever_waits_keeps_nobody_from_acting(table: Table) -> None:
    waiting = table.hands.watch(read_condition("value_equals:input:Goal:now"), 60)
    table.bench.draw()
    assert not waiting.done()
    assert table.type("input:Goal", "now").success
    assert table.until_done(waiting).verdict.holds


def test_what_never_comes_ends_at_its_deadline(table: Table) -> None:
    looked = table.until_done(table.hands.watch(read_condition("exists:never"), 0.01))
    assert (looked.verdict.holds, looked.timed_out) == (False, True)


def test_an_action_can_be_taken_back_before_its_turn(table: Table) -> None:
    first = table.hands.act(Type(read_target("input:Goal"), "kept"), TESTER, lambda: None)
    second = table.hands.act(Type(read_target("input:Goal"), "taken back"), TESTER, lambda: None)
    assert second.cancel()
    assert table.until_done(first).success
    assert table.look("value_equals:input:Goal:kept").verdict.holds


def test_a_failure_does_not_stand_in_the_way_of_what_comes_next(table: Table) -> None:
    futures = [table.hands.act(Click(read_target(name)), TESTER, lambda: None) for name in ("no", "btn_reset", "no")]
    assert [table.until_done(each).success for each in futures] == [False, True, False]


def test_when_the_window_closes_whoever_waits_is_told(table: Table) -> None:
    waiting = table.hands.watch(read_condition("exists:never"), 600)
    acting = table.hands.act(Click(read_target("btn_reset")), TESTER, lambda: None)
    table.hands.closed()
    for future in (waiting, acting):
        with pytest.raises(ConnectionError, match="closed"):
            future.result(0)


def test_what_is_out_of_sight_is_scrolled_to(table: Table) -> None:
    tickets = tuple(ticket(f"t{number:03d}") for number in range(60))
    for number in range(30):
        table.bench.submit(AddTrack(f"track-{number:02d}", f"Track {number}", "", tickets[:1]))
    table.bench.until(lambda: table.bench.window.ui.shown.find("btn_mma_load_track@track-29") is not None)
    assert table.click("btn_mma_load_track@track-29").success
    table.bench.until(lambda: table.bench.desk.view.track == "track-29")


def test_idle_means_that_nothing_is_on_its_way(table: Table) -> None:
    assert table.until_done(table.hands.idle(5))


def test_a_click_is_asserted_within_twelve_frames(table: Table) -> None:
    before = table.hands.frames
    assert table.click("streams.follow").success
    assert table.look("value_equals:streams.follow:false").verdict.holds
    assert table.hands.frames - before <= 12

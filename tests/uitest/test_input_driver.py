"""Real input into a real window: the reported outcome of a click or a text is the true one."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

import pytest
from imgui_bundle import imgui

from interlock.desk.authority import Authority
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.approvals import Answered
from interlock.errors import InterlockError
from interlock.gui.window.topbar import HIGH, LOW
from interlock.uitest.input_driver import InputDriver
from interlock.uitest.pending_effects import Done
from interlock.uitest.running import text_target
from interlock.uitest.simulated_input import Click, Type
from interlock.uitest.targets import read_condition, read_target
from interlock.uitest.watches import Looked
from tests.api.serving import ADA, ticket
from tests.gui.bench import Bench, asking_all, windowed

T = TypeVar("T")

TESTER = Authority("test:grpc_click_12345678", answers=True, places=True)
DRIVER = Authority("test:grpc_click_12345679", answers=False, places=False, why_not="only with --test-policy")


class Table:
    def __init__(self, bench: Bench, driver: InputDriver) -> None:
        self.bench = bench
        self.driver = driver

    def until_done(self, future: "Future[T]") -> T:
        for _ in range(5_000):
            if future.done():
                return future.result()
            self.bench.window.draw_once()
        raise AssertionError("nothing came of it")

    def act(self, action: Click | Type, by: Authority = TESTER) -> Done:
        return self.until_done(self.driver.act(action, by, lambda: None))

    def click(self, target: str, by: Authority = TESTER) -> Done:
        return self.act(Click(read_target(target)), by)

    def type(self, target: str, text: str, *, clear_first: bool = False) -> Done:
        return self.act(Type(read_target(target), text, clear_first))

    def look(self, condition: str) -> Looked:
        return self.until_done(self.driver.look_at(read_condition(condition)))


@pytest.fixture
def table() -> Iterator[Table]:
    driver = InputDriver()
    with windowed(driver=driver) as bench:
        yield Table(bench, driver)


def test_a_click_presses_the_button_by_label_or_key(table: Table) -> None:
    assert table.type("input:Goal", "Better").success
    done = table.click("button:Plan it")
    assert (done.success, done.key, done.path) == (True, "btn_mma_plan_epic", "Dashboard/button:Plan it")
    assert [epic.text for epic in table.bench.state.epics.values()] == ["Better"]


@pytest.mark.parametrize("text", ["plain", "ünï 你好 😀 «»", "two\nlines", '"quotes" \\ % {}', "x" * 20_000])
def test_typed_text_is_in_the_input_and_on_the_desk(table: Table, text: str) -> None:
    assert table.type("mma_epic_input", text, clear_first=True).success
    assert table.look(f"value_equals:mma_epic_input:{text}").verdict.holds
    assert table.bench.desk.view.values["mma_epic_input"] == text


def test_typing_appends_to_the_text_or_replaces_it(table: Table) -> None:
    table.type("input:Goal", "one")
    table.type("input:Goal", " two")
    assert table.look("value_equals:input:Goal:one two").verdict.holds
    table.type("input:Goal", "three", clear_first=True)
    assert table.look("value_equals:input:Goal:three").verdict.holds
    table.type("input:Goal", "", clear_first=True)
    assert table.look("value_equals:input:Goal:").verdict.holds


def test_a_missing_target_fails_with_the_nearest_names_and_the_tree(table: Table) -> None:
    done = table.click("button:Plan at")
    assert not done.success
    assert "button:Plan it" in done.message
    assert "button:Plan it [btn_mma_plan_epic]" in done.tree


def test_a_disabled_widget_fails_and_nothing_happens(table: Table) -> None:
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
    driver = InputDriver()
    with windowed(asking_all(), driver=driver) as bench:
        table = Table(bench, driver)
        bench.until(lambda: "inbox.edit" in bench.reachable())
        assert table.click("inbox.row@A-1").success  # the script; what holds up most comes first
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


def test_after_a_test_the_user_is_the_actor_again(table: Table) -> None:
    before = table.bench.window.send.by
    table.click("btn_reset", DRIVER)
    table.click("button:none", DRIVER)
    assert table.until_done(table.driver.idle(5))
    assert table.bench.window.send.by == before


def test_a_waiting_condition_does_not_delay_actions(table: Table) -> None:
    waiting = table.driver.watch(read_condition("value_equals:input:Goal:now"), 60)
    table.bench.draw()
    assert not waiting.done()
    assert table.type("input:Goal", "now").success
    assert table.until_done(waiting).verdict.holds


def test_a_condition_that_never_holds_ends_at_its_deadline(table: Table) -> None:
    looked = table.until_done(table.driver.watch(read_condition("exists:never"), 0.01))
    assert (looked.verdict.holds, looked.timed_out) == (False, True)


def test_an_action_can_be_taken_back_before_its_turn(table: Table) -> None:
    first = table.driver.act(Type(read_target("input:Goal"), "kept"), TESTER, lambda: None)
    second = table.driver.act(Type(read_target("input:Goal"), "taken back"), TESTER, lambda: None)
    assert second.cancel()
    assert table.until_done(first).success
    assert table.look("value_equals:input:Goal:kept").verdict.holds


def test_a_failure_does_not_block_the_next_call(table: Table) -> None:
    futures = [table.driver.act(Click(read_target(name)), TESTER, lambda: None) for name in ("no", "btn_reset", "no")]
    assert [table.until_done(each).success for each in futures] == [False, True, False]


def test_when_the_window_closes_waiting_calls_fail(table: Table) -> None:
    waiting = table.driver.watch(read_condition("exists:never"), 600)
    clicked = table.driver.act(Click(read_target("btn_reset")), TESTER, lambda: None)
    table.driver.closed()
    for future in (waiting, clicked):
        with pytest.raises(ConnectionError, match="closed"):
            future.result(0)


def test_a_hidden_widget_is_scrolled_to(table: Table) -> None:
    tickets = tuple(ticket(f"t{number:03d}") for number in range(60))
    for number in range(30):
        table.bench.submit(AddTrack(f"track-{number:02d}", f"Track {number}", "", tickets[:1]))
    table.bench.until(lambda: table.bench.window.ui.shown.find("btn_mma_load_track@track-29") is not None)
    assert table.click("btn_mma_load_track@track-29").success
    table.bench.until(lambda: table.bench.desk.view.track == "track-29")


def test_idle_means_that_nothing_is_on_its_way(table: Table) -> None:
    assert table.until_done(table.driver.idle(5))


def test_a_click_is_asserted_within_twelve_frames(table: Table) -> None:
    counts: list[int] = []
    for number in range(10):  # a busy machine delays the engine's thread, and the window draws on meanwhile
        before = table.driver.frames
        assert table.click("streams.follow").success
        assert table.look(f"value_equals:streams.follow:{'true' if number % 2 else 'false'}").verdict.holds
        counts.append(table.driver.frames - before)
    assert min(counts) <= 12, counts


# ── the actor of input ───────────────────────────────────────────────────────────────────


def answered(table: Table) -> list[tuple[str, str]]:
    states = [(each.id, each.state) for each in table.bench.state.approvals.values()]
    return [(name, state.by) for name, state in states if isinstance(state, Answered)]


@pytest.mark.parametrize("frame", range(12))
def test_a_key_of_the_user_never_counts_as_the_tests(table: Table, frame: int) -> None:
    asking(table)
    table.bench.draw(30)  # longer than the delay after which an answer counts
    io = imgui.get_io()
    clicked = table.driver.act(Click(read_target("streams.follow")), TESTER, lambda: None)
    for number in range(20):
        if number in (frame, frame + 2):
            io.add_key_event(imgui.Key.a, number == frame)
        table.bench.draw(1)
    assert table.until_done(clicked).success
    table.bench.until(lambda: not table.bench.window.send.waiting)
    assert {by for _, by in answered(table)} <= {ADA}


@pytest.mark.parametrize("frame", range(12))
def test_a_test_does_not_finish_the_click_that_a_person_began(table: Table, frame: int) -> None:
    asking(table)
    table.bench.draw(30)
    left, top, right, bottom = table.bench.widget("inbox.approve").rect
    io = imgui.get_io()
    io.add_mouse_pos_event((left + right) / 2, (top + bottom) / 2)
    table.bench.draw(2)
    clicked = table.driver.act(Click(read_target("streams.follow")), TESTER, lambda: None)
    for number in range(20):
        if number == frame:
            io.add_mouse_button_event(0, True)
        table.bench.draw(1)
    assert table.until_done(clicked).success
    table.bench.until(lambda: not table.bench.window.send.waiting)
    assert answered(table) == []


def test_letters_that_a_test_could_not_write_in_time_are_not_written_by_the_person(table: Table) -> None:
    done = table.act(Type(read_target("input:Goal"), "x" * 300 + "\a"), DRIVER)  # inputs drop this character
    written = len(table.bench.desk.view.values["mma_epic_input"])
    table.bench.draw(60)
    assert not done.success
    assert len(table.bench.desk.view.values["mma_epic_input"]) == written
    assert table.bench.window.send.by.actor == ADA


class Gate:
    """A workbench that answers only when the test lets it."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._submit = bench.front.submit
        self._open = bench.engine.call(self._event())
        bench.front.submit = self._later

    async def _event(self) -> asyncio.Event:
        return asyncio.Event()

    async def _later(self, *given: Any) -> Any:
        await self._open.wait()
        return await self._submit(*given)

    def open(self) -> None:
        self._bench.engine.loop.call_soon_threadsafe(self._open.set)


def test_a_click_is_not_over_before_the_workbench_has_answered(table: Table) -> None:
    table.type("input:Goal", "Better")
    gate = Gate(table.bench)
    clicked = table.driver.act(Click(read_target("button:Plan it")), TESTER, lambda: None)
    table.bench.draw(200)
    assert not clicked.done()
    gate.open()
    assert table.until_done(clicked).success
    assert [epic.text for epic in table.bench.state.epics.values()] == ["Better"]


def test_a_click_that_the_workbench_never_answers_ends_at_its_deadline(table: Table) -> None:
    table.type("input:Goal", "Better")
    gate = Gate(table.bench)
    done = table.until_done(table.driver.act(Click(read_target("button:Plan it")), TESTER, lambda: None, seconds=0.2))
    assert (done.success, done.late, done.key) == (False, True, "btn_mma_plan_epic")
    assert "has not answered in time" in done.message
    gate.open()


def test_while_a_click_waits_for_its_answer_the_person_has_the_window(table: Table) -> None:
    asking(table)
    table.type("input:Goal", "Better")
    gate = Gate(table.bench)
    clicked = table.driver.act(Click(read_target("button:Plan it")), TESTER, lambda: None)
    table.bench.draw(30)
    table.bench.click("btn_approve_mma_step@A-1")
    gate.open()
    assert table.until_done(clicked).success
    table.bench.until(lambda: len(table.bench.state.pending) == 1)
    assert answered(table) == [("A-1", ADA)]


def test_a_refusal_for_a_person_meanwhile_fails_no_test(table: Table) -> None:
    table.type("input:Goal", "Better")
    gate = Gate(table.bench)
    clicked = table.driver.act(Click(read_target("button:Plan it")), TESTER, lambda: None)
    table.bench.draw(30)
    table.bench.window.send.click("btn_approve_script")
    table.bench.until(lambda: "notification" in table.bench.reachable())
    gate.open()
    assert table.until_done(clicked).success


# ── contents of a window ────────────────────────────────────────────────────────────────


def test_a_panel_contains_every_word_in_it_whether_widget_or_not(table: Table) -> None:
    assert table.look("text_contains:window:Dashboard:No tracks yet").verdict.holds
    assert table.look("text_contains:window:Dashboard:Write a goal above and plan it").verdict.holds
    assert table.look("text_contains:window:Dashboard:Plan it").verdict.holds
    assert not table.look("text_contains:window:Inbox:Plan it").verdict.holds
    assert not table.look("text_contains:window:Usage:spent").verdict.holds  # behind another window


@pytest.mark.parametrize(
    ("name", "target"), [("Inbox", "window:Inbox"), ("Discussion", "window:Discussion"), ("Goal", "input:Goal")]
)
def test_a_name_means_the_panel_of_that_title_or_else_the_widget(table: Table, name: str, target: str) -> None:
    assert str(text_target(table.until_done(table.driver.widgets()), name)) == target


def test_bars_have_their_place(table: Table) -> None:
    widgets = table.until_done(table.driver.widgets())
    wide, high = table.bench.window._surface.size
    places = {each.key: each.rect for each in widgets.all() if each.key in ("window.top", "window.bottom")}
    assert places == {"window.top": (0, 0, wide, HIGH), "window.bottom": (0, high - LOW, wide, high)}
    assert table.click("window:top").success


@pytest.mark.parametrize("frame", range(12))
def test_a_click_on_an_approval_answered_meanwhile_answers_no_other(table: Table, frame: int) -> None:
    asking(table)
    table.bench.draw(30)
    clicked = table.driver.act(Click(read_target("btn_approve_mma_step@A-1")), TESTER, lambda: None)
    table.bench.draw(frame)
    before = clicked.done()
    with suppress(InterlockError):  # the click came first
        table.bench.submit(AnswerApproval("A-1", "reject"))
    done = table.until_done(clicked)
    (one,) = answered(table)
    assert one == ("A-1", TESTER.actor if done.success else ADA)
    assert done.success or not before

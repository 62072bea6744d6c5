"""Typing never answers an approval: letters count only in the inbox, and an answer by a key waits for a moment."""

import random

import pytest
from imgui_bundle import imgui

from interlock.desk.authority import Authority
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.discussion_commands import StartDiscussion
from interlock.gui.drawing.answering import PAUSE_S
from tests.api.serving import ADA
from tests.gui.bench import Bench, asking_all, windowed
from tests.gui.window.test_input import asking

PAUSE = int(PAUSE_S * 60)  # frames: a frame of the null backend lasts one 60th of a second
PANELS = (
    "dashboard",
    "inbox",
    "graph",
    "timeline",
    "tests",
    "usage",
    "diagnostics",
    "streams",
    "message",
    "provider",
)
LETTERS = tuple(getattr(imgui.Key, letter) for letter in "abcdefghijklmnopqrstuvwxyz")
OTHERS = (
    *(imgui.Key.space, imgui.Key.enter, imgui.Key.tab, imgui.Key.escape, imgui.Key.backspace, imgui.Key.delete),
    *(imgui.Key.left_arrow, imgui.Key.right_arrow, imgui.Key.up_arrow, imgui.Key.down_arrow),
    *(imgui.Key.home, imgui.Key.end, imgui.Key.page_up, imgui.Key.page_down, imgui.Key.f1, imgui.Key.menu),
)
CHORDS = (imgui.Key.mod_ctrl, imgui.Key.mod_shift, imgui.Key.mod_alt)


class Typist:
    """Presses a key in almost each frame, now and then with Ctrl, Shift or Alt, and sometimes hesitates."""

    def __init__(self, bench: Bench, seed: int) -> None:
        self._bench = bench
        self._random = random.Random(seed)

    def press(self, times: int) -> None:
        io, choice = imgui.get_io(), self._random
        down: list[imgui.Key] = []
        for _ in range(times):
            for key in down:
                io.add_key_event(key, False)
            which = choice.choice(LETTERS if choice.random() < 0.7 else OTHERS)
            down = [choice.choice(CHORDS), which] if choice.random() < 0.1 else [which]
            for key in down:
                io.add_key_event(key, True)
            if which in LETTERS:
                io.add_input_character(ord(str(which.name)))
            self._bench.draw(PAUSE // 2 if choice.random() < 0.02 else 1)  # typists pause, too
        for key in down:
            io.add_key_event(key, False)
        self._bench.draw(1)


def answers(bench: Bench) -> list[Command]:
    return [each for each in bench.front.heard if isinstance(each, AnswerApproval)]


def type_in(panel: str, keys: int, seed: int) -> None:
    """From the panel itself, and from each of its inputs; what was typed last is taken back, as typing goes on."""
    with windowed(asking_all(times=2)) as bench:
        typist = Typist(bench, seed)
        bench.show(panel)
        places = ["", *_inputs(bench, panel)]
        for round_ in range(max(1, keys // 500)):
            bench.show("usage" if panel != "usage" else "timeline")
            bench.show(panel)
            place = places[round_ % len(places)]
            _give_keyboard(bench, panel, place)
            typist.press(min(keys, 500))
            assert answers(bench) == []
        assert bench.window.broken_panels() == {}


def _inputs(bench: Bench, panel: str) -> list[str]:
    title = _title(bench, panel)
    return [each.name for each in bench.window.ui.shown.all() if each.window == title and each.type == "input"]


def _title(bench: Bench, panel: str) -> str:
    return next(each.name for each in bench.window.panels if panel in each.tabs)


def _give_keyboard(bench: Bench, panel: str, place: str) -> None:
    """By the mouse: into an input, or onto the empty edge of the panel."""
    if place and bench.window.ui.shown.find(place) is not None:
        bench.click(place)
        return
    x0, _, x1, y1 = bench.widget(f"window.{_title(bench, panel).lower()}").rect
    io = imgui.get_io()
    io.add_mouse_pos_event((x0 + x1) / 2, y1 - 4)
    bench.draw(2)
    io.add_mouse_button_event(0, True)
    bench.draw(2)
    io.add_mouse_button_event(0, False)
    bench.draw(2)


@pytest.mark.parametrize("panel", PANELS)
def test_a_random_typist_answers_nothing(panel: str) -> None:
    type_in(panel, 1_000, seed=PANELS.index(panel))


@pytest.mark.soak
@pytest.mark.parametrize("panel", PANELS)
def test_a_random_typist_answers_nothing_with_50_000_keys(panel: str) -> None:
    type_in(panel, 50_000, seed=100 + PANELS.index(panel))


def test_after_ctrl_enter_the_discussion_keeps_the_keyboard() -> None:
    with windowed() as bench:
        asking(bench, "a", "b", "c")
        bench.submit(StartDiscussion())
        bench.show("message")
        bench.click("ai_input")
        bench.write("hello")
        bench.until(lambda: bench.desk.view.values["ai_input"] == "hello")
        io = imgui.get_io()
        io.add_key_event(imgui.Key.mod_ctrl, True)
        bench.press(imgui.Key.enter)
        io.add_key_event(imgui.Key.mod_ctrl, False)
        bench.draw(4)
        assert bench.window.ui.typing
        for letter in "please change the readme":
            if letter != " ":
                io.add_key_event(getattr(imgui.Key, letter), True)
            io.add_input_character(ord(letter))
            bench.draw(2)
            if letter != " ":
                io.add_key_event(getattr(imgui.Key, letter), False)
            bench.draw(2)
        bench.draw(2 * PAUSE)
        assert len(bench.state.pending) == 3
        assert bench.widget("ai_input").value == "please change the readme"


@pytest.mark.parametrize("panel", [each for each in PANELS if each != "inbox"])
def test_letters_do_nothing_while_another_panel_has_the_keyboard(panel: str) -> None:
    with windowed(asking_all()) as bench:
        bench.show(panel)
        _give_keyboard(bench, panel, "")
        for key in (imgui.Key.a, imgui.Key.r, imgui.Key.x, imgui.Key.e, imgui.Key.j):
            bench.press(key)
            bench.draw(PAUSE)
        assert (bench.front.heard, bench.window.send.held) == ([], None)
        assert bench.widget("inbox.title").name == f"inbox.title@{bench.window.frame.pending[0].id}"


def test_a_program_that_shows_the_inbox_does_not_turn_letters_into_answers() -> None:
    with windowed(asking_all()) as bench:
        bench.show("message")
        bench.click("ai_input")
        bench.show("inbox")
        bench.press(imgui.Key.a)
        bench.draw(PAUSE + 10)
        assert (bench.front.heard, bench.window.send.held) == ([], None)
        bench.click("inbox.row@A-1")
        bench.press(imgui.Key.a)
        assert bench.window.send.held is not None


def test_ctrl_tab_gives_the_inbox_its_letters() -> None:
    with windowed(asking_all()) as bench:
        bench.click("inbox.row@A-1")
        _give_keyboard(bench, "dashboard", "")
        assert bench.window.ui.keyboard == "Dashboard"
        io = imgui.get_io()
        for down in (True, False):
            io.add_key_event(imgui.Key.mod_ctrl, down)
            io.add_key_event(imgui.Key.left_ctrl, down)
            bench.draw(2)
            if down:
                io.add_key_event(imgui.Key.tab, True)
                bench.draw(2)
                io.add_key_event(imgui.Key.tab, False)
                bench.draw(2)
        bench.draw(2)
        assert bench.window.ui.keyboard == "Inbox"


def test_an_answer_by_a_letter_is_sent_after_the_pause_and_says_so_meanwhile() -> None:
    with windowed(asking_all()) as bench:
        bench.click("inbox.row@A-1")
        bench.press(imgui.Key.a)
        assert bench.widget("answer.held").value == "Approving A-1 in 2 s: Esc or any other key takes it back"
        bench.draw(PAUSE // 2 + 10)
        assert bench.widget("answer.held").value.startswith("Approving A-1 in 1 s")
        assert bench.front.heard == []
        bench.until(lambda: bool(bench.front.heard), PAUSE)
        assert bench.front.heard == [AnswerApproval("A-1", "approve")]


@pytest.mark.parametrize("key", [imgui.Key.escape, imgui.Key.u, imgui.Key.a, imgui.Key.j, imgui.Key.space])
def test_any_key_takes_an_answer_back_and_does_nothing_else(key: imgui.Key) -> None:
    with windowed(asking_all()) as bench:
        bench.click("inbox.row@A-1")
        bench.press(imgui.Key.r)
        assert bench.window.send.held is not None
        bench.press(key)
        assert bench.window.send.held is None
        assert bench.widget("notification").value == "A-1 was not answered: a key took the answer back"
        bench.draw(2 * PAUSE)
        assert bench.front.heard == []
        assert bench.widget("inbox.title").name == "inbox.title@A-1"


def test_the_button_takes_an_answer_back_and_a_click_on_approve_answers_at_once() -> None:
    with windowed(asking_all()) as bench:
        bench.click("inbox.row@A-1")
        bench.press(imgui.Key.r)
        bench.click("answer.take_back")
        bench.draw(PAUSE)
        assert bench.front.heard == []
        bench.press(imgui.Key.r)
        bench.click("inbox.row@A-1")
        bench.click("btn_approve_script@A-1")
        bench.until(lambda: bool(bench.front.heard), 30)
        bench.draw(2 * PAUSE)
        assert bench.front.heard == [AnswerApproval("A-1", "approve")]


def test_a_held_answer_is_dropped_when_the_question_is_answered_elsewhere() -> None:
    with windowed() as bench:
        asking(bench, "a", "b")
        bench.click("inbox.row@A-1")
        bench.press(imgui.Key.a)
        bench.submit(AnswerApproval("A-1", "reject", message="elsewhere"))
        bench.until(lambda: bench.window.send.held is None)
        bench.draw(PAUSE)
        assert bench.window.send.notes == []
        assert [each.id for each in bench.state.pending_approvals()] == ["A-2"]


def test_a_held_answer_belongs_to_the_person_even_if_a_test_acts_when_it_is_sent() -> None:
    with windowed() as bench:
        asking(bench, "a")
        bench.click("inbox.row@A-1") if "inbox.row" in bench.reachable() else bench.click("inbox.title")
        bench.press(imgui.Key.a)
        bench.window.send.by = Authority("test:grpc_1", answers=False, places=False)
        bench.until(lambda: not bench.state.pending)
        assert bench.state.approval("A-1").state.by == ADA  # pyright: ignore[reportAttributeAccessIssue]


def test_proposed_tracks_on_the_dashboard_wait_too_when_a_key_accepts_them() -> None:
    with windowed(asking_all()) as bench:
        bench.show("dashboard")
        bench.click("mma_epic_input")
        bench.press(imgui.Key.escape)
        for _ in range(60):
            number = imgui.internal.get_focus_id()
            focused = {each.key for each in bench.window.ui.shown.all() if number and each.id == number}
            if "btn_mma_accept_tracks" in focused:
                break
            bench.press(imgui.Key.tab)
        bench.press(imgui.Key.space)
        assert bench.window.send.held is not None
        bench.press(imgui.Key.escape)
        bench.draw(PAUSE)
        assert bench.front.heard == []


def test_a_message_that_could_not_be_sent_is_back_in_its_input() -> None:
    with windowed() as bench:
        bench.front.refuse_to_say = "the model is missing"
        bench.show("message")
        bench.click("ai_input")
        bench.write("hello")
        bench.until(lambda: bench.desk.view.values["ai_input"] == "hello")
        bench.click("btn_gen_send")
        bench.until(lambda: any("the model is missing" in note.text for note in bench.window.send.notes))
        bench.draw(4)
        assert bench.widget("ai_input").value == "hello"

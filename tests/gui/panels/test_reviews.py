"""Reviews in the window: parts, comments, requested changes, rounds, and the diff of one ticket."""

from collections.abc import Iterator

import pytest
from imgui_bundle import imgui
from msgspec.structs import replace

from interlock.domain.messages.commands.attempt_commands import AskReview, FinishMerge, SubmitWork
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.landing_commands import AskLanding
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.review.changed_files import files_of
from interlock.domain.values.approvals import Answered, Comment, LandedTicket, MergePayload, ReviewPayload
from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import Reviewing, Saved, TicketSpec
from tests.gui.bench import GIT, Bench, windowed

SYSTEM = "system"
REVIEW = ReviewPayload("base", "commit", "tree", GIT, files=files_of(GIT), summary="done", ran=("A-1 edit",), parts=2)


@pytest.fixture(name="bench")
def _bench() -> Iterator[Bench]:
    with windowed() as bench:
        bench.submit(StartConductor(auto_queue=True, autonomy="review", contained=True), SYSTEM)
        bench.submit(AddTrack("x", "X", "", (TicketSpec(id="T", description="do it"),)))
        bench.submit(StartTrack("x"))
        bench.submit(SubmitWork("x", "T", 1, Saved("base", "commit", "tree"), "done"), SYSTEM)
        yield bench


def _asked(bench: Bench, payload: ReviewPayload = REVIEW) -> None:
    bench.submit(AskReview("x", "T", 1, payload), SYSTEM)
    bench.show("inbox")


def _answer(bench: Bench) -> Answered:
    answer = bench.state.approval("A-1").state
    assert isinstance(answer, Answered)
    return answer


def _answered(bench: Bench) -> bool:
    return isinstance(bench.state.approval("A-1").state, Answered)


def test_an_unchecked_file_is_left_out(bench: Bench) -> None:
    _asked(bench)
    assert bench.widget("btn_approve_review@A-1").label == "Approve"
    bench.click("inbox.file@A-1.2")
    assert bench.widget("btn_approve_review@A-1").label == "Approve 1 of 2"
    bench.click("btn_approve_review@A-1")
    bench.until(lambda: _answered(bench))
    assert _answer(bench).hunks == (1,)
    stage = bench.state.ticket("x", "T").stage
    assert isinstance(stage, Reviewing)
    assert stage.parts == (1,)


def test_a_hunk_of_a_file_is_chosen_alone(bench: Bench) -> None:
    _asked(bench)
    bench.click("inbox.hunk@A-1.1")
    bench.click("btn_approve_review@A-1")
    bench.until(lambda: _answered(bench))
    assert _answer(bench).hunks == (2,)


def test_comments_are_added_removed_and_sent(bench: Bench) -> None:
    _asked(bench)
    assert not bench.widget("btn_changes_review@A-1").enabled
    for text in ("a.py:2: why?", "run.sh: not executable", "no comment"):
        bench.click("inbox.comment@A-1")
        bench.write(text)
        bench.click("inbox.add_comment@A-1")
    assert "inbox.uncomment@A-1.1" in {widget.name for widget in bench.window.ui.shown.all()}
    bench.click("inbox.uncomment@A-1.1")
    bench.click("btn_changes_review@A-1")
    bench.until(lambda: _answered(bench))
    assert (_answer(bench).decision, _answer(bench).comments) == ("changes", (Comment("a.py", "why?", 2),))


@pytest.mark.parametrize(
    ("key", "words"), [(imgui.Key.a, "Approving A-1"), (imgui.Key.r, "Rejecting A-1"), (imgui.Key.x, "Aborting A-1")]
)
def test_each_letter_of_a_review_announces_its_answer(bench: Bench, key: imgui.Key, words: str) -> None:
    _asked(bench)
    bench.click("inbox.row@A-1" if "inbox.row" in bench.reachable() else "inbox.sides@A-1")
    bench.press(key)
    assert bench.widget("answer.held").value.startswith(words)


def test_the_letter_that_requests_changes_announces_it(bench: Bench) -> None:
    _asked(bench)
    bench.click("inbox.comment@A-1")
    bench.write("a.py:2: why?")
    bench.click("inbox.add_comment@A-1")
    bench.press(imgui.Key.c)
    assert bench.widget("answer.held").value.startswith("Requesting changes of A-1")


def test_files_fold_and_what_ran_is_listed(bench: Bench) -> None:
    _asked(bench)
    before = len([widget for widget in bench.window.ui.shown.all() if widget.key == "inbox.hunk"])
    bench.click("inbox.fold@A-1.1")
    assert len([widget for widget in bench.window.ui.shown.all() if widget.key == "inbox.hunk"]) == before - 1
    bench.click("inbox.ran@A-1")
    assert bench.widget("inbox.ran@A-1").label == "Hide"
    bench.click("inbox.sides@A-1")
    bench.click("inbox.blanks@A-1")
    assert bench.widget("inbox.blanks@A-1").label == "Show blanks"
    assert bench.window.broken_panels() == {}


def test_a_later_round_shows_what_changed_since_and_then_the_whole(bench: Bench) -> None:
    since = GIT.replace("the new words", "the newest words")
    _asked(bench, replace(REVIEW, round=2, since="c", since_diff=since))
    assert bench.widget("inbox.since@A-1").label == "Show the whole change"
    assert "inbox.hunk" not in bench.reachable(), "parts are chosen of the whole change only"
    bench.click("inbox.since@A-1")
    assert "inbox.hunk" in bench.reachable()


def test_the_diff_of_one_ticket_of_a_landing_is_shown(bench: Bench) -> None:
    _asked(bench)
    bench.click("btn_approve_review@A-1")
    bench.until(lambda: _answered(bench))
    bench.submit(FinishMerge("x", "T", 1, "merged"), SYSTEM)
    content = GIT.encode()
    blob = Blob(bench.engine.call(bench.front.workbench.keep(content)), len(content))
    ticket = LandedTicket("T", "do it", "merged", files_of(GIT), blob, ran=2)
    landing = MergePayload("main", "0" * 40, "1" * 40, GIT, parts=2, files=files_of(GIT), tickets=(ticket,))
    bench.submit(AskLanding("x", landing))
    bench.draw(10)
    assert "inbox.hunk" in bench.reachable()
    bench.click("inbox.ticket_diff@A-2.T")
    bench.draw(10)
    assert bench.widget("inbox.ticket_diff@A-2.T").label == "Show all"
    assert "inbox.hunk" not in bench.reachable()
    assert bench.window.broken_panels() == {}


def test_a_click_on_a_line_begins_a_comment_on_it(bench: Bench) -> None:
    _asked(bench)
    bench.draw(4)
    x0, _, _, y1 = bench.widget("inbox.hunk@A-1.1").rect
    io = imgui.get_io()
    io.add_mouse_pos_event(x0 + 60, y1 + 14)
    bench.draw(2)
    io.add_mouse_button_event(0, True)
    bench.draw(2)
    io.add_mouse_button_event(0, False)
    bench.draw(2)
    assert bench.widget("inbox.comment@A-1").value == "a.py:1: "

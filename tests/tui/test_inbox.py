"""Every approval kind is answered by keys; edits, parts, comments, rules and marks come with the answer."""

import json
from typing import Any

import pytest
from immutables import Map
from msgspec.structs import replace

from interlock.domain.messages.commands.approval_commands import AnswerApproval, AnswerApprovals
from interlock.domain.state.state import State
from interlock.domain.values.approvals import ALLOWED, Comment, Decision, Kind
from interlock.errors import Rejected
from interlock.tui.inbox.inbox import LETTERS, Inbox
from interlock.views.answers.actions import actions_of
from tests.gui.bench import DIFF, GIT, asking_all
from tests.tui.still import RULE, StillBench, run, shown

STATE = asking_all()
OF_KIND = {approval.kind: approval for approval in STATE.pending_approvals()}


def only(kind: Kind) -> State:
    """A state in which one approval waits."""
    approval = OF_KIND[kind]
    number = int(approval.id[2:])
    return replace(STATE, pending=Map({number: approval.id}))


def test_the_letters_of_the_inbox_are_those_of_the_table() -> None:
    keys = {action.key for approval in OF_KIND.values() for action in actions_of(approval)}
    assert keys == set(LETTERS)


@pytest.mark.parametrize("kind", OF_KIND)
def test_every_action_of_a_kind_is_shown_and_every_decision_is_given_by_its_letter(kind: Kind) -> None:
    async def test() -> None:
        approval = OF_KIND[kind]
        bench = StillBench(only(kind))
        given: list[Decision] = []
        async with shown(bench) as screen:
            await screen.shows(*(f" {action.key} {action.label}" for action in actions_of(approval)))
            await screen.glance()
            for action in actions_of(approval):
                if action.decision is None:
                    continue
                bench.sent.clear()
                await screen.press(action.key)
                words = "why" if action.name in ("reject", "changes") else ""
                if words:
                    await screen.press(*words, "enter")
                await screen.settle()
                assert bench.sent == [AnswerApproval(approval.id, action.decision, message=words)]
                given.append(action.decision)
                screen.app.query_one(Inbox).draft(approval).message = ""
        assert set(given) == set(ALLOWED[kind])

    run(test())


@pytest.mark.parametrize("kind", ["script", "tool", "spawn", "tracks", "ask"])
def test_an_edit_in_the_editor_goes_with_the_approval(kind: Kind) -> None:
    async def test() -> None:
        bench = StillBench(only(kind))
        seen: list[str] = []
        bench.edits = lambda text: seen.append(text) or "the edited text"
        async with shown(bench) as screen:
            await screen.glance()
            await screen.press("e")
            await screen.shows("a Approve edited", "the edited text", "What was asked:")
            await screen.press("e")
            await screen.until(lambda: len(seen) == 2)
            assert seen[1] == "the edited text"
            await screen.press("a")
            await screen.settle()
            assert bench.sent == [AnswerApproval(OF_KIND[kind].id, "approve", "the edited text")]
        if kind == "tool":
            assert json.loads(seen[0]) == {"path": "a.py"}

    run(test())


def test_an_edit_is_discarded_by_u() -> None:
    async def test() -> None:
        bench = StillBench(only("script"))
        async with shown(bench) as screen:
            await screen.glance()
            await screen.press("e")
            await screen.shows("Approve edited")
            await screen.press("u")
            await screen.hides("Approve edited")
            await screen.press("a")
            await screen.settle()
            assert bench.sent == [AnswerApproval(OF_KIND["script"].id, "approve")]

    run(test())


def test_the_context_of_a_worker_is_edited_on_its_own() -> None:
    async def test() -> None:
        bench = StillBench(only("spawn"))
        async with shown(bench) as screen:
            await screen.glance()
            await screen.press("o")
            await screen.shows("context, edited by you")
            await screen.press("a")
            await screen.settle()
            assert bench.sent == [AnswerApproval("A-4", "approve", edited_context="make# edited\n")]

    run(test())


@pytest.mark.parametrize(("kind", "diff"), [("tool", DIFF), ("review", GIT)])
def test_parts_are_switched_off_with_space(kind: Kind, diff: str) -> None:
    async def test() -> None:
        bench = StillBench(only(kind))
        async with shown(bench) as screen:
            await screen.glance()
            await screen.press("p")
            inbox = screen.app.query_one(Inbox)
            while not inbox.detail.place.hunk:
                await screen.press("right_square_bracket")
            await screen.press("space")
            await screen.shows("Approve 1 of 2")
            await screen.press("a")
            await screen.settle()
            (sent,) = bench.sent
            assert isinstance(sent, AnswerApproval)
            assert sent.hunks in ((1,), (2,))
            await screen.press("space")
            await screen.hides("Approve 1 of 2")

    run(test())


def test_without_any_part_nothing_can_be_approved() -> None:
    async def test() -> None:
        bench = StillBench(only("tool"))
        async with shown(bench) as screen:
            await screen.glance()
            screen.app.query_one(Inbox).draft(OF_KIND["tool"]).hunks.clear()
            await screen.press("a")
            await screen.shows("choose at least one part")
            assert bench.sent == []

    run(test())


def test_a_comment_on_the_line_under_the_cursor_goes_with_requested_changes() -> None:
    async def test() -> None:
        bench = StillBench(only("review"))
        async with shown(bench) as screen:
            await screen.glance()
            inbox = screen.app.query_one(Inbox)
            await screen.press("enter")
            at = next(at for at, piece in enumerate(inbox.detail.pieces) if "the new words" in _text(piece))
            inbox.detail.select(at)
            await screen.press("i")
            await screen.shows("a.py:2: ")
            await screen.type("say why")
            await screen.press("enter")
            await screen.shows("your comment on a.py:2: say why")
            await screen.press("c")
            await screen.shows("What should change?")
            await screen.press("enter")
            await screen.settle()
            comments = (Comment("a.py", "say why", 2),)
            assert bench.sent == [AnswerApproval("A-10", "changes", comments=comments)]

    run(test())


def _text(piece: Any) -> str:
    return "".join(span.text for span in piece.row.spans)


def test_changes_need_words_or_comments() -> None:
    async def test() -> None:
        bench = StillBench(only("merge"))
        async with shown(bench) as screen:
            await screen.glance()
            await screen.press("c", "enter")
            await screen.shows("say what should change")
            assert bench.sent == []

    run(test())


@pytest.mark.parametrize(("letter", "everywhere"), [("w", False), ("W", True)])
def test_a_rule_is_shown_first_and_stored_with_the_second_press(letter: str, everywhere: bool) -> None:
    async def test() -> None:
        bench = StillBench(only("script"))
        async with shown(bench) as screen:
            await screen.glance()
            await screen.press("w")
            await screen.shows('prefix = ["make"]', "w Approve, always")
            assert bench.sent == []
            await screen.press(letter)
            await screen.settle()
            assert bench.sent == [AnswerApproval("A-1", "approve")]
            assert bench.kept == [(RULE, everywhere)]

    run(test())


def test_marked_approvals_are_answered_together_with_the_digests_that_were_shown() -> None:
    async def test() -> None:
        bench = StillBench(asking_all(times=2))
        async with shown(bench) as screen:
            await screen.glance()
            inbox = screen.app.query_one(Inbox)
            at = next(at for at, one in enumerate(screen.app.picture.groups) if one.first.kind == "script")
            inbox.list.select(at)
            await screen.shows("2x ")
            await screen.press("m")
            await screen.shows("2 approvals marked")
            await screen.press("A")
            await screen.settle()
            (sent,) = bench.sent
            assert isinstance(sent, AnswerApprovals)
            assert [one.approval for one in sent.approvals] == ["A-1", "A-11"]
            assert {one.digest for one in sent.approvals} == {OF_KIND["script"].digest}

    run(test())


def test_a_lost_race_says_who_answered() -> None:
    async def test() -> None:
        bench = StillBench(only("script"))
        bench.refuses = Rejected("A-1 is already answered by human:bob: reject")
        async with shown(bench) as screen:
            await screen.glance()
            await screen.press("a")
            await screen.settle()
            await screen.shows("already answered by human:bob")

    run(test())


def test_the_next_approval_takes_the_place_of_one_that_is_gone_but_needs_a_glance() -> None:
    async def test() -> None:
        bench = StillBench(asking_all())
        async with shown(bench) as screen:
            await screen.glance()
            before = screen.app.query_one(Inbox).shown()
            assert before is not None
            bench.become(replace(STATE, pending=STATE.pending.delete(int(before.id[2:]))))
            await screen.until(lambda: screen.app.query_one(Inbox).shown() not in (None, before))
            await screen.press("a")
            assert screen.app.send.held is None
            await screen.glance()
            await screen.press("a")
            assert screen.app.send.held is not None or bench.sent
            screen.app.send.take_back()

    run(test())


def test_an_empty_inbox_says_what_comes_here() -> None:
    async def test() -> None:
        async with shown(StillBench(State()), size=(80, 24)) as screen:
            await screen.shows("Nothing waits for you", "interlock run --tickets")

    run(test())

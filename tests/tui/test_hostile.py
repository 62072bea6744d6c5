"""Hostile texts are shown, never obeyed: no sequence, no markup, no hidden character reaches the terminal."""

from typing import Any

import pytest
from immutables import Map
from msgspec.structs import replace

from interlock.domain.state.state import State
from interlock.domain.state.tracks import Counts, Track
from interlock.domain.values.approvals import ReviewPayload
from interlock.domain.values.tickets import Blocked, Ticket, TicketSpec, Working
from interlock.tui.inbox.inbox import Inbox
from interlock.views.display import HIDDEN
from tests.gui.bench import AT, asking_all
from tests.tui.still import Screen, StillBench, run, shown

HOSTILE = (
    "##evil###id %s %n\x1b[31m\u202ereversed\x00 \ud7ff\U0001f980漢字 [red]m[/red] [@click=app.bell]x[/] "
    "[link=file:///etc]l[/link] \x1b]8;;http://evil\x07text\x1b]8;;\x07 \x1b]0;title\x07\x9b2J\u200b\u2066"
    + "x" * 500
    + "\nsecond\r\nthird"
)


def full(words: str) -> State:
    """Approvals of every kind and a track, all with these words."""
    state = asking_all(words)
    stages: list[Any] = [Blocked(words), Working()]
    tickets = {
        f"T-{at}": Ticket(
            track="demo", spec=TicketSpec(id=f"T-{at}", description=words), stage=stage, created_at=AT, started_at=AT
        )
        for at, stage in enumerate(stages)
    }
    track = Track(
        id="demo",
        title=words,
        description=words,
        status="running",
        created_at=AT,
        updated_at=AT,
        order=tuple(tickets),
        tickets=Map(tickets),
        counts=Counts(in_progress=1, blocked=1),
    )
    return replace(state, tracks=Map({"demo": track}), track_order=("demo",), running=("demo",))


def check(screen: Screen) -> None:
    """Everything that would be written to the terminal."""
    for strip in screen.app.screen._compositor.render_strips():
        for segment in strip:
            assert not HIDDEN.search(segment.text), segment
            assert segment.style is None or (segment.style.link is None and not segment.style.meta.get("@click"))


@pytest.mark.parametrize("words", [HOSTILE, "", "\n", "a" * 50_000], ids=["hostile", "empty", "break", "long"])
def test_every_panel_and_every_approval_shows_hostile_texts_safely(words: str) -> None:
    async def test() -> None:
        bench = StillBench(full(words))
        bench.name = bench.branch = words
        async with shown(bench, size=(150, 40)) as screen:
            screen.app.feed.text(f"Tier 3 (Worker): {words[:80]}", words)
            inbox = screen.app.query_one(Inbox)
            for at in range(len(screen.app.picture.groups)):
                inbox.list.select(at)
                await screen.pilot.pause()
                check(screen)
            screen.app.send.note(words)
            for key in "1234567":
                await screen.press(key)
                check(screen)
            await screen.press("4", "right_square_bracket")
            check(screen)
            await screen.press("2", "j", "enter")
            check(screen)

    run(test())


def test_a_script_shows_the_characters_that_a_shell_would_not_skip() -> None:
    async def test() -> None:
        async with shown(StillBench(asking_all("rm\u200b -rf \x1b[2Kx")), size=(100, 40)) as screen:
            inbox = screen.app.query_one(Inbox)
            at = next(at for at, one in enumerate(screen.app.picture.groups) if one.first.kind == "script")
            inbox.list.select(at)
            await screen.shows("rm<U+200B> -rf <U+001B>[2Kx")

    run(test())


def test_a_review_whose_diff_was_cut_says_so() -> None:
    async def test() -> None:
        state = asking_all()
        approval = next(one for one in state.pending_approvals() if one.kind == "tool")
        cut = replace(approval, payload=replace(approval.payload, hunks=5))
        assert not isinstance(cut.payload, ReviewPayload)
        changed = replace(state, approvals=state.approvals.set(cut.id, cut))
        async with shown(StillBench(changed), size=(100, 40)) as screen:
            inbox = screen.app.query_one(Inbox)
            at = next(at for at, one in enumerate(screen.app.picture.groups) if one.first.kind == "tool")
            inbox.list.select(at)
            await screen.shows("Only 2 of 5 hunks are shown.")

    run(test())

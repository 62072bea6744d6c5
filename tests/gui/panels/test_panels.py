"""Panels draw every state, and every button and field of the desk is in the window."""

import json
from hashlib import sha256
from itertools import pairwise

import pytest
from imgui_bundle import imgui
from immutables import Map
from msgspec.structs import replace

from interlock.desk.buttons import BUTTONS
from interlock.desk.feed import LINES
from interlock.desk.fields import FIELDS, TABS
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Counts, Track
from interlock.domain.values.approvals import Again, Approval, ToolPayload, digest
from interlock.domain.values.budgets import Usage
from interlock.domain.values.discussions import Discussion, Quiet
from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import Blocked, Completed, Ticket, TicketSpec, Todo, Working
from interlock.ports.model import Message
from tests.domain.runs import history_of, ran
from tests.gui.bench import AT, Bench, asking_all, windowed

SHOWN = ("dashboard", "provider", "graph", "timeline", "tests", "usage", "diagnostics", "streams", "message", "inbox")
HOSTILE = "##evil###id %s %n\x1b[31m\u202ereversed\x00 \ud7ff🦀漢字" + "x" * 5_000 + "\nsecond\r\nthird"


def every_tab(bench: Bench) -> set[str]:
    """The keys of all tabs; no panel breaks."""
    keys: set[str] = set()
    for tab in SHOWN:
        bench.show(tab)
        keys |= bench.reachable()
    assert bench.window.broken_panels() == {}
    return keys


def track(name: str = "demo", words: str = "do it", status: str = "running") -> Track:
    def ticket(number: int, **more: object) -> Ticket:
        spec = TicketSpec(id=f"T-{number}", description=words, depends_on=(f"T-{number - 1}",) if number else ())
        return Ticket(track=name, spec=spec, created_at=AT, started_at=AT, **more)  # pyright: ignore[reportArgumentType]

    tickets = (
        ticket(0, stage=Completed(), attempts=1),
        ticket(1, stage=Completed(), unverified=True, result="skipped"),
        ticket(2, stage=Blocked(words), why=words),
        ticket(3, stage=Working()),
        ticket(4),
    )
    return Track(
        id=name,
        title=words,
        description=words,
        status=status,  # pyright: ignore[reportArgumentType]
        created_at=AT,
        updated_at=AT,
        order=tuple(each.id for each in tickets),
        tickets=Map({each.id: each for each in tickets}),
        counts=Counts(1, 1, 2, 1, 0),
    )


def full(words: str = "do it") -> State:
    from msgspec.structs import replace

    discussion = Discussion(
        id="D-1", title=words, created_at=AT, updated_at=AT, messages=(Blob("0" * 64, 1),), stage=Quiet(words)
    )
    return replace(
        asking_all(words),
        tracks=Map({"demo": track(words=words)}),
        track_order=("demo",),
        running=("demo",),
        usage=Map({"Tier 3": Usage(1, 2, 3, 4, 5)}),
        discussions=Map({"D-1": discussion}),
        tests=history_of(ran(1, name=words), ran(2, "failed", words, error_message=words, logs=(words,))),
    )


def test_an_empty_workbench_says_what_to_do_next() -> None:
    with windowed() as bench:
        keys = every_tab(bench)
        assert {"mma_epic_input", "btn_mma_plan_epic", "ai_input", "btn_gen_send", "current_provider"} <= keys
        bench.show("dashboard")
        assert bench.widget("topbar.waiting").value == "no pending approvals"
        assert not bench.widget("btn_mma_plan_epic").enabled


def test_a_full_one_draws_in_every_tab() -> None:
    with windowed(full()) as bench:
        every_tab(bench)
        assert bench.widget("topbar.waiting").value.endswith("10 pending approvals")


@pytest.mark.parametrize("words", [HOSTILE, "", "\n", "a" * 200_000])
def test_hostile_texts_break_nothing_and_show_no_control_characters(words: str) -> None:
    with windowed(full(words)) as bench:
        for index, letter in enumerate("jjjjjjjjj"):
            bench.window.feed.text(f"Tier 3 (Worker): {words[:50]}{index}{letter}", words)
        every_tab(bench)
        for widget in bench.window.ui.shown.all():
            assert "\x1b" not in widget.label
            assert "\u202e" not in widget.label


def test_every_button_and_field_of_the_desk_has_a_widget() -> None:
    keys: set[str] = set()
    with windowed(full()) as bench:
        graph = next(panel for panel in bench.window.panels if panel.name == "Tickets")
        graph._chosen = "T-2"  # pyright: ignore[reportAttributeAccessIssue]
        inbox = next(panel for panel in bench.window.panels if panel.name == "Inbox")
        for approval in bench.state.approvals:
            inbox._chosen = approval  # pyright: ignore[reportAttributeAccessIssue]
            bench.draw()
            keys |= bench.reachable()
        bench.engine.call(_answered(bench))
        bench.window.send.texts.put("0" * 64, json.dumps({"role": "assistant", "text": "hello"}))
        keys |= every_tab(bench)
    for status in ("ready", "paused", "done"):
        from msgspec.structs import replace

        state = replace(full(), tracks=Map({"demo": track(status=status)}), running=())
        with windowed(state) as bench:
            keys |= bench.reachable()
    missing = (set(BUTTONS) | set(FIELDS)) - keys
    assert missing == set()


async def _answered(bench: Bench) -> None:
    bench.desk.change(discussion="D-1", response="an answer", error="an error")


def test_a_message_that_is_kept_is_read_and_shown() -> None:
    with windowed(full()) as bench:
        bench.engine.call(_answered(bench))
        bench.show("message")
        assert Message("assistant", "hi") is not None
        assert bench.window.broken_panels() == {}


def test_the_sandbox_being_off_and_the_test_policy_are_shown() -> None:
    with windowed(sandbox="off", test_policy=True) as bench:
        assert "SANDBOX OFF" in bench.widget("topbar.sandbox").value
        assert "TEST POLICY" in bench.widget("topbar.test_policy").value
        every_tab(bench)


def test_a_workbench_that_can_record_nothing_says_so_for_as_long_as_that_lasts() -> None:
    why = "the journal cannot be written: the disk is full"
    with windowed(asking_all(), broken=lambda: why, size=(800, 600)) as bench:
        assert bench.widget("topbar.state").value == "STOPPED"
        assert bench.widget("status.right").value.startswith("the journal cannot")
        assert bench.widget("status.right").rect[0] > bench.widget("status.left").rect[2]
    with windowed(asking_all()) as bench:
        assert bench.widget("topbar.state").value == "WAITING"


def test_ten_thousand_tickets_can_be_looked_at_from_far_and_near() -> None:
    rows = 100
    tickets = tuple(
        TicketSpec(
            id=f"T-{layer}-{row}",
            assigned_to="shell",
            script="true",
            depends_on=(f"T-{layer - 1}-{row}", f"T-{layer - 1}-{(row + 7) % rows}") if layer else (),
        )
        for layer in range(100)
        for row in range(rows)
    )
    with windowed() as bench:
        bench.submit(AddTrack("big", "Big", "", tickets))
        bench.until(lambda: "graph.canvas" in bench.reachable())
        assert len(bench.window.ui.shown.all()) < 500  # grouped tickets are no widgets
        bench.click("graph.near")
        bench.draw()
        near = [each for each in bench.window.ui.shown.all() if each.key == "graph.ticket"]
        assert 0 < len(near) < 200
        assert bench.window.broken_panels() == {}


def test_a_thousand_questions_are_one_list_of_what_can_be_seen() -> None:
    with windowed(asking_all(times=112)) as bench:
        rows = [each for each in bench.window.ui.shown.all() if each.key == "inbox.row"]
        assert bench.widget("inbox.count").value == "1,120 waiting"
        assert 0 < len(rows) < 60
        every_tab(bench)


def test_rows_of_the_inbox_stand_where_the_list_counts_them() -> None:
    state = asking_all(times=34)
    different = {one.id: replace(one, again=Again("A-0")) for one in state.approvals.values()}  # equal ones are one row
    with windowed(replace(state, approvals=Map(different))) as bench:
        inbox = next(each for each in bench.window.panels if each.name == "Inbox")
        tops = [each.rect[1] for each in bench.window.ui.shown.all() if each.key == "inbox.row"]
        assert {round(low - high) for high, low in pairwise(tops)} == {28}
        pending = bench.window.frame.pending
        bench.click(f"inbox.row@{pending[0].id}")  # the keyboard is in the inbox now
        inbox._chosen = pending[-2].id  # pyright: ignore[reportAttributeAccessIssue]
        bench.draw()
        bench.press(imgui.Key.j)
        last = bench.widget(f"inbox.row@{pending[-1].id}")
        assert last.visible
        assert last.value == "chosen"


def edit(diff: str, hunks: int) -> State:
    given = "{}"
    payload = ToolPayload("c", "edit_file", given, sha256(given.encode()).hexdigest(), "Edit", hunks, diff, "/work")
    asked = Approval(
        id="A-1",
        kind="tool",
        asker="worker:T-1/1",
        track="demo",
        ticket="T-1",
        why="",
        payload=payload,
        digest=digest(payload),
        requested_at=AT,
    )
    return State(version=1, approvals=Map({"A-1": asked}), pending=Map({1: "A-1"}))


def hunks(count: int) -> str:
    return "".join(f"a.py [{at}] @@ -{at * 9},1 +{at * 9},2 @@\n keep\n+more\n" for at in range(1, count + 1))


@pytest.mark.parametrize(("stored", "asked", "whole"), [(3, 3, True), (300, 300, False), (3, 9, False)])
def test_hunks_that_are_not_shown_are_announced_before_the_diff(stored: int, asked: int, whole: bool) -> None:
    with windowed(edit(hunks(stored), asked)) as bench:
        assert ("inbox.unseen" in bench.reachable()) is not whole
        assert len([each for each in bench.window.ui.shown.all() if each.key == "inbox.hunk"]) == min(stored, 200)


def chain(length: int, done: int) -> State:
    tickets = [
        Ticket(
            track="long",
            spec=TicketSpec(id=f"T-{at:03d}", description="a link", depends_on=(f"T-{at - 1:03d}",) if at else ()),
            created_at=AT,
            stage=Completed() if at < done else Todo(),
        )
        for at in range(length)
    ]
    track = Track(
        id="long",
        title="A long chain",
        description="",
        status="running",
        created_at=AT,
        updated_at=AT,
        order=tuple(each.id for each in tickets),
        tickets=Map({each.id: each for each in tickets}),
        counts=Counts(length - done, 0, done, 0, 0),
    )
    return State(version=1, tracks=Map({"long": track}), track_order=("long",), running=("long",))


def test_a_long_chain_is_followed_to_where_its_work_is() -> None:
    """Fitted into the panel, each ticket would be a dot."""
    with windowed(chain(500, 300)) as bench:
        bench.draw(4)
        shown = {each.name: each.rect for each in bench.window.ui.shown.all() if each.key == "graph.ticket"}
        assert "graph.ticket@T-300" in shown
        left, _, right, _ = shown["graph.ticket@T-300"]
        assert right - left > 50
        bench.front.state = replace(chain(500, 310), version=2)
        bench.draw(4)
        assert bench.widget("graph.ticket@T-310").visible


@pytest.mark.parametrize("size", [(1500, 950), (1024, 700), (800, 600)])
def test_a_chosen_ticket_is_described_in_any_panel_size(size: tuple[int, int]) -> None:
    with windowed(chain(3, 1), size=size) as bench:
        bench.click("graph.ticket@T-001")
        bench.draw(4)
        assert bench.widget("btn_ticket_cancel@long/T-001").window == "Tickets"


def test_a_million_lines_are_kept_to_their_end() -> None:
    with windowed() as bench:
        lines = "".join(f"line {number}\n" for number in range(10_000))
        for _ in range(100):
            bench.window.feed.text("Tier 3 (Worker): T-1", lines)
        bench.until(lambda: not bench.window.feed.has_backlog)
        bench.show("streams")
        bench.click("streams.choose@Tier 3 (Worker): T-1")
        stream = bench.window.feed.streams["Tier 3 (Worker): T-1"]
        assert len(stream.lines) <= 2 * LINES
        assert stream.lines[-2] == "line 9999"
        assert stream.dropped + len(stream.lines) == 1_000_001
        assert bench.window.broken_panels() == {}


def test_every_tab_of_the_desk_that_the_window_has_comes_to_the_front() -> None:
    with windowed() as bench:
        known = {tab for panel in bench.window.panels for tab in panel.tabs}
        assert known <= set(TABS)
        bench.show("diagnostics")
        assert "window.diagnostics" in bench.reachable()
        bench.show("graph")
        assert "window.diagnostics" not in bench.reachable()


def test_workers_and_their_questions_are_on_the_dashboard() -> None:
    with windowed() as bench:
        bench.submit(StartConductor(workers=4))
        spec = TicketSpec(id="T-1", assigned_to="shell", script="true")
        bench.submit(AddTrack("demo", "Demo", "", (spec,)))
        bench.submit(StartTrack("demo"))
        bench.until(lambda: "inbox.approve" in bench.reachable())
        assert bench.widget("btn_approve_mma_step").label == "Approve"

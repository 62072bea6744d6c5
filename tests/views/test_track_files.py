"""Rendering tracks as files for people."""

import json
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map
from msgspec.structs import replace

from interlock.domain.messages.commands.ticket_commands import BlockTicket, CancelTicket, SkipTicket
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Blocked, Completed, Stage, Ticket, TicketSpec
from interlock.views.track_files import is_generated, metadata_json, plan_md, spec_md, state_toml
from tests.domain.given import AT, SAVED, Bench, bench, shell

WHY = "Written by Interlock from its journal: a change made here is overwritten, one in spec.md is kept."
TEXTS = st.text() | st.text('[ xX]-\\"\n\r\t#\x1b\u202e\u2028\U000e0041')


def ticket(name: str, description: str, *depends_on: str) -> TicketSpec:
    return TicketSpec(id=name, description=description, assigned_to="shell", script="make", depends_on=depends_on)


def track(*specs: TicketSpec, title: str = "A title", description: str = "") -> Track:
    project = Bench()
    project.send(AddTrack("x", title, description, specs))
    return project.track()


def test_a_plan_has_a_checkbox_for_each_ticket_and_a_word_where_that_is_not_all() -> None:
    project = bench(
        ticket("skipped", "Not needed"),
        shell("blocked"),
        shell("cancelled"),
        shell("bare"),
        shell("working"),
        shell("merged"),
        shell("todo", "bare"),
    )
    project.send(SkipTicket("x", "skipped"))
    project.send(BlockTicket("x", "blocked", "later\nor never"))
    project.send(CancelTicket("x", "cancelled", "too dear"))
    project.submit("merged")
    assert plan_md(project.track()) == (
        f"<!-- {WHY} -->\n# X\n\nStatus: running, 1 of 7 done, 1 blocked, 1 cancelled\n\n"
        "- [x] skipped: Not needed (skipped, unverified)\n"
        "- [ ] blocked (blocked: later or never)\n"
        "- [ ] cancelled (cancelled: too dear)\n"
        "- [ ] bare (in progress)\n"
        "- [ ] working (in progress)\n"
        "- [ ] merged (in progress)\n"
        "- [ ] todo\n"
    )


@pytest.mark.parametrize(
    ("stage", "unverified", "result", "line"),
    [
        (Completed(SAVED.commit), False, "made it", "- [x] a"),
        (Completed(SAVED.commit), True, None, "- [x] a (unverified)"),
        (Completed(), False, "skipped", "- [x] a (skipped)"),
        (Blocked(" "), False, None, "- [ ] a (blocked)"),
    ],
)
def test_a_line_says_what_verified_a_ticket_and_what_stopped_it(
    stage: Stage, unverified: bool, result: str | None, line: str
) -> None:
    one = Ticket(track="x", spec=shell("a"), stage=stage, created_at=AT, unverified=unverified, result=result)
    shown = replace(track(shell("a")), title="", tickets=Map(a=one))
    assert plan_md(shown).splitlines()[-1] == line
    assert plan_md(shown).splitlines()[1] == "# x", "without a title the id is shown"


def test_metadata_are_what_a_list_needs() -> None:
    assert json.loads(metadata_json(track(shell("a"), title='Two "words"'))) == {
        "id": "x",
        "title": 'Two "words"',
        "type": "track",
        "status": "ready",
        "created_at": AT,
        "updated_at": AT,
    }


def test_the_spec_begins_with_title_and_description() -> None:
    assert spec_md(track(shell("a"), description="Why.\n\n- one\n- two\n")) == "# A title\n\nWhy.\n\n- one\n- two\n"
    assert spec_md(track(shell("a"))) == "# A title\n"


def test_the_state_lists_the_tasks() -> None:
    project = bench(ticket("a", 'Say "hi"\\now'), ticket("b", "", "a"), start=False)
    project.send(SkipTicket("x", "a"))
    assert state_toml(project.track()) == (
        f"# {WHY}\n"
        '\n[[tasks]]\nid = "a"\ndescription = "Say \\"hi\\"\\\\now"\nstatus = "completed"\ndepends_on = []\n'
        '\n[[tasks]]\nid = "b"\ndescription = ""\nstatus = "todo"\ndepends_on = ["a"]\n'
    )
    empty = Track(id="x", title="", description="", created_at=AT, updated_at=AT)
    assert tomllib.loads(state_toml(empty)) == {"tasks": []}


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS, TEXTS)
def test_any_text_comes_back_from_the_state_and_the_metadata_exactly(
    descriptions: list[str], title: str, about: str
) -> None:
    names = [f"T-{number}" for number in range(len(descriptions))]
    specs = [ticket(name, text, *names[:at]) for at, (name, text) in enumerate(zip(names, descriptions, strict=True))]
    new_track = track(*specs, title=title, description=about)
    text = state_toml(new_track)
    assert tomllib.loads(text) == {
        "tasks": [
            {"id": spec.id, "description": spec.description, "status": "todo", "depends_on": list(spec.depends_on)}
            for spec in specs
        ]
    }
    assert json.loads(metadata_json(new_track))["title"] == new_track.title
    for shown in (text, metadata_json(new_track), plan_md(new_track), spec_md(new_track)):
        assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown) is None, (
            "no control characters for a terminal"
        )


@given(st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from(("todo", "skip", "block", "cancel"))), max_size=6), TEXTS)
def test_checkboxes_are_as_many_as_tickets_whatever_the_texts_say(
    given_tickets: list[tuple[str, str, str]], title: str
) -> None:
    project = Bench()
    specs = tuple(ticket(f"T-{at}", text) for at, (text, _, _) in enumerate(given_tickets))
    project.send(AddTrack("x", title, "", (*specs, shell("last"))))
    project.send(StartTrack("x"))
    for at, (_, reason, what) in enumerate(given_tickets):
        match what:
            case "skip":
                project.send(SkipTicket("x", f"T-{at}"))
            case "block":
                project.send(BlockTicket("x", f"T-{at}", reason))
            case "cancel":
                project.send(CancelTicket("x", f"T-{at}", reason))
            case _:
                pass
    text = plan_md(project.track())
    assert text.count("- [x]") == project.track().counts.completed
    assert text.count("- [x]") + text.count("- [ ]") == project.track().total
    assert len([line for line in text.splitlines() if line.startswith("- [")]) == project.track().total


def test_halves_of_characters_spoil_nothing() -> None:
    assert tomllib.loads(state_toml(track(ticket("a", "x\ud800"))))["tasks"][0]["description"] == "x\ufffd"


def test_a_long_description_is_cut_in_the_plan_and_whole_in_the_state() -> None:
    new_track = track(ticket("a", "word " * 1_000))
    assert plan_md(new_track).splitlines()[-1] == f"- [ ] a: {('word ' * 40)[:199]}…"
    assert "word " * 1_000 in state_toml(new_track)


def test_files_of_interlock_are_recognised_by_their_beginning() -> None:
    new_track = track(shell("a"))
    for name, text in {"plan.md": plan_md, "state.toml": state_toml, "metadata.json": metadata_json}.items():
        assert is_generated(name, text(new_track).encode(), "x")
        assert is_generated(name, b"", "x"), "empty: there is nothing to lose"
        assert not is_generated(name, b"# My own plan\n", "x")
    assert not is_generated("metadata.json", metadata_json(new_track).encode(), "another")

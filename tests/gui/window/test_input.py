"""Input in the window changes the workbench, and changes by others show in the window."""

import json
from collections.abc import Iterator

import pytest
from imgui_bundle import imgui
from msgspec.structs import replace

from interlock.desk.authority import Authority
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import AskWorker
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.approvals import Again, Answered, Change, Decision, Kind, ToolPayload
from interlock.domain.values.gates import Blob
from interlock.gui.panels.inbox_panel import button_key
from tests.api.serving import ADA, ticket
from tests.gui.bench import DIFF, RULES, Bench, asking_all, windowed


@pytest.fixture
def bench() -> Iterator[Bench]:
    with windowed() as bench:
        yield bench


def asking(bench: Bench, *names: str) -> None:
    bench.submit(StartConductor(workers=4))
    bench.submit(AddTrack("demo", "Demo", "", tuple(ticket(name) for name in names)))
    bench.submit(StartTrack("demo"))
    bench.until(lambda: "inbox.approve" in bench.reachable())


def answer_of(bench: Bench, approval: str) -> tuple[str, str, str]:
    state = bench.state.approval(approval).state
    assert isinstance(state, Answered)
    return state.decision, state.by, state.message


def test_a_click_on_approve_answers_the_question(bench: Bench) -> None:
    asking(bench, "a")
    bench.click("btn_approve_mma_step@A-1")
    bench.until(lambda: not bench.state.pending)
    assert answer_of(bench, "A-1") == ("approve", ADA, "")


def test_a_rejection_carries_its_message(bench: Bench) -> None:
    asking(bench, "a")
    bench.click("inbox.message")
    bench.write("not now")
    bench.click("btn_reject_mma_step")
    bench.until(lambda: not bench.state.pending)
    assert answer_of(bench, "A-1") == ("reject", ADA, "not now")


def test_letters_answer_and_move_but_not_while_something_is_written(bench: Bench) -> None:
    asking(bench, "a", "b", "c")
    bench.click("inbox.message")
    bench.write("jar")
    assert bench.widget("inbox.message").value == "jar"
    assert len(bench.state.pending) == 3
    bench.press(imgui.Key.escape)
    bench.click("inbox.row@A-1")
    bench.press(imgui.Key.j)
    bench.press(imgui.Key.a)
    bench.until(lambda: len(bench.state.pending) == 2)
    assert answer_of(bench, "A-2")[0] == "approve"


def test_a_letter_meant_for_a_question_that_has_gone_does_not_answer_the_next(bench: Bench) -> None:
    asking(bench, "a", "b", "c")
    bench.click("inbox.row@A-1")
    bench.submit(AnswerApproval("A-1", "reject"))
    bench.until(lambda: "inbox.title@A-2" in {each.name for each in bench.window.ui.shown.all()})
    io = imgui.get_io()
    io.add_key_event(imgui.Key.a, True)  # before the delay after which an answer counts
    bench.draw(2)
    io.add_key_event(imgui.Key.a, False)
    bench.draw(40)
    assert [each.id for each in bench.state.pending_approvals()] == ["A-2", "A-3"]
    bench.press(imgui.Key.a)
    bench.until(lambda: len(bench.state.pending) == 1)
    assert answer_of(bench, "A-2") == ("approve", ADA, "")


def test_a_notification_goes_at_a_click_and_leaves_half_of_the_window_free(bench: Bench) -> None:
    for number in range(6):
        bench.window.send.note(f"{number} " + "no space left on device " * 100)
    bench.draw(4)
    notes = [each for each in bench.window.ui.shown.all() if each.key == "notification"]
    assert min(each.rect[1] for each in notes) > imgui.get_io().display_size.y / 4
    assert [note.text[0] for note in bench.window.send.notes] == list("012345")
    bench.click("notification@0")
    assert [note.text[0] for note in bench.window.send.notes] == list("01234")


def test_typed_text_goes_to_the_desk_and_plans(bench: Bench) -> None:
    bench.click("mma_epic_input")
    bench.write("Better")
    bench.until(lambda: bench.desk.view.values["mma_epic_input"] == "Better")
    bench.click("btn_mma_plan_epic")
    bench.until(lambda: bool(bench.state.epics))
    assert bench.state.epic("E-1").text == "Better"


def test_escape_leaves_an_input_and_takes_nothing_back(bench: Bench) -> None:
    bench.click("mma_epic_input")
    bench.write("a long goal")
    bench.press(imgui.Key.escape)
    assert not bench.window.ui.typing
    assert bench.widget("mma_epic_input").value == "a long goal"
    bench.until(lambda: bench.desk.view.values["mma_epic_input"] == "a long goal")


def test_ctrl_enter_plans_what_is_written(bench: Bench) -> None:
    bench.click("mma_epic_input")
    bench.write("Better")
    bench.until(lambda: bench.desk.view.values["mma_epic_input"] == "Better")
    imgui.get_io().add_key_event(imgui.Key.mod_ctrl, True)
    bench.press(imgui.Key.enter)
    imgui.get_io().add_key_event(imgui.Key.mod_ctrl, False)
    bench.until(lambda: bool(bench.state.epics))
    assert bench.state.epic("E-1").text == "Better"


def test_a_text_set_by_another_client_appears_in_the_input_even_while_it_is_used(bench: Bench) -> None:
    other = Authority(ADA, answers=False, places=True)

    async def write(text: str) -> None:
        bench.desk.set_value(other, "mma_epic_input", text)

    bench.engine.call(write("from elsewhere"))
    bench.until(lambda: bench.widget("mma_epic_input").value == "from elsewhere")
    bench.click("mma_epic_input")
    bench.write("!")
    bench.until(lambda: bench.desk.view.values["mma_epic_input"] != "from elsewhere")
    bench.engine.call(write("again"))
    bench.until(lambda: bench.widget("mma_epic_input").value == "again")


def test_a_refused_command_becomes_a_notification(bench: Bench) -> None:
    bench.window.send.click("btn_approve_script")
    bench.until(lambda: "notification" in bench.reachable())
    assert bench.widget("notification").value == "no script approval is pending"


def test_a_mistake_in_a_command_is_a_notification_too(bench: Bench) -> None:
    async def wrong() -> None:
        raise ValueError("planted")

    bench.window.send.run(wrong())
    bench.until(lambda: "notification" in bench.reachable())
    assert "planted" in bench.widget("notification").value


def test_choosing_a_panel_is_known_at_the_desk_and_the_other_way_round(bench: Bench) -> None:
    bench.show("usage")
    assert "window.usage" in bench.reachable()
    bench.click("mma_epic_input")
    bench.until(lambda: bench.desk.view.tab == "dashboard")


def test_a_track_is_taken_into_view_and_paused(bench: Bench) -> None:
    asking(bench, "a")
    bench.submit(AddTrack("other", "Other", "", (ticket("x"),)))
    bench.until(lambda: "btn_mma_load_track@other" in names(bench))
    bench.click("btn_mma_load_track@other")
    bench.until(lambda: bench.desk.view.track == "other")
    bench.click("btn_mma_load_track@demo")
    bench.until(lambda: "btn_mma_pause_track@demo" in names(bench))
    bench.click("btn_mma_pause_track@demo")
    bench.until(lambda: bench.state.track("demo").status == "paused")


def test_a_ticket_is_chosen_in_the_graph_and_skipped(bench: Bench) -> None:
    bench.submit(AddTrack("demo", "Demo", "", (ticket("a"), ticket("b", "a"))))
    bench.until(lambda: "graph.ticket@a" in names(bench))
    bench.click("graph.ticket@a")
    bench.until(lambda: "btn_ticket_skip@demo/a" in names(bench))
    bench.click("btn_ticket_skip@demo/a")
    bench.until(lambda: bench.state.ticket("demo", "a").status == "completed")
    assert bench.state.ticket("demo", "a").unverified


def test_proposed_tracks_are_accepted_on_the_dashboard(bench: Bench) -> None:
    from interlock.domain.messages.commands.epic_commands import ProposeTracks
    from interlock.domain.values.epics import TrackPlan

    bench.submit(PlanEpic("Better"))
    bench.submit(ProposeTracks("E-1", (TrackPlan("t", "T", "d"),)), "system")
    bench.until(lambda: "btn_mma_accept_tracks" in bench.reachable())
    bench.click("btn_mma_accept_tracks")
    bench.until(lambda: "t" in bench.state.tracks)


def chosen(bench: Bench, approval: str) -> None:
    inbox = next(panel for panel in bench.window.panels if panel.name == "Inbox")
    inbox._chosen = approval  # pyright: ignore[reportAttributeAccessIssue]
    bench.draw()


def test_a_question_that_is_asked_again_says_what_changed() -> None:
    state = asking_all()
    again = Again("A-0", (Change("sandbox", "bubblewrap", "off"),), "make it")
    approvals = state.approvals.set("A-1", replace(state.approvals["A-1"], again=again))
    with windowed(replace(state, approvals=approvals)) as bench:
        chosen(bench, "A-1")
        shown = [each.value for each in bench.window.ui.shown.all() if each.key == "inbox.changed"]
        assert shown == [
            "asked again: what was approved as A-0 has changed",
            "sandbox: bubblewrap -> off",
            "your edit of A-0 is kept: it is part of what is shown",
        ]


def test_hunks_are_taken_one_by_one() -> None:
    with windowed(asking_all()) as bench:
        chosen(bench, "A-2")
        bench.click("inbox.hunk@A-2.1")
        assert bench.widget("btn_approve_tool").label == "Approve 1 of 2"
        bench.click("btn_approve_tool")
        bench.until(lambda: bool(bench.front.heard))
        assert bench.front.heard == [AnswerApproval("A-2", "approve", hunks=(2,))]


def test_no_hunk_cannot_be_approved() -> None:
    with windowed(asking_all()) as bench:
        chosen(bench, "A-2")
        bench.click("inbox.hunk@A-2.1")
        bench.click("inbox.hunk@A-2.2")
        assert not bench.widget("btn_approve_tool").enabled
        bench.press(imgui.Key.a)
        assert bench.window.send.held is None
        assert bench.front.heard == []


def test_a_script_is_edited_in_place() -> None:
    with windowed(asking_all()) as bench:
        bench.click("inbox.row@A-1")
        bench.press(imgui.Key.e)
        bench.click("inbox.edit_script")
        bench.write("x")
        bench.click("btn_approve_script")
        bench.until(lambda: bool(bench.front.heard))
        (command,) = bench.front.heard
        assert isinstance(command, AnswerApproval)
        assert command.edited is not None
        assert sorted(command.edited) == sorted("make\nmorex")


def test_long_arguments_are_edited_whole_and_a_refused_edit_stays() -> None:
    with windowed() as bench:
        asking(bench, "a")
        bench.submit(AnswerApproval("A-1", "approve"))
        arguments = json.dumps({"content": "x" * 9_000, "path": "a.txt"})
        name = bench.engine.call(bench.front.workbench.keep(arguments.encode()))
        payload = ToolPayload(
            "c1", "write_file", "cut", name, "Edit", 1, DIFF, "/w", arguments_blob=Blob(name, len(arguments))
        )
        bench.submit(AskWorker("demo", "a", 1, payload, "may it?"), "system")
        bench.until(lambda: "inbox.edit" in bench.reachable())
        bench.click("inbox.edit")
        bench.draw(4)
        indented = json.dumps(json.loads(arguments), indent=2)
        assert bench.widget("inbox.edit_arguments").value == indented
        bench.click("inbox.edit_arguments")
        bench.write("z")
        bench.click("btn_approve_tool")
        bench.until(lambda: "notification" in bench.reachable())
        assert "must be a JSON object" in bench.widget("notification").value
        assert len(bench.state.pending) == 1
        assert sorted(bench.widget("inbox.edit_arguments").value) == sorted(indented + "z")


@pytest.mark.parametrize("key", ["inbox.always", "inbox.everywhere"])
def test_always_shows_its_rule_before_it_is_kept(key: str) -> None:
    RULES.kept.clear()
    with windowed(asking_all()) as bench:
        chosen(bench, "A-1")
        bench.click("inbox.rule")
        bench.until(lambda: "inbox.always" in bench.reachable())
        assert (RULES.kept, bench.front.heard) == ([], [])
        bench.click(key)
        bench.until(lambda: bool(RULES.kept))
        assert RULES.everywhere == (key == "inbox.everywhere")
        assert bench.front.heard == [AnswerApproval("A-1", "approve")]
        assert RULES.kept == ['[[policy]]\nprefix = ["make"]\n']


def test_a_script_that_no_rule_can_allow_gets_a_notification() -> None:
    with windowed(asking_all("a | b")) as bench:
        chosen(bench, "A-1")
        bench.click("inbox.rule")
        bench.until(lambda: "notification" in bench.reachable())
        assert "more than one command" in bench.widget("notification").value
        assert "inbox.always" not in bench.reachable()


def test_a_worker_is_started_with_another_context() -> None:
    with windowed(asking_all()) as bench:
        chosen(bench, "A-4")
        bench.click("inbox.edit")
        bench.click("inbox.edit_context")
        bench.write("y")
        bench.click("btn_approve_spawn")
        bench.until(lambda: bool(bench.front.heard))
        (command,) = bench.front.heard
        assert isinstance(command, AnswerApproval)
        assert (command.edited, command.edited_context is not None) == (None, True)


@pytest.mark.parametrize(
    ("approval", "kind", "decision"),
    [
        ("A-3", "step", "abort"),
        ("A-4", "spawn", "abort"),
        ("A-5", "ask", "reject"),
        ("A-6", "tracks", "approve"),
        ("A-7", "gate", "retry"),
        ("A-7", "gate", "skip"),
        ("A-8", "merge", "approve"),
        ("A-9", "unknown", "abort"),
    ],
)
def test_every_kind_is_answered_by_its_own_buttons(approval: str, kind: Kind, decision: Decision) -> None:
    with windowed(asking_all()) as bench:
        chosen(bench, approval)
        bench.click(f"{button_key(kind, decision)}@{approval}")
        bench.until(lambda: bool(bench.front.heard))
        assert bench.front.heard == [AnswerApproval(approval, decision)]


def test_both_sides_of_a_diff_can_be_looked_at() -> None:
    with windowed(asking_all()) as bench:
        chosen(bench, "A-2")
        bench.click("inbox.sides")
        assert bench.widget("inbox.sides").label == "One column"
        assert bench.window.broken_panels() == {}


def test_the_other_theme_is_a_click_away(bench: Bench) -> None:
    bench.show("diagnostics")
    bench.click("diagnostics.theme")
    assert bench.window.look.name == "light"


def names(bench: Bench) -> set[str]:
    return {each.name for each in bench.window.ui.shown.all()}

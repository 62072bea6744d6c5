"""The desk over HTTP: fields, buttons, lists and the status, by the same handlers as the window."""

import json
from collections.abc import Iterator

import pytest

from interlock import wire
from interlock.client import ApiError, ApiHookClient
from interlock.desk.buttons import BUTTONS
from interlock.desk.fields import FIELDS, INDICATORS, TABS
from interlock.domain.messages.commands.call_commands import ReserveCall
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.epic_commands import PlanEpic, ProposeTracks
from interlock.domain.messages.commands.external_ask_commands import AskPerson
from interlock.domain.messages.commands.ticket_commands import SkipTicket
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.approvals import Answered
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.model_calls import CallOwner
from interlock.views.mma_status import show_ticket
from tests.api.serving import Served, asking, served, ticket


@pytest.fixture
def bench() -> Iterator[Served]:
    with served(test_policy=True) as bench:
        yield bench


@pytest.fixture
def client(bench: Served) -> ApiHookClient:
    return bench.client()


def refusal(error: pytest.ExceptionInfo[ApiError]) -> tuple[int, str]:
    return error.value.status, str(error.value)


def test_every_field_can_be_read_and_those_that_are_written_can_be_written(client: ApiHookClient) -> None:
    for name, field in FIELDS.items():
        if field.written:
            client.set_value(name, "scripted" if name == "current_provider" else "words")
            assert client.get_value(name) == ("scripted" if name == "current_provider" else "words")
        else:
            with pytest.raises(ApiError) as refused:
                client.set_value(name, "words")
            assert refused.value.status == 403
            assert isinstance(client.get_value(name), str)


def test_an_unknown_name_is_answered_with_the_nearest(client: ApiHookClient) -> None:
    for ask in (
        lambda: client.get_value("curent_provider"),
        lambda: client.set_value("curent_provider", "x"),
    ):
        with pytest.raises(ApiError) as refused:
            ask()
        assert refusal(refused)[0] == 404
        assert "'current_provider'" in refusal(refused)[1]
    with pytest.raises(ApiError, match="'btn_reset'") as refused:
        client.click("btn_rest")
    assert refused.value.status == 404
    with pytest.raises(ApiError, match="'thinking'"):
        client.get_indicator_state("thinkin")
    with pytest.raises(ApiError, match="'inbox'"):
        client.select_tab("imbox")


@pytest.mark.parametrize("value", [5, None, ["a"], {"a": 1}, True])
def test_a_bad_value_is_refused_and_nothing_changes(bench: Served, client: ApiHookClient, value: object) -> None:
    with pytest.raises(ApiError) as refused:
        client.set_value("mma_epic_input", value)
    assert refused.value.status == 422
    assert bench.desk.view.values["mma_epic_input"] == ""


def test_a_line_takes_no_second_one(client: ApiHookClient) -> None:
    with pytest.raises(ApiError, match="one line") as refused:
        client.set_value("current_model", "a\nb")
    assert refused.value.status == 422


def test_the_provider_counts_at_once_and_a_wrong_one_not_at_all(bench: Served, client: ApiHookClient) -> None:
    client.set_value("current_provider", "scripted")
    client.set_value("current_model", "m-1")
    client.set_value("gcli_path", "gemini --x")
    assert bench.desk.equipment.chosen[-1] == ("scripted", "m-1", "gemini --x")  # pyright: ignore
    with pytest.raises(ApiError):
        client.set_value("current_provider", "nobody")
    assert client.get_value("current_provider") == "scripted"


def test_saving_and_reading_again(client: ApiHookClient) -> None:
    client.set_value("current_provider", "scripted")
    assert client.click("btn_project_save") == {"saved": "interlock.toml"}
    client.set_value("current_provider", "gemini_cli")
    client.refresh_from_project()
    assert client.get_value("current_provider") == "scripted"


def test_the_state_shows_all_that_there_is(client: ApiHookClient) -> None:
    state = client.get_gui_state()
    assert set(state["fields"]) == set(FIELDS)
    assert set(state["buttons"]) == set(BUTTONS)
    assert state["tabs"] == list(TABS)
    assert set(state["indicators"]) == set(INDICATORS)
    client.select_tab("inbox")
    assert client.get_gui_state()["active_tab"] == "inbox"


def test_indicators_show_the_current_activity(bench: Served, client: ApiHookClient) -> None:
    assert client.get_indicator_state("thinking") == {"thinking": False}
    bench.submit(StartConductor())
    bench.submit(PlanEpic("grow"))
    bench.submit(ReserveCall(CallOwner(epic="E-1"), "Tier 1", "m", 0), "system")
    assert client.get_indicator_state("thinking") == {"thinking": True}
    assert client.get_indicator_state("conducting") == {"conducting": True}


def test_buttons_answer_the_oldest_of_their_kind_or_the_one_that_is_named(bench: Served, client: ApiHookClient) -> None:
    asking(bench, "a", "b", "c")
    assert client.click("btn_approve_mma_step") == {"approval": "A-1", "decision": "approve", "by": "test:api"}
    assert client.click("btn_reject_mma_step", user_data="A-3")["approval"] == "A-3"
    answered = bench.state.approval("A-3").state
    assert isinstance(answered, Answered)
    assert (answered.decision, answered.by) == ("reject", "test:api")
    with pytest.raises(ApiError, match="is a step, not a spawn") as refused:
        client.click("btn_approve_spawn", user_data="A-2")
    assert refused.value.status == 422
    with pytest.raises(ApiError, match="no spawn approval is pending") as refused:
        client.click("btn_approve_spawn")
    assert refused.value.status == 409
    with pytest.raises(ApiError) as refused:
        client.click("btn_approve_mma_step", user_data="A-99")
    assert refused.value.status == 404


def test_approve_tool_takes_asks_too_as_the_status_says(bench: Served, client: ApiHookClient) -> None:
    bench.submit(AskPerson("Bash", '{"a": 1}', "5a", "program:x"), "system")
    status = client.get_mma_status()
    assert (status["pending_tool_approval"], status["pending_ask"]) == (True, True)
    assert status["ask"] == {"id": "A-1", "tool": "Bash", "args": {"a": 1}}
    assert client.click("btn_approve_tool")["approval"] == "A-1"


def test_an_epic_is_planned_from_its_input(bench: Served, client: ApiHookClient) -> None:
    with pytest.raises(ApiError, match="mma_epic_input") as refused:
        client.click("btn_mma_plan_epic")
    assert refused.value.status == 422
    client.set_value("mma_epic_input", "grow")
    assert client.click("btn_mma_plan_epic") == {"epic": "E-1"}


def proposed(bench: Served) -> None:
    bench.submit(StartConductor())
    bench.submit(PlanEpic("grow"))
    bench.submit(ProposeTracks("E-1", (TrackPlan("one", "One", "first"),)), "system")


def test_proposed_tracks_are_accepted_and_a_track_is_loaded(bench: Served, client: ApiHookClient) -> None:
    proposed(bench)
    assert [row["id"] for row in client.get_mma_status()["proposed_tracks"]] == ["one"]
    client.click("btn_mma_accept_tracks")
    status = client.get_mma_status()
    assert ([row["id"] for row in status["tracks"]], status["proposed_tracks"]) == (["one"], [])
    with pytest.raises(ApiError, match="no track 'two'") as refused:
        client.click("btn_mma_load_track", user_data="two")
    assert refused.value.status == 404
    client.click("btn_mma_load_track", user_data="one")
    assert client.get_mma_status()["active_track"] == "one"


def test_loading_a_track_only_selects_it(bench: Served, client: ApiHookClient) -> None:
    bench.submit(AddTrack("t", "T", "", (ticket("a"),)))
    client.click("btn_mma_load_track", user_data="t")
    status = client.get_mma_status()
    assert (status["mma_status"], [t["id"] for t in status["active_tickets"]]) == ("ready", ["a"])
    client.click("btn_mma_start_track")
    assert client.get_value("mma_status") == "running"
    client.click("btn_mma_pause_track")
    assert client.get_value("mma_status") == "paused"


def test_a_reset_clears_the_desk_and_keeps_the_work(bench: Served, client: ApiHookClient) -> None:
    proposed(bench)
    bench.submit(AddTrack("t", "T", "", (ticket("a"),)))
    bench.submit(AskPerson("Bash", "{}", "5a", "program:x"), "system")
    client.set_value("mma_epic_input", "words")
    client.set_value("ai_input", "hello")
    client.click("btn_mma_load_track", user_data="t")
    client.click("btn_gen_send")
    bench.engine.call(_stream(bench))
    first = client.get_value("active_discussion")
    client.reset_session()
    status, state = client.get_mma_status(), client.get_gui_state()
    assert (status["active_track"], status["mma_streams"], status["proposed_tracks"]) == (None, {}, [])
    assert (state["fields"]["mma_epic_input"], state["fields"]["ai_input"]) == ("", "")
    assert state["active_discussion"] not in (None, first)
    assert (status["pending_ask"], [row["id"] for row in status["tracks"]]) == (False, ["t"])
    again = client.reset_session()
    assert again == {"discussion": state["active_discussion"]}


async def _stream(bench: Served) -> None:
    bench.front.streams.add("Tier 1 (Orchestrator)", "words")


def test_a_discussion_is_begun_chosen_and_spoken_in(bench: Served, client: ApiHookClient) -> None:
    with pytest.raises(ApiError, match="ai_input"):
        client.click("btn_gen_send")
    client.set_value("ai_input", "hello")
    assert client.click("btn_gen_send") == {"discussion": "D-1"}
    assert client.get_value("ai_input") == ""
    client.set_value("ai_input", "again")
    with pytest.raises(ApiError, match="still answering") as refused:
        client.click("btn_gen_send")
    assert refused.value.status == 409
    assert client.get_value("ai_input") == "again"
    client.click("btn_gen_stop")
    assert client.get_value("ai_error") == "stopped"
    assert client.click("btn_new_discussion") == {"discussion": "D-2"}
    client.select_list_item("discussions", "D-1")
    assert client.get_value("active_discussion") == "D-1"
    with pytest.raises(ApiError) as refused:
        client.select_list_item("discussions", "D-9")
    assert refused.value.status == 404


def test_an_ask_is_cleared_only_by_its_own_id(bench: Served, client: ApiHookClient) -> None:
    asking(bench, "a")
    bench.submit(AskPerson("Bash", "{}", "5a", "program:x"), "system")
    with pytest.raises(ApiError, match="only an ask"):
        client.clear_ask("A-1")
    with pytest.raises(ApiError, match="no approval 'A-7'"):
        client.clear_ask("A-7")
    assert client.clear_ask("A-2") == {"ask": "A-2", "withdrawn": True}
    assert client.clear_ask("A-2") == {"ask": "A-2", "withdrawn": False}


def test_without_a_window_its_figures_are_null_and_health_is_well(client: ApiHookClient) -> None:
    assert set(client.get_performance().values()) == {None}
    assert client.get_gui_health() == {"status": "ok", "window": False, "panels": {}, "journal": "", "followers": 0}


def test_shutdown_asks_the_workbench_to_end(bench: Served, client: ApiHookClient) -> None:
    client.shutdown()
    bench.engine.call(bench.front.stopped.wait())


def test_tickets_that_stay_the_same_are_shown_from_memory_and_others_anew(bench: Served, client: ApiHookClient) -> None:
    bench.submit(StartConductor(auto_queue=True))
    bench.submit(AddTrack("t", "T", "", (ticket("a"), ticket("b", "a"))))
    client.click("btn_mma_load_track", user_data="t")
    for deed in (lambda: None, lambda: bench.submit(StartTrack("t")), lambda: bench.submit(SkipTicket("t", "a"))):
        deed()
        shown = client.get_mma_status()["active_tickets"]
        track = bench.state.track("t")
        assert shown == json.loads(wire.encode([show_ticket(track, name) for name in track.order]))
    assert shown[1]["doing"] != "after a"


class BrokenWindow:
    def figures(self) -> tuple[float, float, float, float]:
        return (60.0, 1.5, 12.0, 7.0)

    def broken_panels(self) -> dict[str, str]:
        return {"Streams": "ValueError: planted"}


def test_a_window_reports_its_figures_and_its_broken_panels() -> None:
    with served(window=BrokenWindow()) as bench:
        client = bench.client()
        assert client.get_performance() == {"fps": 60.0, "frame_time_ms": 1.5, "input_lag_ms": 12.0, "cpu": 7.0}
        assert client.get_gui_health() == {
            "status": "degraded",
            "window": True,
            "panels": {"Streams": "ValueError: planted"},
            "journal": "",
            "followers": 0,
        }

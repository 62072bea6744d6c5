"""The harness over gRPC, called by a client that knows only the field numbers of the protocol."""

import json
import os
import queue
import signal
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.cli.project import Project
from tests.uitest.program import DrivenWindow, driven, harness_file
from tests.uitest.wire_client import SERVICE, Client, Message, encode

UNKNOWN, QUEUED, RUNNING, PASSED, FAILED, TIMEOUT = range(6)


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DrivenWindow]:
    with driven(Project(tmp_path_factory.mktemp("harness"))) as driver:
        yield driver


@pytest.fixture
def client(window: DrivenWindow) -> Client:
    return window.client


def refused(client: Client, method: str, fields: dict[int, str | int | bool]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        client.call(method, fields)
    error = caught.value
    assert isinstance(error, grpc.Call)
    return error.code(), str(error.details())


# ── access ───────────────────────────────────────────────────────────────────────────────


def test_the_harness_answers_a_ping(client: Client) -> None:
    answer = client.call("Ping", {1: "hello"})
    assert answer.text(1) == "Pong: hello"
    assert answer.number(2) > 1_700_000_000_000
    assert answer.text(3)


def test_its_file_is_for_its_owner_alone_and_names_the_place(window: DrivenWindow) -> None:
    assert stat.S_IMODE(window.file.stat().st_mode) == 0o600
    facts = json.loads(window.file.read_text())
    assert (facts["host"], facts["pid"], sorted(facts)) == (
        "127.0.0.1",
        window.process.pid,
        ["host", "pid", "port", "token"],
    )


@pytest.mark.parametrize("token", ["wrong", "", "ü"])
@pytest.mark.parametrize("method", ["Ping", "Click", "ListTests"])
def test_without_the_token_there_is_nothing(window: DrivenWindow, token: str, method: str) -> None:
    with Client(window.file) as client:
        client.metadata = (("authorization", f"Bearer {token}".encode("ascii", "replace").decode()),)
        assert refused(client, method, {})[0] is grpc.StatusCode.UNAUTHENTICATED
        client.metadata = ()
        assert refused(client, method, {})[0] is grpc.StatusCode.UNAUTHENTICATED


def test_reflection_names_the_service_and_every_method(window: DrivenWindow) -> None:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool
    from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

    stub: Any = reflection_pb2_grpc.ServerReflectionStub(window.client.channel)
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="interlock.uitest.v1.ImGuiTestHarness"),
    ]
    services, file = stub.ServerReflectionInfo(iter(asked), metadata=window.client.metadata)
    assert "interlock.uitest.v1.ImGuiTestHarness" in [each.name for each in services.list_services_response.service]
    described = FileDescriptorProto.FromString(file.file_descriptor_response.file_descriptor_proto[0])
    pool = DescriptorPool()
    pool.Add(described)
    service = pool.FindServiceByName("interlock.uitest.v1.ImGuiTestHarness")
    assert [method.name for method in service.methods] == [
        "Ping",
        "Click",
        "Type",
        "Wait",
        "Assert",
        "Screenshot",
        "DiscoverWidgets",
        "GetTestStatus",
        "WatchTest",
        "ListTests",
        "GetTestResults",
        "StartRecording",
        "StopRecording",
        "ReplayTest",
        "WaitForIdle",
    ]


# ── actions and checks ───────────────────────────────────────────────────────────────────


def test_a_text_is_typed_and_asserted(client: Client) -> None:
    typed = client.type("input:Goal", "Better")
    assert (typed.number(1), typed.text(5), typed.text(6)) == (1, "mma_epic_input", "Dashboard/input:Goal")
    held = client.check("value_equals:input:Goal:Better")
    assert (held.number(1), held.text(3), held.text(4)) == (1, "Better", "Better")
    by_key = client.call("Assert", {1: "value_equals:Better", 3: "mma_epic_input"})
    assert by_key.number(1) == 1
    failed = client.check("text_contains:mma_epic_input:Worse", "the goal is wrong")
    assert (failed.number(1), failed.text(3), failed.text(4)) == (0, "Better", "Worse")
    assert "the goal is wrong" in failed.text(2)


def test_three_hundred_clicks_every_outcome_right(client: Client) -> None:
    present = ["window:Usage", "window:Tickets", "window:Provider", "window:Dashboard", "btn_reset", "button:Reset"]
    absent = ["window:Usages", "button:Plan at", "btn_resett", "input:Gaol", "Inbox/button:Reset"]
    for number in range(300):
        exists = number % 2 == 0
        target = (present if exists else absent)[number // 2 % (len(present) if exists else len(absent))]
        answer = client.click(target)
        assert bool(answer.number(1)) is exists, answer.text(2)
        status = client.status(answer.text(4))
        assert status.number(1) == (PASSED if exists else FAILED)
        if not exists:
            assert "the nearest: " in answer.text(2)
            assert "the nearest: " in status.text(6)
            results = client.call("GetTestResults", {1: answer.text(4), 2: True})
            assert (results.text(9), "topbar.state" in results.text(12)) == (
                "",
                True,
            )  # without pixels: the widget tree


@pytest.mark.parametrize(
    ("method", "fields"),
    [
        ("Click", {}),
        ("Click", {1: "button:"}),
        ("Click", {1: "btn_reset", 2: 9}),
        ("Type", {2: "x"}),
        ("Wait", {1: "nonsense:x"}),
        ("Wait", {1: "exists:x", 2: -1}),
        ("Assert", {1: ""}),
        ("ListTests", {2: -1}),
        ("ListTests", {3: "not a token"}),
        ("ListTests", {1: "no such category"}),
        ("ListTests", {4: 77}),
        ("WaitForIdle", {1: -5}),
        ("Screenshot", {2: "../outside.png"}),
        ("Screenshot", {2: "/etc/passwd.png"}),
        ("Screenshot", {2: "a.jpg"}),
        ("Screenshot", {2: "a" * 5_000 + ".png"}),
        ("Screenshot", {3: 99}),
        ("ReplayTest", {4: "be clever"}),
        ("DiscoverWidgets", {2: "gadget"}),
        ("Assert", {1: "x" * 100_000}),
    ],
)
def test_an_invalid_call_is_refused_with_a_message(
    client: Client, method: str, fields: dict[int, str | int | bool]
) -> None:
    before = client.list().number(3)
    code, message = refused(client, method, fields)
    assert (code, len(message) > 10) == (grpc.StatusCode.INVALID_ARGUMENT, True)
    assert client.list().number(3) == before  # a refused call is no test


@pytest.mark.parametrize("method", ["StartRecording", "StopRecording"])
def test_a_method_that_is_not_implemented_reports_it(client: Client, method: str) -> None:
    assert refused(client, method, {})[0] is grpc.StatusCode.UNIMPLEMENTED


def test_without_pixels_a_screenshot_says_what_to_do(client: Client) -> None:
    answer = client.call("Screenshot")
    assert (answer.number(1), "egl" in answer.text(2), answer.text(3)) == (0, True, "")


def test_every_widget_is_listed_with_its_kind(client: Client) -> None:
    client.click("window:Dashboard")
    client.type("input:Goal", "listed")
    answer = client.call("DiscoverWidgets")
    windows = {each.text(1): each for each in answer.messages(1)}
    assert windows["Dashboard"].number(2) == 1
    assert windows["Timeline"].number(2) == 0  # behind others
    goal = next(each for each in windows["Dashboard"].messages(4) if each.text(2) == "mma_epic_input")
    assert (goal.text(1), goal.text(3), goal.text(4), goal.number(5), goal.number(6), goal.text(8)) == (
        "Dashboard/input:Goal",
        "Goal",
        "input",
        1,
        1,
        "listed",
    )
    assert len(goal.messages(7)) == 1  # its bounds
    assert answer.number(2) == sum(len(each.messages(4)) for each in answer.messages(1))


# ── status ───────────────────────────────────────────────────────────────────────────────


def test_a_test_is_running_until_it_ends_and_can_be_watched(window: DrivenWindow, client: Client) -> None:
    client.click("window:Dashboard")
    client.type("input:Goal", "")
    test_id, call = client.begin("Wait", {1: "value_equals:mma_epic_input:go on", 2: 60_000})
    running = client.status(test_id)
    assert (running.number(1), running.number(4), running.number(5)) == (RUNNING, 0, 0)
    assert test_id in [each.text(1) for each in client.list(status=RUNNING).messages(1)]
    assert test_id not in [each.text(1) for each in client.list().messages(1)]
    seen: list[int] = []
    watched = threading.Event()

    def watch() -> None:
        for each in client.stream("WatchTest", {1: test_id}):
            seen.append(each.number(1))
            watched.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    assert watched.wait(30)
    client.type("input:Goal", "go on")
    assert Message(call.result()).number(1) == 1
    watcher.join(30)
    assert seen == [RUNNING, PASSED]
    done = client.status(test_id)
    assert done.number(1) == PASSED
    assert 0 < done.number(2) <= done.number(3) <= done.number(4)
    assert [each.number(1) for each in client.stream("WatchTest", {1: test_id})] == [PASSED]


def test_a_condition_that_never_holds_is_a_timeout_at_its_deadline(client: Client) -> None:
    answer = client.wait("exists:never", 150)
    assert (answer.number(1), answer.number(3) >= 150) == (0, True)
    assert client.status(answer.text(4)).number(1) == TIMEOUT


def test_a_caller_that_goes_away_ends_its_wait(client: Client) -> None:
    test_id, call = client.begin("Wait", {1: "exists:never", 2: 600_000})
    call.cancel()
    assert [each.number(1) for each in client.stream("WatchTest", {1: test_id})][-1] == TIMEOUT


def test_waiting_calls_do_not_block_other_calls(window: DrivenWindow, client: Client) -> None:
    """64 calls may wait at the same time; a disconnected watcher does not count."""
    test_id, waiting = client.begin("Wait", {1: "exists:never", 2: 600_000})
    refused: queue.SimpleQueue[Any] = queue.SimpleQueue()
    others = [Client(window.file) for _ in range(80)]
    for other in others:
        watch: Any = other.channel.unary_stream(SERVICE + "WatchTest")
        watch(encode({1: test_id}), metadata=other.metadata).add_done_callback(refused.put)
    ended = [refused.get(timeout=60) for _ in range(80 - 63)]
    assert {each.code() for each in ended} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert client.call("Ping", {1: "a"}).text(1) == "Pong: a"
    assert client.click("btn_reset").number(1) == 1
    for other in others:
        other.channel.close()
    calls: list[Any] = [waiting]
    again: Any = client.channel.unary_unary(SERVICE + "Wait")
    for _ in range(500):
        missing = 64 - client.list(status=RUNNING).number(3)
        if not missing:
            break
        calls.append(again.future(encode({1: "exists:never", 2: 600_000}), metadata=client.metadata))
    assert client.list(status=RUNNING).number(3) == 64
    for call in calls:
        call.cancel()
    while client.list(status=RUNNING).number(3):  # the window is shared between tests
        pass


def test_an_unknown_id_is_unknown_and_has_no_results(client: Client) -> None:
    assert client.status("grpc_click_00000000").number(1) == UNKNOWN
    assert [each.number(1) for each in client.stream("WatchTest", {1: "nobody"})] == [UNKNOWN]
    assert refused(client, "GetTestResults", {1: "grpc_click_00000000"})[0] is grpc.StatusCode.NOT_FOUND


def test_ids_names_and_categories_are_as_specified(client: Client) -> None:
    test_ids = {
        "grpc_click": client.click("btn_reset").text(4),
        "grpc_type": client.type("input:Goal", "x").text(4),
        "grpc_wait": client.wait("exists:btn_reset").text(4),
        "grpc_assert": client.check("exists:btn_reset").text(5),
    }
    rows = {each.text(1): each for each in client.list(size=10).messages(1)}
    for prefix, test_id in test_ids.items():
        head, _, digits = test_id.rpartition("_")
        assert head == prefix
        assert 10_000_000 <= int(digits) <= 99_999_999
        assert rows[test_id].text(3) == "grpc"
    assert rows[test_ids["grpc_click"]].text(2) == "Click: btn_reset"


# ── parallel calls, load, and restarts ───────────────────────────────────────────────────


def test_several_clients_at_once_get_their_own_outcomes(window: DrivenWindow) -> None:
    def work(number: int) -> list[str]:
        wrong: list[str] = []
        with Client(window.file) as client:
            for turn in range(12):
                absent = client.click(f"button:none {number} {turn}")
                if absent.number(1) or f"none {number} {turn}" not in absent.text(2):
                    wrong.append(absent.text(2))
                if not client.wait("exists:btn_reset").number(1):
                    wrong.append("wait")
                if not client.click("window:Inbox").number(1):
                    wrong.append("click")
                if client.status(absent.text(4)).number(1) != FAILED:
                    wrong.append("status")
        return wrong

    with ThreadPoolExecutor(8) as pool:
        assert [each for wrong in pool.map(work, range(8)) for each in wrong] == []


def test_pages_have_no_gap_and_no_repeat_while_tests_are_added(tmp_path: Path) -> None:
    with driven(Project(tmp_path)) as window:
        client = window.client
        for _ in range(125):
            client.check("exists:btn_reset")
            client.check("exists:nobody")
        seen: list[str] = []
        token, sizes = "", list[int]()
        while True:
            page = client.list(token=token) if token else client.list()
            rows = page.messages(1)
            sizes.append(len(rows))
            seen += [each.text(1) for each in rows]
            client.check("exists:btn_reset")  # while another client reads the pages
            token = page.text(2)
            if not token:
                break
        assert (sizes, len(set(seen)), page.number(3)) == ([100, 100, 50], 250, 252)
        assert client.list(status=PASSED).number(3) == 128
        assert client.list(status=FAILED).number(3) == 125
        first = client.list(size=1, status=FAILED).messages(1)[0]
        assert (first.text(2), first.number(5), first.number(6), first.number(7)) == (
            "Assert: exists:nobody",
            125,
            0,
            125,
        )
        os.kill(window.process.pid, signal.SIGKILL)
        window.process.wait()
    with driven(window.project) as again:
        page = again.client.list(size=500)
        assert (page.number(3), {*seen} <= {each.text(1) for each in page.messages(1)}) == (253, True)
        assert again.client.status(seen[0]).number(1) in (PASSED, FAILED)
    again.project.check_whole()


def test_ten_runs_of_one_test_are_counted_together(tmp_path: Path) -> None:
    with driven(Project(tmp_path)) as window:
        client = window.client
        client.click("window:Provider")
        for number in range(10):
            client.click("window:Provider" if number in (2, 5, 8) else "window:Dashboard")
            client.check("window_visible:Dashboard")
        row = next(each for each in client.list(size=1).messages(1))
        assert (row.text(2), row.number(5), row.number(6), row.number(7)) == (
            "Assert: window_visible:Dashboard",
            10,
            7,
            3,
        )
        import struct

        assert struct.unpack("<f", row.raw(10))[0] == pytest.approx(0.3)


def test_steps_of_a_prompt_are_one_test_with_children(client: Client) -> None:
    done = client.call("ReplayTest", {4: "Open Inbox and verify it loads"})
    assert (done.number(1), done.text(3).startswith("e2e_run_")) == (1, True)
    results = client.call("GetTestResults", {1: done.text(3)})
    assert (results.number(1), results.text(3), len(results.texts(14))) == (1, "e2e", 2)
    for child in results.texts(14):
        assert client.call("GetTestResults", {1: child}).text(13) == done.text(3)
    failed = client.call("ReplayTest", {4: 'click "Nothing like this" and verify Inbox loads'})
    assert (failed.number(1), "step 1 of 2" in failed.text(2)) == (0, True)
    assert client.status(failed.text(3)).number(1) == FAILED


def test_when_the_window_is_closed_waits_end_and_the_file_is_gone(tmp_path: Path) -> None:
    with driven(Project(tmp_path)) as window:
        _, call = window.client.begin("Wait", {1: "exists:never", 2: 600_000})
        os.kill(window.process.pid, signal.SIGTERM)
        assert window.process.wait(20) == 0
        with pytest.raises(grpc.RpcError):
            window.client.call("Ping")
        assert call.exception(30) is not None or Message(call.result()).number(1) == 0
        assert not window.file.exists()
    window.project.check_whole()


def test_a_taken_port_means_the_next(tmp_path: Path) -> None:
    import socket

    project = Project(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        if port > 65_500:
            pytest.skip("no room above this port")
        with driven(project, "--test-harness-port", str(port)) as window:
            assert port < json.loads(harness_file(project).read_text())["port"] <= port + 10
            assert window.client.call("Ping").text(1) == "Pong: "


# ── with pixels ──────────────────────────────────────────────────────────────────────────


def test_with_pixels_a_failure_has_its_picture_and_pictures_are_taken(tmp_path: Path) -> None:
    from PIL import Image

    with driven(Project(tmp_path), backend="egl") as window:
        client = window.client
        failed = client.click("button:Plan at")
        results = client.call("GetTestResults", {1: failed.text(4)})
        assert results.text(9) == str(window.project.root / ".interlock" / "artifacts" / f"{failed.text(4)}.png")
        with Image.open(results.text(9)) as picture:
            assert picture.size == (1500, 950)
            assert len(picture.convert("RGB").getcolors(1_000_000) or ()) > 20
        shot = client.call("Screenshot", {1: "Inbox", 2: "sub/inbox.png"})
        assert shot.number(1) == 1, shot.text(2)
        assert shot.number(4) == Path(shot.text(3)).stat().st_size
        with Image.open(shot.text(3)) as picture:
            assert picture.size[0] < 1500
        assert refused(client, "Screenshot", {1: "Nowhere"})[0] is grpc.StatusCode.NOT_FOUND
        assert refused(client, "Screenshot", {1: "Usage"})[0] is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_thirty_two_clients_for_a_minute(window: DrivenWindow) -> None:
    import time

    until = time.monotonic() + 60
    test_ids: list[str] = []

    def work(number: int) -> list[str]:
        wrong: list[str] = []
        with Client(window.file) as client:
            turn = 0
            while time.monotonic() < until:
                turn += 1
                for answer, expected, field in (
                    (client.click("btn_reset"), 1, 4),
                    (client.click(f"button:none {number}.{turn}"), 0, 4),
                    (client.check("exists:btn_reset"), 1, 5),
                    (client.wait("exists:never", 20), 0, 4),
                ):
                    test_ids.append(answer.text(field))
                    if answer.number(1) != expected:
                        wrong.append(answer.text(2))
        return wrong

    with ThreadPoolExecutor(32) as pool:
        assert [each for wrong in pool.map(work, range(32)) for each in wrong] == []
    assert len(set(test_ids)) == len(test_ids)
    kept = test_ids[-9_000:]  # only the last 10,000 are kept
    for test_id in kept[:: max(1, len(kept) // 500)]:
        assert window.client.status(test_id).number(1) in (PASSED, FAILED, TIMEOUT)
    print(f"[COUNT] {len(test_ids)} executions")


def test_answered_tests_are_stored_after_kills(tmp_path: Path) -> None:
    project, answered = Project(tmp_path), dict[str, int]()
    for moment in (7, 19, 31):
        with driven(project) as window:

            def work(number: int, window: DrivenWindow = window) -> None:
                with Client(window.file) as client:
                    for turn in range(1_000):
                        absent = turn % 2
                        try:
                            answer = client.click("button:nobody" if absent else "window:Inbox")
                        except grpc.RpcError:
                            return
                        answered[answer.text(4)] = FAILED if absent else PASSED

            with ThreadPoolExecutor(4) as pool:
                given, before = [pool.submit(work, number) for number in range(4)], len(answered)
                while len(answered) < before + moment:
                    assert not all(each.done() for each in given)
                window.process.send_signal(signal.SIGKILL)
        window.project.check_whole()
    with driven(project) as window:
        assert {each: window.client.status(each).number(1) for each in answered} == answered

"""Following events: no gap and no repeat, whole texts and then deltas, for slow readers too."""

import gc
import itertools
import json
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.api.live import StreamFollower
from interlock.client import Frame, NotServing
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.discussion_commands import EndTurn
from interlock.domain.messages.commands.external_ask_commands import AskPerson
from interlock.domain.messages.commands.track_commands import AddTrack, EditTrack, StartTrack
from tests.api.serving import Equipment, Served, asking, served, ticket, until


@pytest.fixture
def bench() -> Iterator[Served]:
    with served(test_policy=True) as bench:
        yield bench


def journal(bench: Served, after: int | None, count: int) -> list[Frame]:
    """The next events of the journal."""
    frames = (frame for frame in bench.client().events(after) if frame.id is not None)
    return list(itertools.islice(frames, count))


def test_events_come_by_their_names_with_their_versions(bench: Served) -> None:
    bench.submit(AddTrack("t", "T", "", (ticket("a"),)))
    bench.submit(StartTrack("t"))
    frames = journal(bench, 0, 3)
    named = [(frame.id, frame.event) for frame in frames]
    assert named == [(1, "track_added"), (2, "tickets_added"), (3, "track_started")]
    assert frames[0].data["event"]["track"] == "t"


def test_after_a_reconnect_nothing_is_missing_or_repeated(bench: Served) -> None:
    bench.submit(AddTrack("t", "T", "", (ticket("a"),)))
    for number in range(6_000):  # more than memory keeps
        bench.engine.start(bench.front.submit("human:ada", EditTrack("t", f"title {number}")))
    seen: list[int | None] = []
    after = 0
    for portion in (1, 10, 4_000, 1_989, 1):
        frames = journal(bench, after, portion)
        seen += [frame.id for frame in frames]
        after = seen[-1] or 0
    assert seen == list(range(1, 6_002))


def test_the_header_of_browsers_resumes_too(bench: Served) -> None:
    for number in range(3):
        bench.submit(AddTrack(f"t{number}", "T", "", (ticket("a"),)))
    with socket.create_connection(("127.0.0.1", bench.port), timeout=30) as client:
        lines = (
            f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{bench.port}\r\nLast-Event-ID: 2\r\n"
            f"Authorization: Bearer {bench.tokens.drive}\r\n\r\n"
        )
        client.sendall(lines.encode())
        received = b""
        while b"event: mma_state_update" not in received:
            received += client.recv(65536)
    assert b"text/event-stream" in received
    assert (b"id: 3\n" in received, b"id: 2\n" in received) == (True, False)


@pytest.mark.parametrize("after", ["99", "-1", "x"])
def test_a_place_that_is_not_in_this_journal_is_refused(bench: Served, after: str) -> None:
    assert bench.raw("GET", f"/api/events?after={after}")[0] == 422
    assert bench.raw("GET", "/api/events", headers={"Last-Event-ID": after})[0] == 422


def test_texts_come_so_far_and_then_by_deltas_without_ids(bench: Served) -> None:
    bench.front.streams.add("Tier 1", "one ")
    stream = bench.client().events()
    first = next(frame for frame in stream if frame.event == "stream")
    assert (first.data, first.id) == ({"key": "Tier 1", "text": "one "}, None)
    bench.front.streams.add("Tier 1", "two")
    bench.front.streams.add("Tier 2", "new")
    frames = [next(frame for frame in stream if frame.event == "stream").data for _ in range(2)]
    assert sorted(frames, key=str) == [{"key": "Tier 1", "delta": "two"}, {"key": "Tier 2", "text": "new"}]
    bench.front.streams.clear()
    assert next(frame for frame in stream if frame.event == "streams_cleared")
    stream.close()


def test_the_state_is_pushed_and_approvals_by_their_own_names(bench: Served) -> None:
    stream = bench.client().events()
    first = next(frame for frame in stream if frame.event == "mma_state_update").data
    assert first == {
        "status": "idle",
        "active_tier": "",
        "active_tiers": [],
        "tier_usage": {},
        "track": None,
        "tickets": [],
        "streams": {},
        "pending_approvals": [],
    }
    asking(bench, "a")
    step = next(frame for frame in stream if frame.event == "mma_step_approval")
    assert (step.data["id"], step.data["kind"]) == ("A-1", "step")
    seen = next(f for f in stream if f.event == "mma_state_update" and f.data["pending_approvals"]).data
    assert (seen["tickets"][0]["id"], seen["track"]) == ("a", {"id": "demo", "title": "Demo"})
    assert (seen["status"], seen["active_tier"]) == ("running", "Awaiting Approval: a")
    assert seen["pending_approvals"] == [{"id": "A-1", "kind": "step", "ticket": "a"}]
    bench.client().set_value("ai_input", "hello")
    bench.client().click("btn_gen_send")
    bench.client().click("btn_gen_stop")
    response = next(frame for frame in stream if frame.event == "response")
    assert response.data == {"discussion": "D-1", "text": "", "error": "stopped"}
    stream.close()


def test_without_the_token_events_cannot_be_followed(bench: Served) -> None:
    with pytest.raises(NotServing, match="is not the workbench"):  # clients send tokens only to a known server
        next(bench.client("wrong").events())
    assert bench.raw("GET", "/api/events", authorization="Bearer wrong")[0] == 401


def test_clients_that_vanish_leave_nothing_behind(bench: Served) -> None:
    open_files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    for _ in range(10):
        crowd = [_connect(bench) for _ in range(min(100, open_files // 4))]
        for client in crowd:
            client.close()
    bench.submit(AddTrack("t", "T", "", (ticket("a"),)))
    until(lambda: bench.live.followers == 0)
    assert journal(bench, 0, 1)[0].id == 1


def test_data_for_a_disconnected_reader_is_freed_at_once(bench: Served) -> None:
    """Not only at the next garbage collection: many megabytes may gather until then."""
    bench.submit(AddTrack("t", "T", "", (ticket("a"),)))
    for number in range(6_000):  # more than memory keeps: the rest is read from the journal
        bench.engine.start(bench.front.submit("human:ada", EditTrack("t", f"title {number}")))
    journal(bench, 0, 6_001)
    until(lambda: bench.live.followers == 0)
    gc.collect()
    gc.disable()
    try:
        for portion in (1, 1_000, 50_000, 200_000) * 3:
            client = _connect(bench)
            while portion > 0:
                portion -= len(client.recv(portion))
            client.close()
            until(lambda: bench.live.followers == 0)
        until(lambda: not [each for each in gc.get_objects() if isinstance(each, StreamFollower)])
    finally:
        gc.enable()


def _connect(bench: Served) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", bench.port), timeout=30)
    request = (
        f"GET /api/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1:{bench.port}\r\n"
        f"Authorization: Bearer {bench.tokens.drive}\r\n\r\n"
    )
    client.sendall(request.encode())
    return client


def test_a_reader_that_never_reads_costs_no_memory_and_delays_no_other(bench: Served) -> None:
    bench.submit(AddTrack("t", "T", "", (ticket("a"),)))
    slow = _connect(bench)
    big = "x" * 100_000
    until(lambda: bench.live.followers == 1)
    before = _memory()
    for number in range(2_000):  # 200 MB of texts and events, if a queue kept them
        bench.front.streams.add("Tier 3", big)
        bench.engine.start(bench.front.submit("human:ada", EditTrack("t", f"title {number}")))
    bench.submit(AskPerson("Bash", "{}", "5a", "program:x"), "system")
    assert bench.client().answer("A-1", "approve")["state"] == "answered"
    assert _memory() - before < 60_000
    slow.close()


def _memory() -> int:
    """Resident memory in kilobytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def test_the_stream_ends_when_the_server_does() -> None:
    with served() as bench:
        stream = bench.client().events()
        assert next(stream)
        bench.submit(StartConductor())
    assert [frame.event for frame in stream if frame.id] in ([], ["conductor_started"])


def test_each_frame_is_one_line_of_json(bench: Served) -> None:
    bench.submit(AddTrack("t", "two\nlines\r\nthree\u2028four", "", (ticket("a"),)))
    assert journal(bench, 0, 1)[0].data["event"]["title"] == json.loads(json.dumps("two\nlines\r\nthree\u2028four"))


def test_the_answer_is_there_before_the_status_says_done_and_a_stop_is_told_apart(bench: Served) -> None:
    equipment = bench.desk.equipment
    assert isinstance(equipment, Equipment)
    equipment.desk = bench.desk
    client = bench.client()
    for ending in ("done", "stop"):
        client.set_value("ai_input", "hello")
        client.click("btn_gen_send")
        if ending == "stop":
            client.click("btn_gen_stop")
        else:
            bench.submit(EndTurn("D-1"), "system")
    assert equipment.ended == [
        ("D-1", False, "", "the answer in D-1"),
        ("D-1", True, "stopped", "the answer in D-1"),
    ]

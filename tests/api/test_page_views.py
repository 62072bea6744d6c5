"""What the page draws, over HTTP: the inbox, diffs, the overview and the graph."""

import http.client
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from interlock.api.page.view_routes import diff_shape
from interlock.domain.messages.commands.track_commands import AddTrack
from interlock.domain.values.approvals import ScriptPayload
from tests.api.serving import Served, asking, served, ticket
from tests.page.asked import GIT, Story, review

HOSTILE = "diff --git a/a\u202eb.py b/a\u202eb.py\n--- a/a\u202eb.py\n+++ b/a\u202eb.py\n@@ -1 +1 @@\n-x\n+y\u200bz\n"


@pytest.fixture(scope="module")
def story() -> Story:
    story = Story()
    story.ask_all()
    for _ in range(3):
        story.ask("script", ScriptPayload("echo same", "/work", ("PATH",), "bubblewrap"))
    story.ask("review", review(HOSTILE, 1), "hostile")
    story.ask("review", review(GIT.partition("diff --git a/run.sh")[0], 1), "short")
    return story


@pytest.fixture(scope="module")
def bench(story: Story) -> Iterator[Served]:
    with served(journal=story.journal) as bench:
        yield bench


def test_the_inbox_lists_equal_ones_once_without_their_payloads(bench: Served) -> None:
    inbox = bench.raw("GET", "/api/inbox")[2]
    assert inbox["total"] == len(bench.state.pending) == 15
    assert sum(len(row["alike"]) for row in inbox["rows"]) == 15
    same = next(row for row in inbox["rows"] if len(row["alike"]) > 1)
    assert [one["id"] for one in same["alike"]] == ["A-11", "A-12", "A-13"]
    assert same["alike"][0]["digest"] == bench.state.approvals["A-11"].digest
    assert (same["id"], same["many"], "payload" in same) == ("A-11", True, False)
    assert inbox["rows"][0]["urgency"]["reason"], "what holds up most is first"
    assert {row["kind"]: row["many"] for row in inbox["rows"]}["review"] is False


def test_a_diff_has_its_files_by_risk_and_its_parts_by_the_numbers_of_an_answer(bench: Served) -> None:
    diff = bench.raw("GET", "/api/approvals/A-10/diff")[2]
    assert [(file["path"], file["risks"]) for file in diff["files"]] == [("run.sh", ["executable"]), ("a.py", [])]
    assert [[hunk["number"] for hunk in file["hunks"]] for file in diff["files"]] == [[2], [1]]
    assert (diff["choices"], diff["cut"]) == (2, False)
    lines = diff["files"][1]["hunks"][0]["lines"]
    assert [(line["mark"], line["text"], line["new"]) for line in lines] == [
        (" ", "keep", 1),
        ("-", "the old words", None),
        ("+", "the new words", 2),
    ]


def test_the_diff_of_a_tool_has_its_hunks_and_other_kinds_have_none(bench: Served) -> None:
    diff = bench.raw("GET", "/api/approvals/A-2/diff")[2]
    assert [(file["path"], [hunk["number"] for hunk in file["hunks"]]) for file in diff["files"]] == [("a.py", [1, 2])]
    assert diff["choices"] == 2
    for name in ("A-1", "A-3", "A-4"):
        assert bench.raw("GET", f"/api/approvals/{name}/diff")[2] == {"files": [], "choices": 0, "cut": False}


def test_deceptive_characters_of_a_diff_are_named_and_the_exact_path_is_there_for_comments(bench: Served) -> None:
    (file,) = bench.raw("GET", "/api/approvals/A-14/diff")[2]["files"]
    assert (file["path"], file["name"]) == ("a<U+202E>b.py", "a\u202eb.py")
    assert file["hunks"][0]["lines"][1]["text"] == "y<U+200B>z"


def test_without_an_earlier_round_there_is_nothing_since_it(bench: Served) -> None:
    assert bench.raw("GET", "/api/approvals/A-10/diff?which=since")[0] == 404
    assert bench.raw("GET", "/api/approvals/A-1/diff?which=since")[0] == 404
    assert bench.raw("GET", "/api/approvals/A-10/diff?which=other")[0] == 422
    assert bench.raw("GET", "/api/approvals/A-99/diff")[0] == 404


def test_a_cut_diff_says_so(bench: Served) -> None:
    payload = review(f"{GIT}\n[… 9,000 more characters]", 0)
    approval = bench.state.approvals["A-10"]
    assert diff_shape(replace(approval, payload=payload), "whole").cut


def test_the_overview_tells_the_state_and_the_right_of_the_caller(bench: Served) -> None:
    weak = bench.raw("GET", "/api/overview")[2]
    strong = bench.raw("GET", "/api/overview", authorization=f"Bearer {bench.tokens.approve}")[2]
    assert (weak["state"], weak["waiting"], weak["project"], weak["sandbox"]) == ("waiting", 15, "p", "bubblewrap")
    assert (weak["answers"], bool(weak["why_not"]), strong["answers"], strong["why_not"]) == (False, True, True, "")
    assert (weak["person"], weak["version"], weak["cap_usd"]) == ("ada", bench.state.version, None)


def test_the_graph_places_each_ticket_after_those_it_depends_on() -> None:
    with served() as bench:
        asking(bench, "a")
        bench.submit(AddTrack("wide", "Wide", "", (ticket("x"), ticket("y", "x"), ticket("z", "x"))))
        graph = bench.raw("GET", "/api/tracks/wide/graph")[2]
        assert {node["id"]: node["column"] for node in graph["nodes"]} == {"x": 0, "y": 1, "z": 1}
        assert (graph["edges"], len(graph["longest"]), graph["rows"]) == ([["x", "y"], ["x", "z"]], 1, 2)
        assert bench.raw("GET", "/api/tracks/none/graph")[0] == 404
        overview = bench.raw("GET", "/api/overview")[2]
        assert (overview["total"], overview["completed"], overview["blocked"]) == (4, 0, 0)


def test_the_event_stream_leaves_states_out_on_request() -> None:
    with served() as bench:
        asking(bench, "a")
        connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=30)
        headers = {"Authorization": f"Bearer {bench.tokens.drive}", "Last-Event-ID": "0"}
        connection.request("GET", "/api/events?states=false", headers=headers)
        reply = connection.getresponse()
        names: list[str] = []
        while "approval_requested" not in names:
            line = reply.readline().decode()
            names += [line.removeprefix("event: ").strip()] if line.startswith("event: ") else []
        connection.close()
    assert "mma_state_update" not in names

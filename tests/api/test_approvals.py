"""The inbox over HTTP: pages, answers with edits, one winner, and answers of tests marked as such."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import UNSET

from interlock.client import ApiError, ApiHookClient
from interlock.domain.messages.commands.attempt_commands import AskReview, AskScript, AskWorker, SubmitWork
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.external_ask_commands import AskPerson
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.approvals import (
    Answered,
    Comment,
    Pending,
    ReviewFile,
    ReviewPayload,
    ScriptPayload,
    ToolPayload,
)
from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import Saved, TicketSpec
from tests.api.serving import Equipment, Served, asking, served, ticket


@pytest.fixture
def bench() -> Iterator[Served]:
    with served() as bench:
        yield bench


def person(bench: Served) -> ApiHookClient:
    return bench.client(bench.tokens.approve)


def script_asked(bench: Served) -> str:
    """A started ticket with a pending script approval."""
    asking(bench, "a")
    person(bench).answer("A-1", "approve")
    bench.submit(AskScript("demo", "a", 1, ScriptPayload("rm x", "/w", ("PATH",), "bubblewrap"), "may it?"), "system")
    return "A-2"


def test_an_approval_is_shown_whole(bench: Served) -> None:
    name = script_asked(bench)
    shown = bench.client().get_approval(name)
    assert (shown["kind"], shown["state"], shown["payload"]["script"]) == ("script", "pending", "rm x")
    assert shown["answers"] == ["approve", "reject", "abort"]
    assert len(shown["digest"]) == 64


def test_an_approval_is_answered_once_and_a_later_answer_gets_the_first_actor(bench: Served) -> None:
    asking(bench, "a")
    assert person(bench).answer("A-1", "approve", message="go")["answer"]["by"] == "human:ada"
    with pytest.raises(ApiError, match="already answered by human:ada") as late:
        person(bench).answer("A-1", "reject")
    assert late.value.status == 409


@pytest.mark.parametrize("edits", ["echo y", {"script": "echo y"}])
def test_the_edited_script_is_what_is_allowed(bench: Served, edits: str | dict[str, str]) -> None:
    name = script_asked(bench)
    before = bench.state.approval(name).digest
    person(bench).answer(name, "approve", edits=edits)
    answered = bench.state.approval(name).state
    assert isinstance(answered, Answered)
    assert (answered.edited, answered.digest != before) == ("echo y", True)


def test_arguments_of_an_ask_are_edited_as_an_object(bench: Served) -> None:
    bench.submit(AskPerson("Bash", '{"a": 1}', "5a", "program:x"), "system")
    person(bench).answer("A-1", "approve", edits={"arguments": {"a": 2}})
    answered = bench.state.approval("A-1").state
    assert isinstance(answered, Answered)
    assert answered.edited == '{"a": 2}'


@pytest.mark.parametrize("everywhere", [False, True])
def test_always_takes_only_the_rule_that_was_shown(bench: Served, everywhere: bool) -> None:
    name = script_asked(bench)
    equipment = bench.desk.equipment
    assert isinstance(equipment, Equipment)
    token = f"Bearer {bench.tokens.approve}"
    rule = bench.raw("GET", f"/api/approvals/{name}/rule")[2]["rule"]
    assert rule == "[[policy]]\nscript = 'rm x'\n"

    def answer(always: object, **more: object) -> int:
        body = json.dumps({"decision": "approve", "always": always, **more}).encode()
        return bench.raw("POST", f"/api/approvals/{name}", body, authorization=token)[0]

    assert answer({"rule": "[[policy]]\nscript = 'rm -rf /'\n"}) == 422
    assert answer({"rule": rule}, edits="echo y") == 422
    assert answer({"rule": rule}, decision="reject") == 422
    assert (equipment.rules, isinstance(bench.state.approval(name).state, Pending)) == ([], True)
    assert answer({"rule": rule, "everywhere": everywhere}) == 200
    assert equipment.rules == [(rule, everywhere)]
    assert bench.raw("GET", "/api/approvals/A-1/rule")[0] == 409


def test_a_test_may_answer_but_not_write_rules() -> None:
    with served(test_policy=True) as bench:
        name = script_asked(bench)
        rule = bench.raw("GET", f"/api/approvals/{name}/rule")[2]["rule"]
        body = json.dumps({"decision": "approve", "always": {"rule": rule}}).encode()
        assert bench.raw("POST", f"/api/approvals/{name}", body)[0] == 403
        assert isinstance(bench.state.approval(name).state, Pending)


def edit_asked(bench: Served) -> tuple[str, str]:
    """A pending approval of a tool call with long arguments; its id and the arguments."""
    script_asked(bench)
    person(bench).answer("A-2", "approve")
    arguments = json.dumps({"content": "x" * 9_000, "path": "a.txt"})
    digest = bench.engine.call(bench.front.workbench.keep(arguments.encode()))
    blob = Blob(digest, len(arguments))
    payload = ToolPayload(
        "c1", "write_file", arguments[:4_000], digest, "Edit a.txt", 1, "+x", "/w", arguments_blob=blob
    )
    bench.submit(AskWorker("demo", "a", 1, payload, "may it?"), "system")
    return "A-3", arguments


def test_the_arguments_of_one_approval_are_whole(bench: Served) -> None:
    name, arguments = edit_asked(bench)
    assert bench.client().get_approval(name)["payload"]["arguments"] == arguments
    assert bench.client().list_approvals()[0]["payload"]["arguments"] == arguments[:4_000]


@pytest.mark.parametrize(
    ("edits", "sentence"),
    [
        ({"arguments": {"path": "a.txt"}}, "the edit cannot run: write_file needs the argument 'content'."),
        ({"arguments": {"path": "a", "contents": "x"}}, "write_file has no argument 'contents'; did you mean"),
        ({"arguments": {"path": 7, "content": []}}, "the edit cannot run: write_file: the argument"),
        ("[1]", "the edited arguments must be a JSON object"),
        ('{"path": ', "the edited arguments must be a JSON object"),
    ],
)
def test_edited_arguments_that_the_tool_does_not_take_are_refused_at_once(
    bench: Served, edits: Any, sentence: str
) -> None:
    name, _ = edit_asked(bench)
    with pytest.raises(ApiError) as refusal:
        person(bench).answer(name, "approve", edits=edits)
    assert refusal.value.status == 422
    assert sentence in str(refusal.value)
    assert isinstance(bench.state.approval(name).state, Pending)
    person(bench).answer(name, "approve", edits={"arguments": {"path": "a.txt", "content": "y"}})


def test_an_edited_script_that_no_shell_can_run_is_refused_at_once(bench: Served) -> None:
    name = script_asked(bench)
    with pytest.raises(ApiError, match="a character that no command can hold") as refusal:
        person(bench).answer(name, "approve", edits="echo \0")
    assert refusal.value.status == 422


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"decision": "approve", "edits": {"prompt": "x"}}', 422),
        (b'{"decision": "approve", "edits": {"nonsense": "x"}}', 422),
        (b'{"decision": "maybe"}', 422),
        (b'{"decision": "retry"}', 422),
        (b'{"decision": "approve", "hunks": [1]}', 422),
        (b'{"decision": "approve", "hunks": [0]}', 422),
        (b'{"decision": "approve", "edits": "  "}', 422),
        (b"{", 422),
        (b"[]", 422),
        (b"", 422),
        (b'{"decision": "approve", "more": 1}', 422),
        (b'{"decision": "\xff"}', 422),
        (b'{"decision": "\\ud800"}', 422),
        (b"[" * 100_000, 422),
        (b'{"decision": ' + b"[" * 100_000, 422),
    ],
)
def test_an_answer_that_does_not_fit_changes_nothing(bench: Served, body: bytes, status: int) -> None:
    asking(bench, "a")
    token = f"Bearer {bench.tokens.approve}"
    code, _, body_out = bench.raw("POST", "/api/approvals/A-1", body, authorization=token)
    assert (code, set(body_out)) == (status, {"error", "kind"})
    assert len(bench.state.pending) == 1


def test_pages_are_without_gap_or_repeat(bench: Served) -> None:
    asking(bench, *(f"t{number}" for number in range(25)))
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = bench.raw("GET", f"/api/approvals?offset={offset}&limit=10")[2]
        assert page["total"] == 25
        seen += [approval["id"] for approval in page["approvals"]]
        offset = page["next_offset"]
    assert seen == [f"A-{number}" for number in range(1, 26)]
    assert bench.raw("GET", "/api/approvals?offset=99")[2] == {"approvals": [], "total": 25, "next_offset": None}
    for wrong in ("limit=0", "limit=1001", "offset=-1", "offset=x", "state=open", "page=2"):
        assert bench.raw("GET", f"/api/approvals?{wrong}")[0] == 422, wrong


def test_the_list_can_begin_with_what_holds_up_most(bench: Served) -> None:
    tickets = (ticket("one", step_mode=True), ticket("two", step_mode=True), ticket("behind", "two"))
    bench.submit(AddTrack("demo", "Demo", "", tickets))
    bench.submit(StartConductor(4, False, False), "system")
    bench.submit(StartTrack("demo"))

    def listed(query: str = "") -> list[tuple[str, str]]:
        page = bench.raw("GET", f"/api/approvals{query}")[2]["approvals"]
        return [(one["ticket"], one["urgency"]["reason"]) for one in page]

    oldest_first = [("one", ""), ("two", "holds up 1 ticket, 4 workers idle")]
    assert listed() == oldest_first == listed("?order=age")
    assert listed("?order=urgency") == oldest_first[::-1]
    assert listed("?order=urgency&limit=1&offset=1") == oldest_first[:1]
    assert bench.raw("GET", "/api/approvals?order=best")[0] == 422
    assert bench.raw("GET", "/api/tracks/demo")[2]["forecast"] is None, "nothing is finished yet"


def test_answered_and_withdrawn_ones_are_listed_apart(bench: Served) -> None:
    asking(bench, "a", "b")
    person(bench).answer("A-1", "reject")
    for state, names in (("pending", ["A-2"]), ("answered", ["A-1"]), ("withdrawn", []), ("all", ["A-1", "A-2"])):
        assert [approval["id"] for approval in bench.client().list_approvals(state)] == names


def test_with_the_test_policy_the_drive_token_answers_and_it_shows() -> None:
    with served(test_policy=True) as bench:
        asking(bench, "a")
        assert bench.client().answer("A-1", "approve")["answer"]["by"] == "test:api"


def race(bench: Served, trials: int) -> None:
    """Two clients answer each approval at the same time: one wins, the other gets 409."""
    bench.submit(StartConductor())
    for trial in range(1, trials + 1):
        bench.submit(AskPerson("Bash", "{}", f"{trial}", "program:x"), "system")
        both, statuses = threading.Barrier(2), list[int]()

        def answer(
            decision: str, both: threading.Barrier = both, statuses: list[int] = statuses, trial: int = trial
        ) -> None:
            client = person(bench)
            both.wait()
            try:
                client.answer(f"A-{trial}", decision)  # pyright: ignore[reportArgumentType]
                statuses.append(200)
            except ApiError as error:
                statuses.append(error.status)

        threads = [threading.Thread(target=answer, args=(word,)) for word in ("approve", "reject")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(statuses) == [200, 409]
    answers = [approval for approval in bench.state.approvals.values() if isinstance(approval.state, Answered)]
    assert len(answers) == trials


def test_of_two_answers_at_once_exactly_one_wins(bench: Served) -> None:
    race(bench, 30)


@pytest.mark.soak
def test_of_two_answers_at_once_exactly_one_wins_a_thousand_times(bench: Served) -> None:
    race(bench, 1000)


def reviewed(bench: Served) -> str:
    """A worker's ticket whose finished work waits for its review."""
    bench.submit(StartConductor(auto_queue=True, autonomy="review", contained=True), "system")
    bench.submit(AddTrack("rev", "R", "", (TicketSpec(id="r"),)), "human:ada")
    bench.submit(StartTrack("rev"), "human:ada")
    bench.submit(SubmitWork("rev", "r", 1, Saved("base", "commit", "tree"), "done"), "system")
    files = (ReviewFile("r.py", 1, 0, first=1, parts=2),)
    payload = ReviewPayload("base", "commit", "tree", "+r", files=files, parts=2)
    bench.submit(AskReview("rev", "r", 1, payload), "system")
    return bench.state.pending_approvals()[-1].id


def _post(bench: Served, path: str, data: object, token: str | None = None) -> tuple[int, Any]:
    authorization = f"Bearer {token or bench.tokens.approve}"
    status, _, body = bench.raw("POST", path, json.dumps(data).encode(), authorization=authorization)
    return status, body


def test_a_review_takes_comments_and_parts_over_http(bench: Served) -> None:
    name = reviewed(bench)
    assert bench.client().get_approval(name)["answers"] == ["approve", "changes", "reject", "abort"]
    comments = [{"file": "r.py", "line": 3, "text": "why?"}]
    bad = {"decision": "changes", "comments": [{"file": "", "text": "x"}]}
    status, body = _post(bench, f"/api/approvals/{name}", bad)
    assert (status, "a comment has a file" in str(body)) == (422, True)
    assert _post(bench, f"/api/approvals/{name}", {"decision": "changes", "comments": comments})[0] == 200
    answered = bench.state.approval(name).state
    assert isinstance(answered, Answered)
    assert (answered.decision, answered.comments) == ("changes", (Comment("r.py", "why?", 3),))


def test_only_the_approve_token_chooses_autonomy(bench: Served) -> None:
    bench.submit(StartConductor(contained=True), "system")
    assert _post(bench, "/api/autonomy", {"level": "land"}, bench.tokens.drive)[0] == 403
    assert bench.state.conductor.levels is UNSET
    status, body = _post(bench, "/api/autonomy", {"level": "review"})
    assert (status, body["level"]) == (200, "review")
    assert _post(bench, "/api/autonomy", {"level": "sometimes"})[0] == 422
    assert _post(bench, "/api/autonomy", {"level": "ask", "track": "nowhere"})[0] == 404
    assert bench.raw("GET", "/api/autonomy")[2]["level"] == "review"
    assert bench.client().get_mma_status()["autonomy"] == "review"


@pytest.mark.parametrize("button", ["btn_autonomy_land", "btn_changes_review"])
def test_buttons_about_autonomy_and_reviews_need_the_right_to_answer(bench: Served, button: str) -> None:
    with pytest.raises(ApiError) as refused:
        bench.client(bench.tokens.drive).click(button)
    assert refused.value.status == 403


def test_changes_are_requested_by_a_button(bench: Served) -> None:
    name = reviewed(bench)
    with pytest.raises(ApiError, match="what should change"):
        person(bench).click("btn_changes_review")
    with pytest.raises(ApiError, match="Expected `str`"):
        person(bench).click("btn_changes_review", {"message": 3})
    person(bench).click("btn_changes_review", {"message": "rename it", "approval": name})
    answered = bench.state.approval(name).state
    assert isinstance(answered, Answered)
    assert answered.message == "rename it"

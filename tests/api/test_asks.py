"""An outside program asks, waits, and gets the person's answer."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from interlock.client import ApiError
from interlock.domain.messages.commands.approval_commands import ExpireApproval
from interlock.domain.messages.commands.external_ask_commands import WithdrawAsk
from interlock.domain.values.approvals import Answered, ToolPayload, Withdrawn
from tests.api.serving import Served, served


@pytest.fixture
def bench() -> Iterator[Served]:
    with served() as bench:
        yield bench


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


def asked(bench: Served, pool: ThreadPoolExecutor, count: int = 1, **more: Any) -> "Future[dict[str, Any]]":
    """Asks in the background; returns when the approval is pending."""
    client = bench.client(bench.tokens.ask)
    answer = pool.submit(lambda: client.ask("Bash", {"command": "git push"}, **more))
    bench.client().wait_until(lambda: len(bench.state.approvals) >= count, 30)
    return answer


def test_an_approval_allows_the_same_arguments(bench: Served, pool: ThreadPoolExecutor) -> None:
    answer = asked(bench, pool, asker="claude", cwd="/p")
    shown = bench.client().get_approval("A-1")
    assert (shown["asker"], shown["payload"]["directory"]) == ("program:claude", "/p")
    bench.client(bench.tokens.approve).answer("A-1", "approve")
    assert answer.result(30) == {"decision": "allow", "args": {"command": "git push"}, "message": "", "approval": "A-1"}


def test_edited_arguments_are_what_may_run(bench: Served, pool: ThreadPoolExecutor) -> None:
    answer = asked(bench, pool)
    bench.client(bench.tokens.approve).answer("A-1", "approve", edits={"arguments": {"command": "git status"}})
    reply = answer.result(30)
    assert (reply["decision"], reply["args"]) == ("allow", {"command": "git status"})
    assert "changed the arguments" in reply["message"]


def test_a_denial_has_its_reason(bench: Served, pool: ThreadPoolExecutor) -> None:
    answer = asked(bench, pool)
    bench.client(bench.tokens.approve).answer("A-1", "reject", message="not today")
    reply = answer.result(30)
    assert (reply["decision"], reply["message"]) == ("deny", "not today")


def test_a_deadline_denies(bench: Served, pool: ThreadPoolExecutor) -> None:
    answer = asked(bench, pool, deadline_s=5)
    deadline = bench.state.approval("A-1").deadline
    assert deadline is not None
    bench.submit(ExpireApproval("A-1"), "system")  # as the conductor's timer does
    reply = answer.result(30)
    assert (reply["decision"], "deadline" in reply["message"]) == ("deny", True)


def test_a_program_that_disconnects_withdraws_its_ask(bench: Served, pool: ThreadPoolExecutor) -> None:
    impatient = bench.client(bench.tokens.ask)
    gone = pool.submit(lambda: impatient._request("POST", "/api/ask", {"tool": "T", "args": {}}, 0.5))
    with pytest.raises(ApiError):
        gone.result(30)
    bench.client().wait_until(lambda: not bench.state.pending and bool(bench.state.approvals), 30)
    state = bench.state.approval("A-1").state
    assert isinstance(state, Withdrawn)
    assert state.why == "the asking program disconnected"


def test_a_withdrawn_ask_is_denied(bench: Served, pool: ThreadPoolExecutor) -> None:
    answer = asked(bench, pool)
    bench.submit(WithdrawAsk("A-1", "cleared"))
    reply = answer.result(30)
    assert (reply["decision"], "cleared" in reply["message"]) == ("deny", True)


def test_a_program_that_reconnects_with_its_key_gets_the_answer(bench: Served, pool: ThreadPoolExecutor) -> None:
    first = asked(bench, pool, key="k")
    bench.client(bench.tokens.approve).answer("A-1", "approve")
    assert first.result(30)["decision"] == "allow"
    again = bench.client(bench.tokens.ask).ask("Bash", {"command": "git push"}, key="k")
    assert (again["approval"], len(bench.state.approvals)) == ("A-1", 1)
    with pytest.raises(ApiError, match="about something else"):
        bench.client(bench.tokens.ask).ask("Bash", {"command": "rm"}, key="k")


def test_many_ask_at_once_and_each_gets_its_own_answer(bench: Served) -> None:
    replies: dict[int, dict[str, Any]] = {}

    def ask(number: int) -> None:
        replies[number] = bench.client(bench.tokens.ask).ask("T", {"n": number})

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    person = bench.client(bench.tokens.approve)
    person.wait_until(lambda: len(bench.state.pending) == 20, 30)
    for approval in person.list_approvals():
        number = int(approval["payload"]["arguments"].strip('{"n: }'))
        person.answer(approval["id"], "approve" if number % 2 else "reject")
    for thread in threads:
        thread.join()
    assert {n: answer["decision"] for n, answer in replies.items()} == {
        n: "allow" if n % 2 else "deny" for n in range(20)
    }
    assert all(answer["args"] == {"n": n} for n, answer in replies.items())


def test_long_arguments_are_kept_beside_the_journal(bench: Served, pool: ThreadPoolExecutor) -> None:
    client, long = bench.client(bench.tokens.ask), {"text": "x" * 50_000}
    answer = pool.submit(lambda: client.ask("Write", long))
    bench.client().wait_until(lambda: bool(bench.state.pending), 30)
    payload = bench.state.approval("A-1").payload
    assert isinstance(payload, ToolPayload)
    assert payload.diff_blob is not None
    assert len(payload.arguments) < 500
    assert "x" * 1000 in bench.raw("GET", f"/api/texts/{payload.diff_blob.sha256}")[2]["text"]
    assert bench.client().get_mma_status()["ask"]["tool"] == "Write"
    bench.client(bench.tokens.approve).answer("A-1", "approve")
    assert answer.result(30)["args"] == long


@pytest.mark.parametrize(
    "body",
    [b"{}", b'{"tool": ""}', b'{"tool": "x", "args": []}', b'{"tool": "x", "args": {}, "deadline_s": 0}', b"null"],
)
def test_a_malformed_ask_requests_no_approval(bench: Served, body: bytes) -> None:
    assert bench.raw("POST", "/api/ask", body, authorization=f"Bearer {bench.tokens.ask}")[0] == 422
    assert not bench.state.approvals


def test_an_answer_by_the_drive_token_does_not_count(bench: Served, pool: ThreadPoolExecutor) -> None:
    answer = asked(bench, pool)
    with pytest.raises(ApiError):
        bench.client().answer("A-1", "approve")
    assert not answer.done()
    bench.client(bench.tokens.approve).answer("A-1", "reject")
    assert answer.result(30)["decision"] == "deny"
    assert isinstance(bench.state.approval("A-1").state, Answered)

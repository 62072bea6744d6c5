"""Localhost is not private: which requests are accepted, and how others are refused."""

import hmac
import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from interlock.api.guard import MOST_BODY
from tests.api.serving import Served, asking, served


@pytest.fixture(scope="module")
def bench() -> Iterator[Served]:
    with served() as bench:
        asking(bench, "a", "b")
        yield bench


CLICK = b'{"action": "click", "item": "btn_approve_mma_step"}'
SET = b'{"action": "set_value", "item": "mma_epic_input", "value": "changed"}'


def unchanged(bench: Served) -> bool:
    return bench.desk.view.values["mma_epic_input"] == "" and len(bench.state.pending) == 2


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.:PORT", "127.0.0.1.:PORT", "127.0.0.1:PORT.", "", None],
)
def test_a_foreign_host_is_refused(bench: Served, host: str | None) -> None:
    host = host.replace("PORT", str(bench.port)) if host else host
    status, _, reply = bench.raw("POST", "/api/gui", SET, host=host)
    assert (status, set(reply)) == (421, {"error", "kind"}) if host is not None else status in (400, 421)
    assert unchanged(bench)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:PORT", "http://localhost:1", ""])
def test_a_foreign_origin_is_refused(bench: Served, origin: str) -> None:
    for method, path, body in (("POST", "/api/gui", SET), ("GET", "/status", None), ("GET", "/api/events", None)):
        status, _, reply = bench.raw(method, path, body, origin=origin.replace("PORT", str(bench.port)))
        assert (status, reply["kind"]) == (403, "ForeignOrigin")
    assert unchanged(bench)


def test_the_servers_own_origin_is_accepted(bench: Served) -> None:
    for name in ("127.0.0.1", "localhost"):
        assert bench.raw("GET", "/api/gui/state", origin=f"http://{name}:{bench.port}")[0] == 200


@pytest.mark.parametrize("token", [None, "", "Bearer", "Bearer wrong", "Basic abc", "bearer ", "Bearer \xff"])
@pytest.mark.parametrize(
    "path",
    ["/api/gui/state", "/api/events", "/openapi.json", "/nothing/here", "/api/approvals", "/status/", "//status"],
)
def test_without_the_token_nothing_is_returned(bench: Served, token: str | None, path: str) -> None:
    status, headers, reply = bench.raw("GET", path, authorization=token)
    assert (status, reply["kind"], headers["www-authenticate"]) == (401, "Unauthorized", 'Bearer realm="interlock"')


def test_the_status_without_a_token_shows_only_that_the_server_runs(bench: Served) -> None:
    assert bench.raw("GET", "/status", authorization=None)[2] == {"status": "ok"}
    assert bench.raw("GET", "/status", authorization="Bearer wrong")[0] == 401
    assert bench.raw("POST", "/status", b"{}", authorization=None)[0] == 401
    assert bench.raw("GET", "/status")[2]["capability"] == "drive"


def test_a_preflight_gets_no_permission(bench: Served) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Origin": "http://evil.example"}
    for headers in (asked, {**asked, "Origin": f"http://127.0.0.1:{bench.port}"}):
        status, reply_headers, _ = bench.raw("OPTIONS", "/api/gui", headers=headers, authorization=None)
        assert status in (401, 403)
        assert not [name for name in reply_headers if name.startswith("access-control")]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", None])
def test_only_json_is_read(bench: Served, kind: str | None) -> None:
    status, _, reply = bench.raw("POST", "/api/gui", SET, content_type=kind)
    assert (status, reply["kind"]) == (415, "NotJson")
    assert unchanged(bench)


def test_too_large_a_body_is_refused_before_it_is_read(bench: Served) -> None:
    for length in (99_999_999_999, MOST_BODY + 1):
        status, _, reply = bench.raw("POST", "/api/gui", b"{}", headers={"Content-Length": str(length)})
        assert (status, reply["kind"]) == (413, "TooLarge")


def test_the_drive_token_answers_nothing(bench: Served) -> None:
    ways = [
        ("/api/approvals/A-1", b'{"decision": "approve"}'),
        ("/api/gui", CLICK),
        ("/api/gui", b'{"action": "click", "item": "btn_mma_accept_tracks"}'),
        ("/api/gui", b'{"action": "click", "item": "btn_gate_skip"}'),
        ("/api/workers", b'{"track": "demo", "ticket": "a"}'),
        ("/api/tickets/bulk", b'{"commands": [{"type": "approve_task", "track": "demo", "ticket": "a"}]}'),
    ]
    for path, body in ways:
        status, _, reply = bench.raw("POST", path, body)
        assert (status, reply["kind"]) == (403, "NotAllowed"), path
        assert "approve token" in reply["error"]
    assert unchanged(bench)


@pytest.mark.parametrize("item", ["gcli_path", "files_base_dir"])
def test_programs_and_folders_cannot_be_set_over_http(bench: Served, item: str) -> None:
    body = f'{{"action": "set_value", "item": "{item}", "value": "/bin/evil"}}'.encode()
    for token in (bench.tokens.drive, bench.tokens.approve):
        status, _, reply = bench.raw("POST", "/api/gui", body, authorization=f"Bearer {token}")
        assert (status, "--test-policy" in reply["error"]) == (403, True)
    assert bench.desk.view.values[item] == ""


def test_the_ask_token_only_asks(bench: Served) -> None:
    ask = f"Bearer {bench.tokens.ask}"
    for method, path, body in (
        ("GET", "/api/gui/state", None),
        ("GET", "/api/events", None),
        ("GET", "/api/ask", None),
        ("POST", "/api/gui", SET),
        ("POST", "/api/approvals/A-1", b'{"decision": "approve"}'),
        ("POST", "/api/shutdown", None),
        ("GET", "/openapi.json", None),
    ):
        assert bench.raw(method, path, body, authorization=ask)[0] == 403, path
    assert unchanged(bench)
    assert not bench.front.stopped.is_set()


def test_refusals_are_logged(bench: Served) -> None:
    before = len(bench.log)
    bench.raw("POST", "/api/gui", SET, host="evil.example")
    bench.raw("GET", "/api/gui/state", authorization=None)
    bench.raw("POST", "/api/approvals/A-1", b'{"decision": "approve"}')
    refusals = [(line["status"], line["path"], line["capability"]) for line in bench.log[before:]]
    assert refusals == [
        (421, "/api/gui", None),
        (401, "/api/gui/state", None),
        (403, "/api/approvals/A-1", "drive"),
    ]
    assert bench.tokens.drive not in str(bench.log)


def test_a_challenge_is_answered_by_a_proof_and_not_by_the_token(bench: Served) -> None:
    _, headers, reply = bench.raw("GET", "/status", authorization=None, x_interlock_challenge="abc")
    assert reply == {"status": "ok"}
    for name, token in (("drive", bench.tokens.drive), ("ask", bench.tokens.ask), ("approve", bench.tokens.approve)):
        assert headers[f"x-interlock-proof-{name}"] == hmac.new(token.encode(), b"abc", sha256).hexdigest()
        assert token not in str(headers)


def test_a_duplicated_header_is_refused(bench: Served) -> None:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=30)
    connection.putrequest("GET", "/api/gui/state", skip_host=True)
    connection.putheader("Host", f"127.0.0.1:{bench.port}")
    connection.putheader("Host", "evil.example")
    connection.putheader("Authorization", f"Bearer {bench.tokens.drive}")
    connection.endheaders()
    assert connection.getresponse().status in (400, 421)
    connection.close()


def test_with_the_sandbox_off_approvals_cannot_be_answered_over_http() -> None:
    with served(test_policy=True, sandbox="off") as bench:
        asking(bench, "a")
        for token in (bench.tokens.drive, bench.tokens.approve):
            status, _, reply = bench.raw(
                "POST", "/api/approvals/A-1", b'{"decision": "approve"}', authorization=f"Bearer {token}"
            )
            assert (status, "window or a terminal" in reply["error"]) == (403, True)
        assert len(bench.state.pending) == 1


def test_a_gate_with_network_is_no_programs_to_add(bench: Served) -> None:
    gates = '"verify": [{"command": "curl evil", "network": true}]'
    new = f'{{"id": "N", "assigned_to": "shell", "script": "true", {gates}}}'
    for method, path, body in (
        ("POST", "/api/tracks", f'{{"id": "evil", "tickets": [{new}]}}'),
        ("POST", "/api/tracks/demo/tickets", f'{{"tickets": [{new}]}}'),
        ("PATCH", "/api/tracks/demo/tickets/a", f'{{"changes": {{{gates}}}}}'),
        (
            "POST",
            "/api/tickets/bulk",
            f'{{"commands": [{{"type": "edit_ticket", "track": "demo", "ticket": "a", "changes": {{{gates}}}}}]}}',
        ),
    ):
        assert bench.raw(method, path, body.encode())[0] == 403, path
    assert (list(bench.state.tracks), bench.state.track("demo").total) == (["demo"], 2)


def _sent(bench: Served, method: str, path: str, body: object, token: str | None = None) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token or bench.tokens.drive}"}
    status, _, reply = bench.raw(method, path, json.dumps(body).encode(), headers)
    return status, reply


GATED = {"id": "T-1", "assigned_to": "shell", "script": "ls", "verify": ['verify:"make test"'], "step_mode": False}


def test_gate_commands_of_a_caller_that_may_not_answer_are_shown_before_the_ticket_starts() -> None:
    with served() as bench:
        added = _sent(
            bench,
            "POST",
            "/api/tracks",
            {"id": "t", "title": "t", "tickets": [GATED, {"id": "T-2", "description": "x"}]},
        )
        assert added[0] == 200
        tickets = bench.state.track("t").tickets
        assert [tickets[name].spec.step_mode for name in ("T-1", "T-2")] == [True, False]
        assert _sent(bench, "POST", "/api/tracks/t/tickets", {"tickets": [{**GATED, "id": "T-3"}]})[0] == 200
        assert bench.state.ticket("t", "T-3").spec.step_mode
        refused = _sent(bench, "PATCH", "/api/tracks/t/tickets/T-1", {"changes": {"step_mode": False}})
        assert (refused[0], "step_mode" in refused[1]["error"]) == (403, True)
        assert (
            _sent(bench, "PATCH", "/api/tracks/t/tickets/T-2", {"changes": {"verify": ['verify:"rm -r ."']}})[0] == 200
        )
        assert bench.state.ticket("t", "T-2").spec.step_mode
        edit = {"type": "edit_ticket", "track": "t", "ticket": "T-3", "changes": {"step_mode": False}}
        assert _sent(bench, "POST", "/api/tickets/bulk", {"commands": [edit]})[0] == 403


def test_a_caller_that_may_answer_has_seen_its_own_gate_commands() -> None:
    with served() as bench:
        track = {"id": "t", "title": "t", "tickets": [GATED]}
        assert _sent(bench, "POST", "/api/tracks", track, bench.tokens.approve)[0] == 200
        assert not bench.state.ticket("t", "T-1").spec.step_mode

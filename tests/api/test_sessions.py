"""Sessions of the page over HTTP: links, the two secrets, what each may do, and how they end."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.api.page.page import Page
from interlock.api.page.public_url import public_url
from interlock.api.page.sessions import Lifetimes, SessionFile, Sessions
from interlock.errors import Misconfigured
from tests.api.serving import ADA, Served, asking, served, until


class Now:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self) -> float:
        return self.seconds


class Browser:
    """The headers of one browser with a session."""

    def __init__(self, bench: Served, *, approve: bool = True) -> None:
        self.bench = bench
        self.secret = secret_of(bench, approve=approve)
        status, headers, reply = opened(bench, self.secret)
        assert status == 200, reply
        self.reply = reply
        self.set_cookie = headers["set-cookie"]
        self.cookie = self.set_cookie.partition(";")[0]

    def send(self, method: str, path: str, body: object = None, **changed: str | None) -> tuple[int, Any]:
        given = {"authorization": f"Bearer {self.reply['token']}", "cookie": self.cookie, **changed}
        content = None if body is None else json.dumps(body).encode()
        status, _, reply = self.bench.raw(method, path, content, None, **given)
        return status, reply


def secret_of(bench: Served, *, approve: bool) -> str:
    token = bench.tokens.approve if approve else bench.tokens.drive
    return bench.client(token).make_link(approve=approve)["url"].partition("#link=")[2]


def opened(bench: Served, secret: str, **changed: str | None) -> tuple[int, dict[str, str], Any]:
    origin: dict[str, str | None] = {"authorization": None, "origin": f"http://127.0.0.1:{bench.port}"}
    return bench.raw("POST", "/api/sessions", json.dumps({"link": secret}).encode(), None, **{**origin, **changed})


@pytest.fixture(scope="module")
def now() -> Now:
    return Now()


@pytest.fixture(scope="module")
def server(now: Now) -> Iterator[Served]:
    with served(new_page=lambda: Page(Sessions(now=now))) as bench:
        asking(bench, "a", "b", "c")
        yield bench


@pytest.fixture
def bench(server: Served) -> Served:
    """The same server for every test, without sessions."""
    server.client().revoke_sessions()
    return server


APPROVE = {"decision": "approve"}


def test_a_browser_with_a_link_answers_as_the_person_with_its_session_as_the_cause(bench: Served) -> None:
    browser = Browser(bench)
    status, reply = browser.send("POST", "/api/approvals/A-1", APPROVE)
    assert (status, reply["answer"]["by"]) == (200, ADA)
    records = bench.engine.call(bench.front.workbench.since(0))
    answer = next(one for one in records if type(one.event).__name__ == "ApprovalAnswered")
    assert answer.cause.startswith(f"session-{browser.reply['id']}-")
    many = {"approvals": [{"id": "A-2", "digest": bench.state.approvals["A-2"].digest}], "decision": "reject"}
    assert browser.send("POST", "/api/approvals", many)[1]["answered"] == ["A-2"]


def test_the_cookie_is_hidden_from_scripts_and_other_sites(bench: Served) -> None:
    browser = Browser(bench)
    attributes = {part.strip().lower() for part in browser.set_cookie.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/api", "max-age=86400"} <= attributes
    assert "secure" not in attributes
    assert browser.reply["token"] not in browser.set_cookie


def test_a_link_works_once(bench: Served) -> None:
    browser = Browser(bench)
    status, headers, reply = opened(bench, browser.secret)
    assert (status, "used already" in reply["error"], "set-cookie" in headers) == (409, True, False)


def test_a_link_ends_after_five_minutes(bench: Served, now: Now) -> None:
    secret = secret_of(bench, approve=False)
    now.seconds += 301
    assert opened(bench, secret)[0] == 409
    assert opened(bench, "made-up")[0] == 409


def test_a_session_that_may_not_approve_looks_and_drives(bench: Served) -> None:
    browser = Browser(bench, approve=False)
    waiting = len(bench.state.pending)
    assert browser.send("GET", "/api/inbox")[1]["total"] == waiting
    assert browser.send("GET", "/api/overview")[1]["answers"] is False
    assert browser.send("POST", "/api/tracks/demo/pause", {})[0] == 200
    status, reply = browser.send("POST", "/api/approvals/A-3", APPROVE)
    assert (status, "interlock open --approve" in reply["error"]) == (403, True)
    assert browser.send("POST", "/api/autonomy", {"level": "land"})[0] == 403
    assert len(bench.state.pending) == waiting


def test_the_drive_token_makes_no_link_for_answering(bench: Served) -> None:
    status, _, reply = bench.raw("POST", "/api/links", b'{"approve": true}')
    assert (status, "approve token" in reply["error"]) == (403, True)
    assert bench.raw("POST", "/api/links", b"{}")[0] == 200


def test_the_token_without_its_cookie_is_refused_and_so_is_the_cookie_alone(bench: Served) -> None:
    browser, other = Browser(bench), Browser(bench)
    mixed = f"{other.cookie.partition('=')[0].replace(other.reply['id'], browser.reply['id'])}=x"
    for cookie in (None, other.cookie, mixed, f"{browser.cookie}; {browser.cookie}x", f"{browser.cookie}x"):
        status, reply = browser.send("GET", "/api/inbox", cookie=cookie)
        assert (status, reply["kind"]) == (401, "SessionEnded"), cookie
    for token in (None, "Bearer ", f"Bearer {browser.reply['id']}.", f"Bearer {other.reply['token']}"):
        assert browser.send("GET", "/api/inbox", authorization=token)[0] == 401, token
    assert browser.send("GET", "/api/inbox")[0] == 200
    assert browser.send("GET", "/api/inbox", cookie=f"a=b; {browser.cookie}; c=d")[0] == 200


def test_a_session_counts_only_from_its_own_origin_and_host(bench: Served) -> None:
    browser = Browser(bench)
    assert browser.send("POST", "/api/approvals/A-1", APPROVE, origin="http://evil.example")[0] == 403
    assert browser.send("GET", "/api/inbox", host="evil.example")[0] == 421
    secret = secret_of(bench, approve=True)
    assert opened(bench, secret, origin=None)[0] == 401, "a browser always names the origin"
    assert opened(bench, secret, origin="http://evil.example")[0] == 403
    assert opened(bench, secret, host="evil.example")[0] == 421
    assert opened(bench, secret, content_type="text/plain")[0] == 415
    assert opened(bench, "x" * 5_000)[0] == 413
    assert opened(bench, secret)[0] == 200, "no refusal uses the link up"


def test_a_session_ends_without_use_and_after_a_day(bench: Served, now: Now) -> None:
    idle, used = Browser(bench), Browser(bench)
    for _ in range(3):
        now.seconds += 7.9 * 3_600
        assert used.send("GET", "/api/inbox")[0] == 200
    assert idle.send("GET", "/api/inbox")[0] == 401
    now.seconds += 3_600
    assert used.send("GET", "/api/inbox")[0] == 401
    assert bench.client().list_sessions() == []


def test_a_revoked_session_ends_at_once_with_its_stream(bench: Served) -> None:
    browser = Browser(bench)
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=30)
    headers = {"Authorization": f"Bearer {browser.reply['token']}", "Cookie": browser.cookie}
    connection.request("GET", "/api/events?states=false", headers=headers)
    stream = connection.getresponse()
    assert stream.status == 200
    until(lambda: bench.live.followers == 1)
    assert bench.client().revoke_session(browser.reply["id"]) == {"revoked": [browser.reply["id"]]}
    stream.read()  # returns, because the stream ends
    connection.close()
    assert browser.send("GET", "/api/inbox")[0] == 401
    assert bench.raw("DELETE", f"/api/sessions/{browser.reply['id']}", b"{}")[0] == 404


def test_all_sessions_end_together_with_unused_links(bench: Served) -> None:
    browsers = [Browser(bench), Browser(bench, approve=False)]
    secret = secret_of(bench, approve=True)
    assert len(bench.client().revoke_sessions()["revoked"]) == 2
    assert [browser.send("GET", "/api/inbox")[0] for browser in browsers] == [401, 401]
    assert opened(bench, secret)[0] == 409


def test_a_session_makes_no_links_and_one_that_may_not_approve_ends_only_itself(bench: Served) -> None:
    strong, weak = Browser(bench), Browser(bench, approve=False)
    assert strong.send("POST", "/api/links", {"approve": True})[0] == 403
    assert strong.send("DELETE", "/api/sessions", {})[0] == 403
    assert weak.send("DELETE", f"/api/sessions/{strong.reply['id']}", {})[0] == 403
    assert weak.send("DELETE", f"/api/sessions/{weak.reply['id']}", {})[0] == 200
    assert strong.send("GET", "/api/sessions")[1]["sessions"][0]["id"] == strong.reply["id"]


def test_the_list_of_sessions_holds_no_secret(bench: Served) -> None:
    browser = Browser(bench)
    (row,) = bench.client().list_sessions()
    assert set(row) == {"id", "capability", "made_at", "used_at", "expires_at", "browser"}
    assert (row["id"], row["capability"]) == (browser.reply["id"], "approve")
    assert browser.reply["token"] not in str(bench.log)


def test_with_the_sandbox_off_no_link_for_answering_is_made() -> None:
    with served(sandbox="off", new_page=lambda: Page(Sessions())) as bench:
        status, _, reply = bench.raw(
            "POST", "/api/links", b'{"approve": true}', authorization=f"Bearer {bench.tokens.approve}"
        )
        assert (status, "window or a terminal" in reply["error"]) == (409, True)


def test_a_session_without_the_right_to_approve_answers_nothing_under_the_test_policy() -> None:
    with served(test_policy=True, new_page=lambda: Page(Sessions())) as bench:
        asking(bench, "a")
        assert Browser(bench, approve=False).send("POST", "/api/approvals/A-1", APPROVE)[0] == 403
        assert Browser(bench).send("POST", "/api/approvals/A-1", APPROVE)[1]["answer"]["by"] == ADA


def test_without_the_page_nothing_of_it_is_served() -> None:
    with served() as bench:
        for path in ("/", "/assets/main.js", "/service-worker.js", "/app.webmanifest"):
            assert bench.raw("GET", path, authorization=None)[0] == 401, path
            assert path == "/" or bench.raw("GET", path)[0] == 404, path
        assert bench.raw("POST", "/api/links", b"{}")[0] == 409
        assert opened(bench, "x")[0] == 401


def test_the_files_of_the_page_are_the_same_for_everybody_and_strict(bench: Served) -> None:
    status, headers, body = bench.raw("GET", "/", authorization=None)
    assert (status, b"demo" in body, b"ada" in body) == (200, False, False)
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert bench.raw("GET", "/", authorization=None, if_none_match=headers["etag"])[0] == 304
    assert bench.raw("HEAD", "/", authorization=None)[2] == b""
    assert bench.raw("GET", "/", authorization=None, host="evil.example")[0] == 421
    assert bench.raw("GET", "/", authorization=None, origin="http://evil.example")[0] == 403
    for path in ("/assets/../page.py", "/assets/%2e%2e/page.py", "/assets/", "/index.html", "/sessions.py"):
        assert bench.raw("GET", path, authorization=None)[0] == 401, path
    assert bench.raw("GET", "/api/inbox")[1]["cache-control"] == "no-store"


# ── across restarts ──────────────────────────────────────────────────────────────────────


def test_a_session_outlives_a_restart_and_its_file_holds_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "sessions" / "p.json"
    with served(new_page=lambda: Page(Sessions(SessionFile(file)))) as bench:
        browser = Browser(bench)
        gone = Browser(bench)
        bench.client().revoke_session(gone.reply["id"])
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    secrets = (browser.reply["token"].partition(".")[2], browser.cookie.partition("=")[2], browser.secret)
    assert [secret for secret in secrets if secret in file.read_text()] == []
    with served(new_page=lambda: Page(Sessions(SessionFile(file)))) as bench:
        browser.bench = gone.bench = bench
        assert browser.send("GET", "/api/overview")[1]["session"] == browser.reply["id"]
        assert gone.send("GET", "/api/overview")[0] == 401


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'[{"id": "x"}]', b"[" * 100_000])
def test_an_unreadable_file_holds_no_session(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "p.json"
    file.write_bytes(content)
    assert Sessions(SessionFile(file)).live() == ()


def test_the_oldest_session_ends_when_there_are_too_many(now: Now) -> None:
    sessions = Sessions(lifetimes=Lifetimes(), now=now)
    first = sessions.open(sessions.make_link(approves=True)[0], "one\n\x1b[31m" + "x" * 500)
    assert first.session.browser.isprintable()
    assert len(first.session.browser) == 120
    for _ in range(64):
        sessions.open(sessions.make_link(approves=False)[0], "")
    assert len(sessions.live()) == 64
    assert not sessions.is_live(first.session.id)


# ── behind a reverse proxy ───────────────────────────────────────────────────────────────


def test_a_public_address_is_accepted_exactly_and_its_cookie_is_secure() -> None:
    address = public_url("https://desk.example.org/")
    with served(new_page=lambda: Page(Sessions(), address)) as bench:
        url = bench.client(bench.tokens.approve).make_link(approve=True)["url"]
        assert url.startswith("https://desk.example.org/#link=")
        ours = {"host": "desk.example.org", "origin": "https://desk.example.org"}
        status, headers, _ = opened(bench, url.partition("#link=")[2], **ours)
        assert (status, "secure" in headers["set-cookie"].lower()) == (200, True)
        for host in ("desk.example.org:8443", "x.desk.example.org", "desk.example.org.", "DESK.example.org"):
            assert bench.raw("GET", "/", authorization=None, host=host)[0] == 421, host
        for origin in ("http://desk.example.org", "https://desk.example.org:8443", "null"):
            assert bench.raw("GET", "/", authorization=None, origin=origin)[0] == 403, origin
        assert bench.raw("GET", "/", authorization=None)[0] == 200


@pytest.mark.parametrize(
    "text",
    [
        "http://desk.example.org",
        "desk.example.org",
        "https://",
        "https://a b",
        "https://u@desk.example.org",
        "https://desk.example.org/path",
        "https://desk.example.org?x",
        "https://desk.example.org#x",
        "https://desk.example.org:port",
        "https://dësk.example.org",
        "https://-desk",
    ],
)
def test_anything_else_is_no_public_address(text: str) -> None:
    with pytest.raises(Misconfigured, match="--public-url must be"):
        public_url(text)


def test_a_public_address_may_name_a_port() -> None:
    assert public_url("https://desk.example.org:8443").host == "desk.example.org:8443"
    assert public_url("https://desk.example.org:443").origin == "https://desk.example.org"

"""The page's link, session and connection in a real browser: used links, revoked sessions, restarts, no connection."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from interlock.api.page.page import Page
from interlock.api.page.sessions import SessionFile, Sessions
from interlock.domain.values.approvals import ScriptPayload
from tests.api.serving import Served, asking, served
from tests.page.asked import Story
from tests.page.browser import Tab, browsing, tab


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


def link(bench: Served, *, approve: bool = True) -> str:
    return bench.client(bench.tokens.approve).make_link(approve=approve)["url"]


def script(words: str) -> ScriptPayload:
    return ScriptPayload(words, "/work", ("PATH",), "bubblewrap")


def counts(opened: Tab) -> str:
    opened.panel("Project")
    return opened.find("#counts").inner_text()


def test_a_link_opens_once_and_its_secret_leaves_the_address_at_once(browser: Browser) -> None:
    with served(new_page=lambda: Page(Sessions())) as bench:
        asking(bench, "a")
        url = link(bench, approve=False)
        with tab(browser, url) as opened:
            opened.find(".detail").wait_for()
            assert opened.page.url == f"http://127.0.0.1:{bench.port}/"
            assert opened.run("document.documentElement.outerHTML").count(url.partition("#link=")[2]) == 0
            assert opened.run("localStorage.length") == 0
            expect(opened.find('[data-action="approve"]')).to_be_disabled()
            opened.find(".foot", has_text="interlock open --approve").wait_for()
            opened.page.reload()
            opened.find(".detail").wait_for()
        with tab(browser, url) as again:
            again.find("main", has_text="used already").wait_for()
        with tab(browser, f"http://127.0.0.1:{bench.port}/") as stranger:
            stranger.find("h1", has_text="Open the page by a link").wait_for()


def test_a_revoked_session_shows_that_it_has_ended(browser: Browser) -> None:
    with served(new_page=lambda: Page(Sessions())) as bench, tab(browser, link(bench)) as opened:
        opened.find(".empty", has_text="No pending approvals").wait_for()
        bench.client().revoke_sessions()
        opened.find("h1", has_text="The session has ended").wait_for()
        assert opened.run("sessionStorage.length") == 0


def test_a_session_is_ended_in_the_page(browser: Browser) -> None:
    with served(new_page=lambda: Page(Sessions())) as bench, tab(browser, link(bench)) as opened:
        opened.panel("Project")
        opened.page.get_by_role("button", name="End this session").click()
        opened.find("h1", has_text="The session has ended").wait_for()
        assert bench.client().list_sessions() == []


def test_after_a_restart_no_event_is_missed_and_none_is_taken_twice(browser: Browser, tmp_path: Path) -> None:
    story = Story()
    story.ask("script", script("echo first"))

    def new_page() -> Page:
        return Page(Sessions(SessionFile(tmp_path / "sessions.json")))

    with served(journal=story.journal, new_page=new_page) as first:
        port = first.port
        context = tab(browser, link(first))
        opened = context.__enter__()
        opened.find(".detail").wait_for()
        opened.until("document.querySelector('#state').innerText.includes('WAITING')")
        seen = story.journal.head().version
        opened.until("navigator.serviceWorker.controller !== null")
    try:
        opened.find(".offline", has_text="Not connected").wait_for()
        expect(opened.find('[data-action="approve"]')).to_be_disabled()
        opened.page.wait_for_timeout(320)
        opened.find(".inbox-list").press("a")
        opened.notes("not connected: answers cannot be sent")
        shown = opened.run(
            "caches.keys().then((names) => caches.open(names[0])).then((one) => one.keys())"
            ".then((all) => all.map((one) => new URL(one.url).pathname))"
        )
        assert "/" in shown
        assert [path for path in shown if path.startswith("/api") or path == "/status"] == []
        story.ask("script", script("echo while it was down"))
        story.ask("script", script("echo and another"))
        with served(journal=story.journal, new_page=new_page, port=port) as second:
            assert second.port == port
            opened.find(".inbox .panel-head", has_text="3 waiting").wait_for()
            expect(opened.find(".offline")).to_have_count(0)
            expected = story.journal.head().version - seen
            assert counts(opened) == f"events received {expected}, missed 0, repeated 0"
            assert len(second.state.pending) == 3, "nothing was queued while it was down"
        opened.find(".offline").wait_for()
        opened.page.reload()  # the shell comes from the service worker
        opened.find(".offline", has_text="Not connected").wait_for()
        story.ask("script", script("echo later"))
        with served(journal=story.journal, new_page=new_page, port=port):
            opened.find(".inbox .panel-head", has_text="4 waiting").wait_for()
    finally:
        context.__exit__(None, None, None)


def test_new_approvals_are_said_to_a_screen_reader(browser: Browser) -> None:
    with served(new_page=lambda: Page(Sessions())) as bench, tab(browser, link(bench), width=360, height=740) as opened:
        opened.find(".empty").wait_for()
        asking(bench, "a")
        opened.find('[aria-live="polite"]', has_text="New approval A-1: Start a").wait_for()
        assert "(1)" in opened.page.title()

"""A thousand approvals and a long diff: only what is visible exists in the page."""

from collections.abc import Iterator
from statistics import median

import pytest
from playwright.sync_api import Browser

from interlock.api.page.page import Page
from interlock.api.page.sessions import Sessions
from interlock.domain.values.approvals import ScriptPayload
from tests.api.serving import served
from tests.page.asked import Story, long_diff, review
from tests.page.browser import Tab, browsing, tab

MANY = 1_000
LINES = 5_000
FRAME_MS = 100

SCROLL = """async (selector) => {
  const box = document.querySelector(selector);
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const took = [];
  await frame();
  for (let at = 1; at <= 60; at += 1) {
    const begun = performance.now();
    box.scrollTop = (box.scrollHeight - box.clientHeight) * at / 60;
    await frame();
    await frame(); // the one that shows what the first one has drawn
    took.push((performance.now() - begun) / 2);
  }
  return took;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


def scrolled(opened: Tab, selector: str) -> list[float]:
    took: list[float] = opened.page.evaluate(SCROLL, selector)
    print(f"[TIME] {selector}: median {median(took):.1f} ms, longest {max(took):.1f} ms per frame")
    return took


def test_a_thousand_approvals_and_a_diff_of_five_thousand_lines(browser: Browser) -> None:
    story = Story()
    long = story.ask("review", review(long_diff(LINES, files=5), 5))
    for number in range(MANY - 1):
        story.ask("script", ScriptPayload(f"echo {number}", "/work", ("PATH",), "bubblewrap"))
    with (
        served(journal=story.journal, new_page=lambda: Page(Sessions())) as bench,
        tab(browser, bench.client(bench.tokens.approve).make_link(approve=True)["url"]) as opened,
    ):
        opened.find(".inbox .panel-head", has_text="1,000 waiting").wait_for()
        opened.shown(long).locator(".diff-line").first.wait_for()
        assert "+5000" in opened.find(".facts").inner_text().replace(",", "")
        assert median(scrolled(opened, ".diff-rows")) < FRAME_MS
        assert opened.find(".diff-rows .virtual-rows > div").count() < 120
        assert "line 999 of the new file" in opened.find(".diff-rows").inner_text()
        assert median(scrolled(opened, ".inbox-list")) < FRAME_MS
        assert opened.find(".inbox-row").count() < 80
        opened.find(".inbox-list").press("End")
        opened.find('.detail[data-approval="A-1000"]').wait_for()
        assert opened.find(".inbox-row.chosen").get_attribute("aria-posinset") == "1000"

"""Everybody can use the page: axe-core finds nothing serious, it fits a phone, and the keyboard reaches everything."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from interlock.api.page.page import Page
from interlock.api.page.sessions import Sessions
from interlock.domain.messages.commands.discussion_commands import StartDiscussion
from interlock.domain.messages.commands.track_commands import AddTrack
from tests.api.serving import Served, asking, served, ticket
from tests.page.asked import Story
from tests.page.browser import Tab, browsing, tab

AXE = Path(__file__).parents[2] / "build" / "axe-core" / "axe.min.js"
PANELS = ("Board", "Streams", "Discussion", "Usage", "Project")
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def bench() -> Iterator[Served]:
    story = Story()
    story.ask_all("echo some words")
    with served(journal=story.journal, new_page=lambda: Page(Sessions())) as bench:
        asking(bench, "a", "b", track="running")
        bench.submit(AddTrack("more", "More", "", (ticket("T-1"), ticket("T-2", "T-1"), ticket("T-3", "T-1"))))
        bench.submit(StartDiscussion("talk"))
        bench.engine.call(_stream(bench))
        yield bench


async def _stream(bench: Served) -> None:
    bench.front.streams.add("Tier 3 (Worker): a", "one line\nanother line\n")


def link(bench: Served) -> str:
    return bench.client(bench.tokens.approve).make_link(approve=True)["url"]


def serious(opened: Tab) -> list[str]:
    found: dict[str, Any] = opened.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not there: scripts/axe-core")
@pytest.mark.parametrize(("width", "dark"), [(1500, True), (360, False)])
def test_no_panel_has_a_serious_finding(browser: Browser, bench: Served, width: int, dark: bool) -> None:
    with tab(browser, link(bench), width=width, height=900, dark=dark) as opened:
        opened.find(".detail").wait_for()
        opened.page.evaluate(AXE.read_text())
        for approval in sorted(bench.state.pending.values())[:: 1 if dark else 3]:
            opened.shown(approval)
            assert serious(opened) == [], approval
        for panel in PANELS:
            opened.panel(panel)
            opened.page.wait_for_timeout(150)
            assert serious(opened) == [], panel


@pytest.mark.parametrize("width", [360, 768])
def test_nothing_is_wider_than_a_phone(browser: Browser, bench: Served, width: int) -> None:
    with tab(browser, link(bench), width=width, height=740) as opened:
        opened.find(".detail").wait_for()
        for approval in sorted(bench.state.pending.values()):
            opened.shown(approval)
            assert opened.run("document.scrollingElement.scrollWidth") <= width, approval
        for panel in PANELS:
            opened.panel(panel)
            opened.page.wait_for_timeout(100)
            assert opened.run("document.scrollingElement.scrollWidth") <= width, panel


def test_the_keyboard_alone_reaches_the_answers(browser: Browser, bench: Served) -> None:
    with tab(browser, link(bench), width=768) as opened:
        opened.find(".detail").wait_for()
        opened.page.keyboard.press("Tab")
        expect(opened.find(".skip")).to_be_focused()
        opened.page.keyboard.press("Enter")
        expect(opened.find("#main")).to_be_focused()
        reached: list[str] = []
        for _ in range(40):
            opened.page.keyboard.press("Tab")
            reached.append(opened.run("document.activeElement.dataset.action ?? document.activeElement.className"))
            assert opened.run("getComputedStyle(document.activeElement).outlineStyle") != "none", reached[-1]
            if reached[-1] == "approve":
                break
        assert reached[-1] == "approve", reached
        headings = opened.find("h1, h2, h3").evaluate_all("all => all.map((one) => one.tagName)")
        assert headings[:3] == ["H1", "H2", "H3"]
        assert opened.find("main, nav, header.top, footer").count() == 4

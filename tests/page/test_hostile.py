"""Hostile text in the page: nothing of it runs, and nothing of it is hidden."""

import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from interlock.api.page.page import Page
from interlock.api.page.sessions import Sessions
from interlock.domain.messages.commands.discussion_commands import StartDiscussion
from interlock.domain.messages.commands.track_commands import AddTrack
from interlock.views.display import exact, safe
from tests.api.serving import served, ticket
from tests.page.asked import Story, payloads, review
from tests.page.browser import browsing, tab

CORPUS = (
    '<img src=x onerror="ran.push(1)">',
    "<script>ran.push(2)</script>",
    "\"'><svg/onload=ran.push(3)>",
    "<iframe srcdoc='<script>parent.ran.push(4)</script>'></iframe>",
    "[click](javascript:ran.push(5)) ![x](javascript:ran.push(6))",
    "`<b onmouseover=ran.push(7)>` **<a href=javascript:ran.push(8)>x</a>**",
    "```\n</code></pre><script>ran.push(9)</script>\n```",
    "</textarea><script>ran.push(10)</script><textarea>",
    "{{constructor.constructor('ran.push(11)')()}} ${ran.push(12)}",
    "<style>body{display:none}</style><base href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=javascript:ran.push(13)'>",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07after \x1b[2Jgone",
    "abc\u202edef\u202c zero\u200bwidth e\u0301 nbsp\u00a0x \u2028line",
    "__proto__ constructor toString\r\ncarriage",
    "\ue000 \U000e0041 \U0001bca0 \ufff0",
)


CHANGED_LATER = {0x1171E}
"""Characters that a newer Unicode than this Python's calls visible."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


def test_no_hostile_text_runs_or_becomes_markup_in_any_panel(browser: Browser) -> None:
    words = "\n".join(CORPUS)
    story = Story()
    story.ask_all(words)
    path = '<img src=x onerror="ran.push(20)">.py'
    hunk = f"@@ -1 +1 @@ {CORPUS[0]}\n-{CORPUS[1]}\n+{CORPUS[12]}\n"
    diff = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{hunk}"
    long = story.ask("review", review(diff, 1, words))
    with served(journal=story.journal, new_page=lambda: Page(Sessions())) as bench:
        spec = ticket("T-1")
        bench.submit(AddTrack("hostile", CORPUS[0], words, (spec, ticket("T-2", "T-1"))))
        bench.submit(StartDiscussion(CORPUS[1]))
        bench.engine.call(_say(bench.front.streams, words))
        with tab(browser, bench.client(bench.tokens.approve).make_link(approve=True)["url"]) as opened:
            for kind, payload in payloads().items():
                del payload
                name = next(one for one in bench.state.pending.values() if bench.state.approvals[one].kind == kind)
                detail = opened.shown(name)
                for action in ("edit", "context", "always"):
                    if (button := detail.locator(f'[data-action="{action}"]')).count():
                        opened.page.wait_for_timeout(320)
                        button.click()
            shown = opened.shown(long)
            assert path in shown.inner_text()
            assert "abc<U+202E>def" in shown.inner_text()
            script = opened.shown("A-1").locator("pre").first.inner_text()
            assert "<U+001B>[31mred" in script
            assert "zero<U+200B>width e<U+0301> nbsp<U+00A0>x" in script
            for panel in ("Board", "Streams", "Discussion", "Usage", "Project"):
                opened.panel(panel)
                opened.page.wait_for_timeout(100)
                found = "#page :is(script, iframe, img, style, base, meta, object, embed, a[href^='javascript'])"
                assert opened.find(found).count() == 0, panel
            opened.panel("Streams")
            assert "red" in opened.find(".stream").inner_text()
            assert "[31m" not in opened.find(".stream").inner_text()


async def _say(streams: Any, words: str) -> None:
    streams.add("Tier 3 (Worker): T-1", words)


def test_the_page_shows_every_text_as_the_window_does(browser: Browser) -> None:
    """The corpus, and every character that is assigned but ideographs."""
    with (
        served(new_page=lambda: Page(Sessions())) as bench,
        tab(browser, f"http://127.0.0.1:{bench.port}/") as opened,
    ):
        got = opened.page.evaluate(
            """async (texts) => {
              const { safe, exact } = await import("/assets/core/text.js");
              const named = (show) => {
                const runs = [];
                for (let code = 0; code < 0xe1000; code += 1) {
                  if (code === 0x20000) code = 0xe0000; // ideographs, and what is not assigned
                  const text = "x" + String.fromCodePoint(code) + "y";
                  if (show(text) === text) continue;
                  if (runs.length && runs.at(-1)[1] === code - 1) runs.at(-1)[1] = code;
                  else runs.push([code, code]);
                }
                return runs;
              };
              return { safe: texts.map(safe), exact: texts.map(exact), runs: [named(safe), named(exact)] };
            }""",
            list(CORPUS),
        )
    assert got["safe"] == [safe(text) for text in CORPUS]
    assert got["exact"] == [exact(text) for text in CORPUS]
    for show, runs in zip((safe, exact), got["runs"], strict=True):
        changed = {code for first, last in runs for code in range(first, last + 1)}
        codes = (*range(0x20000), *range(0xE0000, 0xE1000))
        expected = {code for code in codes if show(f"x{chr(code)}y") != f"x{chr(code)}y"}
        newer = {code for code in changed ^ expected if unicodedata.category(chr(code)) == "Cn"} | CHANGED_LATER
        assert sorted((changed ^ expected) - newer) == []

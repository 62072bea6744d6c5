"""A real headless Chromium for the page: one process for a module, one context for each tab."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

CHROMIUM = shutil.which("chromium")
PATIENCE_MS = 20_000
OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)
WATCH = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`CSP ${event.violatedDirective} ${event.blockedURI}`));
window.ran = [];
"""
"""Runs before the page's own scripts: violations become errors of the console; hostile texts would call `ran.push`."""


class Tab:
    """One tab of the page, in a browser context of its own."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.add_init_script(WATCH)
        page.on("console", lambda message: self._said(message.type, message.text))
        page.on("pageerror", lambda error: self.problems.append(f"error {error}"))
        page.on("dialog", lambda dialog: self.problems.append(f"dialog {dialog.message}"))

    def _said(self, kind: str, text: str) -> None:
        """The browser itself reports refused and broken requests as errors; those are expected here."""
        if kind == "error" and "Failed to load resource" not in text:
            self.problems.append(text)

    def open(self, url: str) -> "Tab":
        self.page.goto(url)
        return self

    def find(self, selector: str, has_text: str | None = None) -> Locator:
        return self.page.locator(selector, has_text=has_text)

    def shown(self, approval: str) -> Locator:
        """The detail of this approval, chosen in the list first if another one is shown."""
        detail = self.page.locator(f'.detail[data-approval="{approval}"]')
        row = self.page.locator(f"#row-{approval}")
        row.click()
        detail.wait_for()
        return detail

    def press(self, approval: str, action: str) -> None:
        """Clicks an action, as a person does who has had the time to read."""
        detail = self.shown(approval)
        self.page.wait_for_timeout(320)  # an approval that has just appeared cannot be answered
        detail.locator(f'[data-action="{action}"]').click()

    def note(self, words: str) -> Locator:
        return self.page.locator(".note", has_text=words).last

    def notes(self, words: str) -> None:
        """Waits for a note with these words."""
        self.note(words).wait_for()

    def panel(self, label: str) -> None:
        self.page.locator("nav button", has_text=label).click()

    def run(self, script: str) -> Any:
        return self.page.evaluate(script)

    def until(self, script: str) -> None:
        """Waits for an expression. The browser's own waiting would need `eval`, which the content policy forbids."""
        for _ in range(PATIENCE_MS // 50):
            if self.run(script):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"it never came true: {script}")


@contextmanager
def browsing() -> Generator[Browser]:
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def tab(browser: Browser, url: str, *, width: int = 1500, height: int = 950, dark: bool = True) -> Generator[Tab]:
    """A tab that must end without a script error and without a violation of the content policy."""
    scheme = "dark" if dark else "light"
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    try:
        opened = Tab(context.new_page())
        yield opened.open(url)
        assert opened.problems == []
        assert opened.run("window.ran") == []
    finally:
        context.close()

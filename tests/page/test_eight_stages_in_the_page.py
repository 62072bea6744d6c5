"""The eight stages from an epic to a worker's text, by clicks in the page of a served workbench."""

from pathlib import Path

from interlock.client import ApiHookClient
from tests.page.browser import Tab, browsing, tab
from tests.simulation.live import MOCK, Live
from tests.simulation.stages import TEXT_REPLY

CLICKED = ("approve", "skip")  # a gate is skipped: the mock changes no file


def test_all_eight_stages_by_clicks_in_the_page(tmp_path: Path) -> None:
    live = Live(tmp_path / "page", "page", logs=tmp_path)
    live.start("serve", "--page", "--test-policy")
    try:
        url = ApiHookClient(live.api_file, approve=True, timeout_s=30).make_link(approve=True)["url"]
        with browsing() as browser, tab(browser, url) as opened:
            _stages(opened)
    finally:
        live.kill()
    assert live.process.returncode == 0, live.output.read_text()


def _stages(opened: Tab) -> None:
    opened.panel("Project")  # 1: provider and mock
    for name, value in (("current_provider", "gemini_cli"), ("gcli_path", MOCK)):
        opened.find(f"#{name}").fill(value)
        opened.find(f"#{name}").press("Tab")
    opened.until("document.querySelector('.bottom').innerText.includes('gemini_cli')")
    opened.find("#save").click()
    opened.notes("saved in interlock.toml")
    opened.panel("Board")  # 2: the epic
    opened.page.get_by_label("New epic").fill("Simulate the whole way")
    opened.page.get_by_role("button", name="Plan it").click()
    opened.find(".inbox-row", has_text="Epic E-1 as 2 tracks").wait_for()  # 3: the proposal
    opened.find(".track", has_text="Mock Goal 1").wait_for()
    opened.find(".inbox-row", has_text="Epic E-1").click()  # 4: accepted
    opened.find(".detail h3", has_text="Epic E-1").wait_for()
    opened.page.wait_for_timeout(320)
    opened.find('.detail [data-action="approve"]').click()
    opened.find(".track", has_text="Mock Goal 1").locator("span", has_text="0/2").wait_for()  # 5: listed
    opened.find(".track", has_text="Mock Goal 1").click()  # 6: shown
    opened.find(".ticket b", has_text="mock-ticket-1").wait_for()
    opened.find(".ticket b", has_text="mock-ticket-2").wait_for()
    for _ in range(60):  # 7: it runs until it is done
        if opened.find(".track.chosen", has_text="done").count():
            break
        _answer_one(opened)
    assert "2/2" in opened.find(".track.chosen").inner_text()
    opened.panel("Streams")  # 8: the workers' texts
    key = opened.find("option", has_text="Tier 3").first.get_attribute("value")
    opened.find("select").select_option(key)
    opened.find(".stream", has_text=TEXT_REPLY[:40]).wait_for()


def _answer_one(opened: Tab) -> None:
    """Answers what is shown, or waits until something is or the track is done."""
    opened.until(
        "document.querySelector('.detail [data-action]:not(:disabled)')"
        " || document.querySelector('.track.chosen').innerText.includes('done')"
    )
    shown = opened.find(".detail")
    if not shown.count():
        return
    approval = shown.get_attribute("data-approval")
    opened.page.wait_for_timeout(320)
    for action in CLICKED:
        button = opened.find(f'.detail[data-approval="{approval}"] [data-action="{action}"]')
        if button.count():
            button.click()
            opened.until(f"document.querySelector('.detail')?.dataset.approval !== '{approval}'")
            return

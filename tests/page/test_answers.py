"""Answers in the page, in a real browser: every kind, edits, parts, comments, keys, and who was first."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from interlock.api.page.page import Page
from interlock.api.page.sessions import Sessions
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.values.approvals import Answered, ScriptPayload, StepPayload
from tests.api.serving import Served, served, until
from tests.page.asked import GIT, Story, payloads, review
from tests.page.browser import Tab, browsing, tab

KINDS = payloads()
EQUAL = 3


CLICK_AT_ONCE = """([shown, row]) => new Promise((done) => {
  const look = new MutationObserver(() => {
    const button = document.querySelector('.detail [data-action="approve"]');
    if (document.querySelector('.detail')?.dataset.approval === shown || !button) return;
    look.disconnect();
    button.click();
    done();
  });
  look.observe(document.querySelector('.inbox'), { subtree: true, childList: true, attributes: true });
  document.querySelector(row).click();
})"""
"""Clicks Approve in the moment in which another approval appears."""


class Desk:
    """One server and one tab for all tests of this module; each test has approvals of its own."""

    def __init__(self, bench: Served, open_tab: Tab, asked: dict[str, str]) -> None:
        self.bench = bench
        self.tab = open_tab
        self.asked = asked

    def answer(self, approval: str) -> Answered:
        until(lambda: isinstance(self.bench.state.approvals[approval].state, Answered))
        answer = self.bench.state.approvals[approval].state
        assert isinstance(answer, Answered)
        return answer

    def press(self, test: str, action: str) -> str:
        self.tab.press(self.asked[test], action)
        return self.asked[test]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def desk(browser: Browser) -> Iterator[Desk]:
    story = Story()
    asked = dict(story.ask_all())
    script = KINDS["script"]
    assert isinstance(script, ScriptPayload)
    for test in ("edited", "always", "lost", "key", "taken_back", "message", "refused_edit", "focus"):
        asked[test] = story.ask("script", ScriptPayload(f"echo {test}", "/work", ("PATH",), "bubblewrap"))
    asked["crlf"] = story.ask("script", ScriptPayload("one\r\ntwo", "/work", ("PATH",), "bubblewrap"))
    for test, kind in (("hunks", "tool"), ("arguments", "ask"), ("prompt", "spawn")):
        asked[test] = story.ask(kind, payloads(test)[kind])  # pyright: ignore[reportArgumentType]
    asked["parts"] = story.ask("review", review(GIT, 2, "parts"))
    asked["changes"] = story.ask("merge", payloads("changes")["merge"], track="changed")
    for number in range(EQUAL):
        asked[f"equal{number}"] = story.ask("step", StepPayload("the same", "shell", "true"))
    with served(journal=story.journal, new_page=lambda: Page(Sessions())) as bench:
        url = bench.client(bench.tokens.approve).make_link(approve=True)["url"]
        with tab(browser, url) as opened:
            opened.find(".detail").wait_for()
            yield Desk(bench, opened, asked)


@pytest.mark.parametrize("kind", ["script", "tool", "step", "spawn", "ask", "tracks", "merge", "review"])
def test_every_kind_is_approved_and_the_page_says_so_after_the_journal_has_it(desk: Desk, kind: str) -> None:
    approval = desk.press(kind, "approve")
    desk.tab.notes(f"Approved {approval}")
    state = desk.bench.state.approvals[approval].state  # without waiting: the note comes after the fsync
    assert isinstance(state, Answered)
    assert (state.decision, state.by, state.edited, state.hunks) == ("approve", "human:ada", None, None)


@pytest.mark.parametrize(("kind", "action"), [("gate", "skip"), ("unknown", "skip")])
def test_what_is_not_approved_has_its_own_answers(desk: Desk, kind: str, action: str) -> None:
    approval = desk.press(kind, action)
    desk.tab.notes(f"Skipped {approval}")
    assert desk.answer(approval).decision == action


def test_the_page_offers_the_actions_of_the_api_with_their_words_and_keys(desk: Desk) -> None:
    approval = desk.asked["changes"]
    detail = desk.tab.shown(approval)
    offered = desk.bench.client().get_approval(approval)["actions"]
    buttons = detail.locator("[data-action]")
    shown = buttons.evaluate_all(
        "all => all.map(one => [one.dataset.action, one.getAttribute('aria-keyshortcuts'), one.innerText])"
    )
    assert [(name, key) for name, key, _ in shown] == [(one["name"], one["key"]) for one in offered]
    assert [text.split("\n")[0].removesuffix(f" {key}") for _, key, text in shown] == [one["label"] for one in offered]


def test_an_edited_script_is_what_runs(desk: Desk) -> None:
    approval = desk.press("edited", "edit")
    desk.tab.find(".edit textarea").fill("echo other\n")
    button = desk.tab.find('[data-action="approve"]')
    expect(button).to_contain_text("Approve edited")
    button.click()
    assert desk.answer(approval).edited == "echo other\n"


def test_a_discarded_edit_is_not_sent_and_line_ends_alone_are_no_edit(desk: Desk) -> None:
    approval = desk.press("crlf", "edit")
    expect(desk.tab.find('[data-action="approve"]')).to_contain_text("Approve a")
    assert "one<U+000D>" in desk.tab.find(".detail pre").inner_text()
    desk.tab.find('[data-action="approve"]').click()
    assert desk.answer(approval).edited is None


def test_arguments_prompt_and_context_are_edited(desk: Desk) -> None:
    asked = desk.press("arguments", "edit")
    desk.tab.find(".edit textarea").fill('{"path": "b.py"}')
    desk.tab.find('[data-action="approve"]').click()
    assert desk.answer(asked).edited == '{"path": "b.py"}'
    spawned = desk.press("prompt", "edit")
    desk.tab.find('[data-action="context"]').click()
    desk.tab.find(".edit textarea").nth(0).fill("another prompt")
    desk.tab.find(".edit textarea").nth(1).fill("another context")
    desk.tab.find('[data-action="approve"]').click()
    answer = desk.answer(spawned)
    assert (answer.edited, answer.edited_context) == ("another prompt", "another context")


def test_some_hunks_of_an_edit_are_accepted(desk: Desk) -> None:
    approval = desk.press("hunks", "parts")
    boxes = desk.tab.find("input.part")
    expect(boxes.first).to_be_focused()
    boxes.nth(1).uncheck()
    button = desk.tab.find('[data-action="approve"]')
    expect(button).to_contain_text("Approve 1 of 2")
    boxes.nth(0).uncheck()
    expect(button).to_be_disabled()
    boxes.nth(0).check()
    button.click()
    assert desk.answer(approval).hunks == (1,)


def test_some_parts_of_a_review_are_accepted_by_their_numbers(desk: Desk) -> None:
    detail = desk.tab.shown(desk.asked["parts"])
    assert "executable" in detail.locator(".diff-file").first.inner_text(), "files with risks come first"
    detail.get_by_label("Part 1", exact=True).uncheck()
    approval = desk.press("parts", "approve")
    assert desk.answer(approval).hunks == (2,)


def test_changes_are_requested_with_a_comment_on_a_line(desk: Desk) -> None:
    detail = desk.tab.shown(desk.asked["changes"])
    button = detail.locator('[data-action="changes"]')
    expect(button).to_be_disabled()
    detail.get_by_label("Comment on line 2 of a.py").click()
    expect(desk.tab.find("#comment")).to_be_focused()
    desk.tab.find("#comment").fill("say which words")
    desk.tab.page.get_by_role("button", name="Add the comment").click()
    detail.get_by_label("Message").fill("almost")
    button.click()
    answer = desk.answer(desk.asked["changes"])
    comments: Any = answer.comments
    assert (answer.decision, answer.message) == ("changes", "almost")
    assert [(one.file, one.line, one.text) for one in comments] == [("a.py", 2, "say which words")]


def test_a_message_goes_with_a_rejection(desk: Desk) -> None:
    desk.tab.shown(desk.asked["message"]).get_by_label("Message").fill("not today")
    approval = desk.press("message", "reject")
    desk.tab.notes(f"Rejected {approval}")
    assert desk.answer(approval).message == "not today"


def test_a_rule_is_shown_before_it_is_written(desk: Desk) -> None:
    approval = desk.press("always", "always")
    desk.tab.find("h4", has_text="This new rule").wait_for()
    assert "echo always" in desk.tab.find('pre[aria-label="rule"]').inner_text()
    assert desk.bench.engine.call(_rules(desk)) == []
    desk.tab.page.get_by_role("button", name="Approve, always").click()
    desk.tab.notes(f"Approved {approval}")
    assert desk.answer(approval).decision == "approve"
    assert desk.bench.engine.call(_rules(desk)) == ["[[policy]]\nscript = 'echo always'\n"]


async def _rules(desk: Desk) -> list[str]:
    equipment: Any = desk.bench.desk.equipment
    return [rule for rule, _ in equipment.rules]


def test_an_answer_that_is_late_says_who_was_first(desk: Desk) -> None:
    approval = desk.asked["lost"]
    detail = desk.tab.shown(approval)
    desk.tab.page.wait_for_timeout(320)
    desk.tab.page.route("**/api/inbox", lambda _: None)  # the list comes late
    desk.bench.submit(AnswerApproval(approval, "reject"), "human:bob")
    detail.locator('[data-action="approve"]').click()
    desk.tab.notes("already answered by human:bob: reject")
    assert desk.tab.find(".note.good", has_text=approval).count() == 0
    desk.tab.page.unroute_all(behavior="ignoreErrors")
    assert desk.answer(approval).by == "human:bob"
    desk.tab.page.reload()
    desk.tab.find(".detail").wait_for()


def test_equal_ones_are_listed_once_and_answered_together(desk: Desk) -> None:
    row = desk.tab.find(".inbox-row", has_text=f"{EQUAL}×")
    row.click()
    desk.tab.page.get_by_role("button", name=f"Approve all {EQUAL} equal").click()
    desk.tab.notes(f"answered {EQUAL}")
    assert {desk.answer(desk.asked[f"equal{number}"]).decision for number in range(EQUAL)} == {"approve"}


# ── keys ─────────────────────────────────────────────────────────────────────────────────


def test_a_letter_answers_after_a_moment_in_which_any_key_takes_it_back(desk: Desk) -> None:
    approval = desk.asked["taken_back"]
    desk.tab.shown(approval)
    desk.tab.page.wait_for_timeout(320)
    desk.tab.find(".inbox-list").press("r")
    desk.tab.find(".held", has_text=f"Rejecting {approval}").wait_for()
    desk.tab.page.keyboard.press("Escape")
    desk.tab.notes(f"{approval} was not answered")
    desk.tab.find(".inbox-list").press("a")
    desk.tab.find(".held", has_text=f"Approving {approval}").wait_for()
    assert not isinstance(desk.bench.state.approvals[approval].state, Answered)
    desk.tab.notes(f"Approved {approval}")
    assert desk.answer(approval).decision == "approve"


def test_letters_do_nothing_outside_of_the_inbox_and_while_a_text_is_written(desk: Desk) -> None:
    approval = desk.asked["key"]
    detail = desk.tab.shown(approval)
    desk.tab.page.wait_for_timeout(320)
    detail.get_by_label("Message").press("a")
    desk.tab.find("nav button").first.press("a")
    desk.tab.find(".inbox-list").press("Control+a")
    assert desk.tab.find(".held span").count() == 0
    assert detail.get_by_label("Message").input_value() == "a"


def test_an_approval_that_has_just_appeared_cannot_be_answered(desk: Desk) -> None:
    shown = desk.tab.find(".detail").get_attribute("data-approval")
    desk.tab.page.evaluate(CLICK_AT_ONCE, [shown, f"#row-{desk.asked['refused_edit']}"])
    assert not isinstance(desk.bench.state.approvals[desk.asked["refused_edit"]].state, Answered)


def test_after_an_answer_the_focus_goes_on_to_the_next_approval(desk: Desk) -> None:
    detail = desk.tab.shown(desk.asked["focus"])
    desk.tab.page.wait_for_timeout(320)
    detail.locator('[data-action="approve"]').press("Enter")
    desk.answer(desk.asked["focus"])
    desk.tab.until("document.activeElement.id === 'asked'")
    assert desk.tab.find(".detail").get_attribute("data-approval") != desk.asked["focus"]


def test_j_and_k_move_and_the_list_tells_which_one_is_chosen(desk: Desk) -> None:
    box = desk.tab.find(".inbox-list")
    box.press("Home")
    first = box.get_attribute("aria-activedescendant")
    box.press("j")
    second = box.get_attribute("aria-activedescendant")
    box.press("k")
    assert (first != second, box.get_attribute("aria-activedescendant")) == (True, first)
    assert desk.tab.find('.inbox-row[aria-selected="true"]').get_attribute("id") == first

"""Sentences are read the same way every time, or refused (SPEC U8)."""

import pytest

from interlock.errors import BadValue
from interlock.uitest.prompts import Step, read_prompt


@pytest.mark.parametrize(
    ("prompt", "steps"),
    [
        ("Open Inbox and verify it loads", [Step("open", "Inbox"), Step("loads", "Inbox")]),
        ("open the Usage panel.", [Step("open", "Usage")]),
        ('Click "Plan it", then wait for "Proposed"', [Step("click", "Plan it"), Step("wait", "Proposed")]),
        (
            "type \"Salt and pepper, then more.\" into Goal; check Goal contains 'pepper'",
            [Step("type", "Goal", "Salt and pepper, then more."), Step("contains", "Goal", "pepper")],
        ),
        ('verify that mma_epic_input equals ""', [Step("equals", "mma_epic_input", "")]),
        (
            "Press button:Reset and check that it is enabled",
            [Step("click", "button:Reset"), Step("enabled", "button:Reset")],
        ),
        ("go to Timeline and see that it is open", [Step("open", "Timeline"), Step("visible", "Timeline")]),
        ('write "a \\"b\\" c" in the Goal field', [Step("type", "Goal", 'a "b" c')]),
        ("wait until Streams appears", [Step("wait", "Streams")]),
        ("click inbox.approve", [Step("click", "inbox.approve")]),
    ],
)
def test_plain_sentences(prompt: str, steps: list[Step]) -> None:
    assert list(read_prompt(prompt)) == steps


@pytest.mark.parametrize("prompt", ["", "  ,  ", "verify it loads", "Do something clever", "type hello into Goal"])
def test_what_cannot_be_read_is_refused(prompt: str) -> None:
    with pytest.raises(BadValue):
        read_prompt(prompt)

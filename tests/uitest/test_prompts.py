"""Prompts are parsed by fixed patterns, or refused."""

import pytest

from interlock.errors import BadValue
from interlock.uitest.prompts import PromptStep, read_prompt


@pytest.mark.parametrize(
    ("prompt", "steps"),
    [
        ("Open Inbox and verify it loads", [PromptStep("open", "Inbox"), PromptStep("loads", "Inbox")]),
        ("open the Usage panel.", [PromptStep("open", "Usage")]),
        ('Click "Plan it", then wait for "Proposed"', [PromptStep("click", "Plan it"), PromptStep("wait", "Proposed")]),
        (
            "type \"Salt and pepper, then more.\" into Goal; check Goal contains 'pepper'",
            [PromptStep("type", "Goal", "Salt and pepper, then more."), PromptStep("contains", "Goal", "pepper")],
        ),
        ('verify that mma_epic_input equals ""', [PromptStep("equals", "mma_epic_input", "")]),
        (
            "Press button:Reset and check that it is enabled",
            [PromptStep("click", "button:Reset"), PromptStep("enabled", "button:Reset")],
        ),
        ("go to Timeline and see that it is open", [PromptStep("open", "Timeline"), PromptStep("visible", "Timeline")]),
        ('write "a \\"b\\" c" in the Goal field', [PromptStep("type", "Goal", 'a "b" c')]),
        ("wait until Streams appears", [PromptStep("wait", "Streams")]),
        ("click inbox.approve", [PromptStep("click", "inbox.approve")]),
    ],
)
def test_plain_sentences(prompt: str, steps: list[PromptStep]) -> None:
    assert list(read_prompt(prompt)) == steps


@pytest.mark.parametrize("prompt", ["", "  ,  ", "verify it loads", "Do something clever", "type hello into Goal"])
def test_unreadable_prompts_are_refused(prompt: str) -> None:
    with pytest.raises(BadValue):
        read_prompt(prompt)

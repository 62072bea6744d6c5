"""Markdown that the text inside it cannot break."""

import re


def fenced(text: str, language: str = "") -> str:
    """A fenced block whose fence is longer than every run of backticks in the text."""
    fence = "`" * max(3, longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def longest_run(text: str) -> int:
    """The length of the longest run of backticks."""
    return max(map(len, re.findall(r"`+", text)), default=0)

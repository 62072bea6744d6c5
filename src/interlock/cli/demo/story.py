"""The demo's content: a small shop with a real bug, and the answers of its scripted model."""

import json
from typing import Any

from interlock.domain.values.markdown import fenced

EPIC = "Tax on small amounts is cut off, not rounded. Round half a cent up, test the edges, and tell our users."
TRACK = "fix-rounding"

FILES = {
    "README.md": "# Shop\n\nA sample project: prices of a small shop.\n",
    "AGENTS.md": "Money is whole cents, never floats in results. Every fix has a test.\n",
    "shop/__init__.py": "",
    "shop/prices.py": '''\
"""Prices, in whole cents."""


def with_tax(cents: int, percent: int) -> int:
    """The price with tax; half a cent is rounded up."""
    return cents + cents * percent // 100
''',
    ".gitignore": "__pycache__/\n",
    "tests/__init__.py": "",
    "tests/test_prices.py": """\
import unittest

from shop.prices import with_tax


class WithTax(unittest.TestCase):
    def test_whole_cents(self) -> None:
        self.assertEqual(with_tax(1000, 19), 1190)

    def test_half_a_cent_is_rounded_up(self) -> None:
        self.assertEqual(with_tax(150, 19), 179)


if __name__ == "__main__":
    unittest.main()
""",
}

TESTS = "python3 -m unittest discover -s tests -t ."

_TRACKS = [
    {
        "id": TRACK,
        "title": "Round prices correctly",
        "description": "with_tax rounds half a cent up; the edges are tested; README and change log say so.",
    }
]
_TICKETS = [
    {
        "id": "T-001",
        "description": "Round half a cent up in with_tax instead of cutting it off",
        "target_file": "shop/prices.py",
        "context_requirements": ["tests/test_prices.py"],
        "verify": [TESTS],
        "priority": "high",
    },
    {
        "id": "T-002",
        "description": "Say in the README how prices are rounded",
        "target_file": "README.md",
        "verify": ["grep -q 'rounded up' README.md"],
    },
    {
        "id": "T-003",
        "description": "Test the edges of with_tax: nothing, no tax, exactly half a cent",
        "target_file": "tests/test_edges.py",
        "context_requirements": ["shop/prices.py"],
        "depends_on": ["T-001"],
        "verify": [TESTS],
    },
    {
        "id": "T-004",
        "description": "Add a change log entry",
        "target_file": "CHANGES.md",
        "depends_on": ["T-002", "T-003"],
        "verify": [TESTS, "test -s CHANGES.md"],
    },
]

_CUT = "cents * percent // 100"
_TO_EVEN = "round(cents * percent / 100)"
_UP = "(cents * percent + 50) // 100"

_EDGES = """\
import unittest

from shop.prices import with_tax


class Edges(unittest.TestCase):
    def test_nothing_costs_nothing(self) -> None:
        self.assertEqual(with_tax(0, 19), 0)

    def test_no_tax_changes_nothing(self) -> None:
        self.assertEqual(with_tax(199, 0), 199)

    def test_exactly_half_a_cent_goes_up(self) -> None:
        self.assertEqual(with_tax(50, 1), 51)
"""


def _fenced(value: object) -> str:
    return fenced(json.dumps(value, indent=1), "json")


def _call(name: str, **args: str) -> dict[str, Any]:
    return {"name": name, "args": args}


def _prices(before: str, after: str) -> dict[str, Any]:
    return _call("edit_file", path="shop/prices.py", old_string=before, new_string=after)


def _rule(match: str, reply: str, used: tuple[int, int], *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    usage = {"input": used[0], "output": used[1]}
    return {"match": match, "reply": reply, "tool_calls": list(calls), "usage": usage, **more}


RULES: list[dict[str, Any]] = [
    _rule("PATH: Epic Initialization", f"One track is enough:\n{_fenced(_TRACKS)}", (640, 118)),
    _rule("PATH: Sprint Planning", f"Two tickets can start at once:\n{_fenced(_TICKETS)}", (1_310, 402)),
    _rule(
        "",
        "Root cause: // cuts the fraction off, so 28.5 cents of tax become 28. Fix: round to the nearest cent.",
        (290, 41),
        tier="Tier 4",
    ),
    # T-001 runs the tests, makes a wrong fix, gets the gate's failure, and fixes the bug.
    _rule(
        "Shell Verification FAILED",
        "round() takes a half to the even cent. Whole numbers round half up exactly.",
        (1_930, 121),
        _prices(_TO_EVEN, _UP),
        ticket="T-001",
    ),
    _rule(
        "QA ANALYSIS:",
        "The analysis is right: the price is cut off. I will use round().",
        (1_512, 96),
        _prices(_CUT, _TO_EVEN),
        ticket="T-001",
    ),
    _rule("# Ticket T-001", "I run the tests first.", (812, 64), _call("run_shell", script=TESTS), ticket="T-001"),
    _rule("", "with_tax rounds to the nearest cent, half a cent up.", (1_702, 31), ticket="T-001"),
    _rule(
        "# Ticket T-002",
        "One sentence does it.",
        (598, 72),
        _call(
            "write_file",
            path="README.md",
            content=f"{FILES['README.md']}\nPrices are whole cents; half a cent is rounded up.\n",
        ),
        ticket="T-002",
    ),
    _rule("", "The README says how prices are rounded.", (690, 18), ticket="T-002"),
    _rule(
        "# Ticket T-003",
        "Three edges, a test each.",
        (871, 188),
        _call("write_file", path="tests/test_edges.py", content=_EDGES),
        ticket="T-003",
    ),
    _rule("", "The edges of with_tax are tested.", (1_080, 16), ticket="T-003"),
    _rule(
        "# Ticket T-004",
        "",
        (560, 58),
        _call(
            "write_file",
            path="CHANGES.md",
            content="# Changes\n\n- Tax on small amounts is rounded, half a cent up, and no longer cut off.\n",
        ),
        ticket="T-004",
    ),
    _rule("", "CHANGES.md names the fix.", (640, 12), ticket="T-004"),
]

PRICE = {"input": 3.0, "output": 15.0}
"""Nominal dollars per million tokens: the scripted model costs nothing."""

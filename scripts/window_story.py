"""The scripted run behind the pictures of the window: refunds that survive a retry. Used by scripts/screenshots.py."""

import json
from typing import Any

EPIC = "Refunds must survive a retry storm: one refund per request, whatever the network does."
QUESTION = "Why can a retry refund twice today?"
_ANSWER = """\
Because the **look** and the **write** are two steps:

```python
existing = store.find(key)   # both requests find nothing
return store.add(order, key) # both add
```
A lock on the row around both is enough; T-008 does that.
"""

_API = '''\
"""Refunds over HTTP."""

from refunds.store import Store


def create_refund(store: Store, order: str, key: str) -> str:
    """One refund for one key."""
    existing = store.find(key)
    if existing:
        return existing
    return store.add(order, key)


def list_refunds(store: Store) -> list[str]:
    return sorted(store.rows.values())


def cancel_refund(store: Store, key: str) -> None:
    store.rows.pop(key, None)


def describe(order: str) -> str:
    return f"refund of {order}"


def partial_refund(store: Store, order: str, paid: int) -> int:
    """What may still be paid back."""
    total = store.totals[order]
    amount = total - paid
    store.note(order, amount)
    return amount
'''
_NEW_API = (
    _API.replace(
        "    existing = store.find(key)\n    if existing:\n        return existing\n    return store.add(order, key)\n",
        "    with store.row_lock(key):\n        existing = store.find(key)\n        if existing:\n"
        "            return existing\n        return store.add(order, key)\n",
    )
    .replace(
        "    amount = total - paid\n",
        "    amount = min(paid, total - store.refunded(order))\n"
        '    if amount <= 0:\n        raise ValueError("nothing is left to refund")\n',
    )
    .replace("    return sorted(store.rows.values())\n", "    return sorted(store.rows.values(), key=str)\n")
)

FILES = {
    "README.md": "# payments-api\n\nRefunds and payouts.\n",
    "AGENTS.md": "Money is whole cents. Every fix has a test.\n",
    "refunds/__init__.py": "",
    "refunds/api.py": _API,
    "refunds/store.py": "class Store:\n    rows: dict[str, str]\n    totals: dict[str, int]\n",
}

_TRACKS = [
    {
        "id": "retry-safe",
        "title": "Retry-safe refunds",
        "description": "A second request with the same key changes nothing.",
    },
    {"id": "idempotency", "title": "Idempotency keys", "description": "Clients choose a key; we keep it for a day."},
    {"id": "ledger", "title": "Ledger export", "description": "Every refund is a row that accounting can read."},
]
_GRAPH: dict[str, tuple[str, tuple[str, ...]]] = {
    "T-001": ("Refund state machine", ()),
    "T-002": ("Outbox table", ("T-001",)),
    "T-003": ("Retry policy type", ("T-001",)),
    "T-004": ("Idempotent POST", ("T-002",)),
    "T-005": ("Dedupe worker", ("T-002", "T-003")),
    "T-006": ("Backoff clock", ("T-003",)),
    "T-007": ("Webhook replay", ("T-004",)),
    "T-008": ("Refund API", ("T-005",)),
    "T-009": ("Partial refunds", ("T-005", "T-006")),
    "T-010": ("Docs", ("T-007", "T-008")),
    "T-011": ("Migration", ("T-005",)),
    "T-012": ("Load test", ("T-009", "T-011")),
}


def _file(ticket: str) -> str:
    return f"refunds/{_GRAPH[ticket][0].lower().replace(' ', '_')}.py"


def _tickets() -> list[dict[str, Any]]:
    return [
        {
            "id": name,
            "description": words,
            "target_file": "refunds/api.py" if name in ("T-008", "T-009") else _file(name),
            "depends_on": list(needs),
            "verify": [f"test -s {_file(name)}"]
            if name not in ("T-008", "T-009", "T-011")
            else ["test -s refunds/api.py"],
        }
        for name, (words, needs) in _GRAPH.items()
    ]


def _fenced(value: object) -> str:
    return f"```json\n{json.dumps(value)}\n```"


def _rule(match: str, reply: str, used: tuple[int, int], *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"match": match, "reply": reply, "usage": {"input": used[0], "output": used[1]}, "tool_calls": calls, **more}


def _write(path: str, content: str) -> dict[str, Any]:
    return {"name": "write_file", "args": {"path": path, "content": content}}


def rules() -> list[dict[str, Any]]:
    small = [
        {
            "id": "L-001",
            "description": "One row for each refund",
            "target_file": "refunds/ledger.py",
            "verify": ["python3 -m compileall -q refunds"],
        }
    ]
    ledger = (
        '"""Refunds as rows that accounting can read."""\n\nimport csv\nfrom typing import TextIO\n\n\n'
        "def export(rows: list[tuple[str, str, int]], out: TextIO) -> None:\n"
        '    """One row for each: day, order, cents."""\n'
        '    writer = csv.writer(out)\n    writer.writerow(("day", "order", "cents"))\n'
        "    writer.writerows(sorted(rows))\n"
    )
    keys = [{"id": f"K-00{n}", "description": words} for n, words in enumerate(("Key table", "Header", "Expiry"), 1)]
    keys[1]["depends_on"] = ["K-001"]  # pyright: ignore[reportArgumentType]
    result = [
        _rule(QUESTION, _ANSWER, (12_300, 260)),
        _rule("PATH: Epic Initialization", f"Three tracks:\n{_fenced(_TRACKS)}", (18_400, 1_900)),
        _rule("/PATH: Sprint Planning(.|\n)*Ledger export/", _fenced(small), (9_100, 400)),
        _rule("/PATH: Sprint Planning(.|\n)*Idempotency keys/", _fenced(keys), (9_100, 700)),
        _rule("PATH: Sprint Planning", f"Twelve tickets:\n{_fenced(_tickets())}", (22_600, 3_100)),
        _rule(
            "# Ticket L-001",
            "A module and nothing else.",
            (8_000, 600),
            _write("refunds/ledger.py", ledger),
            ticket="L-001",
        ),
        _rule("", "Every refund is a row.", (8_400, 90), ticket="L-001"),
        _rule(
            "# Ticket T-008",
            "The second POST reuses the key, but the lock is taken after the read.\n"
            "I will take the row lock first and look again inside the transaction.\n"
            "Then the retry storm of the test finds one refund, not two.\n",
            (31_000, 900),
            ticket="T-008",
            delay_s=120,
        ),
        _rule(
            "# Ticket T-009",
            "Three places change.",
            (28_400, 1_300),
            _write("refunds/api.py", _NEW_API),
            ticket="T-009",
        ),
        _rule(
            "# Ticket T-011",
            "The table needs its key before the API uses it.",
            (24_000, 800),
            {
                "name": "run_shell",
                "args": {
                    "script": "set -eu\nalembic upgrade +1\npython scripts/backfill_refund_keys.py \\\n"
                    '    --batch 500 --database "$TEST_DATABASE_URL"\n'
                },
            },
            ticket="T-011",
        ),
    ]
    for name, (words, _) in _GRAPH.items():
        body = f'"""{words}."""\n\n\ndef ready() -> bool:\n    return True\n'
        result.append(
            _rule(
                f"# Ticket {name}", f"{words}: one small module.", (21_000, 700), _write(_file(name), body), ticket=name
            )
        )
        result.append(_rule("", f"{words} is in place.", (23_000, 120), ticket=name))
    result.append(_rule("", "Done.", (900, 20)))
    return result


PRICE = {"input": 2.0, "output": 10.0}
"""Nominal prices: the scripted model is free."""

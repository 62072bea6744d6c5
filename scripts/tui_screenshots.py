"""Writes the pictures of docs/tui.md: the terminal workbench on a made-up project, as SVG."""

import asyncio
import re
from pathlib import Path
from typing import Any

from immutables import Map
from msgspec.structs import replace

from interlock.domain.review.changed_files import files_of
from interlock.domain.state.schedule import build
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Counts, Track
from interlock.domain.values.approvals import Approval, GateOnTree, Payload, ReviewPayload, ScriptPayload, digest
from interlock.domain.values.tickets import (
    Asking,
    Blocked,
    Completed,
    Reviewing,
    Saved,
    Stage,
    Ticket,
    TicketSpec,
    Todo,
    Working,
)
from tests.tui.still import StillBench, shown

FOLDER = Path(__file__).parents[1] / "docs" / "screenshots"
DIFF = """\
diff --git a/refunds/api.py b/refunds/api.py
--- a/refunds/api.py
+++ b/refunds/api.py
@@ -41,6 +41,8 @@ def create_refund(order: Order, key: Key) -> Refund:
     \"\"\"Refunds an order once, however often it is asked.\"\"\"
-    existing = store.find(key)
-    if existing:
-        return existing
+    with store.row_lock(key):
+        existing = store.find(key)
+        if existing:
+            return existing
     amount = order.total
@@ -88,3 +90,4 @@ def partial_refund(order: Order, paid: int) -> Refund:
-    amount = order.total - paid
+    amount = min(order.total - paid, order.total)
+    require(amount > 0, "nothing left to refund")
     return Refund(order.id, amount)
"""
SCRIPT = """\
set -eu
alembic upgrade +1
python scripts/backfill_refund_keys.py \\
    --batch 500 --database "$TEST_DATABASE_URL"
"""
TICKETS: tuple[tuple[str, str, tuple[str, ...], Stage], ...] = (
    ("T-001", "Refund state machine", (), Completed()),
    ("T-002", "Outbox table", ("T-001",), Completed()),
    ("T-003", "Retry policy type", ("T-001",), Completed()),
    ("T-004", "Idempotent POST", ("T-002",), Completed()),
    ("T-005", "Dedupe worker", ("T-002", "T-003"), Completed()),
    ("T-006", "Backoff clock", ("T-003",), Blocked("its gate failed 5 times: pytest -q tests/backoff")),
    ("T-007", "Webhook replay", ("T-004",), Completed()),
    ("T-008", "Refund API", ("T-005",), Reviewing(Saved("b", "c", "t"), False, "A-2")),
    ("T-009", "Partial refunds", ("T-005",), Working()),
    ("T-010", "Docs", ("T-007", "T-008"), Todo()),
    ("T-011", "Migration", ("T-008",), Asking("A-1")),
    ("T-012", "Load test", ("T-009", "T-011"), Todo()),
)


def state() -> State:
    from datetime import UTC, datetime, timedelta

    at = (datetime.now(UTC) - timedelta(seconds=185)).isoformat(timespec="microseconds").replace("+00:00", "Z")
    made = {
        name: Ticket(
            track="refunds",
            spec=TicketSpec(id=name, description=what, depends_on=needs),
            stage=stage,
            created_at=at,
            started_at=at,
            unverified=name == "T-007",
        )
        for name, what, needs, stage in TICKETS
    }
    order = tuple(made)
    track = Track(
        id="refunds",
        title="Retry-safe refunds",
        description="",
        status="running",
        created_at=at,
        updated_at=at,
        order=order,
        tickets=Map(made),
        counts=Counts(todo=2, in_progress=3, completed=6, blocked=1),
        schedule=build(order, made),
    )
    done = replace(track, id="ledger", title="Ledger export", status="done", order=(), tickets=Map(), counts=Counts())
    asked: tuple[tuple[str, Any, str, Payload], ...] = (
        ("T-011", "script", "it changes a database", ScriptPayload(SCRIPT, "/tree/T-011", ("PATH",), "bubblewrap")),
        (
            "T-008",
            "review",
            "",
            ReviewPayload(
                "b",
                "c",
                "8f3ca91b20d4" * 3,
                DIFF,
                files=files_of(DIFF),
                gates=(GateOnTree("T-008", "pytest -q tests/refunds", "passed", duration_ms=4_100),),
                summary="The row lock makes the second POST wait, so it finds the first refund.",
                cost="$0.31",
                parts=2,
            ),
        ),
    )
    approvals = {
        f"A-{number}": Approval(
            id=f"A-{number}",
            kind=kind,
            asker=f"worker:{ticket}/1",
            track="refunds",
            ticket=ticket,
            why=why,
            payload=payload,
            digest=digest(payload),
            requested_at=at,
        )
        for number, (ticket, kind, why, payload) in enumerate(asked, 1)
    }
    conductor = replace(State().conductor, on=True, contained=True, autonomy="review")
    return State(
        version=4_812,
        tracks=Map({"ledger": done, "refunds": track}),
        track_order=("ledger", "refunds"),
        running=("refunds",),
        busy=1,
        approvals=Map(approvals),
        pending=Map({1: "A-1", 2: "A-2"}),
        conductor=conductor,
    )


async def draw(name: str, size: tuple[int, int], *keys: str, empty: bool = False) -> None:
    bench = StillBench(State() if empty else state())
    bench.name, bench.branch = "payments-api", "main"
    async with shown(bench, size=size) as screen:
        for line in ("edit_file refunds/api.py  +14 -3", "pytest -q tests/refunds", "2 passed in 4.1 s"):
            screen.app.feed.text("Tier 3 (Worker): T-009", f"{line}\n")
        await screen.pilot.pause(0.4)
        await screen.press(*keys)
        await screen.pilot.pause(0.2)
        svg = screen.app.export_screenshot(title="interlock tui")
    svg = re.sub(r"terminal-\d+", "terminal-1", svg)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # no fonts from other machines
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.svg").write_text(svg)
    print(FOLDER / f"{name}.svg")


async def main() -> None:
    await draw("tui-inbox", (100, 34), "j")
    await draw("tui-wide", (170, 44))


if __name__ == "__main__":
    asyncio.run(main())

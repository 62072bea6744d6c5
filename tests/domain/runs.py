"""Sample executions for tests of the test history."""

from typing import Any

from interlock.domain.values.test_history import Execution, History

NOW_MS = 1_767_225_600_000  # 2026-01-01


def ran(number: int = 1, status: str = "passed", name: str = "Click: Save", **more: Any) -> Execution:
    """The execution `grpc_click_<10000000 + number>`, started one second after the previous one."""
    at = NOW_MS + number * 1_000
    fields: dict[str, Any] = {
        "test_id": f"grpc_click_{10_000_000 + number}",
        "name": name,
        "category": "grpc",
        "status": status,
        "queued_at_ms": at,
        "started_at_ms": at + 1,
        "completed_at_ms": at + 11,
        "execution_time_ms": 10,
    }
    return Execution(**{**fields, **more})


def history_of(*executions: Execution) -> History:
    history = History()
    for execution in executions:
        history = history.added(execution, "2026-01-01T00:00:00.000000Z")
    return history

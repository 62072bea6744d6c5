"""Completing futures that a caller in another thread waits for."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


def resolve(future: "Future[Any]", work: Callable[[], Any]) -> None:
    """Do the work, unless the caller has cancelled; its error goes to the caller."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001  goes to the caller
        future.set_exception(error)


def fail(future: "Future[Any]", error: Exception) -> None:
    if not future.done() and future.set_running_or_notify_cancel():
        future.set_exception(error)

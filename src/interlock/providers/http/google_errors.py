"""The `google.rpc` details of Google's error responses."""

from typing import Any, cast

import msgspec
from msgspec import Struct


class GoogleDetails(Struct, frozen=True):
    wait: float | None = None  # seconds until a retry can succeed
    for_today: bool = False  # the daily quota is used up: no retry helps today
    wrong_key: bool = False  # reported with status 400


_NOTHING = GoogleDetails()


class _Error(Struct, frozen=True):
    details: list[dict[str, Any]] = []


class _Body(Struct, frozen=True):
    error: _Error = _Error()


_body = msgspec.json.Decoder(_Body)


def google_details(body: bytes) -> GoogleDetails:
    """The details; empty for a body in another format."""
    try:
        details = _body.decode(body).error.details
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _NOTHING
    wait, for_today, wrong_key = None, False, False
    for detail in details:
        match str(detail.get("@type")).rpartition("/")[2]:
            case "google.rpc.RetryInfo":
                wait = _seconds(detail.get("retryDelay"))
            case "google.rpc.QuotaFailure":
                for_today = for_today or any("PerDay" in name for name in _quotas(detail))
            case "google.rpc.ErrorInfo":
                wrong_key = wrong_key or detail.get("reason") == "API_KEY_INVALID"
            case _:
                pass
    return GoogleDetails(wait, for_today, wrong_key)


def _seconds(delay: Any) -> float | None:
    """A duration in protobuf's JSON format: `34.07s`."""
    try:
        return float(str(delay).removesuffix("s"))
    except ValueError:
        return None


def _quotas(detail: dict[str, Any]) -> list[str]:
    violations = detail.get("violations")
    if not isinstance(violations, list):
        return []
    listed = cast("list[Any]", violations)
    return [str(cast("dict[str, Any]", one).get("quotaId")) for one in listed if isinstance(one, dict)]

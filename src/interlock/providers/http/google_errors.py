"""What Google's refusals say beside their words: `google.rpc` details, each an object with its type."""

from typing import Any, cast

import msgspec
from msgspec import Struct


class GoogleDetails(Struct, frozen=True):
    wait: float | None = None  # seconds until it is worth another try
    for_today: bool = False  # a day's share is used up: no try of today's helps
    wrong_key: bool = False  # which comes as a 400


_NOTHING = GoogleDetails()


class _Error(Struct, frozen=True):
    details: list[dict[str, Any]] = []


class _Body(Struct, frozen=True):
    error: _Error = _Error()


_body = msgspec.json.Decoder(_Body)


def google_details(body: bytes) -> GoogleDetails:
    """Of a body that is none of Google's: nothing."""
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
    """A duration as protobuf writes it in JSON: `34.07s`."""
    try:
        return float(str(delay).removesuffix("s"))
    except ValueError:
        return None


def _quotas(detail: dict[str, Any]) -> list[str]:
    violations = detail.get("violations")
    if not isinstance(violations, list):
        return []
    found = cast("list[Any]", violations)
    return [str(cast("dict[str, Any]", one).get("quotaId")) for one in found if isinstance(one, dict)]

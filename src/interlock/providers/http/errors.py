"""Translates HTTP errors of providers into our error classes, with the time of a retry."""

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, cast

import msgspec

from interlock.errors import InterlockError, Misconfigured, Unavailable
from interlock.providers.http.google_errors import google_details

LONGEST_WAIT_S = 120.0
"""Upper bound of the delay before the next retry."""

_SHOWN = 500  # characters of a provider's error message
_AGAIN = {408, 409, 425, 429}
_HAD_IT = {408, 504, 524}  # a gateway timed out: the model may have worked on the request
_NO_MONEY = ("insufficient_quota", "insufficient balance", "credit balance", "billing")
_HIDDEN = "[redacted]"

Redact = Callable[[str], str]


class NotThere(Misconfigured):
    """The named resource does not exist or is not accessible: a model, or a cache at the vendor."""


def refusal(
    provider: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    key_name: str,
    model: str,
    now: float,
    redact: Redact,
) -> InterlockError:
    """The error for this status. `redact` hides the key as well."""
    message, google = error_text(body, redact), google_details(body)
    words = f": {message}" if message else ""
    if 300 <= status < 400:
        return Misconfigured(
            f"{provider} wants to be asked at another address ({status}), and a key is never sent on to one;"
            " correct the provider's address"
        )
    if status in _AGAIN and (google.for_today or (google.wait is None and _is_billing_error(message))):
        return Misconfigured(f"{provider} has no quota left for this account ({status}){words}")
    if status in _AGAIN or status >= 500 or status < 300:
        wait = retry_after(headers, now)
        wait = _bounded(google.wait) if wait is None else wait
        return Unavailable(f"{provider} is temporarily unavailable ({status}){words}", wait, may_cost=status in _HAD_IT)
    if status in (401, 403) or google.wrong_key:
        what = f"set {key_name} to a key that is good there" if key_name else "it wants a key that it did not get"
        kind = NotThere if status == 403 else Misconfigured
        return kind(f"{provider} does not let us in ({status}); {what}{words}")
    if status == 402:
        return Misconfigured(f"{provider} requires payment first ({status}){words}")
    if status == 404:
        return NotThere(
            f"{provider} has no model {model!r}, or its address is wrong ({status});"
            f" choose another with --model, or correct the address{words}"
        )
    if status == 413:
        return Misconfigured(f"the request is too large for {provider} ({status}); show the model less{words}")
    return Misconfigured(f"{provider} rejects the request ({status}); is the model {model!r} right?{words}")


def error_text(body: bytes, redact: Redact) -> str:
    """The error message of a body: one line, bounded, without secrets."""
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        decoded = None
    text = _message(decoded)
    if text is None:
        text = body.decode(errors="replace")
    return redact(" ".join(text.split()))[:_SHOWN]


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Retry-After in seconds, from a number or a date; bounded; None if it cannot be parsed."""
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return _bounded(seconds)


def _bounded(seconds: float | None) -> float | None:
    return min(max(seconds, 0.0), LONGEST_WAIT_S) if seconds is not None and isfinite(seconds) else None


def _is_billing_error(message: str) -> bool:
    return any(mark in message.lower() for mark in _NO_MONEY)


def redacting_key(key: str, redact: Redact) -> Redact:
    """Redacts this key before all other secrets."""
    return (lambda text: redact(text.replace(key, _HIDDEN))) if key else redact


def _message(decoded: Any) -> str | None:
    """All vendors have an `error` member, with different shapes."""
    if isinstance(decoded, list):
        decoded = next(iter(cast("list[Any]", decoded)), None)
    if not isinstance(decoded, dict):
        return None
    fields = cast("dict[str, Any]", decoded)
    error = fields.get("error", fields)
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return None
    inner = cast("dict[str, Any]", error)
    parts = [str(inner[name]) for name in ("type", "code", "message", "detail") if inner.get(name)]
    return " ".join(dict.fromkeys(parts)) or None

"""What a provider's refusals mean here: who must act, and when to try again (SPEC P8)."""

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, cast

import msgspec

from interlock.errors import InterlockError, Misconfigured, Unavailable
from interlock.providers.http.google_errors import google_details

LONGEST_WAIT_S = 120.0
"""No provider makes us wait longer before the next try, whatever it says."""

_SHOWN = 500  # characters of what a provider says about a refusal
_AGAIN = {408, 409, 425, 429}
_HAD_IT = {408, 504, 524}  # somebody between us waited for an answer: the model may have worked on it
_NO_MONEY = ("insufficient_quota", "insufficient balance", "credit balance", "billing")
_HIDDEN = "[redacted]"

Redact = Callable[[str], str]


class NotThere(Misconfigured):
    """What the request names is not there, or not for us: a model, or something that was kept at the vendor's."""


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
    """The error that an answer with this status is. `redact` hides the key as well."""
    said, google = told(body, redact), google_details(body)
    words = f": {said}" if said else ""
    if 300 <= status < 400:
        return Misconfigured(
            f"{provider} wants to be asked at another address ({status}), and a key is never sent on to one;"
            " correct the provider's address"
        )
    if status in _AGAIN and (google.for_today or (google.wait is None and _no_money(said))):
        return Misconfigured(f"{provider} gives nothing more for this account ({status}){words}")
    if status in _AGAIN or status >= 500 or status < 300:
        wait = retry_after(headers, now)
        wait = _bounded(google.wait) if wait is None else wait
        return Unavailable(f"{provider} does not answer now ({status}){words}", wait, may_cost=status in _HAD_IT)
    if status in (401, 403) or google.wrong_key:
        what = f"set {key_name} to a key that is good there" if key_name else "it wants a key that it did not get"
        kind = NotThere if status == 403 else Misconfigured
        return kind(f"{provider} does not let us in ({status}); {what}{words}")
    if status == 402:
        return Misconfigured(f"{provider} wants to be paid first ({status}){words}")
    if status == 404:
        return NotThere(
            f"{provider} knows no model {model!r}, or its address is wrong ({status});"
            f" choose another with --model, or correct the address{words}"
        )
    if status == 413:
        return Misconfigured(f"the request is too large for {provider} ({status}); show the model less{words}")
    return Misconfigured(f"{provider} does not take the request ({status}); is the model {model!r} right?{words}")


def told(body: bytes, redact: Redact) -> str:
    """What an error's body says, on one line, bounded, without secrets."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found = None
    text = _message(found)
    if text is None:
        text = body.decode(errors="replace")
    return redact(" ".join(text.split()))[:_SHOWN]


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds, from seconds or from a date; bounded, and None where there is nothing to be read."""
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


def _no_money(said: str) -> bool:
    return any(mark in said.lower() for mark in _NO_MONEY)


def hiding(key: str, redact: Redact) -> Redact:
    """Hides this very key before anything else is looked for."""
    return (lambda text: redact(text.replace(key, _HIDDEN))) if key else redact


def _message(found: Any) -> str | None:
    """Vendors agree that there is an `error`, and not on what it is."""
    if isinstance(found, list):
        found = next(iter(cast("list[Any]", found)), None)
    if not isinstance(found, dict):
        return None
    fields = cast("dict[str, Any]", found)
    error = fields.get("error", fields)
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return None
    inner = cast("dict[str, Any]", error)
    said = [str(inner[name]) for name in ("type", "code", "message", "detail") if inner.get(name)]
    return " ".join(dict.fromkeys(said)) or None

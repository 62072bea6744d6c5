"""State that a provider needs back with the next request, stored as text in `Message.session`.

The text begins with the provider's name, so another provider ignores it.
"""

from typing import Any, cast

import msgspec


def kept_state(provider: str, state: dict[str, Any]) -> str:
    return f"{provider} {msgspec.json.encode(state).decode()}" if state else ""


def own_state(provider: str, session: str) -> dict[str, Any] | None:
    """The state; None if there is none, or if it belongs to another provider."""
    name, _, text = session.partition(" ")
    if name != provider or not text:
        return None
    try:
        state = msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return None
    return cast("dict[str, Any]", state) if isinstance(state, dict) else None

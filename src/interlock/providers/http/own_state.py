"""What a provider must get back with the next request, kept as text in `Message.session`.

It begins with the provider's name, so that nobody takes it for their own after a change of provider.
"""

from typing import Any, cast

import msgspec


def kept_state(provider: str, state: dict[str, Any]) -> str:
    return f"{provider} {msgspec.json.encode(state).decode()}" if state else ""


def own_state(provider: str, session: str) -> dict[str, Any] | None:
    """None where there is none, or another's."""
    name, _, text = session.partition(" ")
    if name != provider or not text:
        return None
    try:
        state = msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return None
    return cast("dict[str, Any]", state) if isinstance(state, dict) else None

"""Times as people read them: how long something takes, and the local time of day."""

import time
from datetime import UTC, datetime
from functools import lru_cache

_moments: dict[str, float] = {}


def moment(text: str) -> float:
    seconds = _moments.get(text)
    if seconds is None:
        if len(_moments) > 10_000:
            _moments.clear()
        try:
            seconds = _moments[text] = datetime.fromisoformat(text).timestamp()
        except ValueError:
            return time.time()
    return seconds


def duration(seconds: float) -> str:
    whole = max(0, int(seconds))
    if whole >= 48 * 3_600:
        return f"{whole // 86_400} d"
    hours, rest = divmod(whole, 3_600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


@lru_cache(10_000)  # the same rows are drawn in every frame
def clock(text: str) -> str:
    """The local time of day."""
    return datetime.fromtimestamp(moment(text), UTC).astimezone().strftime("%H:%M:%S")

"""The forecast of the run, computed again only when it can have changed, and not for every ticket of a large run."""

import time
from collections.abc import Sequence

from interlock.domain.state.state import State
from interlock.views.outlook.forecast import forecast, forecast_text

_EVERY_S = 5.0


class Outlook:
    def __init__(self) -> None:
        self._for: object = None
        self._at = -_EVERY_S
        self._text = ""

    def of(self, state: State, tracks: Sequence[str]) -> str:
        """Of the first track that runs; empty with too few finished tickets."""
        running = [state.tracks[name] for name in tracks if name in state.running]
        if not running:
            self._text = ""
            return ""
        track = running[0]
        finished = sum(one.counts.completed for one in state.tracks.values())
        basis = (track.id, track.status, track.counts, track.total, finished, state.conductor.workers)
        if basis != self._for and time.monotonic() - self._at >= _EVERY_S:
            found = forecast(state, track)
            self._for, self._text = basis, forecast_text(found) if found is not None else ""
            self._at = time.monotonic()
        return self._text

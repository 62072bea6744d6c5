"""Performance figures of the window: frame rate, CPU time per frame, latency from an event to its frame."""

import time
from collections import deque

import numpy as np

_EVERY_S = 0.05  # between two updates of the published figures


class Figures:
    """The drawing thread measures; any thread may call `woken` and read the figures."""

    def __init__(self) -> None:
        self.frames: deque[tuple[float, float, float]] = deque(maxlen=600)  # end, CPU ms, latency ms
        self._woken: float | None = None
        self._begun = 0.0
        self._pending_since: float | None = None
        self._cpu_at = (time.perf_counter(), time.process_time())
        self.cpu = 0.0
        self.fps = 0.0
        self.frame_time_ms = 0.0
        self.input_lag_ms = 0.0
        self.count = 0
        self._published_at = 0.0

    def woken(self) -> None:
        if self._woken is None:
            self._woken = time.perf_counter()

    def begin(self) -> None:
        self._pending_since, self._woken = self._woken, None
        self._begun = time.thread_time()

    def end(self) -> None:
        now = time.perf_counter()
        lag = (now - self._pending_since) * 1_000 if self._pending_since is not None else 0.0
        self.frames.append((now, (time.thread_time() - self._begun) * 1_000, lag))
        self.count += 1
        wall, cpu = self._cpu_at
        if now - wall >= 0.5:
            spent = time.process_time()
            self.cpu = 100 * (spent - cpu) / (now - wall)
            self._cpu_at = (now, spent)
        if now - self._published_at < _EVERY_S:
            return
        self._published_at = now
        last = [frame for frame in self.frames if frame[0] > now - 1]
        self.fps = float(len(last))
        self.frame_time_ms = sum(frame[1] for frame in last) / len(last)
        self.input_lag_ms = max(frame[2] for frame in last)

    def recent(self) -> np.ndarray:
        return np.array([frame[1] for frame in self.frames])

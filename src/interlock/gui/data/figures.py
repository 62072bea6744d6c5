"""What the window costs: frames, our own work, how long news takes to be seen."""

import time
from collections import deque

import numpy as np

_EVERY_S = 0.05  # figures of the last second need not be told with every frame


class Figures:
    """Kept by the thread that draws; `woken` and the figures may be used from any."""

    def __init__(self) -> None:
        self.frames: deque[tuple[float, float, float]] = deque(maxlen=600)  # end, our CPU ms, lag ms
        self._woken: float | None = None
        self._begun = 0.0
        self._answering: float | None = None
        self._cpu_at = (time.perf_counter(), time.process_time())
        self.cpu = 0.0
        self.fps = 0.0
        self.frame_time_ms = 0.0
        self.input_lag_ms = 0.0
        self.count = 0
        self._told_at = 0.0

    def woken(self) -> None:
        if self._woken is None:
            self._woken = time.perf_counter()

    def begin(self) -> None:
        self._answering, self._woken = self._woken, None
        self._begun = time.thread_time()

    def end(self) -> None:
        now = time.perf_counter()
        lag = (now - self._answering) * 1_000 if self._answering is not None else 0.0
        self.frames.append((now, (time.thread_time() - self._begun) * 1_000, lag))
        self.count += 1
        wall, cpu = self._cpu_at
        if now - wall >= 0.5:
            spent = time.process_time()
            self.cpu = 100 * (spent - cpu) / (now - wall)
            self._cpu_at = (now, spent)
        if now - self._told_at < _EVERY_S:
            return
        self._told_at = now
        last = [frame for frame in self.frames if frame[0] > now - 1]
        self.fps = float(len(last))
        self.frame_time_ms = sum(frame[1] for frame in last) / len(last)
        self.input_lag_ms = max(frame[2] for frame in last)

    def recent(self) -> np.ndarray:
        return np.array([frame[1] for frame in self.frames])

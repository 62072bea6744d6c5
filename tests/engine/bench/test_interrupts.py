"""A signal whose handler raises may come at any moment of a wait for the engine."""

import asyncio
import sys
import threading
from types import FrameType

from interlock.engine.bench.engine_thread import EngineThread


def test_the_engine_is_awaited_without_a_condition_whose_lock_an_interrupt_could_leave_released() -> None:
    engine = EngineThread()
    entered: list[object] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            entered.append(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        answer = engine.call(asyncio.sleep(0.05, "done"))
    finally:
        sys.setprofile(before)
        engine.stop()
    assert answer == "done"
    assert threading.Condition.wait.__code__ not in entered

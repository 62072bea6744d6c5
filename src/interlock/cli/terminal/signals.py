"""Asked to end from outside: as by Ctrl-C, with everything put right."""

import signal
from types import FrameType


def end_in_order(*, ctrl_c: bool = True, once: bool = False) -> None:
    """`ctrl_c`: also where a shell started us in the background and switched it off.

    `once`: ending takes its bounded time, and a second word does not disturb it.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        if once:
            for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    if ctrl_c:
        signal.signal(signal.SIGINT, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # the terminal was closed; `nohup` means to stay
        signal.signal(signal.SIGHUP, interrupt)

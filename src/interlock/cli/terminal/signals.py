"""SIGTERM and SIGHUP end the process in order, like Ctrl-C."""

import signal
from types import FrameType


def end_in_order(*, ctrl_c: bool = True, once: bool = False) -> None:
    """`ctrl_c`: handle SIGINT even if a shell started the process in the background and made it ignored.

    `once`: ignore further signals, because the shutdown takes bounded time.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        if once:
            for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(ending, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    if ctrl_c:
        signal.signal(signal.SIGINT, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # with `nohup` a closed terminal does not end it
        signal.signal(signal.SIGHUP, interrupt)

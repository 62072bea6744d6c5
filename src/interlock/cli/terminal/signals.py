"""SIGTERM and SIGHUP end the process in order, like Ctrl-C."""

import os
import select
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_WAKING = {*_ENDING, signal.SIGTSTP, signal.SIGCONT}
_NUDGE = signal.SIGURG  # ignored by default, and nothing here uses out-of-band data
_AGAIN_S = 0.05


def end_in_order(*, ctrl_c: bool = True, once: bool = False) -> None:
    """`ctrl_c`: handle SIGINT even if a shell started the process in the background and made it ignored.

    `once`: ignore further signals, because the shutdown takes bounded time.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        if once:
            for ending in _ENDING:
                signal.signal(ending, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    if ctrl_c:
        signal.signal(signal.SIGINT, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # with `nohup` a closed terminal does not end it
        signal.signal(signal.SIGHUP, interrupt)
    wake_main_thread_for_signals()


@contextmanager
def held() -> Generator[None]:
    """Ending signals are delivered after the block. For imports: an extension module that is interrupted may crash."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def read_line(question: str) -> str:
    """`input`, of which a signal makes a KeyboardInterrupt; raises EOFError at the end of the input."""
    try:
        return input(question)
    except SystemError as error:
        # After the handler of an ending signal has raised, `input` runs the handler of the nudge as well, and that
        # call fails because of the exception.
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


def wake_main_thread_for_signals() -> None:
    """Makes sure that a signal reaches its handler while the main thread waits.

    The kernel may deliver a signal to any thread, but Python runs handlers in the main thread only, and only when it
    executes bytecode. Without this, a signal that another thread received, as after SIGSTOP and SIGCONT, would stay
    unnoticed for as long as the main thread waits.
    """
    if signal.getsignal(_NUDGE) is not signal.SIG_DFL:
        return  # done already
    received, wakeup = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(wakeup, False)
    handled, confirm = os.pipe2(os.O_CLOEXEC)
    main_thread = threading.main_thread().ident
    assert main_thread is not None

    def wake() -> None:
        while numbers := os.read(received, 64):
            if not set(numbers) & _WAKING:
                continue
            while select.select([handled], [], [], 0)[0]:
                os.read(handled, 4096)  # confirmations of an earlier signal
            # Not at once: usually the main thread has the signal itself, and needs no nudge. Repeated: a nudge just
            # before the main thread begins to wait would not end that wait.
            while not select.select([handled], [], [], _AGAIN_S)[0]:
                signal.pthread_kill(main_thread, _NUDGE)

    signal.signal(_NUDGE, lambda number, frame: os.write(confirm, b"."))
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    threading.Thread(target=wake, name="signals", daemon=True).start()

"""The entry point of `interlock`. `--version` and `--help` import nothing heavy; handlers are imported late."""

import sys

TYPE_CHECKING = False  # importing `typing` would cost time
if TYPE_CHECKING:
    import signal as _signal
    from types import FrameType
else:
    import _signal  # `signal` would cost time, too

_ENDING = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)


def main(argv: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # the parent process closed it
        import os

        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    # Only `view` accepts file names that are not text; elsewhere such bytes would fail much later.
    if arguments[:1] != ["view"] and not all(map(str.isprintable, arguments)):
        arguments = [word.encode(errors="surrogateescape").decode(errors="replace") for word in arguments]
    try:
        try:
            _interrupt_at_ending_signals()
            _hold_ending_signals()
            code = _dispatch(arguments)
            sys.stdout.flush()  # an error at interpreter exit could not be reported
        finally:
            _end_at_ending_signals()
        return code
    except KeyboardInterrupt:
        return _interrupted()
    except OSError as error:
        return _output_failed(error)


def _interrupt_at_ending_signals() -> None:
    """SIGTERM and SIGHUP end every command as Ctrl-C does, from its start on."""

    def interrupt(number: int, frame: "FrameType | None") -> None:
        ctrl_c = _signal.getsignal(_signal.SIGINT)
        if not callable(ctrl_c):  # a shell made it ignored for a command in the background
            raise KeyboardInterrupt
        ctrl_c(number, frame)  # asyncio's own, while it runs: it cancels the work instead of breaking into it

    for number in (_signal.SIGTERM, _signal.SIGHUP):
        if _signal.getsignal(number) != _signal.SIG_IGN:  # `nohup` ignores SIGHUP
            _signal.signal(number, interrupt)


def _hold_ending_signals() -> None:
    """Delivers them after the imports: extension modules that are interrupted while they load may crash."""
    _signal.pthread_sigmask(_signal.SIG_BLOCK, _ENDING)


def _release_ending_signals() -> None:
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, _ENDING)


def _end_at_ending_signals() -> None:
    """The command is done: until the process has ended, a handler could only print a traceback."""
    # An interrupt inside an `exec` of a text, as in an import, makes the interpreter exit by SIGINT, whatever the code.
    # The next `exec` of a text clears that mark.
    exec("")  # noqa: S102
    _release_ending_signals()  # wrong arguments end the command before that
    for number in _ENDING:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, _signal.SIG_DFL)


def _interrupted() -> int:
    try:
        sys.stdout.flush()
        sys.stderr.write("interrupted\n")
        sys.stderr.flush()
    except OSError:  # the terminal is gone: print nothing more, not even at exit
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 130  # exits.INTERRUPTED; that module is not loaded for --version


def _dispatch(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        from interlock.version import VERSION

        sys.stdout.write(f"interlock {VERSION}\n")
        return 0
    if arguments[:1] == ["--complete"]:  # asked by the completion scripts at each Tab: without the parser
        from interlock.cli.terminal.completing import complete

        return complete(arguments[1:])
    from interlock.cli.words.parser import parse

    namespace = parse(arguments)

    from interlock.cli.arguments import arguments_of, load_handler
    from interlock.cli.terminal.exits import report
    from interlock.errors import InterlockError

    try:
        handler, kind = load_handler(namespace.handler)
        _release_ending_signals()
        return handler(arguments_of(namespace, kind))
    except InterlockError as error:
        return report(error, as_json=getattr(namespace, "json", False))


def _output_failed(error: OSError) -> int:
    """The reader of stdout is gone, or the disk is full: print nothing more there, not even at exit."""
    import contextlib
    import errno
    import os

    gone = isinstance(error, BrokenPipeError)
    full = error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
    if not gone and not full:
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if full:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"interlock: the output cannot be written: {error.strerror}\n")
    return 1  # exits.ERROR


if __name__ == "__main__":
    sys.exit(main())

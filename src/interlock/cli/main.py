"""`interlock …`: the way in. `--version` and `--help` import nothing heavy; everything else is imported late."""

import sys


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # it was closed by whoever started us
        import os

        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    # Bytes that are no text would be refused much later; only a view takes names of any files.
    if words[:1] != ["view"] and not all(map(str.isprintable, words)):
        words = [word.encode(errors="surrogateescape").decode(errors="replace") for word in words]
    try:
        code = _answer(words)
        sys.stdout.flush()  # at the very end it could not be told any more
        return code
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130  # exits.INTERRUPTED, which is not loaded for a version
    except OSError as why:
        return _unwritten(why)


def _answer(words: list[str]) -> int:
    if words in (["--version"], ["-V"]):
        from interlock.version import VERSION

        sys.stdout.write(f"interlock {VERSION}\n")
        return 0
    from interlock.cli.words.parser import parse

    namespace = parse(words)

    from interlock.cli.arguments import arguments_of, load_handler
    from interlock.cli.terminal.exits import report
    from interlock.errors import InterlockError

    try:
        handler, kind = load_handler(namespace.handler)
        return handler(arguments_of(namespace, kind))
    except InterlockError as error:
        return report(error, as_json=getattr(namespace, "json", False))


def _unwritten(why: OSError) -> int:
    """Whoever read our output has gone, or there is no room for it: nothing more is said there, not even at exit."""
    import contextlib
    import errno
    import os

    gone = isinstance(why, BrokenPipeError)
    full = why.filename is None and why.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
    if not gone and not full:
        raise why
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if full:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"interlock: the output cannot be written: {why.strerror}\n")
    return 1  # exits.ERROR


if __name__ == "__main__":
    sys.exit(main())

"""`interlock …`: the way in. `--version` and `--help` import nothing heavy; everything else is imported late."""

import sys


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if not all(map(str.isprintable, words)):  # bytes that are no text would be refused much later
        words = [word.encode(errors="surrogateescape").decode(errors="replace") for word in words]
    if words in (["--version"], ["-V"]):
        from interlock.version import VERSION

        sys.stdout.write(f"interlock {VERSION}\n")
        return 0
    from interlock.cli.parser import parse

    args = parse(words)
    return _run(args.handler, args)


def _run(handler: str, args: object) -> int:
    from importlib import import_module

    from interlock.cli.exits import ERROR, INTERRUPTED, report
    from interlock.errors import InterlockError

    module, _, function = handler.partition(":")
    try:
        return int(getattr(import_module(f"interlock.cli.{module}"), function)(args))
    except InterlockError as error:
        return report(error, args)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; nothing is left to say, and nothing may be said at exit.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ERROR


if __name__ == "__main__":
    sys.exit(main())

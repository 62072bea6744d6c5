"""`interlock tunnel`: the SSH command that brings the page of another machine to this one."""

import re
import shlex

from msgspec import Struct

from interlock.cli.terminal.exits import DONE, ERROR
from interlock.cli.terminal.output import say
from interlock.errors import Misconfigured
from interlock.sandbox.jobs.foreground import run_program

_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.@:-]{0,253}[A-Za-z0-9_])?")


class TunnelArgs(Struct, frozen=True):
    host: str
    port: int
    run: bool


def tunnel(args: TunnelArgs) -> int:
    """The port is the same on both sides: the workbench accepts only its own address as the Host of a request."""
    if not _HOST.fullmatch(args.host):
        raise Misconfigured(f"HOST must be NAME or USER@NAME, not {args.host!r}")
    if not args.port:
        raise Misconfigured("--port must name the port of the workbench")
    words = ["ssh", "-N", "-o", "ExitOnForwardFailure=yes", "-L", f"127.0.0.1:{args.port}:127.0.0.1:{args.port}"]
    words += ["--", args.host]
    if not args.run:
        say(shlex.join(words))
        return DONE
    say(f"forwarding 127.0.0.1:{args.port} to {args.host}; Ctrl-C ends it")
    say(f"for a link to the page, on {args.host} in the project's folder: interlock open --approve --print")
    return DONE if run_program(words) else ERROR

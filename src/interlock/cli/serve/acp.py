"""`interlock acp`: Interlock as an agent of an editor, over stdin and stdout (Agent Client Protocol)."""

import asyncio
import os
import stat
import sys
from pathlib import Path

from interlock.cli.arguments import ModelArgs
from interlock.cli.serve.editor_bench import EditorProjects
from interlock.cli.terminal.exits import DONE, ERROR
from interlock.cli.terminal.output import say
from interlock.cli.terminal.sessions import project_of
from interlock.errors import Misconfigured


def acp(args: ModelArgs) -> int:
    fixed = None if args.project is None else project_of(args).root
    if sys.stdin.isatty():
        say(
            "interlock acp is for editors: it reads JSON-RPC on stdin; docs/editors.md shows their settings", sys.stderr
        )
    if args.script and args.provider != "scripted":
        raise Misconfigured("--script goes with --provider scripted")
    _check_streams()
    protocol = _take_stdout()
    problem = asyncio.run(_serve(args, fixed, protocol))
    if problem:
        say(f"interlock: the editor's messages cannot be read: {problem}", sys.stderr)
    return ERROR if problem else DONE


def _take_stdout() -> int:
    """The real standard output, for the protocol alone: whatever else is printed goes to stderr from now on."""
    sys.stdout.flush()
    protocol = os.dup(1)
    os.dup2(2, 1)
    return protocol


async def _serve(args: ModelArgs, fixed: Path | None, protocol: int) -> str:
    from interlock.editor.serving import serve_editor

    reader, writer = await _streams(protocol)
    projects = EditorProjects(args, fixed)
    try:
        return await serve_editor(reader, writer, projects)
    finally:
        await asyncio.to_thread(projects.close)


async def _streams(protocol: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    output = os.fdopen(protocol, "wb", buffering=0)
    transport, flow = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), output
    )
    return reader, asyncio.StreamWriter(transport, flow, None, loop)


def _check_streams() -> None:
    """The event loop can wait for pipes, sockets and terminals, not for files."""
    for name, number in (("input", 0), ("output", 1)):
        mode = os.fstat(number).st_mode
        if not stat.S_ISFIFO(mode) and not stat.S_ISSOCK(mode) and not os.isatty(number):
            raise Misconfigured(f"the {name} of interlock acp must be a pipe or a socket, as an editor gives it")

"""Runs beside a CLI agent in its sandbox: `python -I -S <a copy of this file> DUTY …`. Imports nothing of Interlock.

`run SOCKET STDIO PORTS -- COMMAND…` runs the agent. Each of the comma-separated ports on the sandbox's own loopback
leads through SOCKET to Interlock, which decides what is behind it. STDIO is `-`, or `pipe`: then the input and the
output of the agent go through SOCKET too.

`ask SOCKET` is the agent's hook: a tool call on stdin, Interlock's decision as output and exit code. Every failure
denies, because agents run the tool if a hook fails with another exit code than 2.

SOCKET is a Unix socket in a folder that only this job has. A connection starts with a JSON line: what it is for.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from typing import Any

_BLOCKS = 2
_CHUNK = 65536
_LONGEST_REPLY = 64 * 1024 * 1024


def ask(path: str) -> int:
    try:
        given = sys.stdin.buffer.read().decode(errors="replace")
        connection = _connect(path)
        connection.sendall(b'{"open": "hook"}\n' + json.dumps(given).encode() + b"\n")
        connection.shutdown(socket.SHUT_WR)
        received = bytearray()
        while piece := connection.recv(_CHUNK):
            received += piece
            if len(received) > _LONGEST_REPLY:
                raise ValueError("the reply is too long")
        reply: dict[str, Any] = json.loads(received)
        code = int(reply["exit"])
        os.write(1, str(reply["stdout"]).encode())
        os.write(2, str(reply["stderr"]).encode())
    except BaseException as error:  # noqa: BLE001  any other end would let the agent run the tool
        os.write(2, f"Interlock was not asked, so the tool is denied: {error!r}\n".encode("ascii", "replace"))
        return _BLOCKS
    return code


def _connect(path: str) -> socket.socket:
    """By a name relative to its folder: the whole path may be longer than the address of a socket can be."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.chdir(os.path.dirname(path))
        connection.connect(os.path.basename(path))
    finally:
        os.fchdir(before)
        os.close(before)
    return connection


async def _open(path: str, purpose: dict[str, Any]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_unix_connection(sock=_connect(path))
    writer.write(json.dumps(purpose).encode() + b"\n")
    return reader, writer


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(_CHUNK):
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.close()


async def _run(path: str, stdio: str, ports: list[int], command: list[str]) -> int:
    async def connected(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await _open(path, {"open": "port", "port": port})
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copy(reader, back), _copy(there, writer))
        for one in (writer, back):
            one.close()

    for port in ports:

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int = port) -> None:
            await connected(port, reader, writer)

        await asyncio.start_server(serve, "127.0.0.1", port)
    if stdio != "pipe":
        child = await asyncio.create_subprocess_exec(*command)
        return await child.wait()
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    there, back = await _open(path, {"open": "stdio"})
    assert child.stdin is not None and child.stdout is not None
    incoming = asyncio.ensure_future(_copy(there, child.stdin))
    await _copy(child.stdout, back)
    incoming.cancel()
    return await child.wait()


def main() -> int:
    words = sys.argv[1:]
    if words[0] == "ask":
        return ask(words[1])
    path, stdio, ports = words[1:4]
    code = asyncio.run(_run(path, stdio, [int(port) for port in ports.split(",") if port], words[5:]))
    if code < 0:  # a signal ended the agent: the same end for the process that waits for this one
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main())

"""A proxy that adds the token, for programs that cannot send a header. A foreign Host stays as it is.

python token_proxy.py HOST:PORT TOKEN      prints its own port
"""

import asyncio
import re
import sys

UPSTREAM, TOKEN = sys.argv[1], sys.argv[2]


async def main() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, to = UPSTREAM.split(":")
        from_server, to_server = await asyncio.open_connection(host, int(to))
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        own = re.compile(rf"(localhost|127\.0\.0\.1):{port}")
        kept = [own.sub(UPSTREAM, line) for line in head.strip().split("\r\n")]
        kept = [line for line in kept if not line.lower().startswith(("authorization:", "connection:"))]
        lines = [*kept, f"Authorization: Bearer {TOKEN}", "Connection: close", "", ""]
        to_server.write("\r\n".join(lines).encode("latin-1"))
        await asyncio.gather(copy(reader, to_server), copy(from_server, writer), return_exceptions=True)

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    print(port, flush=True)
    await listening.serve_forever()


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


asyncio.run(main())

"""A loopback server for a self-test: it is the agent's vendor and the workbench that its hook asks.

As the vendor it makes the calls of a script, one after the other. As the workbench it proves that it knows the ask
token and answers every question alike. It records both sides.
"""

import hmac
import json
import secrets
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from msgspec import Struct

from interlock.hooks.dialects import BODIES, Dialect, ToolCall, adapted, offered_tools, tool_results

_MOST_BODY = 32 * 1024 * 1024

Step = ToolCall | Callable[[list[str]], ToolCall]
"""A call, or a function that makes it from the results so far."""


class Asked(Struct, frozen=True):
    """A question of the hook."""

    tool: str
    args: dict[str, Any]


class StandIn:
    """`decide` answers a question of the hook: True allows the call."""

    def __init__(self, dialect: Dialect, steps: Sequence[Step], decide: Callable[[Asked], bool]) -> None:
        self.token = secrets.token_hex(16)
        self.asked: list[Asked] = []
        self.made: list[ToolCall] = []
        self.offered: dict[str, str] = {}
        self.results: list[str] = []
        self._dialect: Dialect = dialect
        self._steps = steps
        self._decide = decide
        self._lock = Lock()
        self._number = 0

    def answer(self, request: dict[str, Any]) -> bytes:
        """The vendor's answer. A request without tools (a title, a routing question) gets a sentence."""
        with self._lock:
            self._number += 1
            offered, results = offered_tools(request), tool_results(request)
            if not offered:
                return BODIES[self._dialect](None, self._number)
            self.offered |= offered
            self.results = results if len(results) >= len(self.results) else self.results
            call = None
            if len(results) < len(self._steps):
                step = self._steps[len(results)]
                call = step if isinstance(step, ToolCall) else step(results)
                self.made.append(call)
                call = adapted(call, offered)
            return BODIES[self._dialect](call, self._number)

    def decision(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            question = Asked(tool, args)
            self.asked.append(question)
            allowed = self._decide(question)
        message = "" if allowed else "denied by the self-test of Interlock"
        return {"decision": "allow" if allowed else "deny", "args": args, "message": message, "approval": "A-1"}


@contextmanager
def served(stand_in: StandIn) -> Generator[str]:
    """Serve it on a free loopback port. Yields the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            challenge = self.headers.get("X-Interlock-Challenge", "")
            proof = hmac.new(stand_in.token.encode(), challenge.encode(), sha256).hexdigest()
            self._send(b"{}", "application/json", {"X-Interlock-Proof-ask": proof})

        do_HEAD = do_GET

        def do_POST(self) -> None:
            length = min(int(self.headers.get("Content-Length") or 0), _MOST_BODY)
            try:
                request = json.loads(self.rfile.read(length) or b"{}")
            except ValueError:
                return self.send_error(400)
            if self.path == "/api/ask":
                answer = stand_in.decision(str(request["tool"]), request["args"])
                return self._send(json.dumps(answer).encode(), "application/json")
            if "count" in self.path.rpartition("/")[2]:  # count_tokens, :countTokens
                return self._send(b'{"input_tokens": 1, "totalTokens": 1}', "application/json")
            return self._send(stand_in.answer(request), "text/event-stream")

        def _send(self, body: bytes, kind: str, more: dict[str, str] | None = None) -> None:
            self.send_response(200)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)

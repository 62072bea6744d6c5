"""A web server on loopback: each path has an answer of its own, and every request is recorded."""

import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import NamedTuple

from interlock.tools.web.addresses import IpAddress


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)


class Pages:
    def __init__(self) -> None:
        self.answers: dict[str, Answer | Callable[[Request], Answer]] = {}
        self.requests: list[Request] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer_to(self, request: Request) -> Answer:
        self.requests.append(request)
        found = self.answers.get(request.path) or self.answers.get(request.path.partition("?")[0], Answer(status=404))
        return found if isinstance(found, Answer) else found(request)


@contextmanager
def served(trust: ssl.SSLContext | None = None) -> Generator[Pages]:
    """With `trust` it speaks TLS."""
    pages = Pages()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = pages.answer_to(Request(self.command, self.path, headers, self.rfile.read(size)))
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            if not any(name == "Content-Length" for name, _ in answer.headers):
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            pass  # a client may leave before the end

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if trust is not None:
        server.socket = trust.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    pages.port = server.server_address[1]
    try:
        yield pages
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Names:
    """A name service: each name has a list of answers, the last of which is repeated."""

    def __init__(self, **answers: str) -> None:
        self._answers = {name.replace("_", "."): text.split(" then ") for name, text in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, name: str, port: int) -> tuple[IpAddress, ...]:
        self.asked.append(name)
        answers = self._answers.get(name)
        if answers is None:
            raise OSError("no such name")
        now = answers.pop(0) if len(answers) > 1 else answers[0]
        return tuple(ip_address(text) for text in now.split())

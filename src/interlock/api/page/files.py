"""The page's files: static, the same for everybody, and without any data of the project."""

from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from msgspec import Struct

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "webmanifest": "application/manifest+json",
    "png": "image/png",
    "svg": "image/svg+xml",
}
_ROOT = {"index.html": "/", "service-worker.js": "/service-worker.js", "app.webmanifest": "/app.webmanifest"}
"""Files with an address outside of `/assets/`. The scope of a service worker is the folder of its address."""

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
    " manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types interlock-worker"
)
_HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-embedder-policy", b"require-corp"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-cache"),
)


class PageFile(Struct, frozen=True):
    content: bytes
    media_type: str
    etag: str


class PageFiles:
    """All files in memory, by their address."""

    def __init__(self) -> None:
        self.by_path = dict(_collected(files("interlock.api.page").joinpath("assets"), ""))

    async def serve(self, path: str, method: str, known: bytes | None, send: Send) -> int:
        """Sends the file, or that the browser has it already; returns the status."""
        file = self.by_path[path]
        same = known == file.etag.encode()
        body = b"" if same or method == "HEAD" else file.content
        headers = [*_HEADERS, (b"etag", file.etag.encode())]
        if not same:
            length = str(len(file.content)).encode()
            headers += [(b"content-type", file.media_type.encode()), (b"content-length", length)]
        status = 304 if same else 200
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return status


def _collected(folder: Traversable, below: str) -> list[tuple[str, PageFile]]:
    found: list[tuple[str, PageFile]] = []
    for entry in folder.iterdir():
        name = f"{below}{entry.name}"
        if entry.is_dir():
            found += _collected(entry, f"{name}/")
        elif (media_type := _TYPES.get(entry.name.rpartition(".")[2])) is not None:
            content = entry.read_bytes()
            file = PageFile(content, media_type, f'"{sha256(content).hexdigest()[:32]}"')
            found.append((_ROOT.get(name, f"/assets/{name}"), file))
    return found

"""The address under which a reverse proxy on HTTPS offers the page."""

import re
from urllib.parse import urlsplit

from msgspec import Struct

from interlock.errors import Misconfigured

_NAME = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


class PublicUrl(Struct, frozen=True):
    host: str  # with the port, if it is not 443: exactly the Host header
    origin: str


def public_url(text: str) -> PublicUrl:
    """Raises Misconfigured unless the text is https://NAME or https://NAME:PORT and nothing else."""
    try:
        parts = urlsplit(text)
        name, port = parts.hostname or "", parts.port
    except ValueError:
        name, port, parts = "", None, urlsplit("")
    plain = parts.path in ("", "/") and not parts.query and not parts.fragment and "@" not in parts.netloc
    if parts.scheme != "https" or not plain or len(name) > 253 or not _NAME.fullmatch(name):
        raise Misconfigured(f"--public-url must be https://NAME or https://NAME:PORT, not {text!r}")
    host = name if port in (None, 443) else f"{name}:{port}"
    return PublicUrl(host, f"https://{host}")

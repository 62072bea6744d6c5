"""What the page adds to the HTTP API: its files, its sessions, and the address of a reverse proxy."""

from collections.abc import Callable

from interlock.api.page.files import PageFiles
from interlock.api.page.public_url import PublicUrl
from interlock.api.page.sessions import Sessions


class Page:
    def __init__(self, sessions: Sessions, public: PublicUrl | None = None) -> None:
        self.sessions = sessions
        self.public = public
        self.files = PageFiles()

    def origin(self, port: int) -> str:
        """Where a browser opens the page."""
        return self.public.origin if self.public is not None else f"http://127.0.0.1:{port}"


NewPage = Callable[[], Page]

"""Sessions of the page: one-time links, and the browser sessions that they open.

A session needs two secrets: a token, which the page's scripts send in a header, and a cookie, which they cannot read.
Only hashes are stored. They are in the user's state folder, so a restart of the workbench ends no session; links are in
memory only.
"""

import hmac
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex, token_urlsafe

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.api.tokens import publish
from interlock.errors import Misconfigured, NotFound, Rejected
from interlock.identity.careful import read_plain

LINK_S = 300.0
IDLE_S = 8 * 3_600.0
MOST_S = 24 * 3_600.0
MOST_SESSIONS = 64
"""The oldest session ends when another one is opened."""
MOST_LINKS = 64
COOKIE = "interlock_"
"""The cookie's name begins with this; the id of the session follows."""
_USED_EVERY_S = 60.0  # the time of the last use is written this often
_MOST_FILE = 1_000_000
_LONGEST_BROWSER = 120


class PageSession(Struct, frozen=True):
    id: str
    approves: bool
    token: str  # SHA-256, in hexadecimal, as the next one
    cookie: str
    made_at: float  # seconds since 1970, as the next one
    used_at: float
    browser: str


class Lifetimes(Struct, frozen=True):
    idle_s: float = IDLE_S
    most_s: float = MOST_S
    link_s: float = LINK_S


class Link(Struct, frozen=True):
    approves: bool
    ends_at: float
    used: bool = False


class Opened(Struct, frozen=True):
    """A new session with its secrets, which exist only here and in the browser."""

    session: PageSession
    token: str
    cookie: str


class SessionFile:
    """The sessions of one project's workbench, outside of every project (0600)."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> tuple[PageSession, ...]:
        """Without a readable file there is no session."""
        with suppress(OSError, msgspec.MsgspecError, RecursionError):
            return msgspec.json.decode(read_plain(self._path, _MOST_FILE), type=tuple[PageSession, ...])
        return ()

    def write(self, sessions: tuple[PageSession, ...]) -> None:
        publish(self._path, msgspec.to_builtins(sessions))


class Sessions:
    """Used on one thread: the API's loop, or a command without a server."""

    def __init__(
        self,
        file: SessionFile | None = None,
        lifetimes: Lifetimes | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._file = file
        self._lifetimes = lifetimes or Lifetimes()
        self._now = now
        self._links: dict[str, Link] = {}  # by the hash of the secret
        self._sessions = {session.id: session for session in (file.read() if file is not None else ())}

    @property
    def most_s(self) -> float:
        """Seconds after which every session ends, however much it is used."""
        return self._lifetimes.most_s

    # ── links ────────────────────────────────────────────────────────────────────────────

    def make_link(self, *, approves: bool) -> tuple[str, Link]:
        """A secret that opens one session, and its terms."""
        now = self._now()
        self._links = {name: link for name, link in self._links.items() if link.ends_at > now}
        while len(self._links) >= MOST_LINKS:
            del self._links[next(iter(self._links))]
        secret = token_urlsafe(32)
        link = self._links[_hashed(secret)] = Link(approves, now + self._lifetimes.link_s)
        return secret, link

    def open(self, secret: str, browser: str) -> Opened:
        """Exchanges the secret of a link for a session. Raises Rejected for every link but an unused one."""
        name, now = _hashed(secret), self._now()
        link = self._links.get(name)
        if link is None or link.ends_at <= now:
            raise Rejected("this link has expired or is unknown; make a new one: interlock open")
        if link.used:
            raise Rejected("this link was used already; make a new one: interlock open")
        self._links[name] = replace(link, used=True)
        number, token, cookie = token_hex(6), token_urlsafe(32), token_urlsafe(32)
        shown = "".join(character for character in browser if character.isprintable())[:_LONGEST_BROWSER]
        session = PageSession(number, link.approves, _hashed(token), _hashed(cookie), now, now, shown)
        kept = {one.id: one for one in self.live()}
        while len(kept) >= MOST_SESSIONS:
            del kept[next(iter(kept))]
        self._keep({**kept, number: session})
        return Opened(session, f"{number}.{token}", cookie)

    # ── sessions ─────────────────────────────────────────────────────────────────────────

    def find(self, token: str, cookies: str) -> PageSession | None:
        """The live session of this token, if the cookie is its own; its last use is now."""
        number, _, secret = token.partition(".")
        session = self._sessions.get(number)
        if session is None or not secret or self._ends_at(session) <= self._now():
            return None
        known = hmac.compare_digest(_hashed(secret), session.token)
        bound = hmac.compare_digest(_hashed(_cookie(cookies, f"{COOKIE}{number}")), session.cookie)
        if not (known and bound):
            return None
        now = self._now()
        used = self._sessions[number] = replace(session, used_at=now)
        if now - session.used_at > _USED_EVERY_S:
            self._save()
        return used

    def is_live(self, number: str) -> bool:
        session = self._sessions.get(number)
        return session is not None and self._ends_at(session) > self._now()

    def live(self) -> tuple[PageSession, ...]:
        """The sessions that have not ended, oldest first."""
        now = self._now()
        return tuple(session for session in self._sessions.values() if self._ends_at(session) > now)

    def ends_at(self, session: PageSession) -> float:
        return self._ends_at(session)

    def revoke(self, number: str) -> None:
        if number not in {session.id for session in self.live()}:
            raise NotFound(f"no session {number!r}; 'interlock sessions list' shows all")
        self._keep({one.id: one for one in self.live() if one.id != number})

    def revoke_all(self) -> tuple[str, ...]:
        """Unused links end too."""
        ended = tuple(session.id for session in self.live())
        self._links.clear()
        self._keep({})
        return ended

    def _ends_at(self, session: PageSession) -> float:
        return min(session.made_at + self._lifetimes.most_s, session.used_at + self._lifetimes.idle_s)

    def _keep(self, sessions: dict[str, PageSession]) -> None:
        before, self._sessions = self._sessions, sessions
        try:
            self._save()
        except Misconfigured:
            self._sessions = before
            raise

    def _save(self) -> None:
        if self._file is not None:
            self._file.write(tuple(self._sessions.values()))


def _hashed(secret: str) -> str:
    return sha256(secret.encode(errors="surrogateescape")).hexdigest()


def _cookie(header: str, name: str) -> str:
    """The value of a cookie; empty if it is missing or given twice."""
    pairs = [part.strip().partition("=") for part in header.split(";")]
    values = [value for key, _, value in pairs if key == name]
    return values[0] if len(values) == 1 else ""

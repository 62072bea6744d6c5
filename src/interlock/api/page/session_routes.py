"""`/api/links` and `/api/sessions`: who may use the page, and until when."""

from datetime import UTC, datetime
from typing import Any, Literal

from litestar import Response, delete, get, post
from litestar.datastructures import Cookie
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody

from interlock.api.bridge import Bridge
from interlock.api.live import Live
from interlock.api.page.page import Page
from interlock.api.page.sessions import COOKIE, PageSession
from interlock.api.routes.replies import WRITES, Asking, promises
from interlock.api.schemas.page import LinkSecret, LinkShape, NewLink, OpenedSession, Revoked, SessionList, SessionShape
from interlock.errors import NotAllowed, Rejected


def session_routes(bridge: Bridge, live: Live, page: Page | None) -> list[HTTPRouteHandler]:
    return [_link_route(bridge, page), _opening_route(bridge, page), *_revoking_routes(live, page)]


def _link_route(bridge: Bridge, page: Page | None) -> HTTPRouteHandler:
    @post(
        "/api/links",
        operation_id="ApiLinksMake",
        status_code=200,
        responses=promises(409, 413, 415, 422, 503),
        summary="Make a link that opens the page",
    )
    async def make_link(request: Asking, data: JSONBody[NewLink]) -> LinkShape:
        """The link works once, for five minutes. A browser session cannot make links."""
        sessions = _served(page).sessions
        _must_be_a_terminal(request, "make links")
        if data.approve:
            if request.scope["state"]["capability"] != "approve":
                raise NotAllowed("a link for answering approvals needs the approve token: interlock open --approve")
            if bridge.sandbox == "off":
                raise Rejected("with the sandbox off, approvals can be answered only in a window or a terminal")
        secret, link = sessions.make_link(approves=data.approve)
        port = request.scope["server"][1] if request.scope["server"] else 0
        return LinkShape(
            f"{_served(page).origin(port or 0)}/#link={secret}", _right(approves=link.approves), _time(link.ends_at)
        )

    return make_link


def _opening_route(bridge: Bridge, page: Page | None) -> HTTPRouteHandler:
    @post(
        "/api/sessions",
        operation_id="ApiSessionsOpen",
        status_code=200,
        responses=WRITES,
        security=[{}],
        summary="Exchange the secret of a link for a session",
    )
    async def open_session(request: Asking, data: JSONBody[LinkSecret]) -> Response[OpenedSession]:
        """Needs no token, but the header `Origin` of the page. The reply sets the session's cookie."""
        served = _served(page)
        opened = served.sessions.open(data.link, request.headers.get("user-agent", ""))
        session = opened.session
        secure = served.public is not None and request.headers.get("origin") == served.public.origin
        ends_at = served.sessions.ends_at(session)
        cookie = Cookie(
            key=f"{COOKIE}{session.id}",
            value=opened.cookie,
            path="/api",
            httponly=True,
            samesite="strict",
            secure=secure,
            max_age=int(served.sessions.most_s),
        )
        reply = OpenedSession(
            session.id,
            opened.token,
            _right(approves=session.approves),
            bridge.person.removeprefix("human:"),
            _time(ends_at),
        )
        return Response(reply, cookies=[cookie])

    return open_session


def _revoking_routes(live: Live, page: Page | None) -> list[HTTPRouteHandler]:
    @get(
        "/api/sessions",
        operation_id="ApiSessionsList",
        responses=promises(409, 422),
        summary="List the sessions of the page",
        sync_to_thread=False,
    )
    def list_sessions() -> SessionList:
        """Lists the sessions that have not ended, oldest first. No secret is shown."""
        sessions = _served(page).sessions
        return SessionList([_shown(session, sessions.ends_at(session)) for session in sessions.live()])

    @delete(
        "/api/sessions/{session:str}",
        operation_id="ApiSessionsRevoke",
        status_code=200,
        responses=WRITES,
        summary="End a session of the page",
    )
    async def revoke_session(request: Asking, session: FromPath[str]) -> Revoked:
        """Ends the session at once, with its event streams. A session that may not approve can end only itself."""
        own = request.scope["state"].get("session", "")
        if own and own != session and request.scope["state"]["capability"] != "approve":
            raise NotAllowed("this browser session can end only itself")
        _served(page).sessions.revoke(session)
        live.wake()
        return Revoked([session])

    @delete(
        "/api/sessions",
        operation_id="ApiSessionsRevokeAll",
        status_code=200,
        responses=WRITES,
        summary="End all sessions of the page",
    )
    async def revoke_sessions(request: Asking) -> Revoked:
        """Ends all sessions and all unused links."""
        _must_be_a_terminal(request, "end all sessions")
        ended = _served(page).sessions.revoke_all()
        live.wake()
        return Revoked(list(ended))

    return [list_sessions, revoke_session, revoke_sessions]


def _served(page: Page | None) -> Page:
    if page is None:
        raise Rejected("this workbench serves no page; start it with: interlock serve --page")
    return page


def _must_be_a_terminal(request: Asking, what: str) -> None:
    state: dict[str, Any] = request.scope["state"]
    if state.get("session"):
        raise NotAllowed(f"a browser session cannot {what}; use a terminal")


def _shown(session: PageSession, ends_at: float) -> SessionShape:
    return SessionShape(
        session.id,
        _right(approves=session.approves),
        _time(session.made_at),
        _time(session.used_at),
        _time(ends_at),
        session.browser,
    )


def _right(*, approves: bool) -> Literal["drive", "approve"]:
    return "approve" if approves else "drive"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

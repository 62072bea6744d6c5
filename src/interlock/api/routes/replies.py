"""Shared by all routes: replies, errors over HTTP, the caller's authority, and query parameters."""

from difflib import get_close_matches
from typing import Annotated, Any, cast

from litestar import Request, Response
from litestar.exceptions import HTTPException, NotFoundException
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import QueryParameter
from msgspec import UNSET
from msgspec.structs import replace

from interlock import errors
from interlock.api.bridge import Bridge
from interlock.api.schemas.basics import Problem
from interlock.desk.authority import Authority
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.ticket_commands import TicketChanges
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import BadValue, NotAllowed
from interlock.ports.front import Receipt

Asking = Request[Any, Any, Any]

_CODES: tuple[tuple[type[errors.InterlockError], int], ...] = (
    (errors.NotFound, 404),
    (errors.NotAllowed, 403),
    (errors.BadValue, 422),
    (errors.Rejected, 409),
    (errors.Misconfigured, 409),
    (errors.Unavailable, 503),
    (errors.JournalError, 503),
)

_ABOUT = {
    401: "The token is missing or wrong.",
    403: "The token does not permit this, or the request comes from another origin.",
    404: "Nothing has this name. The message lists the nearest names.",
    409: "The current state does not permit this.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The Host header does not name this service.",
    422: "The request is not valid.",
    503: "Not possible now: the journal cannot be written, or the workbench is shutting down.",
}

_LONGEST_SHOWN = 200

Offset = Annotated[int, QueryParameter(ge=0, le=2**53, description="The number of items to skip.")]
Limit = Annotated[int, QueryParameter(ge=1, le=1_000, description="The largest number of items on the page.")]


QUERIES: dict[str, tuple[str, ...]] = {
    "show_approvals": ("state", "order", "offset", "limit"),
    "suggest_rules": ("min",),
    "list_epics": ("offset", "limit"),
    "list_workers": ("offset", "limit"),
    "list_tracks": ("offset", "limit"),
    "list_tickets": ("offset", "limit"),
    "list_discussions": ("offset", "limit"),
    "read_journal": ("after", "limit"),
    "read_usage": ("by",),
    "follow_events": ("after", "states"),
    "show_diff": ("which",),
    "list_executions": ("category", "status", "page_size", "page_token"),
    "show_execution": ("include_logs",),
}
"""The query parameters of each route, by the name of its function."""


def promises(*codes: int) -> dict[int, ResponseSpec]:
    """The error responses of every route, and these ones."""
    return {
        code: ResponseSpec(Problem, description=_ABOUT[code], generate_examples=False)
        for code in (401, 403, 421, *codes)
    }


READS = promises(422)
FINDS = promises(404, 422)
WRITES = promises(404, 409, 413, 415, 422, 503)


def refused(_: Asking, error: errors.InterlockError) -> Response[Problem]:
    code = next((code for kind, code in _CODES if isinstance(error, kind)), 409)
    return Response(Problem(str(error), type(error).__name__), status_code=code)


def framework_error(request: Asking, error: HTTPException) -> Response[Problem]:
    """Translates errors of the framework; its 400 becomes 422, as the description promises."""
    if isinstance(error, NotFoundException):
        return Response(Problem(_no_route(request), "NotFound"), status_code=404)
    code = 422 if error.status_code == 400 else error.status_code
    text = str(error.detail) or error.__class__.__name__
    for fault in cast("list[dict[str, Any]]", error.extra if isinstance(error.extra, list) else []):
        text += f"; {fault.get('key', '')}: {fault.get('message', '')}"
    return Response(Problem(text, type(error).__name__), status_code=code, headers=error.headers)


def _no_route(request: Asking) -> str:
    """A sentence about a path that no route has, with the nearest ones."""
    known = sorted(route.path_format for route in request.app.routes if route.path_format != "/")
    path = request.url.path[:_LONGEST_SHOWN]
    begins = [one for one in known if one.startswith(path.rstrip("/") + "/")]
    near = [*get_close_matches(path, known, n=3, cutoff=0.5), *begins[:3]]
    hint = f"the nearest: {', '.join(dict.fromkeys(near))}" if near else "'GET /openapi.json' lists all routes"
    return f"no route {path!r}; {hint}"


def unreadable(_: Asking, error: Exception) -> Response[Problem]:
    return Response(Problem("the body cannot be read as JSON in UTF-8", "BadValue"), status_code=422)


def failed(_: Asking, error: Exception) -> Response[Problem]:
    """A bug of the server: the client learns only the error's class."""
    return Response(Problem("internal error: this is a bug in Interlock", type(error).__name__), status_code=500)


def raw(body: bytes) -> Response[Any]:
    """A reply whose body is JSON already."""
    return Response(body, media_type="application/json")


async def submit(bridge: Bridge, request: Asking, command: Command) -> Receipt:
    """Submits a command for the caller."""
    return await bridge.run_on_engine(bridge.front.submit(authority_of(bridge, request).actor, command))


def require_network_right(by: Authority, *gates: tuple[Gate, ...]) -> None:
    """Only a caller that may answer approvals may add gates with network access."""
    if any(gate.network for group in gates for gate in group):
        by.must_answer()


def shown_first(by: Authority, specs: tuple[TicketSpec, ...]) -> tuple[TicketSpec, ...]:
    """Gate commands of a caller that may not answer approvals are shown first: the ticket waits for a step approval."""
    if by.answers:
        return specs
    return tuple(replace(spec, step_mode=True) if _runs_gates(spec.verify) else spec for spec in specs)


def changes_shown_first(by: Authority, spec: TicketSpec, changes: TicketChanges) -> TicketChanges:
    """The same for an edit. Such a caller cannot switch the step approval off."""
    verify = spec.verify if changes.verify is UNSET else changes.verify
    if by.answers or not _runs_gates(verify):
        return changes
    if changes.step_mode is False:
        raise NotAllowed(
            "this token may not switch step_mode off: a person must see the gate commands of the ticket first"
        )
    return changes if changes.verify is UNSET else replace(changes, step_mode=True)


def _runs_gates(verify: tuple[Gate, ...]) -> bool:
    return any(gate.criteria is None for gate in verify)


def authority_of(bridge: Bridge, request: Asking) -> Authority:
    """The rights that the token of this request grants."""
    capability, session = request.scope["state"]["capability"], request.scope["state"].get("session", "")
    test = bridge.test_policy and capability == "drive" and not session  # a browser session is a person's
    return Authority(
        actor="test:api" if test else bridge.person,
        answers=(capability == "approve" or test) and bridge.sandbox != "off",
        places=bridge.test_policy,
        why_not="with the sandbox off, approvals can be answered only in a window or a terminal"
        if bridge.sandbox == "off"
        else _LOOKS_AND_DRIVES
        if session and capability != "approve"
        else "",
        session=session,
    )


_LOOKS_AND_DRIVES = "this browser session may not answer approvals; open the page with: interlock open --approve"


async def known_query(request: Asking) -> None:
    """Refuses unknown query parameters instead of ignoring them."""
    if not request.scope["query_string"]:
        return
    known = QUERIES.get(request.scope["route_handler"].fn.__name__, ())
    for name in request.query_params:
        if name not in known:
            hint = f"; known are {', '.join(known)}" if known else ""
            raise BadValue(f"no query parameter {name!r} here{hint}")


def next_offset(offset: int, shown: int, total: int) -> int | None:
    return offset + shown if offset + shown < total else None

"""How routes answer: what each error is over HTTP, and which answers the description promises."""

from typing import Annotated, Any, cast

from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import QueryParameter

from interlock import errors
from interlock.api.bridge import Bridge
from interlock.api.routes.schemas import Problem
from interlock.desk.authority import Authority
from interlock.errors import BadValue

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
    401: "no token, or a wrong one",
    403: "this token may not, or the page is of another origin",
    404: "nothing has that name; the nearest names are said",
    409: "not as things stand",
    413: "the body is too large",
    415: "the body is not JSON",
    421: "the Host header is another one's",
    422: "it cannot be understood so",
    503: "it cannot be done now: the journal cannot be written, or the workbench is ending",
}

Offset = Annotated[int, QueryParameter(ge=0, le=2**53, description="how many to leave out at the beginning")]
Limit = Annotated[int, QueryParameter(ge=1, le=1_000, description="how many at most")]


QUERIES: dict[str, tuple[str, ...]] = {
    "inbox": ("state", "offset", "limit"),
    "tracks": ("offset", "limit"),
    "tickets": ("offset", "limit"),
    "discussions": ("offset", "limit"),
    "journal": ("after", "limit"),
    "usage": ("by",),
    "events": ("after",),
    "executions": ("category", "status", "page_size", "page_token"),
    "execution": ("include_logs",),
}
"""By the name of the route's function: what may stand behind the question mark."""


def promises(*codes: int) -> dict[int, ResponseSpec]:
    """The refusals of every route, and those of this one."""
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


def wrong(_: Asking, error: HTTPException) -> Response[Problem]:
    """What the framework refuses: with a sentence, and 422 for whatever cannot be understood."""
    code = 422 if error.status_code == 400 else error.status_code
    words = str(error.detail) or error.__class__.__name__
    for fault in cast("list[dict[str, Any]]", error.extra if isinstance(error.extra, list) else []):
        words += f"; {fault.get('key', '')}: {fault.get('message', '')}"
    return Response(Problem(words, type(error).__name__), status_code=code, headers=error.headers)


def unreadable(_: Asking, error: Exception) -> Response[Problem]:
    return Response(Problem("the body cannot be read as JSON in UTF-8", "BadValue"), status_code=422)


def failed(_: Asking, error: Exception) -> Response[Problem]:
    """A mistake of ours: whoever asked is told no more than its name."""
    return Response(Problem("something went wrong here; it is a bug", type(error).__name__), status_code=500)


def raw(body: bytes) -> Response[Any]:
    """JSON that is made already."""
    return Response(body, media_type="application/json")


def who(bridge: Bridge, request: Asking) -> Authority:
    capability = request.scope["state"]["capability"]
    test = bridge.test_policy and capability == "drive"
    return Authority(
        actor="test:api" if test else bridge.person,
        answers=(capability == "approve" or test) and bridge.sandbox != "off",
        places=bridge.test_policy,
        why_not="with the sandbox off approvals are answered only in a window or a terminal"
        if bridge.sandbox == "off"
        else "",
    )


async def known_query(request: Asking) -> None:
    """A misspelt parameter is a mistake, not nothing."""
    if not request.scope["query_string"]:
        return
    known = QUERIES.get(request.scope["route_handler"].fn.__name__, ())
    for name in request.query_params:
        if name not in known:
            says = f"; known are {', '.join(known)}" if known else ""
            raise BadValue(f"no query parameter {name!r} here{says}")


def next_offset(offset: int, shown: int, total: int) -> int | None:
    return offset + shown if offset + shown < total else None

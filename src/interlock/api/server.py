"""The HTTP server: Litestar and uvicorn on a thread of their own, bound to the loopback address only."""

import asyncio
import logging
import socket
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import uvicorn
import uvloop
from litestar import Litestar, MediaType, Router
from litestar.exceptions import HTTPException
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from msgspec import Struct

from interlock.api.bridge import Bridge
from interlock.api.connections import Unproven, bounded_protocol
from interlock.api.guard import MOST_BODY, Log, RequestGuard
from interlock.api.live import Live
from interlock.api.page.page import NewPage, Page
from interlock.api.page.session_routes import session_routes
from interlock.api.page.view_routes import view_routes
from interlock.api.routes.approval_routes import approval_routes
from interlock.api.routes.ask_routes import Asks, ask_routes
from interlock.api.routes.discussion_routes import discussion_routes
from interlock.api.routes.epic_routes import epic_routes
from interlock.api.routes.gui_routes import gui_routes
from interlock.api.routes.journal_routes import journal_routes
from interlock.api.routes.policy_routes import policy_routes
from interlock.api.routes.replies import failed, framework_error, known_query, refused, unreadable
from interlock.api.routes.status_json import status_json, update_json
from interlock.api.routes.test_history_routes import test_history_routes
from interlock.api.routes.ticket_routes import ticket_routes
from interlock.api.routes.track_routes import track_routes
from interlock.api.routes.undo_routes import undo_routes
from interlock.api.routes.worker_routes import worker_routes
from interlock.api.schemas import (
    approvals,
    basics,
    discussions,
    gui,
    journal,
    mma_status,
    page,
    tickets,
    tracks,
    undo,
    workers,
)
from interlock.api.tokens import Tokens
from interlock.errors import InterlockError, Misconfigured
from interlock.version import VERSION

HOST = "127.0.0.1"
FIRST_PORT, LAST_PORT = 8999, 9010
_SCHEMAS = (approvals, basics, discussions, gui, journal, mma_status, page, tickets, tracks, undo, workers)

ABOUT = """\
Every action of the Interlock window is available here. Driving needs the token in `.interlock/run/api.json`.
Answering approvals needs a second token, which is stored outside the project.
"""


def bind(port: int) -> socket.socket:
    """Binds this port, or the next free one up to the last; 0 binds any free port."""
    for candidate in (port, *range(max(port + 1, FIRST_PORT), LAST_PORT + 1)) if port else (0,):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, candidate))
            listening.listen(1024)
        except OSError:
            listening.close()
            continue
        return listening
    raise Misconfigured(f"no port is free from {port} to {max(port, LAST_PORT)}; choose another with --port")


class _WarningsToLog(logging.Handler):
    """Writes the server's warnings to the log instead of the terminal."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        entry = {"complaint": record.getMessage(), "error": "" if error is None else repr(error)}
        self._log(method="", path="", status=0, **entry)


class ApiServer:
    """`start` returns when the server answers, `stop` when it has ended."""

    def __init__(
        self, bridge: Bridge, tokens: Tokens, listening: socket.socket, log: Log, new_page: NewPage | None = None
    ) -> None:
        self._bridge = bridge
        self._new_page = new_page
        self._tokens = tokens
        self._socket = listening
        self._log = log
        self._ready = threading.Event()
        self._server: uvicorn.Server | None = None
        self._failure: BaseException | None = None
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="api", daemon=True)
        self.live: Live | None = None

    @property
    def port(self) -> int:
        return self._socket.getsockname()[1]

    def start(self, attach: Callable[[Live], None]) -> None:
        """`attach` is called on the API's loop and subscribes to news."""
        self._attach = attach
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise Misconfigured(f"the HTTP API does not start: {self._failure}") from self._failure

    def stop(self) -> None:
        self._stopping = True
        server, live = self._server, self.live
        if server is not None and live is not None:
            server.should_exit = True
            live.call(live.end)
        self._thread.join(timeout=3)
        self._socket.close()

    def _run(self) -> None:
        warnings = _WarningsToLog(self._log)
        logger = logging.getLogger("uvicorn")
        logger.addHandler(warnings)
        logger.propagate = False
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self._serve())
        except BaseException as error:  # noqa: BLE001  `start` reports every failure
            self._failure = error
        finally:
            logger.removeHandler(warnings)
            self._ready.set()

    async def _serve(self) -> None:
        live = Live(asyncio.get_running_loop(), self._bridge.front.state.version)
        asks = Asks(self._bridge, live)
        served = self._new_page() if self._new_page is not None else None
        app = make_app(self._bridge, live, asks, self._ready.set, served)
        guarded = RequestGuard(app, self.port, self._tokens, self._log, page=served)  # pyright: ignore[reportArgumentType]  ASGI, looser
        config = uvicorn.Config(
            guarded,  # pyright: ignore[reportArgumentType]
            loop="none",
            http=bounded_protocol(Unproven()),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
            timeout_keep_alive=75,
            backlog=1024,
        )
        self._server = uvicorn.Server(config)
        self.live = live
        if self._stopping:  # stopped before it had started
            return
        self._attach(live)
        reconnections = asyncio.create_task(asks.await_reconnections())
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            reconnections.cancel()
            with suppress(asyncio.CancelledError):
                await reconnections


def make_app(bridge: Bridge, live: Live, asks: Asks, ready: Callable[[], None], served: Page | None = None) -> Litestar:
    """`served` is the page, if this workbench serves it."""
    status = status_json(bridge, live)

    @asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncGenerator[None]:
        ready()
        yield

    app = Litestar(
        route_handlers=[
            *gui_routes(bridge, live, status),
            *approval_routes(bridge),
            *policy_routes(bridge),
            *ask_routes(asks),
            *epic_routes(bridge),
            *track_routes(bridge),
            *ticket_routes(bridge),
            *worker_routes(bridge),
            *undo_routes(bridge),
            *discussion_routes(bridge),
            *journal_routes(bridge, live, update_json(bridge, live)),
            *test_history_routes(bridge),
            *session_routes(bridge, live, served),
            *view_routes(bridge),
        ],
        lifespan=[lifespan],
        exception_handlers={
            InterlockError: refused,
            HTTPException: framework_error,
            UnicodeDecodeError: unreadable,
            RecursionError: unreadable,
            Exception: failed,
        },  # pyright: ignore[reportArgumentType]
        openapi_config=OpenAPIConfig(
            title="Interlock",
            version=VERSION,
            description=ABOUT,
            path="/",
            render_plugins=[_Description(path="/openapi.json", media_type=MediaType.JSON)],
            components=Components(security_schemes={"token": SecurityScheme(type="http", scheme="bearer")}),
            security=[{"token": []}],
            use_handler_docstrings=True,
        ),
        request_max_body_size=MOST_BODY,
        before_request=known_query,
        logging_config=None,
        debug=False,
    )
    _correct_description(app)
    return app


class _Description(JsonRenderPlugin):
    def receive_router(self, router: Router) -> None:
        """Removes the framework's own answer for unknown paths: a page in HTML."""
        router.routes = [route for route in router.routes if "{" not in route.path_format]


def _correct_description(app: Litestar) -> None:
    """Corrects the framework's description: unknown keys are refused, and malformed requests get 422, not 400."""
    for item in (app.openapi_schema.paths or {}).values():
        for operation in (item.get, item.post, item.patch):
            if operation is not None and operation.responses is not None:
                operation.responses.pop("400", None)
    closed = {name for module in _SCHEMAS for name, shape in vars(module).items() if _refuses_unknown_keys(shape)}
    components = app.openapi_schema.components
    for name, schema in (components.schemas or {}).items() if components else ():
        if name.rpartition(".")[2] in closed:
            schema.additional_properties = False


def _refuses_unknown_keys(shape: object) -> bool:
    return isinstance(shape, type) and issubclass(shape, Struct) and shape.__struct_config__.forbid_unknown_fields

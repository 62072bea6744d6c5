"""A small synchronous client of the HTTP API, for scripts and tests.

It imports only the standard library, and of Interlock only the decision whether a folder's `.interlock` counts.

from interlock.client import ApiHookClient

client = ApiHookClient()
client.set_value("mma_epic_input", "Let users export their data")
client.click("btn_mma_plan_epic")
client.wait_for_value("pending_tracks", True, timeout=60)
"""

import hmac
import http.client
import json
import os
import secrets
import socket
import stat
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import Any, Literal
from urllib.parse import quote, urlencode

from interlock.identity.careful import read_plain
from interlock.identity.standing import FOLDER, approve_file, standing_of, user_state_folder

_MOST_API_FILE = 65536
PAUSE_S = 0.1  # between two attempts to reach a server that does not answer yet
LAST_LOOK_S = 0.25  # for the last look at a condition when its time has passed


class ApiError(Exception):
    """The server's refusal: `status` is the HTTP status, `kind` the error's class, the text its message."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class NotServing(ApiError):
    """No server is reachable, or it does not answer in time."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "NotServing", message)


class Gone(NotServing):
    """The connection broke after the request was sent; the server may or may not have processed it."""


@dataclass(frozen=True)
class Frame:
    """One event of the stream. `id` is the journal's version, or None for an event outside the journal."""

    event: str
    data: Any
    id: int | None = None


@dataclass(frozen=True)
class Server:
    """A server's address and the token for it."""

    host: str
    port: int
    token: str


class ApiHookClient:
    """Finds `.interlock/run/api.json` in this folder or above; `INTERLOCK_API_FILE` names another file.

    With `approve=True` the client uses the approve token, stored outside the project, and may answer approvals.
    """

    def __init__(
        self,
        api_file: str | Path | None = None,
        *,
        approve: bool = False,
        timeout_s: float = 10.0,
        server: Server | None = None,
    ) -> None:
        self._named = Path(api_file) if api_file is not None else None
        self._approve = approve
        self._timeout_s = timeout_s
        self._given = server
        self._server = server
        self._deadline: float | None = None  # of the wait that is under way

    # ── fields and buttons ───────────────────────────────────────────────────────────────

    def get_value(self, field: str) -> Any:
        return self._get(f"/api/gui/value/{quote(field, safe='')}")["value"]

    def set_value(self, field: str, value: Any) -> dict[str, Any]:
        return self._act("set_value", field, value=value)

    def click(self, item: str, user_data: Any = None) -> dict[str, Any]:
        return self._act("click", item, user_data=user_data)

    def select_tab(self, *names: str) -> dict[str, Any]:
        """The last name counts: `select_tab("inbox")`, or `select_tab("tabs", "inbox")`."""
        return self._act("select_tab", "tabs", value=names[-1])

    def select_list_item(self, list_name: str, item: str) -> dict[str, Any]:
        return self._act("select_list_item", list_name, value=item)

    def refresh_from_project(self) -> dict[str, Any]:
        return self._act("refresh_from_project", "")

    def clear_ask(self, ask: str) -> dict[str, Any]:
        return self._act("clear_ask", ask)

    def reset_session(self) -> dict[str, Any]:
        return self._post("/api/session/reset", {})["result"]

    # ── reading ──────────────────────────────────────────────────────────────────────────

    def get_status(self) -> dict[str, Any]:
        return self._get("/status")

    def get_gui_state(self) -> dict[str, Any]:
        return self._get("/api/gui/state")

    def get_mma_status(self) -> dict[str, Any]:
        return self._get("/api/gui/mma_status")

    def get_indicator_state(self, name: str) -> dict[str, bool]:
        return self._get(f"/api/gui/indicator/{quote(name, safe='')}")

    def get_performance(self) -> dict[str, float | None]:
        return self._get("/api/gui/diagnostics")

    def get_gui_health(self) -> dict[str, Any]:
        return self._get("/api/gui/health")

    # ── approvals ────────────────────────────────────────────────────────────────────────

    def list_approvals(self, state: str = "pending") -> list[dict[str, Any]]:
        """All approvals in this state; the pages are joined."""
        approvals: list[dict[str, Any]] = []
        offset: int | None = 0
        while offset is not None:
            page = self._get(f"/api/approvals?{urlencode({'state': state, 'offset': offset, 'limit': 1000})}")
            approvals += page["approvals"]
            offset = page["next_offset"]
        return approvals

    def get_approval(self, approval: str) -> dict[str, Any]:
        return self._get(f"/api/approvals/{quote(approval, safe='')}")

    def answer(
        self,
        approval: str,
        decision: Literal["approve", "reject", "abort", "retry", "skip"],
        *,
        edits: str | dict[str, Any] | None = None,
        hunks: list[int] | None = None,
        message: str = "",
    ) -> dict[str, Any]:
        body = {"decision": decision, "edits": edits, "hunks": hunks, "message": message}
        return self._post(f"/api/approvals/{quote(approval, safe='')}", body)

    def answer_many(
        self,
        approvals: Iterable[Mapping[str, Any]],
        decision: Literal["approve", "reject"],
        *,
        message: str = "",
        selected: bool = False,
    ) -> dict[str, Any]:
        """One answer to approvals as they were read; the reply names those that have changed since."""
        pairs = [{"id": approval["id"], "digest": approval["digest"]} for approval in approvals]
        body = {"approvals": pairs, "decision": decision, "message": message, "selected": selected}
        return self._post("/api/approvals", body)

    # ── rules from experience ────────────────────────────────────────────────────────────

    def suggest_rules(self, least: int = 3) -> dict[str, Any]:
        return self._get(f"/api/policy/suggestions?{urlencode({'min': least})}")

    def accept_rule(self, rule: str, *, everywhere: bool = False, least: int = 3) -> dict[str, Any]:
        return self._post("/api/policy/suggestions", {"rule": rule, "everywhere": everywhere, "min": least})

    def list_rules(self) -> list[dict[str, Any]]:
        return self._get("/api/policy/rules")["rules"]

    def forget_rule(self, rule: str) -> dict[str, Any]:
        return self._request("DELETE", f"/api/policy/rules/{quote(rule, safe='')}", {}, self._timeout_s)

    # ── the page ─────────────────────────────────────────────────────────────────────────

    def make_link(self, *, approve: bool = False) -> dict[str, Any]:
        """A link that opens the page once; `approve` needs a client with the approve token."""
        return self._post("/api/links", {"approve": approve})

    def list_sessions(self) -> list[dict[str, Any]]:
        return self._get("/api/sessions")["sessions"]

    def revoke_session(self, session: str) -> dict[str, Any]:
        return self._request("DELETE", f"/api/sessions/{quote(session, safe='')}", {}, self._timeout_s)

    def revoke_sessions(self) -> dict[str, Any]:
        """Ends all sessions of the page, and all unused links."""
        return self._request("DELETE", "/api/sessions", {}, self._timeout_s)

    def ask(self, tool: str, args: dict[str, Any], *, deadline_s: float | None = None, **more: str) -> dict[str, Any]:
        """Blocks until a person has decided."""
        return self._request("POST", "/api/ask", {"tool": tool, "args": args, "deadline_s": deadline_s, **more}, None)

    # ── waiting ──────────────────────────────────────────────────────────────────────────

    def wait_for_server(self, timeout: float = 15.0) -> bool:
        """Wait until the server answers; False after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._ending_at(deadline):
            while True:
                try:
                    self.get_status()
                except NotServing:
                    if (left := deadline - time.monotonic()) <= 0:
                        return False
                    Event().wait(min(PAUSE_S, left))
                else:
                    return True

    def wait_for_value(self, field: str, expected: Any, timeout: float = 10.0) -> bool:
        """Wait until a field has a value; False after `timeout` seconds. `expected` may be a predicate.

        The client follows the event stream instead of polling.
        """

        def fits() -> bool:
            value = self.get_value(field)
            return bool(expected(value) if callable(expected) else value == expected)

        return self.wait_until(fits, timeout)

    def wait_until(self, true: Callable[[], bool], timeout: float = 10.0) -> bool:
        """Wait until `true()` holds; it is evaluated again after each event, and once at the end.

        `timeout` also limits the requests that `true` makes through this client. Raises NotServing if the workbench
        does not answer.
        """
        deadline = time.monotonic() + timeout
        with self._ending_at(deadline + LAST_LOOK_S), closing(self.events(deadline=deadline)) as events:
            try:
                for _ in events:
                    if true():
                        return True
            except TimeoutError:
                pass
            return true()

    def events(self, after: int | None = None, *, deadline: float | None = None) -> Generator[Frame]:
        """Events as they happen, from now on or after a version, until the server ends.

        `deadline` is a time of `time.monotonic()`; raises TimeoutError after it.
        """
        path = "/api/events" if after is None else f"/api/events?after={after}"
        with self._ending_at(deadline):
            connection = self._open("GET", path, None, self._timeout_s)
        with closing(connection):
            try:
                reply = connection.getresponse()
            except TimeoutError:
                raise NotServing("the workbench did not answer the request for its events in time") from None
            if reply.status != 200:
                raise _problem(reply.status, reply.read())
            yield from _frames(reply, connection.sock or reply, deadline)

    def shutdown(self) -> None:
        self._post("/api/shutdown", {})

    # ── over the wire ────────────────────────────────────────────────────────────────────

    @contextmanager
    def _ending_at(self, deadline: float | None) -> Generator[None]:
        """No request inside the block takes longer than until this time of `time.monotonic()`."""
        outer = self._deadline
        known = [limit for limit in (outer, deadline) if limit is not None]
        self._deadline = min(known) if known else None
        try:
            yield
        finally:
            self._deadline = outer

    def _limit(self, timeout_s: float | None) -> float | None:
        """The seconds that the next step of a request may take."""
        if self._deadline is None:
            return timeout_s
        left = max(0.01, self._deadline - time.monotonic())
        return left if timeout_s is None else min(timeout_s, left)

    def _act(self, action: str, item: str, **fields: Any) -> dict[str, Any]:
        return self._post("/api/gui", {"action": action, "item": item, **fields})["result"]

    def _get(self, path: str) -> Any:
        return self._request("GET", path, None, self._timeout_s)

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return self._request("POST", path, body, self._timeout_s)

    def _request(self, method: str, path: str, body: dict[str, Any] | None, timeout_s: float | None) -> Any:
        with closing(self._open(method, path, body, timeout_s)) as connection:
            try:
                reply = connection.getresponse()
                content = reply.read()
            except TimeoutError:
                raise NotServing(f"the workbench did not answer {method} {path} in time") from None
            except (OSError, http.client.HTTPException) as error:
                self._server = self._given
                raise Gone(f"the workbench is gone: {error!r}") from error
        if reply.status >= 400:
            raise _problem(reply.status, content)
        return json.loads(content)

    def _open(
        self, method: str, path: str, body: dict[str, Any] | None, timeout_s: float | None
    ) -> http.client.HTTPConnection:
        """Send the request on a new connection, after the server has proved that it has the token."""
        server = self._server = self._server or self._find()
        connection = http.client.HTTPConnection(server.host, server.port, timeout=self._limit(self._timeout_s))
        headers = {"Authorization": f"Bearer {server.token}", "Accept": "application/json"}
        content = None
        if body is not None:
            content = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        try:
            prove(connection, server)
            connection.sock.settimeout(self._limit(timeout_s))
            connection.request(method, path, content, headers)
        except (NotServing, OSError, http.client.HTTPException) as error:
            connection.close()
            self._server = self._given  # a restarted server may have another address
            if isinstance(error, NotServing):
                raise
            raise NotServing(f"nothing answers at {server.host}:{server.port}: {error!r}") from error
        return connection

    def _find(self) -> Server:
        """The address and token in the project's file, which is valid only while the project's lock is held."""
        content = read_api_file(self._named or find_api_file())
        if self._approve:
            content = read_api_file(Path(content.get("approve_file", "")))
        return Server(str(content["host"]), int(content["port"]), str(content["token"]))


def find_api_file(name: str = "api.json", start: Path | None = None) -> Path:
    """The nearest file of that name. Raises NotServing if the folder it is in was not made by this user's Interlock."""
    if (named := os.environ.get("INTERLOCK_API_FILE")) and name == "api.json":
        return Path(named)
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if os.path.lexists(file := folder / FOLDER / "run" / name):
            standing = standing_of(folder, user_state_folder())
            if not standing.counts:
                raise NotServing(standing.sentence)
            _check_registered(file, folder)
            return file
    raise NotServing(f"no .interlock/run/{name} from {here} upwards: start 'interlock serve' there first")


def _check_registered(file: Path, root: Path) -> None:
    """Raises NotServing unless the user's state folder names the same server.

    A file in the project can be replaced, for example by a patch; the state folder is outside of every project.
    """
    try:
        here, there = (
            json.loads(read_plain(path, _MOST_API_FILE)) for path in (file, approve_file(user_state_folder(), root))
        )
        same = all(here[key] == there[key] for key in ("host", "port", "pid"))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise NotServing(f"{file} was left behind, or is not of your workbench: {error}") from error
    if not same:
        raise NotServing(f"{file} is not of your workbench: another address is registered for this project")


def read_api_file(file: Path) -> dict[str, Any]:
    """The content of the file. Raises NotServing if no workbench holds the project's lock."""
    try:
        content: dict[str, Any] = json.loads(read_plain(file, _MOST_API_FILE))
        if not isinstance(content, dict) or not all(content.get(key) for key in ("host", "port", "token")):  # pyright: ignore[reportUnnecessaryIsInstance]  # the file can hold anything
            raise ValueError("host, port or token is missing")
    except (OSError, ValueError, RecursionError) as error:
        raise NotServing(f"{file} cannot be used: {error}") from error
    if file.parent.name == "run" and not is_locked(file.parent.parent / "lock"):
        raise NotServing(f"{file} was left behind: no workbench has this project open")
    return content


def prove(connection: http.client.HTTPConnection, server: Server) -> None:
    """Raises NotServing unless the server proves that it has the token. The token itself is not sent."""
    challenge = secrets.token_hex(16)
    expected = hmac.new(server.token.encode(), challenge.encode(), sha256).hexdigest()
    connection.request("GET", "/status", headers={"X-Interlock-Challenge": challenge})
    connection.auto_open = 0  # the proof holds for this connection only
    reply = connection.getresponse()
    reply.read()
    proofs = [reply.getheader(f"X-Interlock-Proof-{kind}", "") for kind in ("drive", "approve", "ask")]
    if not any(hmac.compare_digest(proof.encode(), expected.encode()) for proof in proofs):
        raise NotServing(f"the server at {server.host}:{server.port} is not the workbench of this project")


def is_locked(lock: Path) -> bool:
    """Whether a process holds this lock, read from the kernel without taking the lock."""
    try:
        status = lock.lstat()
    except OSError:
        return False
    if not stat.S_ISREG(status.st_mode):
        return False
    inode = str(status.st_ino)
    try:
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return True  # unknown here; the proof decides
    return any("FLOCK" in line and line.split()[5].rpartition(":")[2] == inode for line in lines if line.strip())


def _frames(
    reply: http.client.HTTPResponse, connection: "socket.socket | http.client.HTTPResponse", deadline: float | None
) -> Generator[Frame]:
    name, identity, lines = "message", None, list[str]()
    while True:
        if isinstance(connection, socket.socket):
            connection.settimeout(None if deadline is None else max(0.01, deadline - time.monotonic()))
        if deadline is not None and time.monotonic() > deadline:
            raise TimeoutError("the deadline has passed")
        try:
            line = reply.readline()
        except (ConnectionError, http.client.HTTPException):
            return
        if not line:
            return
        key, _, value = line.decode().rstrip("\r\n").partition(": ")
        if key == "event":
            name = value
        elif key == "id":
            identity = int(value)
        elif key == "data":
            lines.append(value)
        elif not key and lines:
            yield Frame(name, json.loads("\n".join(lines)), identity)
            name, identity, lines = "message", None, []


def _problem(status: int, body: bytes) -> ApiError:
    try:
        problem = json.loads(body)
        return ApiError(status, str(problem["kind"]), str(problem["error"]))
    except (ValueError, KeyError, TypeError):
        return ApiError(status, "Unknown", f"HTTP {status}: {body[:200].decode(errors='replace')}")

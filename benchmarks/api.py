"""The HTTP API under load: requests per second with wrk, compared with a bare ASGI application in the same server; with
thousands of pending approvals; and from an answer over HTTP to the waiting program.
"""

import json
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.samples import Data, MissingTool, folder, say, take
from benchmarks.table import Row, at_least, at_most, seconds, times
from interlock.assembly.build import conducting
from interlock.assembly.project import open_project
from interlock.assembly.service import ModelSelection, Service
from interlock.client import ApiHookClient
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.tickets import TicketSpec

GROUP = "api"
CLIENTS = 32
RATE, P99_S = 3_000, 0.040
INBOX_S = 0.050
FRAME_S, WORK_S = 1 / 60, 0.008  # simulates a window: its interval and its work per frame


def rows(*, quick: bool) -> list[Row]:
    if shutil.which("wrk") is None:
        raise MissingTool("wrk is not installed (Debian package wrk)")
    span, pending = (2, 1_000) if quick else (10, 10_000)
    result_rows: list[Row] = []
    for window in (False, True):
        say(f"api: wrk with {CLIENTS} clients for {span} s{', a window at work' if window else ''}")
        with folder() as place:
            measured = take("benchmarks.api:load", folder=place, span=span, window=window, limit_s=300)
        result_rows += _load_rows(measured, window=window)
    say(f"api: {pending:,} approvals pending")
    with folder() as place:
        measured = take("benchmarks.api:inbox", folder=place, pending=pending, limit_s=300)
    for name, what in (("list", "a page of 100 approvals"), ("answer", "an answer, fsynced")):
        took = quantiles(measured[name], n=100)[98]
        row = Row(GROUP, f"{what}, {pending:,} pending: p99", seconds(took), reach=f"< {seconds(INBOX_S)}")
        row.value, row.ok = at_most(INBOX_S, took)
        row.note = f"over HTTP, a new connection each; p50 {seconds(median(measured[name]))}"
        result_rows.append(row)
    waits = measured["asks"]
    row = Row(GROUP, "answer sent over HTTP → the program that asked has it: p50", seconds(median(waits)))
    row.note = (
        f"p99 {seconds(quantiles(waits, n=100)[98])}; fsync, two HTTP connections and two Python clients included"
    )
    result_rows.append(row)
    return result_rows


def _load_rows(measured: Data, *, window: bool) -> list[Row]:
    beside = " while a window renders (stand-in: 8 ms of Python, 60 times a second)" if window else ""
    result_rows: list[Row] = []
    for path in ("/api/gui/mma_status", "/api/gui/state", "/status"):
        got = measured[path]
        row = Row(GROUP, f"GET {path}, {CLIENTS} clients{beside}", f"{got['rate']:,.0f}/s", reach=f"≥ {RATE:,}/s")
        row.value, row.ok = at_least(RATE, got["rate"])
        row.note = f"wrk on the same two cores; {got['bytes']:,} bytes an answer"
        bare = measured["bare"]
        result_rows += [
            row,
            Row(
                GROUP,
                f"GET {path}{beside}: beside a bare ASGI application",
                f"{got['rate']:,.0f}/s",
                f"{bare['rate']:,.0f}/s",
                times(got["rate"] / bare["rate"]),
            ),
        ]
        late = Row(GROUP, f"GET {path}{beside}: p99", seconds(got["p99"]), reach=f"< {seconds(P99_S)}")
        late.value, late.ok = at_most(P99_S, got["p99"])
        result_rows.append(late)
    return result_rows


# ── in a separate process ────────────────────────────────────────────────────────────────


def load(folder: str, span: int, window: bool) -> Data:
    service, api = _serve(folder, 20)
    stop = threading.Event()
    renderer = threading.Thread(target=_render, args=(stop,))
    if window:
        renderer.start()
    try:
        token = json.loads(api.read_text())["token"]
        measured: Data = {}
        for path in ("/api/gui/mma_status", "/api/gui/state", "/status"):
            measured[path] = _wrk(f"http://127.0.0.1:{json.loads(api.read_text())['port']}{path}", span, token)
        measured["bare"] = _bare(span)
    finally:
        stop.set()
        if window:
            renderer.join()
        service.stop()
    return measured


def inbox(folder: str, pending: int) -> Data:
    service, api = _serve(folder, pending)
    try:
        client = ApiHookClient(api, approve=True)
        client.get_status()
        durations: dict[str, list[float]] = {"list": [], "answer": [], "asks": []}
        for number in range(1, 201):
            begun = time.perf_counter()
            client._get("/api/approvals?limit=100")  # pyright: ignore[reportPrivateUsage]  the page, not all of it
            listed = time.perf_counter()
            client.answer(f"A-{number}", "reject")
            durations["list"].append(listed - begun)
            durations["answer"].append(time.perf_counter() - listed)
        for number in range(200):
            durations["asks"].append(_ask(client, number))
    finally:
        service.stop()
    return durations


def _ask(client: ApiHookClient, number: int) -> float:
    back: list[float] = []

    def ask() -> None:
        client.ask("Bash", {"n": number}, key=f"k{number}")
        back.append(time.perf_counter())

    waiting = threading.Thread(target=ask)
    waiting.start()
    name = ""
    while not name:
        asked = client.get_value("ask")
        name = asked["id"] if asked and asked["args"] == {"n": number} else ""
    sent = time.perf_counter()
    client.answer(name, "approve")
    waiting.join()
    return back[0] - sent


def _serve(place: str, tickets: int) -> tuple[Service, Path]:
    root = Path(place) / "project"
    root.mkdir()
    project = open_project(root)
    service = Service(
        project, conducting(project, auto_queue=False, approve_all=False, workers=4), ModelSelection(), "human:bench",
        test_policy=True,
    )  # fmt: skip
    opened = service.open()
    specs = tuple(TicketSpec(id=f"T-{n}", assigned_to="shell", script="true") for n in range(tickets))

    async def begin() -> None:
        await opened.workbench.submit("human:bench", AddTrack("many", "Many", "", specs))
        await opened.workbench.submit("human:bench", StartTrack("many"))

    opened.call(begin())
    opened.serve_http(0)
    return service, root / ".interlock" / "run" / "api.json"


def _render(stop: threading.Event) -> None:
    while not stop.is_set():
        begun = time.thread_time()
        while time.thread_time() - begun < WORK_S:
            sum(range(200))
        stop.wait(FRAME_S - WORK_S)


def _bare(span: int) -> Data:
    """The same server with an empty application: the upper bound."""
    import uvicorn

    body = b"x" * 1_000

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
        await send({"type": "http.response.body", "body": body})

    config = uvicorn.Config(
        app, port=0, lifespan="off", log_config=None, access_log=False, http="httptools", loop="uvloop"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        threading.Event().wait(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        return _wrk(f"http://127.0.0.1:{port}/", span, "")
    finally:
        server.should_exit = True
        thread.join()


def _wrk(url: str, span: int, token: str) -> Data:
    words = ["wrk", "-t2", f"-c{CLIENTS}", f"-d{span}s", "--latency", "-H", f"Authorization: Bearer {token}", url]
    output = subprocess.run(words, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])  # pyright: ignore[reportOptionalSubscript]
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", output).groups()  # pyright: ignore[reportOptionalMemberAccess]
    if re.search(r"Non-2xx|Socket errors", output):
        raise RuntimeError(output)
    total, many = re.search(r"(\d+) requests in [^,]+, ([\d.]+[KMG]?B)", output).groups()  # pyright: ignore[reportOptionalMemberAccess]
    size = float(many.rstrip("BKMG")) * {"K": 1024, "M": 1024**2, "G": 1024**3}.get(many[-2], 1)
    scale = {"us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]
    return {"rate": rate, "p99": float(value) * scale, "bytes": int(size / int(total))}

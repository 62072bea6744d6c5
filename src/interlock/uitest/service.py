"""The gRPC service: translates requests into actions of the harness, and their results into replies."""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import Any, NoReturn

import grpc

from interlock.domain.values.test_history import Execution, History
from interlock.errors import BadValue, InterlockError, NotFound
from interlock.gui.drawing.recorded_widgets import Rect, Widgets
from interlock.uitest import uitest_pb2 as pb
from interlock.uitest.actions import USUAL_WAIT_MS, Actions, Result
from interlock.uitest.artifacts import Artifacts
from interlock.uitest.executions import Executions, Live, now_ms
from interlock.uitest.input_driver import InputDriver
from interlock.uitest.prompts import read_prompt
from interlock.uitest.running import Runner
from interlock.uitest.simulated_input import Button
from interlock.uitest.targets import TYPES, find, nearest, path_of, plain, read_target
from interlock.version import VERSION
from interlock.views.test_history import TestInfo, TestStatus, get_test, list_tests, results_of

Context = grpc.ServicerContext

_LOOK_S = 30.0
_BUTTONS: dict[int, Button] = {0: "left", 1: "left", 2: "right", 3: "double", 4: "middle"}
_FORMATS = (0, 1)  # unspecified means PNG
_LONGEST_WATCH_S = 3_600.0
_LONGEST_MESSAGE = 1_000

WholeOf = Callable[[Execution], Execution]
"""Returns the execution with the full texts that its record shortens."""


class Harness:
    """One method per RPC; the server runs each call in a thread of its own."""

    def __init__(
        self,
        driver: InputDriver,
        actions: Actions,
        executions: Executions,
        artifacts: Artifacts,
        history: Callable[[], History],
        whole: WholeOf,
    ) -> None:
        self._driver = driver
        self._actions = actions
        self._executions = executions
        self._artifacts = artifacts
        self._history = history
        self._whole = whole
        self._runner = Runner(actions, driver, executions)

    def ping(self, request: pb.PingRequest, context: Context) -> pb.PingResponse:
        return pb.PingResponse(message=f"Pong: {request.message}", timestamp_ms=now_ms(), version=VERSION)

    # ── actions ──────────────────────────────────────────────────────────────────────────

    def click(self, request: pb.ClickRequest, context: Context) -> pb.ClickResponse:
        button = _BUTTONS.get(request.type)
        if button is None:
            raise BadValue(f"no click type {request.type}: there are LEFT 1, RIGHT 2, DOUBLE 3, MIDDLE 4")
        done = self._actions.click(request.target, button, request.widget_key, begun=_send_test_id(context))
        return pb.ClickResponse(**_answer(done))

    def type(self, request: pb.TypeRequest, context: Context) -> pb.TypeResponse:
        done = self._actions.type(
            request.target,
            request.text,
            clear_first=request.clear_first,
            key=request.widget_key,
            begun=_send_test_id(context),
        )
        return pb.TypeResponse(**_answer(done))

    def wait(self, request: pb.WaitRequest, context: Context) -> pb.WaitResponse:
        done = self._actions.wait(
            request.condition,
            request.timeout_ms,
            request.poll_interval_ms,
            request.widget_key,
            begun=_send_test_id(context),
            gone=context.add_callback,
        )
        return pb.WaitResponse(
            success=done.success,
            message=done.message,
            elapsed_ms=done.elapsed_ms,
            test_id=done.test_id,
            resolved_widget_key=done.key,
            resolved_path=done.path,
        )

    def check(self, request: pb.AssertRequest, context: Context) -> pb.AssertResponse:
        done = self._actions.check(
            request.condition, request.failure_message, request.widget_key, begun=_send_test_id(context)
        )
        return pb.AssertResponse(
            success=done.success,
            message=done.message,
            actual_value=done.actual,
            expected_value=done.expected,
            test_id=done.test_id,
            resolved_widget_key=done.key,
            resolved_path=done.path,
        )

    def wait_for_idle(self, request: pb.WaitForIdleRequest, context: Context) -> pb.WaitForIdleResponse:
        if request.timeout_ms < 0:
            raise BadValue("timeout_ms cannot be negative; 0 means 5,000")
        limit, start = request.timeout_ms or USUAL_WAIT_MS, now_ms()
        future = self._driver.idle(limit / 1_000)

        def cancel() -> None:
            future.cancel()

        if not context.add_callback(cancel):
            cancel()
        try:
            idle = future.result(limit / 1_000 + _LOOK_S)
        except CancelledError:
            idle = False  # the caller has disconnected
        message = "nothing is under way" if idle else f"something was still under way after {limit:,} ms"
        return pb.WaitForIdleResponse(success=idle, message=message, elapsed_ms=now_ms() - start)

    def replay_test(self, request: pb.ReplayTestRequest, context: Context) -> pb.ReplayTestResponse:
        if not request.prompt:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "recorded scripts are not replayed yet; give a prompt")
        steps = read_prompt(request.prompt)
        done = self._runner.run(request.prompt, steps, begun=_send_test_id(context), going=context.is_active)
        return pb.ReplayTestResponse(success=done.success, message=done.message, test_id=done.test_id)

    def not_implemented(self, request: Any, context: Context) -> NoReturn:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "recording is not built yet")

    # ── reading the window ───────────────────────────────────────────────────────────────

    def screenshot(self, request: pb.ScreenshotRequest, context: Context) -> pb.ScreenshotResponse:
        if request.format not in _FORMATS:
            raise BadValue(f"no format {request.format}: pictures are PNG 1")
        path = self._artifacts.resolve(request.output_path)
        if not self._artifacts.possible:
            message = "the null backend draws no pixels: start the window with --backend egl"
            return pb.ScreenshotResponse(success=False, message=message)
        rect = None
        if request.window_title:
            rect = _rect_of(self._driver.widgets().result(_LOOK_S), request.window_title)
        self._driver.picture(path, rect).result(_LOOK_S)
        size = path.stat().st_size
        return pb.ScreenshotResponse(success=True, message=f"wrote {path}", file_path=str(path), file_size_bytes=size)

    def discover(self, request: pb.DiscoverWidgetsRequest, context: Context) -> pb.DiscoverWidgetsResponse:
        if request.type_filter and request.type_filter not in TYPES:
            raise BadValue(f"no type {request.type_filter!r}: there are {', '.join(TYPES)}")
        return _discovered(self._driver.widgets().result(_LOOK_S), request)

    # ── test history ─────────────────────────────────────────────────────────────────────

    def status(self, request: pb.GetTestStatusRequest, context: Context) -> pb.GetTestStatusResponse:
        return _status(self._executions.status(request.test_id))

    def watch(self, request: pb.WatchTestRequest, context: Context) -> Iterator[pb.GetTestStatusResponse]:
        live = self._executions.live(request.test_id)
        if live is None:
            yield _status(self._executions.status(request.test_id))
            return
        gone: Future[None] = Future()  # resolved, not cancelled: a cancelled future does not wake `wait`
        if not context.add_callback(lambda: gone.set_result(None)):
            return
        if not live.started.done():
            yield _status(live.status())
            wait((live.started, live.ended, gone), _LONGEST_WATCH_S, FIRST_COMPLETED)
        if not live.ended.done() and context.is_active():
            yield _status(live.status())
            wait((live.ended, gone), _LONGEST_WATCH_S, FIRST_COMPLETED)
        yield _status(self._executions.status(request.test_id))

    def list_tests(self, request: pb.ListTestsRequest, context: Context) -> pb.ListTestsResponse:
        status = _status_name(request.status_filter)
        if status in ("QUEUED", "RUNNING"):
            history = self._history()
            running = self._executions.under_way(status)
            chosen = [live for live in running if request.category_filter in ("", live.category)]
            tests = [_info(_live_info(history, live)) for live in chosen]
            return pb.ListTestsResponse(tests=tests, total_count=len(tests))
        page = list_tests(self._history(), request.category_filter, status, request.page_size, request.page_token)
        return pb.ListTestsResponse(
            tests=[_info(test) for test in page.tests],
            next_page_token=page.next_page_token,
            total_count=page.total_count,
        )

    def results(self, request: pb.GetTestResultsRequest, context: Context) -> pb.GetTestResultsResponse:
        live = self._executions.live(request.test_id)
        if live is not None:
            context.abort(
                grpc.StatusCode.FAILED_PRECONDITION, f"{live.test_id} is still under way: it has no results yet"
            )
        history = self._history()
        results = results_of(
            history, self._whole(get_test(history, request.test_id).execution), include_logs=request.include_logs
        )
        return pb.GetTestResultsResponse(
            success=results.success,
            test_name=results.test_name,
            category=results.category,
            executed_at_ms=results.executed_at_ms,
            duration_ms=results.duration_ms,
            assertions=[
                pb.AssertionResult(
                    description=assertion.description,
                    passed=assertion.passed,
                    expected_value=assertion.expected_value,
                    actual_value=assertion.actual_value,
                    error_message=assertion.error_message,
                )
                for assertion in results.assertions
            ],
            logs=results.logs,
            metrics=results.metrics,
            screenshot_path=results.screenshot_path,
            error_message=results.error_message,
            status=_status_number(results.status),
            widget_tree=results.widget_tree,
            parent_test_id=results.parent,
            child_test_ids=results.steps,
        )


def abort(context: Context, error: Exception) -> NoReturn:
    """End the call with the gRPC status of this error; the message is cut to fit into the trailers."""
    code = grpc.StatusCode
    message = str(error)[:_LONGEST_MESSAGE]
    match error:
        case NotFound():
            context.abort(code.NOT_FOUND, message)
        case BadValue():
            context.abort(code.INVALID_ARGUMENT, message)
        case ConnectionError():
            context.abort(code.UNAVAILABLE, message)
        case TimeoutError():
            context.abort(code.DEADLINE_EXCEEDED, "the window does not answer")
        case InterlockError():
            context.abort(code.FAILED_PRECONDITION, message)
        case _:
            context.abort(code.INTERNAL, f"{type(error).__name__}: {message}")


def _send_test_id(context: Context) -> Callable[[Live], None]:
    """Send the test's id at once as initial metadata, so that the caller can follow the running test."""

    def send(live: Live) -> None:
        context.send_initial_metadata((("test-id", live.test_id),))

    return send


def _answer(done: Result) -> dict[str, Any]:
    return {
        "success": done.success,
        "message": done.message,
        "execution_time_ms": done.elapsed_ms,
        "test_id": done.test_id,
        "resolved_widget_key": done.key,
        "resolved_path": done.path,
    }


def _status(status: TestStatus) -> pb.GetTestStatusResponse:
    return pb.GetTestStatusResponse(
        status=_status_number(status.status),
        queued_at_ms=status.queued_at_ms,
        started_at_ms=status.started_at_ms,
        completed_at_ms=status.completed_at_ms,
        execution_time_ms=status.execution_time_ms,
        error_message=status.error_message,
        assertion_failures=status.assertion_failures,
    )


def _status_number(name: str) -> Any:
    return pb.TestStatus.Value(f"TEST_STATUS_{name}")


def _status_name(number: int) -> str:
    try:
        return pb.TestStatus.Name(number).removeprefix("TEST_STATUS_")  # pyright: ignore[reportArgumentType]
    except ValueError:
        raise BadValue(f"no status {number}: UNKNOWN 0, QUEUED 1, RUNNING 2, PASSED 3, FAILED 4, TIMEOUT 5") from None


def _live_info(history: History, live: Live) -> TestInfo:
    known = history.aggregates.get((live.category, live.name))
    runs, passed, average, flake = (
        (known.runs, known.passed, known.average_ms, known.flake_rate) if known is not None else (0, 0, 0, 0.0)
    )
    status = live.status().status
    return TestInfo(live.test_id, live.name, live.category, 0, runs, passed, runs - passed, average, status, flake)


def _info(info: TestInfo) -> pb.TestInfo:
    return pb.TestInfo(
        test_id=info.test_id,
        name=info.name,
        category=info.category,
        last_run_timestamp_ms=info.last_run_timestamp_ms,
        total_runs=info.total_runs,
        pass_count=info.pass_count,
        fail_count=info.fail_count,
        average_duration_ms=info.average_duration_ms,
        last_status=_status_number(info.last_status),
        flake_rate=info.flake_rate,
    )


def _discovered(widgets: Widgets, request: pb.DiscoverWidgetsRequest) -> pb.DiscoverWidgetsResponse:
    wanted = request.window_filter.casefold()
    windows: dict[str, pb.DiscoveredWindow] = {}
    total = 0
    for widget in widgets.all():
        if wanted not in widget.window.casefold():
            continue
        window = windows.get(widget.window)
        if window is None:
            window = windows[widget.window] = pb.DiscoveredWindow(title=widget.window, visible=True)
        if widget.type == "window":
            window.bounds.CopyFrom(_bounds(widget.rect))
        if request.type_filter not in ("", widget.type):
            continue
        if (request.only_visible and not widget.visible) or (request.only_enabled and not widget.enabled):
            continue
        total += 1
        window.widgets.append(
            pb.DiscoveredWidget(
                path=path_of(widget),
                key=widget.name,
                label=plain(widget.label),
                type=widget.type,
                visible=widget.visible,
                enabled=widget.enabled,
                bounds=_bounds(widget.rect),
                value=widget.value,
            )
        )
    hidden = [pb.DiscoveredWindow(title=name, visible=False) for name in widgets.hidden if wanted in name.casefold()]
    return pb.DiscoverWidgetsResponse(
        windows=[*windows.values(), *hidden], total_widgets=total, generated_at_ms=now_ms()
    )


def _rect_of(widgets: Widgets, title: str) -> Rect:
    target = read_target(f"window:{title}")
    match = find(widgets, target)
    if match.widget is not None:
        return match.widget.rect
    if match.hidden:
        raise BadValue(f"window {title!r} lies behind others: click window:{match.hidden} first")
    raise NotFound(f"there is no window {title!r}; the nearest: {', '.join(nearest(widgets, target))}")


def _bounds(rect: tuple[float, float, float, float]) -> pb.WidgetBounds:
    return pb.WidgetBounds(min_x=rect[0], min_y=rect[1], max_x=rect[2], max_y=rect[3])

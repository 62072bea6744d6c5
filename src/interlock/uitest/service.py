"""The gRPC service: messages in, verbs of the harness, messages out (SPEC U1, U2)."""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import Any, NoReturn

import grpc

from interlock.domain.values.test_history import Execution, History
from interlock.errors import BadValue, InterlockError, NotFound
from interlock.gui.drawing.recorded_widgets import Rect, Widgets
from interlock.uitest import uitest_pb2 as pb
from interlock.uitest.actions import USUAL_WAIT_MS, Acting, Result
from interlock.uitest.artifacts import Artifacts
from interlock.uitest.executions import Executions, Live, now_ms
from interlock.uitest.input_driver import InputDriver
from interlock.uitest.prompts import read_prompt
from interlock.uitest.running import Runner
from interlock.uitest.simulated_input import Button
from interlock.uitest.targets import TYPES, find, nearest, path_of, plain, read_target
from interlock.version import VERSION
from interlock.views.test_history import TestInfo, TestStatus, found_test, list_tests, results_of

Context = grpc.ServicerContext

_LOOK_S = 30.0
_BUTTONS: dict[int, Button] = {0: "left", 1: "left", 2: "right", 3: "double", 4: "middle"}
_FORMATS = (0, 1)  # unspecified means PNG
_LONGEST_WATCH_S = 3_600.0
_LONGEST_WORDS = 1_000

WholeOf = Callable[[Execution], Execution]
"""An execution with the texts that its record had to shorten."""


class Harness:
    """One method for each call; the server gives each its thread."""

    def __init__(
        self,
        hands: InputDriver,
        acting: Acting,
        executions: Executions,
        artifacts: Artifacts,
        history: Callable[[], History],
        whole: WholeOf,
    ) -> None:
        self._hands = hands
        self._acting = acting
        self._executions = executions
        self._artifacts = artifacts
        self._history = history
        self._whole = whole
        self._runner = Runner(acting, hands, executions)

    def ping(self, request: pb.PingRequest, context: Context) -> pb.PingResponse:
        return pb.PingResponse(message=f"Pong: {request.message}", timestamp_ms=now_ms(), version=VERSION)

    # ── doing ────────────────────────────────────────────────────────────────────────────

    def click(self, request: pb.ClickRequest, context: Context) -> pb.ClickResponse:
        button = _BUTTONS.get(request.type)
        if button is None:
            raise BadValue(f"no click type {request.type}: there are LEFT 1, RIGHT 2, DOUBLE 3, MIDDLE 4")
        done = self._acting.click(request.target, button, request.widget_key, begun=_telling(context))
        return pb.ClickResponse(**_answer(done))

    def type(self, request: pb.TypeRequest, context: Context) -> pb.TypeResponse:
        done = self._acting.type(
            request.target,
            request.text,
            clear_first=request.clear_first,
            key=request.widget_key,
            begun=_telling(context),
        )
        return pb.TypeResponse(**_answer(done))

    def wait(self, request: pb.WaitRequest, context: Context) -> pb.WaitResponse:
        done = self._acting.wait(
            request.condition,
            request.timeout_ms,
            request.poll_interval_ms,
            request.widget_key,
            begun=_telling(context),
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
        done = self._acting.check(
            request.condition, request.failure_message, request.widget_key, begun=_telling(context)
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
        future = self._hands.idle(limit / 1_000)

        def drop() -> None:
            future.cancel()

        if not context.add_callback(drop):
            drop()
        try:
            idle = future.result(limit / 1_000 + _LOOK_S)
        except CancelledError:
            idle = False  # whoever asked has gone: nobody hears it
        said = "nothing is under way" if idle else f"something was still under way after {limit:,} ms"
        return pb.WaitForIdleResponse(success=idle, message=said, elapsed_ms=now_ms() - start)

    def replay_test(self, request: pb.ReplayTestRequest, context: Context) -> pb.ReplayTestResponse:
        if not request.prompt:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "recorded scripts are not replayed yet; give a prompt")
        steps = read_prompt(request.prompt)
        done = self._runner.run(request.prompt, steps, begun=_telling(context), going=context.is_active)
        return pb.ReplayTestResponse(success=done.success, message=done.message, test_id=done.test_id)

    def not_yet(self, request: Any, context: Context) -> NoReturn:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "recording is not built yet")

    # ── looking ──────────────────────────────────────────────────────────────────────────

    def screenshot(self, request: pb.ScreenshotRequest, context: Context) -> pb.ScreenshotResponse:
        if request.format not in _FORMATS:
            raise BadValue(f"no format {request.format}: pictures are PNG 1")
        path = self._artifacts.wanted(request.output_path)
        if not self._artifacts.possible:
            said = "the null backend draws no pixels: start the window with --backend egl"
            return pb.ScreenshotResponse(success=False, message=said)
        rect = None
        if request.window_title:
            rect = _rect_of(self._hands.widgets().result(_LOOK_S), request.window_title)
        self._hands.picture(path, rect).result(_LOOK_S)
        size = path.stat().st_size
        return pb.ScreenshotResponse(success=True, message=f"wrote {path}", file_path=str(path), file_size_bytes=size)

    def discover(self, request: pb.DiscoverWidgetsRequest, context: Context) -> pb.DiscoverWidgetsResponse:
        if request.type_filter and request.type_filter not in TYPES:
            raise BadValue(f"no type {request.type_filter!r}: there are {', '.join(TYPES)}")
        return _discovered(self._hands.widgets().result(_LOOK_S), request)

    # ── remembering ──────────────────────────────────────────────────────────────────────

    def status(self, request: pb.GetTestStatusRequest, context: Context) -> pb.GetTestStatusResponse:
        return _status(self._executions.status(request.test_id))

    def watch(self, request: pb.WatchTestRequest, context: Context) -> Iterator[pb.GetTestStatusResponse]:
        live = self._executions.live(request.test_id)
        if live is None:
            yield _status(self._executions.status(request.test_id))
            return
        gone: Future[None] = Future()  # resolved: a future that is cancelled wakes nobody who waits for several
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
        word = _word(request.status_filter)
        if word in ("QUEUED", "RUNNING"):
            history = self._history()
            going = self._executions.under_way(word)
            going = tuple(each for each in going if request.category_filter in ("", each.category))
            tests = [_info(_live_info(history, each)) for each in going]
            return pb.ListTestsResponse(tests=tests, total_count=len(tests))
        page = list_tests(self._history(), request.category_filter, word, request.page_size, request.page_token)
        return pb.ListTestsResponse(
            tests=[_info(each) for each in page.tests],
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
        found = results_of(
            history, self._whole(found_test(history, request.test_id).execution), include_logs=request.include_logs
        )
        return pb.GetTestResultsResponse(
            success=found.success,
            test_name=found.test_name,
            category=found.category,
            executed_at_ms=found.executed_at_ms,
            duration_ms=found.duration_ms,
            assertions=[
                pb.AssertionResult(
                    description=each.description,
                    passed=each.passed,
                    expected_value=each.expected_value,
                    actual_value=each.actual_value,
                    error_message=each.error_message,
                )
                for each in found.assertions
            ],
            logs=found.logs,
            metrics=found.metrics,
            screenshot_path=found.screenshot_path,
            error_message=found.error_message,
            status=_number(found.status),
            widget_tree=found.widget_tree,
            parent_test_id=found.parent,
            child_test_ids=found.steps,
        )


def abort(context: Context, error: Exception) -> NoReturn:
    """What went wrong, in gRPC's words, and as many of ours as fit into the end of a call."""
    code = grpc.StatusCode
    said = str(error)[:_LONGEST_WORDS]
    match error:
        case NotFound():
            context.abort(code.NOT_FOUND, said)
        case BadValue():
            context.abort(code.INVALID_ARGUMENT, said)
        case ConnectionError():
            context.abort(code.UNAVAILABLE, said)
        case TimeoutError():
            context.abort(code.DEADLINE_EXCEEDED, "the window does not answer")
        case InterlockError():
            context.abort(code.FAILED_PRECONDITION, said)
        case _:
            context.abort(code.INTERNAL, f"{type(error).__name__}: {said}")


def _telling(context: Context) -> Callable[[Live], None]:
    """The id goes out at once, as metadata: whoever waits for the outcome can already follow it."""

    def tell(live: Live) -> None:
        context.send_initial_metadata((("test-id", live.test_id),))

    return tell


def _answer(done: Result) -> dict[str, Any]:
    return {
        "success": done.success,
        "message": done.message,
        "execution_time_ms": done.elapsed_ms,
        "test_id": done.test_id,
        "resolved_widget_key": done.key,
        "resolved_path": done.path,
    }


def _status(found: TestStatus) -> pb.GetTestStatusResponse:
    return pb.GetTestStatusResponse(
        status=_number(found.status),
        queued_at_ms=found.queued_at_ms,
        started_at_ms=found.started_at_ms,
        completed_at_ms=found.completed_at_ms,
        execution_time_ms=found.execution_time_ms,
        error_message=found.error_message,
        assertion_failures=found.assertion_failures,
    )


def _number(word: str) -> Any:
    return pb.TestStatus.Value(f"TEST_STATUS_{word}")


def _word(number: int) -> str:
    try:
        return pb.TestStatus.Name(number).removeprefix("TEST_STATUS_")  # pyright: ignore[reportArgumentType]
    except ValueError:
        raise BadValue(f"no status {number}: UNKNOWN 0, QUEUED 1, RUNNING 2, PASSED 3, FAILED 4, TIMEOUT 5") from None


def _live_info(history: History, live: Live) -> TestInfo:
    known = history.aggregates.get((live.category, live.name))
    runs, passed, average, flake = (
        (known.runs, known.passed, known.average_ms, known.flake_rate) if known is not None else (0, 0, 0, 0.0)
    )
    word = live.status().status
    return TestInfo(live.test_id, live.name, live.category, 0, runs, passed, runs - passed, average, word, flake)


def _info(found: TestInfo) -> pb.TestInfo:
    return pb.TestInfo(
        test_id=found.test_id,
        name=found.name,
        category=found.category,
        last_run_timestamp_ms=found.last_run_timestamp_ms,
        total_runs=found.total_runs,
        pass_count=found.pass_count,
        fail_count=found.fail_count,
        average_duration_ms=found.average_duration_ms,
        last_status=_number(found.last_status),
        flake_rate=found.flake_rate,
    )


def _discovered(widgets: Widgets, request: pb.DiscoverWidgetsRequest) -> pb.DiscoverWidgetsResponse:
    wanted = request.window_filter.casefold()
    windows: dict[str, pb.DiscoveredWindow] = {}
    total = 0
    for each in widgets.all():
        if wanted not in each.window.casefold():
            continue
        window = windows.get(each.window)
        if window is None:
            window = windows[each.window] = pb.DiscoveredWindow(title=each.window, visible=True)
        if each.type == "window":
            window.bounds.CopyFrom(_bounds(each.rect))
        if request.type_filter not in ("", each.type):
            continue
        if (request.only_visible and not each.visible) or (request.only_enabled and not each.enabled):
            continue
        total += 1
        window.widgets.append(
            pb.DiscoveredWidget(
                path=path_of(each),
                key=each.name,
                label=plain(each.label),
                type=each.type,
                visible=each.visible,
                enabled=each.enabled,
                bounds=_bounds(each.rect),
                value=each.value,
            )
        )
    hidden = [pb.DiscoveredWindow(title=name, visible=False) for name in widgets.hidden if wanted in name.casefold()]
    return pb.DiscoverWidgetsResponse(
        windows=[*windows.values(), *hidden], total_widgets=total, generated_at_ms=now_ms()
    )


def _rect_of(widgets: Widgets, title: str) -> Rect:
    target = read_target(f"window:{title}")
    found = find(widgets, target)
    if found.widget is not None:
        return found.widget.rect
    if found.hidden:
        raise BadValue(f"window {title!r} lies behind others: click window:{found.hidden} first")
    raise NotFound(f"there is no window {title!r}; the nearest: {', '.join(nearest(widgets, target))}")


def _bounds(rect: tuple[float, float, float, float]) -> pb.WidgetBounds:
    return pb.WidgetBounds(min_x=rect[0], min_y=rect[1], max_x=rect[2], max_y=rect[3])

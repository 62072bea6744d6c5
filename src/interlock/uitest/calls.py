"""A client of the harness: sends the token with each call and translates gRPC errors."""

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import grpc

from interlock.errors import BadValue, NoHarness, NotFound, Unavailable
from interlock.uitest import uitest_pb2 as pb
from interlock.views.test_history import STATUSES, Status, TestStatus

_SERVICE = "/interlock.uitest.v1.ImGuiTestHarness/"
_CONNECT_S = 5.0
_MORE_S = 60.0  # added to the time limit of a call


class Calls:
    """One connection. Raises NoHarness if no server answers, BadValue or NotFound for a wrong request."""

    def __init__(self, host: str, port: int, token: str) -> None:
        self._channel = grpc.insecure_channel(f"{host}:{port}", options=(("grpc.enable_retries", 0),))
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._at = f"{host}:{port}"

    def __enter__(self) -> Self:
        try:
            grpc.channel_ready_future(self._channel).result(_CONNECT_S)
        except grpc.FutureTimeoutError:
            self._channel.close()
            raise NoHarness(f"no server answers at {self._at}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._channel.close()

    def click(self, target: str, kind: str, key: str) -> pb.ClickResponse:
        button = f"CLICK_TYPE_{kind.upper()}"
        return self._call("Click", pb.ClickRequest(target=target, type=button, widget_key=key), pb.ClickResponse)

    def type(self, target: str, text: str, *, clear_first: bool, key: str) -> pb.TypeResponse:
        request = pb.TypeRequest(target=target, text=text, clear_first=clear_first, widget_key=key)
        return self._call("Type", request, pb.TypeResponse)

    def wait(self, condition: str, timeout_ms: int, poll_ms: int, key: str) -> pb.WaitResponse:
        request = pb.WaitRequest(condition=condition, timeout_ms=timeout_ms, poll_interval_ms=poll_ms, widget_key=key)
        return self._call("Wait", request, pb.WaitResponse, timeout_ms / 1_000)

    def check(self, condition: str, message: str, key: str) -> pb.AssertResponse:
        request = pb.AssertRequest(condition=condition, failure_message=message, widget_key=key)
        return self._call("Assert", request, pb.AssertResponse)

    def screenshot(self, title: str, path: str) -> pb.ScreenshotResponse:
        request = pb.ScreenshotRequest(window_title=title, output_path=path)
        return self._call("Screenshot", request, pb.ScreenshotResponse)

    def discover(self, window: str, kind: str) -> pb.DiscoverWidgetsResponse:
        request = pb.DiscoverWidgetsRequest(window_filter=window, type_filter=kind)
        return self._call("DiscoverWidgets", request, pb.DiscoverWidgetsResponse)

    def run(self, prompt: str) -> pb.ReplayTestResponse:
        return self._call("ReplayTest", pb.ReplayTestRequest(prompt=prompt), pb.ReplayTestResponse, 3_600)

    def status(self, test_id: str) -> TestStatus:
        request = pb.GetTestStatusRequest(test_id=test_id)
        return _status(test_id, self._call("GetTestStatus", request, pb.GetTestStatusResponse))

    def frames(self, test_id: str) -> int:
        """The number of frames drawn during the test."""
        request = pb.GetTestResultsRequest(test_id=test_id)
        return self._call("GetTestResults", request, pb.GetTestResultsResponse).metrics["frames"]

    def watch(self, test_id: str) -> Iterator[TestStatus]:
        """The status after each change, until the test has ended."""
        stream: Any = self._channel.unary_stream(
            f"{_SERVICE}WatchTest",
            request_serializer=pb.WatchTestRequest.SerializeToString,
            response_deserializer=pb.GetTestStatusResponse.FromString,
        )
        try:
            for reply in stream(pb.WatchTestRequest(test_id=test_id), metadata=self._metadata):
                yield _status(test_id, reply)
        except grpc.RpcError as error:
            raise _translated(error, self._at) from None

    def _call(self, name: str, request: Any, answer: Any, seconds: float = 0) -> Any:
        method: Any = self._channel.unary_unary(
            f"{_SERVICE}{name}",
            request_serializer=_bytes,
            response_deserializer=answer.FromString,
        )
        try:
            return method(request, metadata=self._metadata, timeout=seconds + _MORE_S)
        except grpc.RpcError as error:
            raise _translated(error, self._at) from None


def _bytes(message: Any) -> bytes:
    return message.SerializeToString()


def _status(test_id: str, reply: pb.GetTestStatusResponse) -> TestStatus:
    status: Status = STATUSES[reply.status]
    return TestStatus(
        test_id,
        status,
        reply.queued_at_ms,
        reply.started_at_ms,
        reply.completed_at_ms,
        reply.execution_time_ms,
        reply.error_message,
        tuple(reply.assertion_failures),
    )


def _translated(error: Any, at: str) -> Exception:
    details = error.details() or "no reason given"
    match error.code():
        case grpc.StatusCode.INVALID_ARGUMENT:
            return BadValue(details)
        case grpc.StatusCode.NOT_FOUND:
            return NotFound(details)
        case grpc.StatusCode.UNAVAILABLE | grpc.StatusCode.UNAUTHENTICATED | grpc.StatusCode.CANCELLED:
            return NoHarness(f"the harness at {at} has stopped: {details}")
        case code:
            return Unavailable(f"the harness at {at} failed ({code.name}): {details}")

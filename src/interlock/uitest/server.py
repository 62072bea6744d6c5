"""The gRPC server of the harness, on a loopback port; its token is in a file of the project's run folder."""

import hmac
import os
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_urlsafe
from threading import BoundedSemaphore
from typing import Any

import grpc
from grpc_reflection.v1alpha import reflection

from interlock.api.tokens import publish
from interlock.errors import InterlockError, Misconfigured
from interlock.uitest import uitest_pb2 as pb
from interlock.uitest.service import Harness, abort

SERVICE = pb.DESCRIPTOR.services_by_name["ImGuiTestHarness"].full_name
_THREADS = 96
_MOST_WAITING = 64  # long-waiting calls at the same time; the other threads serve quick calls
_GRACE_S = 0.3
_MORE_PORTS = 10
_LARGEST = 16 * 1024 * 1024


class HarnessServer:
    def __init__(self, harness: Harness, port: int, run: Path) -> None:
        """Bind `port` or one of the next ones; 0 takes any. Raises Misconfigured if all are taken."""
        self._file = run / "harness.json"
        self._token = token_urlsafe(32)
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="harness")
        self._server = grpc.server(
            self._pool,
            interceptors=[_TokenCheck(self._token)],
            options=(
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", _LARGEST),
                ("grpc.max_send_message_length", _LARGEST),
            ),
        )
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, _handlers(harness)),))
        reflection.enable_server_reflection((SERVICE, reflection.SERVICE_NAME), self._server)
        self.port = self._bind(port)

    def _bind(self, port: int) -> int:
        last = port + (_MORE_PORTS if port else 0)
        for candidate in range(port, min(last, 65_535) + 1):
            with suppress(RuntimeError):  # taken
                if bound := self._server.add_insecure_port(f"127.0.0.1:{candidate}"):
                    return bound
        raise Misconfigured(f"the harness finds no free port from {port} to {last}: give another --test-harness-port")

    def start(self) -> None:
        """Write the file before the server answers, so that every client can find the token."""
        publish(self._file, {"host": "127.0.0.1", "port": self.port, "token": self._token, "pid": os.getpid()})
        self._server.start()

    def stop(self) -> None:
        with suppress(OSError):
            self._file.unlink(missing_ok=True)
        self._server.stop(_GRACE_S).wait(2 * _GRACE_S)
        self._pool.shutdown(wait=False, cancel_futures=True)


class _TokenCheck(grpc.ServerInterceptor):
    """Requires the token on every call, including reflection."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

        def refuse(request: Any, context: grpc.ServicerContext) -> Any:
            context.abort(
                grpc.StatusCode.UNAUTHENTICATED,
                "no token, or a wrong one: send metadata authorization: Bearer <token of .interlock/run/harness.json>",
            )

        self._refuse: Any = grpc.unary_unary_rpc_method_handler(refuse)

    def intercept_service(self, continuation: Callable[[Any], Any], handler_call_details: Any) -> Any:
        given = [value for key, value in handler_call_details.invocation_metadata or () if key == "authorization"]
        known = len(given) == 1 and hmac.compare_digest(_bytes(given[0]), self._expected)
        return continuation(handler_call_details) if known else self._refuse


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode(errors="replace")


def _handlers(harness: Harness) -> dict[str, Any]:
    waiting = BoundedSemaphore(_MOST_WAITING)

    def limited(method: Callable[[Any, grpc.ServicerContext], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
        def call(request: Any, context: grpc.ServicerContext) -> Any:
            with _waiting_slot(waiting, context):
                return method(request, context)

        return call

    def watch(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        with _waiting_slot(waiting, context):
            yield from harness.watch(request, context)

    methods: dict[str, tuple[Callable[..., Any], Any, Any]] = {
        "Ping": (harness.ping, pb.PingRequest, pb.PingResponse),
        "Click": (harness.click, pb.ClickRequest, pb.ClickResponse),
        "Type": (harness.type, pb.TypeRequest, pb.TypeResponse),
        "Wait": (limited(harness.wait), pb.WaitRequest, pb.WaitResponse),
        "Assert": (harness.check, pb.AssertRequest, pb.AssertResponse),
        "Screenshot": (harness.screenshot, pb.ScreenshotRequest, pb.ScreenshotResponse),
        "DiscoverWidgets": (harness.discover, pb.DiscoverWidgetsRequest, pb.DiscoverWidgetsResponse),
        "GetTestStatus": (harness.status, pb.GetTestStatusRequest, pb.GetTestStatusResponse),
        "ListTests": (harness.list_tests, pb.ListTestsRequest, pb.ListTestsResponse),
        "GetTestResults": (harness.results, pb.GetTestResultsRequest, pb.GetTestResultsResponse),
        "StartRecording": (harness.not_implemented, pb.StartRecordingRequest, pb.StartRecordingResponse),
        "StopRecording": (harness.not_implemented, pb.StopRecordingRequest, pb.StopRecordingResponse),
        "ReplayTest": (harness.replay_test, pb.ReplayTestRequest, pb.ReplayTestResponse),
        "WaitForIdle": (limited(harness.wait_for_idle), pb.WaitForIdleRequest, pb.WaitForIdleResponse),
    }
    handlers = {
        name: grpc.unary_unary_rpc_method_handler(
            _with_errors(method), request_deserializer=request.FromString, response_serializer=reply.SerializeToString
        )
        for name, (method, request, reply) in methods.items()
    }
    handlers["WatchTest"] = grpc.unary_stream_rpc_method_handler(
        watch,
        request_deserializer=pb.WatchTestRequest.FromString,
        response_serializer=pb.GetTestStatusResponse.SerializeToString,
    )
    return handlers


@contextmanager
def _waiting_slot(slots: BoundedSemaphore, context: grpc.ServicerContext) -> Generator[None]:
    if not slots.acquire(blocking=False):
        context.abort(
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            f"{_MOST_WAITING} calls wait already: try again when one has ended",
        )
    try:
        yield
    finally:
        slots.release()


def _with_errors(method: Callable[[Any, grpc.ServicerContext], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
    def call(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(request, context)
        except (InterlockError, OSError) as error:  # OSError includes timeouts and lost connections
            abort(context, error)

    return call

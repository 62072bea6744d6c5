"""`interlock test click|type|wait|assert|discover|screenshot|run` and `status`: calls to a window's test harness."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from interlock.assembly.project import read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.records.test_history import EXITS, say_status
from interlock.cli.terminal.exits import DONE, ERROR, USAGE, report, wrong_usage
from interlock.cli.terminal.output import paint, say, say_json, table
from interlock.cli.terminal.sessions import project_of
from interlock.client import NotServing, read_api_file
from interlock.errors import BadValue, NoHarness
from interlock.views.display import one_line, safe
from interlock.views.test_history import TestStatus, status_of

if TYPE_CHECKING:
    from interlock.uitest.calls import Calls

NO_HARNESS = 5


class WidgetArgs(CommandArgs, frozen=True):
    widget_key: str


class ClickArgs(WidgetArgs, frozen=True):
    target: str
    button: Literal["left", "right", "double", "middle"]


class TypeArgs(WidgetArgs, frozen=True):
    target: str
    text: str
    clear: bool


class WaitArgs(WidgetArgs, frozen=True):
    condition: str
    timeout_ms: int
    poll_ms: int


class AssertArgs(WidgetArgs, frozen=True):
    condition: str
    message: str


class RunArgs(CommandArgs, frozen=True):
    prompt: str


class ScreenshotArgs(CommandArgs, frozen=True):
    output_path: str
    window: str


class DiscoverArgs(CommandArgs, frozen=True):
    window: str
    widget_type: str


class StatusArgs(CommandArgs, frozen=True):
    test_id: str
    follow: bool


def click(args: ClickArgs) -> int:
    if not args.target and not args.widget_key:
        return wrong_usage(
            "test click: name what to click: a TARGET such as 'button:Plan it', or --widget-key", as_json=args.json
        )
    return _run_test(args, lambda calls: calls.click(args.target, args.button, args.widget_key))


def type_(args: TypeArgs) -> int:
    text = sys.stdin.read() if args.text == "-" else args.text
    return _run_test(args, lambda calls: calls.type(args.target, text, clear_first=args.clear, key=args.widget_key))


def wait(args: WaitArgs) -> int:
    return _run_test(
        args, lambda calls: calls.wait(args.condition, args.timeout_ms or 5_000, args.poll_ms, args.widget_key)
    )


def assert_(args: AssertArgs) -> int:
    return _run_test(args, lambda calls: calls.check(args.condition, args.message, args.widget_key))


def run(args: RunArgs) -> int:
    """Prints the id of the whole test; its steps have ids of their own."""
    if not args.prompt.strip():
        return wrong_usage('test run: the prompt is empty: try "Open Inbox and verify it loads"', as_json=args.json)
    return _run_test(args, lambda calls: calls.run(args.prompt))


def screenshot(args: ScreenshotArgs) -> int:
    def call(calls: "Calls") -> int:
        answer = calls.screenshot(args.window, args.output_path)
        if args.json:
            say_json(_plain(answer))
        else:
            say(answer.file_path if answer.success else paint(safe(answer.message), "bad"))
        return DONE if answer.success else ERROR

    return _call_harness(args, call)


def discover(args: DiscoverArgs) -> int:
    def call(calls: "Calls") -> int:
        answer = calls.discover(args.window, args.widget_type)
        if args.json:
            say_json(_plain(answer))
            return DONE
        rows: list[tuple[str, ...]] = []
        for window in answer.windows:
            if not window.visible:
                rows.append((safe(window.title), "window", "", "", "behind others"))
            for widget in window.widgets:
                marks = [
                    word for word, on in (("disabled", not widget.enabled), ("out of sight", not widget.visible)) if on
                ]
                rows.append(
                    (
                        safe(window.title),
                        widget.type,
                        one_line(widget.label, 40),
                        safe(widget.key),
                        ", ".join(marks) or one_line(widget.value, 40),
                    )
                )
        if not rows:
            say("no such widget; 'interlock test discover' without options lists all")
            return DONE
        table(("WINDOW", "TYPE", "LABEL", "KEY", "VALUE"), rows)
        return DONE

    return _call_harness(args, call)


def status(args: StatusArgs) -> int:
    """An ended test is read from the history, a running one from the harness."""
    test = status_of(read_state(project_of(args)).tests, args.test_id)
    if test.status == "UNKNOWN":
        test = _live_status(args) or test
    say_status(test, as_json=args.json)
    return EXITS[test.status]


def _live_status(args: StatusArgs) -> TestStatus | None:
    try:
        with _calls(args) as calls:
            if not args.follow:
                return calls.status(args.test_id)
            test = None
            for test in calls.watch(args.test_id):
                if test.status != "UNKNOWN" and not args.json:
                    say(paint(f"{safe(args.test_id)}: {test.status}", "dim", sys.stderr), sys.stderr)
            return test
    except NoHarness:
        return None


def _run_test(args: CommandArgs, act: Callable[["Calls"], Any]) -> int:
    """Perform one action as a test; print its outcome."""

    def call(calls: "Calls") -> int:
        answer = act(calls)
        status = "PASSED" if answer.success else calls.status(answer.test_id).status
        if args.json:
            say_json({**_plain(answer), "status": status})
        else:
            colour = "good" if answer.success else "bad"
            say(f"Test ID: {answer.test_id}")
            say(f"Status: {paint(status, colour)}")
            say(safe(answer.message))
        return EXITS[status]

    return _call_harness(args, call)


def _call_harness(args: CommandArgs, work: Callable[["Calls"], int]) -> int:
    try:
        with _calls(args) as calls:
            return work(calls)
    except NoHarness as error:
        report(error, as_json=args.json)
        return NO_HARNESS
    except BadValue as error:
        report(error, as_json=args.json)
        return USAGE


def _calls(args: CommandArgs) -> "Calls":
    from interlock.uitest.calls import Calls  # importing gRPC takes a tenth of a second

    file = project_of(args).folder / "run" / "harness.json"
    if not file.exists():
        raise NoHarness("no window with a test harness runs here: start 'interlock gui --enable-test-harness' first")
    try:
        address = read_api_file(file)
    except NotServing as error:
        raise NoHarness(f"{error}: start 'interlock gui --enable-test-harness' first") from None
    return Calls(str(address["host"]), int(address["port"]), str(address["token"]))


def _plain(message: Any) -> Any:
    """A protobuf message as plain data: every field, numbers as numbers."""
    fields: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.message_type is not None:
            value = [_plain(item) for item in value] if field.is_repeated else _plain(value)
        fields[field.name] = value
    return fields

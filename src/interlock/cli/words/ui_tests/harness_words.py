"""Arguments of the `interlock test …` commands that drive a window."""

import argparse

from interlock.cli.words.commands import Commands, add_command
from interlock.cli.words.ui_tests.test_history_words import add_format_option

_TARGETS = "button:Label, input:Label, window:Title, Window/type:Label, or a key such as btn_reset"
_CONDITIONS = (
    "window_visible:TITLE, element_visible:T, element_enabled:T, exists:T, value_equals:T:V, text_contains:T:V"
)


def add_harness_commands(group: Commands) -> None:
    _add_click(group)
    _add_type(group)
    _add_wait(group)
    _add_assert(group)
    _add_discover(group)
    _add_screenshot(group)
    _add_run(group)


def _add_click(group: Commands) -> None:
    command = add_command(
        group,
        "click",
        "serve.harness:click",
        "click a widget of the window of 'interlock gui --enable-test-harness'; exit 5: no such window runs",
        "interlock test click 'button:Plan it'",
        "interlock test click window:Inbox",
    )
    command.add_argument("target", nargs="?", default="", metavar="TARGET", help=_TARGETS)
    command.add_argument(
        "--type",
        dest="button",
        choices=["left", "right", "double", "middle"],
        default="left",
        help="(default: left)",
    )
    _add_widget_key(command)


def _add_type(group: Commands) -> None:
    command = add_command(
        group,
        "type",
        "serve.harness:type_",
        "type into an input of the window",
        "interlock test type input:Goal 'Faster tests' --clear",
    )
    command.add_argument("target", metavar="TARGET", help=_TARGETS)
    command.add_argument("text", metavar="TEXT", help="- is stdin")
    command.add_argument("--clear", action="store_true", help="replace the input's text instead of adding to it")
    _add_widget_key(command)


def _add_wait(group: Commands) -> None:
    command = add_command(
        group,
        "wait",
        "serve.harness:wait",
        "wait until a condition holds; exit 3: it did not hold in time",
        "interlock test wait window_visible:Inbox",
        "interlock test wait text_contains:topbar.state:DONE --timeout-ms 60000",
    )
    command.add_argument("condition", metavar="CONDITION", help=_CONDITIONS)
    command.add_argument("--timeout-ms", type=int, default=5_000, metavar="MS", help="(default: 5000)")
    command.add_argument("--poll-ms", type=int, default=0, metavar="MS", help="(default: every frame)")
    _add_widget_key(command)


def _add_assert(group: Commands) -> None:
    command = add_command(
        group,
        "assert",
        "serve.harness:assert_",
        "check that a condition holds now; exit 1: it does not",
        "interlock test assert value_equals:input:Goal:Better --message 'it is lost'",
    )
    command.add_argument("condition", metavar="CONDITION", help=_CONDITIONS)
    command.add_argument("--message", default="", metavar="TEXT", help="the message of a failure")
    _add_widget_key(command)


def _add_discover(group: Commands) -> None:
    command = add_command(
        group,
        "discover",
        "serve.harness:discover",
        "list every widget of the window: label, key, value",
        "interlock test discover --window Inbox --type button",
    )
    command.add_argument("--window", default="", metavar="TITLE", help="only windows whose title contains this")
    command.add_argument(
        "--type",
        dest="widget_type",
        default="",
        metavar="TYPE",
        help="button, input, checkbox, row, text, window or item",
    )
    add_format_option(command, "table")


def _add_screenshot(group: Commands) -> None:
    command = add_command(
        group,
        "screenshot",
        "serve.harness:screenshot",
        "save a PNG of the window below .interlock/artifacts (needs --backend desktop or egl)",
        "interlock test screenshot",
        "interlock test screenshot inbox.png --window Inbox",
    )
    command.add_argument("output_path", nargs="?", default="", metavar="FILE", help="(default: a generated name)")
    command.add_argument("--window", default="", metavar="TITLE", help="only this panel")
    add_format_option(command, "text")


def _add_run(group: Commands) -> None:
    command = add_command(
        group,
        "run",
        "serve.harness:run",
        "run the steps of a prompt as one e2e test; every step is a test of its own",
        "interlock test run --prompt 'Open Inbox and verify it loads' --json",
    )
    command.add_argument(
        "--prompt",
        required=True,
        metavar="TEXT",
        help='open X, click X, type "T" into X, wait for X, verify X loads | is visible | is enabled | contains "T"',
    )
    add_format_option(command, "text")


def _add_widget_key(command: argparse.ArgumentParser) -> None:
    command.add_argument("--widget-key", default="", metavar="KEY", help="a widget's key, instead of a target")
    add_format_option(command, "text")

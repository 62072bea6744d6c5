"""The words of `interlock test …` that drive a window. Only argparse here: handlers are named, not imported."""

from typing import Any

from interlock.cli.words.test_words import Command, forms

_TARGETS = "button:Label, input:Label, window:Title, Window/type:Label, or a key such as btn_reset"
_CONDITIONS = (
    "window_visible:TITLE, element_visible:T, element_enabled:T, exists:T, value_equals:T:V, text_contains:T:V"
)


def driving_words(group: Any, command: Command) -> None:
    made = command(
        group,
        "click",
        "serve.harness:click",
        "click something in the window of 'interlock gui --enable-test-harness'; exit 5: there is none",
        "  interlock test click 'button:Plan it'\n  interlock test click window:Inbox",
    )
    made.add_argument("target", nargs="?", default="", metavar="TARGET", help=_TARGETS)
    made.add_argument("--type", choices=["left", "right", "double", "middle"], default="left", help="(default: left)")
    _key(made)
    made = command(
        group,
        "type",
        "serve.harness:type_",
        "type into an input of the window",
        "  interlock test type input:Goal 'Faster tests' --clear",
    )
    made.add_argument("target", metavar="TARGET", help=_TARGETS)
    made.add_argument("text", metavar="TEXT", help="- is stdin")
    made.add_argument("--clear", action="store_true", help="instead of what stands there, not after it")
    _key(made)
    made = command(
        group,
        "wait",
        "serve.harness:wait",
        "wait until something shows; exit 3: it did not come in time",
        "  interlock test wait window_visible:Inbox\n"
        "  interlock test wait text_contains:topbar.state:DONE --timeout-ms 60000",
    )
    made.add_argument("condition", metavar="CONDITION", help=_CONDITIONS)
    made.add_argument("--timeout-ms", dest="timeout", type=int, default=5_000, metavar="MS", help="(default: 5000)")
    made.add_argument("--poll-ms", dest="poll", type=int, default=0, metavar="MS", help="(default: every frame)")
    _key(made)
    made = command(
        group,
        "assert",
        "serve.harness:assert_",
        "whether something is so now; exit 1: it is not",
        "  interlock test assert value_equals:input:Goal:Better --message 'the goal is lost'",
    )
    made.add_argument("condition", metavar="CONDITION", help=_CONDITIONS)
    made.add_argument("--message", default="", metavar="TEXT", help="said when it is not so")
    _key(made)
    made = command(
        group,
        "discover",
        "serve.harness:discover",
        "every widget of the window: its label, key, value",
        "  interlock test discover --window Inbox --type button",
    )
    made.add_argument("--window", default="", metavar="TITLE", help="only windows whose title contains this")
    made.add_argument("--type", default="", metavar="TYPE", help="button, input, checkbox, row, text, window or item")
    forms(made, "table")
    made = command(
        group,
        "screenshot",
        "serve.harness:screenshot",
        "a PNG of the window, below .interlock/artifacts (needs --backend desktop or egl)",
        "  interlock test screenshot\n  interlock test screenshot inbox.png --window Inbox",
    )
    made.add_argument("output_path", nargs="?", default="", metavar="FILE", help="(default: a name is made)")
    made.add_argument("--window", default="", metavar="TITLE", help="only this panel")
    forms(made, "text")
    made = command(
        group,
        "run",
        "serve.harness:run",
        "do what sentences say, as one e2e test whose steps are tests of their own",
        "  interlock test run --prompt 'Open Inbox and verify it loads' --json | jq -r .test_id",
    )
    made.add_argument(
        "--prompt",
        required=True,
        metavar="TEXT",
        help='open X, click X, type "T" into X, wait for X, verify X loads | is visible | is enabled | contains "T"',
    )
    forms(made, "text")


def _key(made: Any) -> None:
    made.add_argument("--widget-key", default="", metavar="KEY", help="a widget's key, instead of a target")
    forms(made, "text")

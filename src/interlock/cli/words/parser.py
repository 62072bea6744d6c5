"""The parser of the command line. Its commands are in the other modules of this folder, by topic."""

import argparse
import sys
from typing import NoReturn

from interlock.cli.words.approval_words import add_approvals
from interlock.cli.words.checkpoint_words import add_checkpoint
from interlock.cli.words.commands import FORMAT, Commands, add_group, examples_text
from interlock.cli.words.discussion_words import add_autonomy, add_chat, add_discussions, add_tell
from interlock.cli.words.help.topics import ListedCommands, commands_text
from interlock.cli.words.inspect_words import (
    add_adopt,
    add_context,
    add_doctor,
    add_init,
    add_parse,
    add_policy,
    add_trust,
    add_view,
)
from interlock.cli.words.model_words import add_agents, add_models, add_tools
from interlock.cli.words.project_words import add_caches, add_prepare, add_try
from interlock.cli.words.record_words import add_completion, add_demo, add_journal, add_status, add_usage
from interlock.cli.words.serve_words import (
    add_acp,
    add_ask_hook,
    add_gui,
    add_hooks,
    add_mcp,
    add_mcp_servers,
    add_open,
    add_serve,
    add_sessions,
    add_tui,
    add_tunnel,
)
from interlock.cli.words.ticket_words import add_tickets, add_workers
from interlock.cli.words.track_words import add_tracks
from interlock.cli.words.ui_tests.harness_words import add_harness_commands
from interlock.cli.words.ui_tests.test_history_words import add_history_commands
from interlock.cli.words.undo_words import add_undo
from interlock.cli.words.work_words import add_do, add_resume, add_run, add_verify

_USAGE = "interlock [-h] [-V] [-C DIR] COMMAND ..."
_DESCRIPTION = """\
Interlock: coding with AI agents that a person can trust.

Tickets run in parallel, each in a worktree of its own. Nothing runs before it
is approved, and nothing counts as done before its gate passes. One journal
records everything.
"""
_EXAMPLES = (
    "interlock run --tickets plan.json       # every script needs an approval",
    "interlock run --resume                  # continue everything unfinished",
    "interlock approvals list                # pending questions to you",
    "interlock approvals answer A-3 approve  # also while no workbench runs",
    "interlock tracks land demo              # merge a track into your branch",
    "interlock journal verify                # check that the record is complete",
)
_EXIT_CODES = """\
exit codes: 0 done, 1 error, 2 usage, 3 blocked, aborted or gate failed,
4 approval needed, 5 budget, 130 interrupted
"""


def _untranslated(text: str) -> str:
    return text


# argparse looks for translations in a dozen folders, for every text: half of the time that parsing takes.
setattr(argparse, "_", _untranslated)  # noqa: B010  argparse has no public name for it


class _Parser(argparse.ArgumentParser):
    """Prints a usage error also as JSON if the caller asked for JSON."""

    wants_json = False
    summaries: dict[str, str] | None = None  # of the commands; only in the parser of `interlock` itself

    def format_help(self) -> str:
        text = super().format_help()
        if self.summaries is None:
            return text
        return f"{text}\n{commands_text(self.summaries)}\n\n{examples_text(_EXAMPLES)}\n\n{_EXIT_CODES}"

    def error(self, message: str) -> NoReturn:
        if _Parser.wants_json:
            import json

            sys.stdout.write(json.dumps({"error": message, "kind": "Usage"}) + "\n")
        from interlock.views.display import safe  # a mistake may quote any text

        super().error(safe(message))


def parse(argv: list[str]) -> argparse.Namespace:
    """The namespace has `handler` ("module:function" below `interlock.cli`) and the command's arguments."""
    _Parser.wants_json = "--json" in argv or _asks_for_json_format(argv)
    parser = build()
    namespace = parser.parse_args(argv or [_workbench()])
    folder = vars(namespace).pop("folder", None)
    if folder is not None and not hasattr(namespace, "handler") and not hasattr(namespace, "parser"):
        return parse([_workbench(), "-C", folder])
    if not hasattr(namespace, "handler"):
        chosen: argparse.ArgumentParser = getattr(namespace, "parser", parser)
        chosen.error("what should be done? See --help.")
    if folder is not None:
        if not hasattr(namespace, "project"):
            parser.error("this command works on no project, so it takes no -C")
        if namespace.project is not None:
            parser.error("-C is given twice: before the command and after it")
        namespace.project = folder
    return namespace


def _workbench() -> str:
    """The command of `interlock` alone: the window; in a terminal without a display the terminal workbench."""
    import os

    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    return "tui" if terminal and not display else "gui"


def _asks_for_json_format(argv: list[str]) -> bool:
    """Whether `--format json` or `--output json` of `interlock test …` is given."""
    options = ("--format", "--output")
    joined = any(f"{option}=json" in argv for option in options)
    return joined or any(word in options and argv[at + 1 : at + 2] == ["json"] for at, word in enumerate(argv))


def build() -> argparse.ArgumentParser:
    parser = _Parser("interlock", usage=_USAGE, description=_DESCRIPTION, formatter_class=FORMAT)
    parser.add_argument(
        "-V",
        "--version",
        action="store_const",
        const="inspect.basics:version",
        dest="handler",
        default=argparse.SUPPRESS,
        help="print the version and exit",
    )
    parser.add_argument("-C", "--project", dest="folder", metavar="DIR", help="the project's folder, for any command")
    # Listed by topic below the options, not by argparse.
    commands = ListedCommands(parser.add_subparsers(metavar="COMMAND", help=argparse.SUPPRESS, prog="interlock"))
    for add in (
        *(add_init, add_run, add_resume, add_do, add_parse, add_chat, add_tell, add_autonomy, add_discussions),
        *(add_serve, add_gui, add_tui, add_open, add_sessions, add_tunnel),
        *(add_acp, add_mcp, add_mcp_servers, add_ask_hook, add_hooks),
        *(add_tracks, add_tickets, add_workers, add_approvals, add_checkpoint, add_undo),
        *(add_policy, add_tools, add_models, add_agents, add_journal, _add_test),
        *(add_try, add_prepare, add_caches, add_verify, add_view, add_context, add_status, add_doctor, add_usage),
        *(add_trust, add_adopt, add_demo, add_completion),
    ):
        add(commands)
    parser.summaries = commands.summaries
    return parser


def _add_test(commands: Commands) -> None:
    group = add_group(
        commands,
        "test",
        "drive the window, and read the test history",
        "interlock test run --prompt 'Open Inbox and verify it loads'",
        "interlock test list --status failed",
    )
    add_harness_commands(group)
    add_history_commands(group)

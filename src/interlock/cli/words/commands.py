"""Building blocks of the parser: commands, groups, and options that several commands share.

The modules of this folder import argparse and nothing heavy, so that `interlock --help` stays fast. A handler is named
as `module:function` below `interlock.cli`; it is imported only when its command runs.
"""

import argparse
from collections.abc import Sequence
from typing import Any, Protocol

PROVIDERS = (
    "anthropic",
    "gemini",
    "openai",
    "deepseek",
    "openrouter",
    "ollama",
    "llama.cpp",
    "vllm",
    "gemini_cli",
    "scripted",
)
FORMAT = argparse.RawDescriptionHelpFormatter
TICKET = "TRACK/TICKET or TICKET"
COLUMNS = 79
"""Of a help text, where argparse does not fill its lines itself."""


class Commands(Protocol):
    """The result type of `add_subparsers`; argparse has no public name for its type."""

    def add_parser(
        self, name: str, *, help: str, description: str, epilog: str, formatter_class: type[argparse.HelpFormatter]
    ) -> argparse.ArgumentParser: ...


def add_command(
    commands: Commands, name: str, handler: str, summary: str, *examples: str, json: bool = True, project: bool = True
) -> argparse.ArgumentParser:
    command = _add_parser(commands, name, summary, examples)
    command.set_defaults(handler=handler)
    if project:
        command.add_argument(
            "-C", "--project", metavar="DIR", help="the project's folder (default: this folder or the nearest above it)"
        )
    if json:
        command.add_argument("--json", action="store_true", help="print JSON")
    return command


def take_words_anywhere(command: argparse.ArgumentParser) -> None:
    """Lets options stand anywhere between the words of a command that takes a list of words."""
    split = command.parse_known_args

    def together(args: Any = None, namespace: Any = None) -> Any:
        command.parse_known_args = split  # it is called for each of the two passes
        try:
            return command.parse_known_intermixed_args(args, namespace)
        finally:
            command.parse_known_args = together

    command.parse_known_args = together


def add_group(commands: Commands, name: str, summary: str, *examples: str) -> Commands:
    group = _add_parser(commands, name, summary, examples)
    group.set_defaults(parser=group)
    return group.add_subparsers(metavar="COMMAND", title="commands")


def examples_text(examples: Sequence[str]) -> str:
    """The `examples:` part of a help text. A comment in an example begins with `#`, as in a shell."""
    return "examples:\n" + "\n".join(f"  {example}" for example in examples)


def _add_parser(commands: Commands, name: str, summary: str, examples: Sequence[str]) -> argparse.ArgumentParser:
    description = f"{summary[0].upper()}{summary[1:]}."
    if len(description) > COLUMNS:
        from textwrap import fill

        description = fill(description, COLUMNS)
    return commands.add_parser(
        name, help=summary, description=description, epilog=examples_text(examples), formatter_class=FORMAT
    )


# ── options that several commands share ──────────────────────────────────────────────────


def add_model_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--provider", choices=PROVIDERS, metavar="P", help=f"the model provider: {', '.join(PROVIDERS)}"
    )
    command.add_argument("--model", metavar="M", help="the provider's model, for all tiers (default: settings)")
    command.add_argument("--script", metavar="FILE", help="the answer rules of --provider scripted")
    command.add_argument("--agent", metavar="NAME", help="the CLI agent that works on tickets (interlock agents list)")
    command.add_argument("--max-tool-rounds", type=tool_rounds, metavar="N", help="most tool rounds per request")


def add_approve_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--approve", choices=["all"], help="answer every approval except gates: for tests and demos only"
    )


def add_plain_option(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--plain", action="store_true", help=f"{what}, also on a terminal")


def add_workers_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--workers", type=int, metavar="N", help="attempts at the same time (default: settings, 4)")


def add_autonomy_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--autonomy",
        choices=["ask", "review", "land"],
        help="what asks first: every change, each ticket's diff, or only the landing (default: settings, ask)",
    )


def add_land_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--land", action="store_true", help="land the finished track on your branch (asks for approval)"
    )


def add_message_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--message", "-m", default="", metavar="WHY", help="the reason; the journal keeps it")


def add_page_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--limit", type=int, default=0, metavar="N", help="at most N (default: all)")
    command.add_argument("--offset", type=int, default=0, metavar="N", help="leave out the first N")


# ── values ───────────────────────────────────────────────────────────────────────────────


def tool_rounds(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= 1000:
        raise argparse.ArgumentTypeError(f"a whole number from 1 to 1000, not {text!r}")
    return number


def seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"a number of seconds, not {text!r}")
    return number


def port(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"a port from 0 (any) to 65535, not {text!r}")
    return number

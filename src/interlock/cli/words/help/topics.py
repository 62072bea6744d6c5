"""The commands of `interlock --help`, by topic. A command without a topic is listed at the end."""

import argparse
from collections.abc import Mapping

from interlock.cli.words.commands import COLUMNS, Commands

TOPICS = {
    "start": ("init", "demo", "doctor", "try", "prepare"),
    "work": ("run", "resume", "do", "chat", "tell", "autonomy"),
    "answer and undo": ("approvals", "policy", "trust", "checkpoint", "undo"),
    "look and change": ("status", "tracks", "tickets", "workers", "discussions", "usage", "journal", "test"),
    "front ends": ("gui", "tui", "serve", "open", "sessions", "tunnel", "acp", "mcp"),
    "models, agents and tools": ("models", "agents", "tools", "mcp-servers", "hooks", "ask-hook"),
    "single steps": ("verify", "parse", "context", "view", "caches", "adopt", "completion"),
}
_INDENT = 16


class ListedCommands:
    """Adds commands to a parser and remembers their summaries."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self.summaries: dict[str, str] = {}

    def add_parser(
        self, name: str, *, help: str, description: str, epilog: str, formatter_class: type[argparse.HelpFormatter]
    ) -> argparse.ArgumentParser:
        self.summaries[name] = help
        return self._commands.add_parser(
            name, help=help, description=description, epilog=epilog, formatter_class=formatter_class
        )


def commands_text(summaries: Mapping[str, str]) -> str:
    """All commands with their summaries, below the name of their topic."""
    from textwrap import wrap

    named = {name for names in TOPICS.values() for name in names}
    topics = {**TOPICS, "more": tuple(name for name in summaries if name not in named)}
    parts: list[str] = []
    for topic, names in topics.items():
        lines: list[str] = []
        for name in (name for name in names if name in summaries):
            first, *rest = wrap(summaries[name], COLUMNS - _INDENT)
            lines += [f"  {name:{_INDENT - 3}} {first}", *(f"{'':{_INDENT}}{line}" for line in rest)]
        if lines:
            parts.append("\n".join([f"{topic}:", *lines]))
    return "\n\n".join(parts)

"""`interlock completion SHELL`: a script generated from the parser, so it is never out of date."""

import argparse
from typing import Literal

from msgspec import Struct

from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import say
from interlock.cli.words.parser import build


class CompletionArgs(Struct, frozen=True):
    shell: Literal["bash", "zsh", "fish"]


def completion(args: CompletionArgs) -> int:
    words = {path: " ".join(options) for path, options in _walk(build(), "")}
    say({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](words))
    return DONE


def _walk(parser: argparse.ArgumentParser, path: str) -> list[tuple[str, list[str]]]:
    """Every command path, with the words that may follow it."""
    options: list[str] = []
    below: list[tuple[str, list[str]]] = []
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]  argparse has no public list
        options.extend(option for option in action.option_strings if option.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            choices: dict[str, argparse.ArgumentParser] = dict(action.choices)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
            options = [*choices, *options]
            for name, child in choices.items():
                below.extend(_walk(child, f"{path} {name}".strip()))
        elif action.choices and not action.option_strings:
            options = [*(str(choice) for choice in action.choices), *options]
    return [(path, options), *below]


def _bash(words: dict[str, str]) -> str:
    cases = "\n".join(f'    "{path}") words="{following}" ;;' for path, following in words.items())
    return f"""\
_interlock() {{
  local path="" word words=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) ;; *) path="${{path:+$path }}$word" ;; esac
  done
  while :; do
    case "$path" in
{cases}
    esac
    [ -n "$words" ] && break
    [ -z "$path" ] && break
    case "$path" in *" "*) path="${{path% *}}" ;; *) path="" ;; esac
  done
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _interlock interlock"""


def _zsh(words: dict[str, str]) -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash(words)}"


def _fish(words: dict[str, str]) -> str:
    lines: list[str] = []
    for path, following in words.items():
        seen = " and ".join(f"__fish_seen_subcommand_from {word}" for word in path.split())
        condition = f"'{seen.replace(' and ', '; and ')}'" if seen else "__fish_use_subcommand"
        lines.append(f"complete -c interlock -n {condition} -a '{following}'")
    return "\n".join(lines)

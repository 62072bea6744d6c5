"""`interlock completion SHELL`: a script generated from the parser, so it is never out of date."""

import argparse
from typing import Literal

from msgspec import Struct

from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import say
from interlock.cli.words.parser import build


class CompletionArgs(Struct, frozen=True):
    shell: Literal["bash", "zsh", "fish"]


_KINDS = {
    "track": "tracks",
    "into": "tracks",
    "ticket": "tickets",
    "tickets": "tickets",
    "approval": "approvals",
    "checkpoint": "checkpoints",
    "checkpoints": "checkpoints",
    "discussion": "discussions",
    "recipient": "tickets discussions",
    "model": "models",
}
"""The kinds of ids that an argument of this name takes."""


class _Words(Struct, frozen=True):
    """What may follow a command: fixed words, kinds of ids, and the values of options (words, or kinds after `@`)."""

    fixed: tuple[str, ...]
    kinds: str
    values: dict[str, str]


def completion(args: CompletionArgs) -> int:
    words = dict(_walk(build(), ""))
    say({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](words))
    return DONE


def _walk(parser: argparse.ArgumentParser, path: str) -> list[tuple[str, _Words]]:
    """Every command path, with the words that may follow it."""
    fixed: list[str] = []
    kinds: list[str] = []
    values: dict[str, str] = {}
    below: list[tuple[str, _Words]] = []
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]  argparse has no public list
        options = [option for option in action.option_strings if option.startswith("--")]
        fixed.extend(options)
        kind = _KINDS.get(action.dest, "") if action.nargs != 0 else ""
        choices = [] if action.choices is None else [str(choice) for choice in action.choices]
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            children: dict[str, argparse.ArgumentParser] = dict(action.choices)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
            fixed = [*children, *fixed]
            for name, child in children.items():
                below.extend(_walk(child, f"{path} {name}".strip()))
        elif options:
            values.update(dict.fromkeys(options, f"@{kind}" if kind else " ".join(choices)))
        else:
            fixed = [*choices, *fixed]
            kinds.append(kind)
    known = {option: value for option, value in values.items() if value}
    return [(path, _Words(tuple(fixed), " ".join(filter(None, kinds)), known)), *below]


def _bash(words: dict[str, _Words]) -> str:
    cases = "\n".join(
        f'    "{path}") words="{" ".join(found.fixed)}"; kinds="{found.kinds}" ;;' for path, found in words.items()
    )
    values = "\n".join(
        f'    "{path} {option}") {_assigned(value)}; only=1 ;;'
        for path, found in words.items()
        for option, value in found.values.items()
    )
    # Not `path`: in zsh that is PATH.
    return f"""\
_interlock() {{
  local route="" word words="" kinds="" only=""
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[$((COMP_CWORD-1))]}}"
  for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD-1))}}"; do
    case "$word" in -*) ;; *) route="${{route:+$route }}$word" ;; esac
  done
  while :; do
    case "$route $before" in
{values}
    esac
    [ -n "$only" ] && break
    case "$route" in
{cases}
    esac
    [ -n "$words" ] && break
    [ -z "$route" ] && break
    case "$route" in *" "*) route="${{route% *}}" ;; *) route="" ;; esac
  done
  case "$current" in -*) kinds="" ;; esac
  [ -n "$kinds" ] && words="$words $(command interlock --complete $kinds 2>/dev/null)"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _interlock interlock"""


def _assigned(value: str) -> str:
    words, kinds = ("", value[1:]) if value.startswith("@") else (value, "")
    return f'words="{words}"; kinds="{kinds}"'


def _zsh(words: dict[str, _Words]) -> str:
    # zsh does not split a variable into words by itself.
    asked = _bash(words).replace("--complete $kinds", "--complete ${=kinds}")
    return f"autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n{asked}"


def _fish(words: dict[str, _Words]) -> str:
    lines: list[str] = []
    for path, found in words.items():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in path.split())
        condition = f"'{seen}'" if seen else "__fish_use_subcommand"
        lines.append(f"complete -c interlock -n {condition} -a '{' '.join(found.fixed)}'")
        if found.kinds:
            lines.append(f"complete -c interlock -n {condition} -f -a '(command interlock --complete {found.kinds})'")
        for option, value in found.values.items():
            offered = f"(command interlock --complete {value[1:]})" if value.startswith("@") else value
            lines.append(f"complete -c interlock -n {condition} -l {option[2:]} -x -a '{offered}'")
    return "\n".join(lines)

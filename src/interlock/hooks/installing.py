"""The change that puts Interlock's hook into an agent's file, or takes it out. Pure: texts in, texts out."""

import json
from typing import Any

from msgspec import Struct

from interlock.errors import Misconfigured
from interlock.hooks.agents import Agent, is_ours
from interlock.hooks.json_lines import add_entry, plain_json, take_piece


class Change(Struct, frozen=True):
    """A file's text before and after; `after` is None if the file is to be removed. `piece` is what was added."""

    before: str | None
    after: str | None
    piece: str = ""


def with_hook(agent: Agent, text: str | None, program: tuple[str, ...], recorded: str) -> Change:
    """Adds the hook; an older one of Interlock is replaced. Raises Misconfigured if the file cannot be read."""
    if text is not None and our_commands(agent, text) == [agent.entry(program)["hooks"][0]["command"]]:
        return Change(text, text, recorded)
    bare = text
    if text is not None and our_commands(agent, text):
        bare = without_hook(agent, text, recorded).after
    added = add_entry(bare or "", ("hooks", agent.event), agent.entry(program))
    return Change(text, added.text, added.piece)


def without_hook(agent: Agent, text: str, recorded: str) -> Change:
    """Takes out exactly the recorded piece. If the file was formatted anew, its entries are taken out by content."""
    taken = take_piece(text, recorded)
    if taken is not None and not our_commands(agent, taken):
        return Change(text, taken if taken.strip() else None)
    content = plain_json(text)
    if not our_commands(agent, text):
        return Change(text, text)
    try:
        json.loads(text)
    except ValueError as error:
        raise Misconfigured(
            "it contains comments and was changed since the installation: remove the entry by hand"
        ) from error
    remaining = _without_entries(agent, content)
    return Change(text, json.dumps(remaining, indent=2, ensure_ascii=False) + "\n" if remaining else None)


def our_commands(agent: Agent, text: str) -> list[str]:
    """The commands of Interlock among the hooks of the agent's event."""
    return [
        command["command"]
        for group in _groups(agent, plain_json(text))
        for command in _commands(group)
        if is_ours(command.get("command"), agent.name)
    ]


def _groups(agent: Agent, content: dict[str, Any]) -> list[dict[str, Any]]:
    hooks = content.get("hooks")
    groups: Any = hooks.get(agent.event) if isinstance(hooks, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return [group for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []  # pyright: ignore[reportUnknownVariableType]


def _commands(group: dict[str, Any]) -> list[dict[str, Any]]:
    commands = group.get("hooks")
    return [command for command in commands if isinstance(command, dict)] if isinstance(commands, list) else []  # pyright: ignore[reportUnknownVariableType]


def _without_entries(agent: Agent, content: dict[str, Any]) -> dict[str, Any]:
    kept: list[dict[str, Any]] = []
    for group in _groups(agent, content):
        others = [command for command in _commands(group) if not is_ours(command.get("command"), agent.name)]
        if others:
            kept.append({**group, "hooks": others})
    hooks = {**content["hooks"], agent.event: kept}
    hooks = {event: groups for event, groups in hooks.items() if groups or event != agent.event}
    return {**content, "hooks": hooks} if hooks else {key: value for key, value in content.items() if key != "hooks"}

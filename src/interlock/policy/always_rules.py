"""“Always allow this”: builds the narrowest rule as text and appends it to the user's file."""

import json
import os
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from interlock.errors import Misconfigured, Rejected
from interlock.policy.reading.second_reader import plain_commands
from interlock.policy.reading.shell_ast import parse
from interlock.policy.reading.wrappers import unwrapped


def narrowest_rule(script: str, name: str) -> str:
    """A `[[policy]]` table that allows exactly this command. Raises Rejected if no rule can be that narrow."""
    command = script.strip()
    commands = plain_commands(command)
    if commands is None or not commands or any(one.words[0].literal is False for one in commands):
        concerns = parse(command).concerns
        why = concerns[0] if concerns else "it is not plain enough to be sure how a shell reads it"
        raise Rejected(f"no rule can always allow this: {why}")
    if len(commands) > 1:
        raise Rejected("no rule can always allow this: it is more than one command")
    words = commands[0].words
    if any(word.glob for word in words):
        raise Rejected("no rule can always allow this: a pattern in it may match other files later")
    if unwrapped(words):
        raise Rejected(f"no rule can always allow this: {words[0].text} runs another command")
    if concerns := parse(command).concerns:
        raise Rejected(f"no rule can always allow this: {concerns[0]}")
    shown = _quoted(command)
    return f'[[policy]]\nname = {_quoted(name)}\nverdict = "allow"\nexactly = {shown}\nmatch = [{shown}]\n'


def tool_rule(tool: str, name: str, hosts: Sequence[str] = ()) -> str:
    """A `[[policy]]` table that allows this tool, on these hosts. Raises Rejected for tools that need more."""
    if tool == "run_shell" or not tool.isidentifier() or (tool == "fetch_url" and not hosts):
        raise Rejected(f"no rule can always allow the tool {tool!r}")
    shown = _quoted(tool)
    if hosts:
        named, example = json.dumps(list(hosts)), _quoted(" ".join((tool, *hosts)))
        about = f"tool = {shown}\nhosts = {named}\nmatch = [{example}]\n"
        return f'[[policy]]\nname = {_quoted(name)}\nverdict = "allow"\n{about}'
    return f'[[policy]]\nname = {_quoted(name)}\nverdict = "allow"\ntool = {shown}\nmatch = [{shown}]\n'


def _quoted(text: str) -> str:
    """A TOML string: a JSON string of plain text is valid TOML."""
    return json.dumps(text, ensure_ascii=False)


def free_name(taken: Callable[[str], bool]) -> str:
    number = 1
    while taken(f"always-{number}"):
        number += 1
    return f"always-{number}"


def append_rule(file: Path, rule: str) -> None:
    """Appends a rule. The existing bytes of the file do not change."""
    try:
        before = file.read_bytes()
    except FileNotFoundError:
        before = b""
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    gap = b"" if not before else b"\n" if before.endswith(b"\n") else b"\n\n"
    after = before + gap + rule.encode()
    try:
        tomllib.loads(after.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misconfigured(
            f"{file}: a rule cannot be added at its end ({error}); add it by hand:\n\n{rule}"
        ) from error
    replace_content(file, after)


def replace_content(file: Path, content: bytes) -> None:
    """Writes the file at once or not at all; a link to the file stays a link."""
    target = file.resolve()
    part = target.with_name(f"{target.name}.{os.getpid()}")
    part.write_bytes(content)
    part.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o600)
    part.replace(target)

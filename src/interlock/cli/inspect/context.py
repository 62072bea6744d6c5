"""`interlock context`: the exact blocks that a worker would get."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from interlock.assembly.agents import tier_prompts, worker_context
from interlock.assembly.project import Project, read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE, wrong_usage
from interlock.cli.terminal.model_choices import note_unused_settings
from interlock.cli.terminal.output import paint, say, say_json, table
from interlock.cli.terminal.sessions import folder_of, project_of
from interlock.cli.work.tickets import find
from interlock.codeviews.syntax.detect import language_of
from interlock.codeviews.views import tokens
from interlock.domain.values.tickets import Ticket, TicketSpec
from interlock.engine.planning.briefing import SEPARATOR, BriefBlock, is_in_message
from interlock.engine.prompts.load import Tier
from interlock.errors import Misconfigured
from interlock.views.display import quoted_path, safe
from interlock.workspaces.read_only import FOLDER


class ContextArgs(CommandArgs, frozen=True):
    ticket: str | None
    files: tuple[str, ...] | None
    prompt: Tier | None


def context(args: ContextArgs) -> int:
    if sum(map(bool, (args.ticket, args.files, args.prompt))) != 1:
        return wrong_usage("context: name a ticket, files with --files, or a tier with --prompt", as_json=args.json)
    project = project_of(args) if args.ticket else folder_of(args)
    note_unused_settings(project)
    if args.prompt:
        return _show(None, "", tier_prompts(project, args.prompt), as_json=args.json)
    if args.ticket:
        state = read_state(project)
        ticket = state.ticket(*find(state, args.ticket))
        if ticket.spec.assigned_to == "shell":
            raise Misconfigured(f"ticket {ticket.id!r} is a script: there is no model, so there is no context")
        commit, blocks = asyncio.run(worker_context(project, ticket))
        return _show(f"{ticket.track}/{ticket.id}", commit, blocks, as_json=args.json)
    _, blocks = asyncio.run(worker_context(project, _for_files(project, args.files or (), args.project), FOLDER))
    files = [block for block in blocks if block.kind not in ("ticket", "tools")]
    return _show(None, "", files, as_json=args.json)


def _for_files(project: Project, files: Sequence[str], folder: str | None) -> Ticket:
    """A ticket with exactly these files: the first is its target, the others its context."""
    names = [_inside(project, os.path.join(folder or "", name)) for name in files]
    spec = TicketSpec(id="files", target_file=names[0], context_requirements=tuple(names[1:]))
    return Ticket(track="", spec=spec, created_at="")


def _inside(project: Project, name: str) -> str:
    """The path relative to the project's folder. Raises Misconfigured for anything but a readable file there."""
    path = Path(os.path.abspath(name))
    root = Path(os.path.abspath(project.root))
    if not path.is_relative_to(root):
        path = Path(os.path.realpath(name))
        root = Path(os.path.realpath(project.root))
    if not path.is_relative_to(root):
        raise Misconfigured(f"{name} is not in the project's folder {project.root}")
    if path.is_dir():
        raise Misconfigured(f"{name} is a folder; name files")
    if not path.is_symlink() and path.exists() and not path.is_file():  # git cannot store it
        raise Misconfigured(f"{name} is {_kind(path)}; name files")
    if path.is_file() and not os.access(path, os.R_OK):
        raise Misconfigured(f"{name} cannot be read: Permission denied")
    return path.relative_to(root).as_posix()


def _kind(path: Path) -> str:
    return "a FIFO" if path.is_fifo() else "a socket" if path.is_socket() else "a device"


def _show(ticket: str | None, commit: str, blocks: Sequence[BriefBlock], *, as_json: bool) -> int:
    parts = [block for block in blocks if is_in_message(block)]
    counted = [
        _count(block, SEPARATOR if parts and is_in_message(block) and block is not parts[-1] else "")
        for block in blocks
    ]
    if as_json:
        rows = [
            {"kind": block.kind, "name": block.name, "view": block.view, "tokens": count, "text": block.text}
            for block, count in zip(blocks, counted, strict=True)
        ]
        totals = {"tokens": sum(counted), "method": tokens.method()}
        say_json({"ticket": ticket, "base": commit or None, "blocks": rows, "totals": totals})
        return DONE
    shown = safe if sys.stdout.isatty() else str
    for block, count in zip(blocks, counted, strict=True):
        say(paint(f"==> {_heading(block)}: {count:,} tokens <==", "bold"))
        say(f"{shown(block.text)}\n")
    if any(block.kind == "file" for block in blocks) or commit:
        say(f"files as of {f'commit {commit[:12]}' if commit else 'the folder now'}; tokens {tokens.method()}")
    table(
        ("TOKENS", "BLOCK"),
        [
            *((f"{count:>8,}", _heading(block)) for block, count in zip(blocks, counted, strict=True)),
            (f"{sum(counted):>8,}", "all"),
        ],
    )
    return DONE


def _heading(block: BriefBlock) -> str:
    view = f" ({block.view})" if block.view else ""
    return f"{block.kind} {quoted_path(block.name)}{view}"


def _count(block: BriefBlock, separator: str) -> int:
    """Tokens of a block with its separator, so that the counts add up to the whole message."""
    text = (block.text + separator).encode(errors="replace")
    if block.kind == "file":
        return tokens.count(text, language_of(block.name, text))
    return tokens.count(text, "json" if block.kind == "tools" else "markdown")

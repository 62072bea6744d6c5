"""What a worker is told: its ticket, its files as far as it needs them, the project's instructions. Nothing else."""

from collections.abc import Awaitable, Callable
from fnmatch import fnmatch
from importlib.resources import files

from interlock.domain.tickets import Ticket
from interlock.engine.agent_loop import Brief
from interlock.ports import CodeViews, Workspace

Read = Callable[[str, str], Awaitable[bytes | None]]
"""A file of a commit, or None."""

_INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
_SECRET = (".env*", "*.pem", "*.key", "id_rsa*", "id_ed25519*", "history.toml", "*_history.toml", "credentials*")
_PROMPTS = {"tier3-worker": "tier3_worker.md", "tier4-qa": "tier4_qa.md"}


class Briefing:
    def __init__(self, read: Read, views: CodeViews) -> None:
        self._read = read
        self._views = views

    async def brief(self, ticket: Ticket, workspace: Workspace) -> Brief:
        spec = ticket.spec
        parts = [f"# Ticket {spec.id}", spec.description or "(no description)"]
        if spec.target_file:
            parts.append(f"The file to change: {spec.target_file}")
        if spec.verify:
            gates = "\n".join(f"- {gate.command}" for gate in spec.verify)
            parts.append(f"Your work counts only when these commands pass, run in the worktree:\n{gates}")
        if ticket.why:
            parts.append(f"An attempt before this one could not be used:\n\n{ticket.why}")
        return Brief(prompt_text(spec.assigned_to), "\n\n".join(parts), await self._context(ticket, workspace.base))

    async def _context(self, ticket: Ticket, commit: str) -> str:
        blocks: list[str] = []
        for name in _INSTRUCTIONS:
            if (content := await self._read(commit, name)) is not None:
                blocks.append(f"## Instructions of the project ({name})\n\n{content.decode(errors='replace')}")
                break
        wanted = [name for name in (ticket.spec.target_file, *ticket.spec.context_requirements) if name]
        curated = {ticket.spec.target_file, *ticket.spec.context_requirements[:1]}
        for name in dict.fromkeys(wanted):
            if any(fnmatch(name.rpartition("/")[2].lower(), shape) for shape in _SECRET):
                blocks.append(f"## {name}\n\n(not shown: it may hold secrets)")
                continue
            content = await self._read(commit, name)
            if content is None:
                blocks.append(f"## {name}\n\n(does not exist yet)")
                continue
            view = self._views.curated if name in curated else self._views.skeleton
            text = view(name, content)
            fence = "`" * max(3, 1 + max((len(run) for run in text.split() if set(run) == {"`"}), default=0))
            blocks.append(f"## {name}\n\n{fence}\n{text}\n{fence}")
        return "\n\n".join(blocks)


def prompt_text(role: str) -> str:
    return (files("interlock.engine") / "prompts" / _PROMPTS[role]).read_text(encoding="utf-8")

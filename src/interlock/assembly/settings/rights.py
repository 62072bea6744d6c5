"""What each setting may do when it comes from a project's file, which another person may have written.

A new key must be listed here; a test compares this table with the settings.
"""

from typing import Literal

Right = Literal["counts", "tightens", "trust", "stops", "never"]

EXPLAINED: dict[Right, str] = {
    "counts": "no",
    "tightens": "no: can only lower or tighten yours",
    "trust": "yes: until then yours is used",
    "stops": "yes: until then work does not start",
    "never": "only in your own file",
}
"""The column "needs trust" of the documentation."""

RIGHTS: dict[str, Right] = {
    "sandbox": "tightens",
    "crew": "trust",
    "tracks_dir": "trust",  # files are written there, and git ignores it
    "conductor.auto_queue": "trust",
    "conductor.autonomy": "trust",
    "conductor.workers": "tightens",
    "conductor.max_tool_rounds": "tightens",
    "conductor.discussion_tool_rounds": "tightens",
    "conductor.analyse_failures": "trust",  # makes model calls
    "conductor.analyse_warnings": "trust",
    "conductor.escalation": "trust",
    "provider.name": "trust",
    "provider.model": "trust",
    "provider.temperature": "counts",
    "provider.max_output_tokens": "tightens",
    "provider.context_tokens": "tightens",
    "provider.max_in_flight": "tightens",
    "provider.requests_per_minute": "tightens",
    "gemini_cli.command": "stops",
    "gemini_cli.timeout_s": "counts",
    "models.tier1": "trust",
    "models.tier2": "trust",
    "models.tier3": "trust",
    "models.tier4": "trust",
    "models.discussion": "trust",
    "prompts.tier1": "trust",  # by its text, also if a file has it
    "prompts.tier2": "trust",
    "prompts.tier3": "trust",
    "prompts.tier4": "trust",
    "prompts.discussion": "trust",
    "prompts.mode": "trust",
    "endpoints.anthropic": "never",
    "endpoints.gemini": "never",
    "endpoints.openai": "never",
    "endpoints.deepseek": "never",
    "endpoints.openrouter": "never",
    "endpoints.ollama": "never",
    "endpoints.llama_cpp": "never",
    "endpoints.vllm": "never",
    "prices": "never",
    "agents": "never",
    "tools.off": "tightens",
    "web_search.provider": "never",
    "web_search.address": "never",
    "web_search.key_variable": "never",
    "mcp.tool_budget": "tightens",
    "mcp.servers": "never",  # they start programs; a project names its own in .mcp.json
    "gates.max_attempts": "tightens",
    "gates.timeout_s": "counts",
    "gates.network": "stops",
    "gates.stuck_after": "counts",
    "gates.reuse": "tightens",  # false makes every gate run
    "gates.reuse_hours": "tightens",
    "gates.test_paths": "trust",  # an empty list would switch the stop at changed tests off
    "workspace.prepare": "stops",
    "workspace.prepare_timeout_s": "counts",
    "workspace.setup": "stops",
    "workspace.setup_timeout_s": "counts",
    "workspace.tests": "stops",
    "workspace.path": "stops",
    "workspace.services": "stops",
    "workspace.cache_days": "tightens",
    "workspace.cache_mb": "tightens",
    "approvals.deadline_s": "counts",
    "budgets.epic_usd": "tightens",
    "budgets.track_usd": "tightens",
    "budgets.ticket_usd": "tightens",
    "budgets.tier1_usd": "tightens",
    "budgets.tier2_usd": "tightens",
    "budgets.tier3_usd": "tightens",
    "budgets.tier4_usd": "tightens",
    "limits.processes": "tightens",
    "limits.memory_mb": "tightens",
    "limits.open_files": "tightens",
    "limits.tmp_mb": "tightens",
    "page.idle_hours": "tightens",
    "page.most_hours": "tightens",
    "secrets.files": "never",
    "secrets.exceptions": "never",
    "journal.checkpoint_every": "counts",
    "logs.keep_days": "trust",  # decides what is deleted
    "tests.keep": "trust",
    "tests.keep_days": "trust",
    "tui.notify": "never",
}

#!/usr/bin/env python3
"""A mock of Gemini CLI: reads a prompt from stdin and answers with two JSON lines that depend on its text.

It needs only Python and ignores all options. Messages for people go to stderr.
"""

import json
import os
import sys

MANAGING = ("mcp", "extensions", "skills", "hooks")

TRACKS = [
    {
        "id": "mock-track-1",
        "title": "Mock Goal 1",
        "description": "The first half of the epic, as the mock sees it.",
        "acceptance_criteria": ["the mock has answered"],
    },
    {
        "id": "mock-track-2",
        "title": "Mock Goal 2",
        "description": "The second half of the epic, as the mock sees it.",
        "acceptance_criteria": ["the mock has answered again"],
    },
]
TICKETS = [
    {"id": "mock-ticket-1", "description": "Mock Ticket 1: make the change", "depends_on": []},
    {"id": "mock-ticket-2", "description": "Mock Ticket 2: build upon it", "depends_on": ["mock-ticket-1"]},
]


def fenced(value: object) -> str:
    return f"```json\n{json.dumps(value, indent=2)}\n```"


def answer_to(prompt: str) -> tuple[str, str]:
    """The text and the session's id."""
    if "PATH: Epic Initialization" in prompt:
        return fenced(TRACKS), "mock-session-epic"
    if "PATH: Sprint Planning" in prompt:
        return fenced(TICKETS), "mock-session-sprint"
    if '"role": "tool"' in prompt or '"tool_call_id"' in prompt:
        return "SUCCESS: Mock final answer after the tools. [MOCK OUTPUT]", "mock-session-final"
    return "SUCCESS: Mock Tier 3 worker implemented the change. [MOCK OUTPUT]", "mock-session-default"


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] in MANAGING:
        return
    prompt = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    context = os.environ.get("GEMINI_CLI_HOOK_CONTEXT", "")
    print(f"mock: {len(prompt)} characters, options {sys.argv[1:]}, context {context}", file=sys.stderr, flush=True)
    text, session = answer_to(prompt)
    input_tokens, output_tokens = max(1, len(prompt) // 4), max(1, len(text) // 4)
    stats = {"total_tokens": input_tokens + output_tokens, "input_tokens": input_tokens, "output_tokens": output_tokens}
    print(json.dumps({"type": "message", "role": "assistant", "content": text}), flush=True)
    print(json.dumps({"type": "result", "status": "success", "stats": stats, "session_id": session}), flush=True)


if __name__ == "__main__":
    main()

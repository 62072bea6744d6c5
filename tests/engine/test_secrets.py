"""What is kept beside the journal holds no secret: not of files, not of answers, not of the user's own words."""

import asyncio
from typing import Any

from interlock.assembly.redaction import redactor
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.values.tickets import TicketSpec
from tests.engine.world import ANN, World

KEY = "sk-" + "a1B2" * 6


def test_no_text_that_is_kept_holds_a_key() -> None:
    async def story() -> None:
        made = World()
        made.redact = redactor({})
        made.workspaces.files = {"a.py": f"KEY = '{KEY}'".encode()}
        tracks = '[{"id": "t", "title": "T"}]'
        tickets = '[{"id": "one", "description": "use it", "target_file": "a.py"}]'
        made.rules = [
            {"match": "PATH: Epic", "reply": f"{tracks} {KEY}"},
            {"match": "PATH: Sprint", "reply": f"{tickets} {KEY}"},
            {"match": "# Ticket one", "tool_calls": [{"name": "look", "args": {"note": KEY}}]},
            {"match": "", "reply": f"it is {KEY}"},
        ]
        async with made.process(approve_all=True) as process:
            await process.workbench.submit(ANN, PlanEpic("Use the key"))
            await process.until_status("done", "t")
        kept = [made.journal.get_blob(name).decode() for name in made.journal._blobs]
        assert len(kept) > 5
        leaks = [text for text in kept if KEY in text and '"calls"' not in text]
        assert leaks == []

    asyncio.run(story())


def test_a_worker_is_told_what_it_is_told_in_every_form() -> None:
    """Without secrets nothing changes: the same bytes are approved, sent and kept."""

    async def story() -> None:
        made = World()
        made.redact = redactor({})
        made.rules = [{"match": "", "reply": "done"}]
        async with made.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one", description="plain words"))
            state = await process.until_status("done")
            first: Any = state.ticket("a", "one").session
            assert first
        assert "plain words" in made.requests[0].messages[0].text

    asyncio.run(story())

"""No stored text holds a secret: not from files, not from answers, not from the user's notes."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from interlock.assembly.secrets.redaction import redactor
from interlock.domain.messages.commands.attempt_commands import FailWork, RedoAttempt
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.discussion_commands import EndTurn, StartDiscussion
from interlock.domain.messages.commands.epic_commands import FailPlanning, PlanEpic
from interlock.domain.messages.commands.steering_commands import Tell
from interlock.domain.messages.commands.ticket_commands import BlockTicket, CancelTicket
from interlock.domain.messages.commands.track_commands import AbortTrack, AddTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.state.state import State
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.bench.concealing import conceal_command
from interlock.engine.bench.workbench import Workbench
from interlock.ports.secrets import NoVault
from tests.engine.world import ANN, World

KEY = "sk-" + "a1B2" * 6


def test_no_stored_text_holds_a_key() -> None:
    async def story() -> None:
        world = World()
        world.redact = redactor({})
        world.workspaces.files = {"a.py": f"KEY = '{KEY}'".encode()}
        tracks = '[{"id": "t", "title": "T"}]'
        tickets = '[{"id": "one", "description": "use it", "target_file": "a.py"}]'
        world.rules = [
            {"match": "PATH: Epic", "reply": f"{tracks} {KEY}"},
            {"match": "PATH: Sprint", "reply": f"{tickets} {KEY}"},
            {"match": "# Ticket one", "tool_calls": [{"name": "look", "args": {"note": KEY}}]},
            {"match": "", "reply": f"it is {KEY}"},
        ]
        async with world.process(approve_all=True) as process:
            await process.workbench.submit(ANN, PlanEpic("Use the key"))
            await process.until_status("done", "t")
        kept = [world.journal.get_blob(name).decode() for name in world.journal._blobs]
        assert len(kept) > 5
        leaks = [text for text in kept if KEY in text and '"calls"' not in text]
        assert leaks == []

    asyncio.run(story())


class Redacting(NoVault):
    """Conceals without a store."""

    def detects(self, text: str) -> bool:
        return KEY in text

    def redact(self, text: str) -> str:
        return redactor({})(text)

    def conceal(self, text: str) -> str:
        return redactor({}, lambda _: "[mark]")(text)


def test_a_graph_without_a_secret_is_recorded_as_it_is_and_one_secret_in_it_is_found() -> None:
    specs = tuple(TicketSpec(id=f"t{number}", script="true", verify=(Gate("make test"),)) for number in range(50))
    command = AddTrack("a", "A", "", specs)
    assert conceal_command(command, Redacting()) is command
    hidden = replace(specs[49], verify=(Gate("true"), Gate("x", env={"NAME": f"use {KEY}"})))
    hidden = replace(hidden, description=f"about {KEY}")
    concealed = conceal_command(replace(command, tickets=(*specs[:49], hidden)), Redacting())
    assert isinstance(concealed, AddTrack)
    last = concealed.tickets[49]
    assert (last.description, last.verify[1].env) == ("about [redacted]", {"NAME": "use [mark]"})


@pytest.mark.parametrize(
    "command",
    [
        FailWork("a", "one", 1, f"it said {KEY}"),
        RedoAttempt("a", "one", 1, f"it said {KEY}"),
        EndTurn("D-1", f"it said {KEY}"),
        BlockTicket("a", "one", f"it said {KEY}"),
        CancelTicket("a", "one", f"it said {KEY}"),
        AbortTrack("a", f"it said {KEY}"),
        FailPlanning("E-1", "", f"it said {KEY}"),
        PlanEpic(f"it said {KEY}"),
    ],
)
def test_every_command_with_a_text_is_searched(command: Command) -> None:
    concealed = conceal_command(command, Redacting())
    assert (KEY in repr(concealed), "it said [redacted]" in repr(concealed)) == (False, True)


def test_notes_and_titles_are_recorded_without_secrets() -> None:
    async def story() -> None:
        world = World()
        workbench = Workbench(world.journal, world.clock, world.ids, State(), vault=Redacting())
        await workbench.submit(ANN, StartDiscussion(f"about {KEY}"))
        assert workbench.state.discussion("D-1").title == "about [redacted]"
        await workbench.submit(ANN, AddTrack("a", "A", "", (TicketSpec(id="one"),)))
        await workbench.submit(SYSTEM, StartConductor(auto_queue=True))
        await workbench.submit(ANN, StartTrack("a"))
        receipt = await workbench.submit(ANN, Tell(f"use {KEY}", "a", "one"))
        assert "use [redacted]" in str(receipt.records)
        assert KEY not in str(tuple(world.journal.read()))
        await workbench.close()

    asyncio.run(story())


def test_a_text_without_secrets_is_approved_sent_and_stored_unchanged() -> None:

    async def story() -> None:
        world = World()
        world.redact = redactor({})
        world.rules = [{"match": "", "reply": "done"}]
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one", description="plain words"))
            state = await process.until_status("done")
            first: Any = state.ticket("a", "one").session
            assert first
        assert "plain words" in world.requests[0].messages[0].text

    asyncio.run(story())

"""Planners: Tier 1 splits an epic into tracks, Tier 2 splits a track into tickets.

A question and its answer are one record, so no answer is paid for twice: after a crash the conversation continues
from the last answer. A model call itself is disposable.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.epic_commands import FailPlanning, FinishPlanning, PlanTickets, ProposeTracks
from interlock.domain.reading.planner_answer import plans_from_answer, tickets_from_answer
from interlock.domain.rules.epic_rules import check_plans
from interlock.domain.state.tracks import Track
from interlock.domain.values.epics import Epic
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner
from interlock.engine.agents.context import JournalAccess
from interlock.engine.models.calls import ModelCalls
from interlock.engine.planning.survey import Surveyor
from interlock.engine.prompts.load import NO_OWN, OwnPrompts
from interlock.errors import OverBudget, Rejected, Unavailable
from interlock.ports.model import Message, ModelRequest
from interlock.views.stream_keys import stream_key

EPIC_PATH = "PATH: Epic Initialization"
TRACK_PATH = "PATH: Sprint Planning"
ANSWERS = 2  # the first, and one repaired

Plan = TypeVar("Plan")


class Planner:
    def __init__(
        self,
        calls: ModelCalls,
        surveyor: Surveyor,
        journal: JournalAccess,
        find_tests: Callable[[], str] = str,
        prompts: OwnPrompts = NO_OWN,
    ) -> None:
        """`find_tests` gives the command of the project's tests; empty if there is none."""
        self._prompts = prompts
        self._calls = calls
        self._surveyor = surveyor
        self._texts = journal.texts
        self._send = journal.send
        self._state = journal.state
        self._redact = journal.redact
        self._find_tests = find_tests

    async def plan_epic(self, epic: Epic) -> Command:
        """Proposes the epic's tracks, or reports why planning failed."""

        async def question() -> str:
            listing = await self._surveyor.listing()
            return f"{EPIC_PATH}\n\n### EPIC:\n{epic.text}\n\n### REPOSITORY:\n{listing}"

        party = CallOwner(epic=epic.id)
        session = _Session(party, "Tier 1", self._stream_key(party, "Tier 1"), EPIC_PATH, "tier1_orchestrator")
        try:
            plans = await self._converse(
                session, epic.planning, question, lambda text: check_plans(self._state(), plans_from_answer(text))
            )
        except (Rejected, Unavailable) as error:
            return FailPlanning(epic.id, "", _failure_reason(error), isinstance(error, OverBudget))
        return ProposeTracks(epic.id, plans)

    async def plan_track(self, track: Track) -> Command:
        """Plans the track's tickets, or reports why planning failed."""

        async def question() -> str:
            brief = f"{track.title}\n\n{track.description}".strip()
            skeletons = await self._surveyor.skeletons(brief)
            return (
                f"{TRACK_PATH}\n\n### TRACK BRIEF:\n{brief}\n\n### MODULE SKELETONS:\n{skeletons}\n\n"
                f"{_about_tests(self._find_tests())}Write the tickets of this track."
            )

        party = CallOwner(track=track.id)
        session = _Session(party, "Tier 2", self._stream_key(party, "Tier 2"), TRACK_PATH, "tier2_tech_lead")
        try:
            tickets = await self._converse(session, track.planning, question, tickets_from_answer)
        except (Rejected, Unavailable) as error:
            return FailPlanning(track.epic, track.id, _failure_reason(error), isinstance(error, OverBudget))
        return PlanTickets(track.id, tickets)

    def _stream_key(self, party: CallOwner, tier: str) -> str:
        return stream_key(self._state(), party, tier)

    async def _converse(
        self,
        session: "_Session",
        before: tuple[Blob, ...],
        question: Callable[[], Awaitable[str]],
        read: Callable[[str], Plan],
    ) -> Plan:
        """Asks until `read` accepts an answer; raises Rejected if the repaired answer cannot be used either."""
        messages = [await self._texts.read_message(blob) for blob in before]
        while True:
            fault = ""
            if messages:
                try:
                    return read(messages[-1].text)
                except Rejected as wrong:
                    fault = str(wrong)
                if len(messages) >= 2 * ANSWERS:
                    raise Rejected(f"the planner's answer cannot be used, even after one correction: {fault}")
            asked = Message("user", self._redact(_repair(session.path, fault) if messages else await question()))
            messages.append(asked)
            system = self._redact(self._prompts.system(session.prompt))
            request = ModelRequest(session.tier, None, None, system, tuple(messages), ())
            booked = await self._calls.ask(session.party, session.key, request)
            reply = booked.reply
            answer = Message("assistant", self._redact(reply.message.text), session=reply.message.session)
            messages.append(answer)
            kept = (await self._texts.message(asked), await self._texts.message(answer))
            party = session.party
            await self._send(
                FinishPlanning(party.epic, party.track, kept, session.tier, reply.model, reply.usage, booked.call)
            )


class _Session(msgspec.Struct, frozen=True):
    party: CallOwner
    tier: str
    key: str
    path: str
    prompt: str


def _repair(path: str, fault: str) -> str:
    return (
        f"{path}\n\nYour answer cannot be used: {fault}\n\n"
        "Answer again with the whole corrected JSON list in a ```json fence, and nothing else."
    )


def _about_tests(command: str) -> str:
    if not command:
        return ""
    return (
        "### PROJECT TESTS:\n"
        f'"verify": ["tests"] runs the whole test suite of the project ({command}). Its packages are installed.\n\n'
    )


def _failure_reason(error: Exception) -> str:
    return f"the model does not answer: {error}" if isinstance(error, Unavailable) else str(error)

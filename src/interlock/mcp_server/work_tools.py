"""Tools of the MCP server beside those of the project's files: planning, tickets, status, waiting.

None of them can answer an approval: `approvals` only lists them.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.commands.track_commands import AddTickets
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.epic_events import EpicAdded
from interlock.domain.reading.tickets_from_data import spec_from_dict
from interlock.domain.state.state import State
from interlock.errors import BadValue
from interlock.mcp_server.calls import BEAT_S, Progress
from interlock.ports.front import ProgramAccess
from interlock.ports.tools import ToolSpec
from interlock.views.inbox import ApprovalFilter, approval_dict, approval_status, list_approvals
from interlock.views.mma_status import mma_status

MOST_LISTED = 200
LONGEST_S = 3600

Choose = Callable[[str, Sequence[str]], Awaitable[str]]
"""Asks the user of the client to choose one of some names; empty if the client cannot ask."""


class PlanEpicArgs(Struct, forbid_unknown_fields=True):
    goal: Annotated[str, Meta(description="What is to be reached, in words", min_length=1, max_length=100_000)]


class AddTicketsArgs(Struct, forbid_unknown_fields=True):
    tickets: Annotated[
        list[dict[str, Any]],
        Meta(description="Tickets with id, description, depends_on, target_file, verify …", min_length=1),
    ]
    track: Annotated[str, Meta(description="The track's id; may be left out if there is only one")] = ""


class StatusArgs(Struct, forbid_unknown_fields=True):
    track: Annotated[str, Meta(description="A track's id; default: the active track")] = ""


class WaitForArgs(Struct, forbid_unknown_fields=True):
    what: Literal["ticket", "track", "epic", "approval"]
    id: Annotated[str, Meta(description="Such as A-3, a track's id, or TRACK/TICKET")]
    states: Annotated[list[str], Meta(description="States to wait for; default: any final state")] = []
    deadline_s: Annotated[float, Meta(ge=0, le=LONGEST_S, description="Most seconds to wait")] = 300


class ApprovalsArgs(Struct, forbid_unknown_fields=True):
    state: Annotated[Literal["pending", "answered", "withdrawn", "all"], Meta(description="Which ones")] = "pending"


_FINAL = {
    "ticket": ("completed", "blocked", "cancelled"),
    "track": ("done", "blocked", "aborted"),
    "epic": ("proposed", "accepted", "failed", "dropped"),
    "approval": ("answered", "withdrawn"),
}


class WorkTool(Struct, frozen=True):
    description: str
    arguments: type[Struct]
    changes: bool


TOOLS: dict[str, WorkTool] = {
    "plan_epic": WorkTool(
        "Plan a goal. A model proposes tracks; a person accepts them in Interlock before any work starts.",
        PlanEpicArgs,
        changes=True,
    ),
    "add_tickets": WorkTool(
        "Add tickets to a track. All of them are added, or none. They start only as Interlock's approvals allow.",
        AddTicketsArgs,
        changes=True,
    ),
    "status": WorkTool("The tracks, the tickets of one track, and what waits for a person.", StatusArgs, changes=False),
    "wait_for": WorkTool(
        "Wait until a ticket, track, epic or approval reaches a state, or the deadline passes.",
        WaitForArgs,
        changes=False,
    ),
    "approvals": WorkTool(
        "Approvals and their state. Only a person answers them, in Interlock.", ApprovalsArgs, changes=False
    ),
}


def specs() -> tuple[ToolSpec, ...]:
    return tuple(
        ToolSpec(name, tool.description, _schema(tool.arguments), tool.changes) for name, tool in TOOLS.items()
    )


class WorkTools:
    """The work tools for one client."""

    def __init__(self, access: ProgramAccess, actor: str) -> None:
        self._access = access
        self._actor = actor

    async def run(self, name: str, args: dict[str, Any], progress: Progress, choose: Choose) -> str:
        """The result as text. Raises InterlockError with a sentence for the client."""
        try:
            given = msgspec.convert(args, TOOLS[name].arguments)
        except msgspec.ValidationError as error:
            raise BadValue(f"{name}: {error}") from None
        match given:
            case PlanEpicArgs():
                return await self._plan(given)
            case AddTicketsArgs():
                return await self._add(given, choose)
            case WaitForArgs():
                return await self._wait(given, progress)
            case StatusArgs():
                return _text(mma_status(self._access.state, {}, given.track or None))
            case _:
                assert isinstance(given, ApprovalsArgs)
                return _text(approvals_data(self._access.state, given.state))

    async def _plan(self, given: PlanEpicArgs) -> str:
        receipt = await self._access.submit(self._actor, PlanEpic(given.goal))
        epic = next(one.event.epic for one in receipt.records if isinstance(one.event, EpicAdded))
        return _text({"epic": epic, "next": f"wait_for epic {epic}; a person accepts the proposed tracks"})

    async def _add(self, given: AddTicketsArgs, choose: Choose) -> str:
        tracks = self._access.state.track_order
        track = given.track or (tracks[0] if len(tracks) == 1 else "")
        if not track and len(tracks) > 1:
            track = await choose("Which track do the tickets belong to?", tracks)
        if not track:
            raise BadValue(
                f"name the track: {', '.join(tracks)}" if tracks else "there is no track yet; plan_epic first"
            )
        tickets = tuple(spec_from_dict(one, f"ticket {number}") for number, one in enumerate(given.tickets, 1))
        await self._access.submit(self._actor, AddTickets(track, tickets))
        return _text({"track": track, "added": [ticket.id for ticket in tickets]})

    async def _wait(self, given: WaitForArgs, progress: Progress) -> str:
        wanted = tuple(given.states) or _FINAL[given.what]
        changed = asyncio.Event()

        def take(_: Sequence[Recorded]) -> None:
            changed.set()

        unlisten, until = self._access.listen(take), asyncio.get_running_loop().time() + given.deadline_s
        shown = ""
        try:
            while (state := state_of(self._access.state, given.what, given.id)) not in wanted:
                left = until - asyncio.get_running_loop().time()
                if left <= 0:
                    break
                if state != shown:
                    await progress(f"{given.what} {given.id} is {state}")
                    shown = state
                try:
                    async with asyncio.timeout(min(left, BEAT_S)):
                        await changed.wait()
                except TimeoutError:
                    shown = ""
                changed.clear()
        finally:
            unlisten()
        return _text({"what": given.what, "id": given.id, "state": state, "reached": state in wanted})


def state_of(state: State, what: str, name: str) -> str:
    """The state of a thing by its name. Raises Rejected if there is none."""
    match what:
        case "ticket":
            track, _, ticket = name.rpartition("/")
            return state.ticket(track or _track_with(state, ticket), ticket).status
        case "track":
            return state.track(name).status
        case "epic":
            return state.epic(name).status
        case _:
            return approval_status(state.approval(name))


def _track_with(state: State, ticket: str) -> str:
    tracks = [track for track in state.track_order if ticket in state.tracks[track].tickets]
    if len(tracks) == 1:
        return tracks[0]
    named = f"several tracks have it: {', '.join(tracks)}" if tracks else "no track has it"
    raise BadValue(f"name the ticket as TRACK/TICKET: {named}")


def approvals_data(state: State, wanted: ApprovalFilter = "pending") -> list[dict[str, Any]]:
    found = list_approvals(state, wanted)
    return [approval_dict(approval) for approval in found[-MOST_LISTED:]]


def _schema(arguments: type[Struct]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components([arguments])
    schema = components[arguments.__name__]
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)

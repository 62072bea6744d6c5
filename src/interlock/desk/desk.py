"""The desk: the state of the user interface, shared by the window and the HTTP API.

It holds inputs and the selected discussion, track and panel. It runs on the engine's loop; front ends read `view`, an
immutable value, and send actions. Nothing of it is in the journal: losing it loses no work.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from interlock.desk.authority import Authority
from interlock.desk.fields import TABS, check, find
from interlock.domain.messages.commands.discussion_commands import StartDiscussion, StopTurn
from interlock.domain.messages.commands.external_ask_commands import WithdrawAsk
from interlock.domain.messages.envelopes import SYSTEM, Recorded
from interlock.domain.messages.events.discussion_events import DiscussionStarted, DiscussionTurnEnded
from interlock.domain.state.state import State
from interlock.domain.values.discussions import Quiet
from interlock.errors import BadValue, NotFound, Rejected
from interlock.ports.front import Front
from interlock.views.display import counted

CHOICES = ("current_provider", "current_model", "gcli_path")
"""The fields that select the model."""

INPUTS = ("mma_epic_input", "ai_input")


class View(Struct, frozen=True):
    """The desk's whole state. `version` counts its changes."""

    version: int
    values: Mapping[str, str]
    discussion: str = ""
    track: str | None = None
    tab: str = TABS[0]
    response: str = ""
    error: str = ""
    hidden: frozenset[str] = frozenset()  # epics whose proposals a reset has hidden


class Equipment(Protocol):
    """The functions that the desk needs besides the front; the composition root implements them."""

    def choose_model(self, provider: str, model: str, command_line: str) -> None:
        """Uses this model from now on; raises BadValue for an unknown provider."""
        ...

    def save(self, values: Mapping[str, str]) -> str:
        """Writes the values into the project's settings; returns the file's path."""
        ...

    def saved(self) -> Mapping[str, str]:
        """The current values of the project's settings."""
        ...

    def last_answer(self, discussion: str) -> str:
        """The final text of the last turn."""
        ...

    def clear_streams(self) -> None: ...
    def status(self) -> str: ...

    def turn_ended(self, discussion: str, *, stopped: bool, error: str) -> None:
        """Updates the status after a turn: idle if a person stopped it, else error or done."""
        ...

    def reset_status(self) -> None: ...


Listener = Callable[[str, dict[str, Any]], None]
"""Receives the name and the data of an event for clients."""


class Desk:
    def __init__(self, front: Front, equipment: Equipment, fixed: Mapping[str, str], start: Mapping[str, str]) -> None:
        self.front = front
        self.equipment = equipment
        self.fixed = dict(fixed)
        self._start = dict(start)
        self.view = View(1, dict.fromkeys((*CHOICES, "files_base_dir", *INPUTS), "") | dict(start))
        self._listeners: list[Listener] = []

    @property
    def state(self) -> State:
        return self.front.state

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    # ── fields ───────────────────────────────────────────────────────────────────────────

    def values(self) -> dict[str, str]:
        view = self.view
        return {
            **view.values,
            "ai_status": self.equipment.status(),
            "ai_response": view.response,
            "ai_error": view.error,
            "active_discussion": view.discussion,
            "active_track": view.track or "",
            "active_tab": view.tab,
            **self.fixed,
        }

    def set_value(self, by: Authority, name: str, value: Any) -> str:
        text = check(name, value, places=by.places)
        values = {**self.view.values, name: text}
        if name in CHOICES:
            self.equipment.choose_model(*(values[each] for each in CHOICES))
        self.change(values=values)
        return text

    def change(self, **changes: Any) -> None:
        self.view = replace(self.view, version=self.view.version + 1, **changes)
        self._publish("desk_update", {"version": self.view.version})

    # ── selections ──────────────────────────────────────────────────────────────────────

    def select_tab(self, name: str) -> None:
        find(name, TABS, "tab")
        self.change(tab=name)

    def select_discussion(self, name: str) -> str:
        """Selects a discussion by its id, or by its title if that is unique."""
        discussions = self.state.discussions
        if name not in discussions:
            titled = [each.id for each in discussions.values() if each.title == name]
            if len(titled) != 1:
                many = f"{counted(len(titled), 'discussion')} are called {name!r}; name one by its id"
                raise BadValue(many) if titled else NotFound(f"no discussion {name!r}")
            name = titled[0]
        self.change(discussion=name)
        return name

    def load_track(self, name: str) -> None:
        """Selects a track; does not start it."""
        self.change(track=self.state.track(name).id)

    def track_in_view(self) -> str | None:
        return self.view.track if self.view.track in self.state.tracks else None

    def refresh_from_project(self) -> None:
        values = {**self.view.values, **self.equipment.saved()}
        self.equipment.choose_model(*(values[each] for each in CHOICES))
        self.change(values=values)

    async def discussion_in_view(self, by: Authority) -> str:
        """The selected discussion, or a new one."""
        if self.view.discussion in self.state.discussions:
            return self.view.discussion
        receipt = await self.front.submit(by.actor, StartDiscussion(""))
        name = next(r.event.discussion for r in receipt.records if isinstance(r.event, DiscussionStarted))
        self.change(discussion=name)
        return name

    async def reset(self, by: Authority) -> None:
        """Clears inputs, streams and selections, ends the turn and withdraws asks. Tracks and history stay."""
        discussion = self.state.discussions.get(self.view.discussion)
        if discussion is not None and not isinstance(discussion.stage, Quiet):
            await self._unless_over(by, StopTurn(discussion.id, "the session was reset"))
        for approval in self.state.pending_approvals():
            if approval.kind == "ask":
                await self._unless_over(by, WithdrawAsk(approval.id, "the session was reset"))
        proposed = {epic.id for epic in self.state.epics_in_order() if epic.status == "proposed"}
        self.equipment.clear_streams()
        self.equipment.reset_status()
        used = discussion is None or bool(discussion.messages)
        self.change(
            values={**self.view.values, **dict.fromkeys(INPUTS, "")},
            track=None,
            response="",
            error="",
            hidden=self.view.hidden | proposed,
            discussion="" if used else self.view.discussion,
        )
        await self.discussion_in_view(by)

    async def _unless_over(self, by: Authority, command: StopTurn | WithdrawAsk) -> None:
        with suppress(Rejected):  # it ended in the meantime
            await self.front.submit(by.actor, command)

    # ── events ───────────────────────────────────────────────────────────────────────────

    def react(self, records: Sequence[Recorded], state: State) -> None:
        """Called after each durable batch."""
        for recorded in records:
            if isinstance(recorded.event, DiscussionTurnEnded):
                self._turn_ended(recorded.event, stopped=recorded.actor != SYSTEM)

    def _turn_ended(self, event: DiscussionTurnEnded, *, stopped: bool) -> None:
        text = "" if event.error else self.equipment.last_answer(event.discussion)
        self.change(error=event.error, **({"response": text} if text else {}))
        self.equipment.turn_ended(event.discussion, stopped=stopped, error=event.error)  # after the answer is there
        self._publish("response", {"discussion": event.discussion, "text": text, "error": event.error or None})

    def _publish(self, name: str, data: dict[str, Any]) -> None:
        for listener in self._listeners:
            listener(name, data)

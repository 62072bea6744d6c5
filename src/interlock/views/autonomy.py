"""Read models of autonomy: the levels in force, and what another level would have spared."""

from typing import Any

from msgspec import Struct

from interlock.domain.state.autonomy import chosen_for_track, chosen_level, is_contained, level_of
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Answered, Approval, Pending
from interlock.domain.values.autonomy import MEANING, Autonomy
from interlock.domain.values.tickets import Ticket
from interlock.views.display import counted

OFFER_FROM = 10
"""Questions of one kind after which `review` is offered."""


class Offer(Struct, frozen=True):
    """`review` would have spared this many questions of one kind."""

    kind: str
    questions: int
    tickets: int

    @property
    def sentence(self) -> str:
        spared = self.questions - self.tickets
        return (
            f"{counted(self.questions, 'question')} about a {self.kind} inside sandboxed worktrees so far: with"
            f" autonomy 'review' they would have been {counted(self.tickets, 'review')} of a finished diff,"
            f" {counted(spared, 'question')} fewer"
        )


def project_level(state: State) -> Autonomy:
    """The level in force for tickets and tracks without a level of their own."""
    return level_of_track(state, "")


def level_of_track(state: State, track: str) -> Autonomy:
    """The level in force for the tickets of a track without a level of their own."""
    return chosen_for_track(state, track) if state.conductor.contained else "ask"


def why_only_ask(state: State) -> str:
    """Why the chosen level does not count; empty if it does, or if none is chosen."""
    conductor = state.conductor
    if conductor.contained or {chosen_for_track(state), *dict(conductor.levels or ()).values()} == {"ask"}:
        return ""
    return (
        "every change asks: autonomy counts only where bubblewrap contains all commands"
        " ('interlock doctor' says what this machine has)"
    )


def level_words(state: State, ticket: Ticket) -> str:
    """The level of a ticket in words, and where it was chosen; empty for `ask` by default."""
    level = level_of(state, ticket)
    if level == chosen_level(state, ticket) == "ask" and ticket.autonomy is None:
        return ""
    where = "this ticket" if ticket.autonomy else "its track or the project"
    return f"{level}, chosen for {where}: {MEANING[level]}"


def autonomy_dict(state: State) -> dict[str, Any]:
    """The levels as plain data: the project's, and those of tracks and tickets that have their own."""
    levels = dict(state.conductor.levels or ())
    tickets = {
        ticket.name: ticket.autonomy
        for track_id in state.track_order
        for ticket in state.tracks[track_id].tickets.values()
        if ticket.autonomy is not None
    }
    return {
        "level": project_level(state),
        "chosen": chosen_for_track(state),
        "sandboxed": bool(state.conductor.contained),
        "tracks": {name: level for name, level in levels.items() if name},
        "tickets": dict(sorted(tickets.items())),
        "meaning": MEANING[project_level(state)],
    }


def offer(state: State) -> Offer | None:
    """An offer of `review`, if people were asked often enough about contained work of one kind."""
    if not state.conductor.contained or chosen_for_track(state) != "ask":
        return None
    asked: dict[str, list[Approval]] = {}
    for approval in state.approvals.values():
        if approval.ticket is not None and is_contained(approval.payload) and _by_person(approval):
            asked.setdefault(approval.kind, []).append(approval)
    offers = [
        Offer(kind, len(of_kind), len({(one.track, one.ticket) for one in of_kind}))
        for kind, of_kind in sorted(asked.items())
        if len(of_kind) >= OFFER_FROM
    ]
    offers = [one for one in offers if one.questions >= 2 * one.tickets]  # less would not be worth a change
    return max(offers, key=lambda one: one.questions, default=None)


def _by_person(approval: Approval) -> bool:
    match approval.state:
        case Pending():
            return True
        case Answered(by=by):
            return by.startswith("human:")
        case _:
            return False

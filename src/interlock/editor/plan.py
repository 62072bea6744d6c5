"""Tracks and tickets as the entries of an editor's plan."""

import acp
from acp.schema import AgentPlanUpdate, PlanEntry, PlanEntryStatus

from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Ticket
from interlock.editor.bench import Work
from interlock.views.board import activity_of
from interlock.views.display import counted, one_line

MOST_ENTRIES = 200

_STATUS: dict[str, PlanEntryStatus] = {"in_progress": "in_progress", "completed": "completed", "cancelled": "completed"}


def plan_of(work: Work, state: State) -> AgentPlanUpdate:
    """Each track, then its tickets. A plan has three states only, so words name the others.

    It is made after every batch of records, so it costs no more than the entries that are shown.
    """
    entries: list[PlanEntry] = []
    hidden = 0
    for track in (state.tracks[name] for name in work.tracks(state)):
        room = max(MOST_ENTRIES - len(entries) - 1, 0)
        entries.append(acp.plan_entry(_words(f"{track.title} [{track.id}: {track.status}]"), status=_status(track)))
        shown = (track.tickets[name] for name in track.order[:room])
        entries += [_entry(ticket, activity_of(ticket, track)) for ticket in shown]
        hidden += max(track.total - room, 0)
    for epic in work.epics(state):
        if not epic.tracks:
            entries += [acp.plan_entry(_words(f"{plan.title} [{plan.id}: proposed]")) for plan in epic.proposed]
    if hidden:
        entries.append(acp.plan_entry(f"… and {counted(hidden, 'more ticket')}"))
    return acp.update_plan(entries)


def _status(track: Track) -> PlanEntryStatus:
    return "completed" if track.status == "done" else "in_progress" if track.status == "running" else "pending"


def _entry(ticket: Ticket, doing: str) -> PlanEntry:
    text = f"{ticket.id}: {one_line(ticket.spec.description, 120)}"
    if ticket.status != "completed" or ticket.unverified:
        text += f" ({one_line(doing, 100)})"
    return acp.plan_entry(_words(text), priority=ticket.spec.priority, status=_STATUS.get(ticket.status, "pending"))


def _words(text: str) -> str:
    return one_line(text, 240)

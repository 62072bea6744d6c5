"""The keys of streams: `Tier 3 (Worker): T-001`, and where that is ambiguous, with the track or epic.

A name is ambiguous if an earlier track has a ticket of the same id, or if an earlier track or epic was planned. The
earliest keeps the short key, so that a key never changes while its text streams in.
"""

from interlock.domain.state.state import State
from interlock.domain.values.model_calls import CallOwner


def ticket_name(state: State, track: str, ticket: str) -> str:
    """The ticket's id, or `track/id` if an earlier track has a ticket of that id."""
    for earlier in state.track_order:
        if earlier == track:
            break
        if ticket in state.tracks[earlier].tickets:
            return f"{track}/{ticket}"
    return ticket


def stream_key(state: State, party: CallOwner, tier: str) -> str:
    """The key under which the text of a model call is streamed."""
    if party.ticket:
        name = ticket_name(state, party.track, party.ticket)
        return f"Tier 4 (QA): {name}" if tier == "Tier 4" else f"Tier 3 (Worker): {name}"
    if party.discussion:
        return f"Discussion: {party.discussion}"
    if party.track:
        planned = (name for name in state.track_order if state.tracks[name].epic)
        return _numbered("Tier 2 (Tech Lead)", party.track, next(planned, party.track))
    epics = (epic.id for epic in state.epics_in_order())
    return _numbered("Tier 1 (Orchestrator)", party.epic, next(epics, party.epic))


def _numbered(tier: str, name: str, first: str) -> str:
    return tier if name == first else f"{tier}: {name}"

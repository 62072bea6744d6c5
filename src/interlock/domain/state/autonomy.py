"""Which approvals the autonomy of a ticket answers, and which tickets a person must review.

Contained work stays in the sandboxed worktree and has no network: what it does is discarded with the worktree unless a
person accepts the resulting diff.
"""

from msgspec import UNSET

from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval, Payload, ScriptPayload, SpawnPayload, ToolPayload, only_a_person
from interlock.domain.values.autonomy import CONTAINING, Autonomy
from interlock.domain.values.tickets import Saved, Ticket

FILE_TOOLS = frozenset(
    [
        "apply_patch",
        "edit_file",
        "py_set_signature",
        "py_set_var_declaration",
        "py_update_definition",
        "set_file_slice",
        "write_file",
    ]
)
"""Tools that change files of the worktree and nothing else."""


def chosen_level(state: State, ticket: Ticket) -> Autonomy:
    """The level that a person chose for the ticket, its track or the project, in this order; else the setting."""
    if ticket.autonomy is not None:
        return ticket.autonomy
    return chosen_for_track(state, ticket.track)


def chosen_for_track(state: State, track: str = "") -> Autonomy:
    """The level of a track's tickets; without a track, that of the project."""
    conductor = state.conductor
    levels = dict(conductor.levels or ())
    return levels.get(track) or levels.get("") or conductor.autonomy or "ask"


def level_of(state: State, ticket: Ticket) -> Autonomy:
    """The level in force: without a sandbox that contains all effects, every change asks."""
    return chosen_level(state, ticket) if state.conductor.contained else "ask"


def is_contained(payload: Payload) -> bool:
    """Whether what would run stays in the sandboxed worktree. Unknown tools do not."""
    match payload:
        case ScriptPayload(sandbox=sandbox, network=network):
            return sandbox in CONTAINING and not network
        case ToolPayload(tool=tool):
            return tool in FILE_TOOLS
        case SpawnPayload():
            return not only_a_person(payload)  # the worker's own actions are judged one by one
        case _:
            return False


def answers_itself(state: State, approval: Approval) -> bool:
    """Whether the autonomy of its ticket answers this approval."""
    if approval.ticket is None or approval.discussion or approval.kind not in ("script", "tool", "spawn"):
        return False
    if approval.asked_by:
        return False
    ticket = state.tracks[approval.track].tickets[approval.ticket]
    return level_of(state, ticket) != "ask" and is_contained(approval.payload)


def needs_review(state: State, ticket: Ticket, saved: Saved) -> bool:
    """Whether a person must see the diff of the finished work before it is merged.

    Work that ran without a question is reviewed also if the level was changed to `ask` in the meantime.
    """
    if saved.empty is not UNSET or saved.commit == ticket.taken:
        return False
    if not state.conductor.contained:
        return bool(ticket.unseen)
    level = chosen_level(state, ticket)
    return level == "review" or (level == "ask" and bool(ticket.unseen))

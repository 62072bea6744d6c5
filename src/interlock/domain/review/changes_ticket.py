"""The ticket that a person's requested changes to a landing become."""

from collections.abc import Sequence

import msgspec

from interlock.domain.review.comments import remarks
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Comment
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Completed, TicketSpec


def changes_ticket(track: Track, approval: str, message: str, comments: Sequence[Comment]) -> TicketSpec:
    """Its worker gets the commented files, and every gate of the track must pass on its work."""
    files = tuple(dict.fromkeys(comment.file for comment in comments))
    asked = "\n\n".join(remarks(message, comments))
    return TicketSpec(
        id=_free_id(track),
        description=f"Make the changes that were requested when the track was to be landed ({approval})\n\n{asked}",
        target_file=files[0] if files else None,
        context_requirements=files[1:],
        verify=_gates(track),
        priority="high",
    )


def _free_id(track: Track) -> str:
    return next(name for number in range(1, track.total + 2) if (name := f"changes-{number}") not in track.tickets)


def _gates(track: Track) -> tuple[Gate, ...]:
    """The commands that verify the track, each once. Criteria are about one ticket's own change."""
    completed = [ticket for name in track.order if isinstance((ticket := track.tickets[name]).stage, Completed)]
    gates = [gate for ticket in completed for gate in ticket.spec.verify if gate.criteria is None]
    return tuple({msgspec.json.encode(gate): gate for gate in gates}.values())

"""Requests the review of a ticket's finished work, with the diff that its gates passed on and the evidence.

Disposable: it only reads. After a crash the review is requested again, as far as no approval for it is recorded.
"""

from msgspec import UNSET

from interlock.domain.messages.commands.attempt_commands import AskReview
from interlock.domain.review.changed_files import files_of
from interlock.domain.review.diff_parts import count_parts, is_cut
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Approval, GateOnTree, LandedTicket, ReviewPayload
from interlock.domain.values.budgets import Scope, dollars
from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import Completed, Reviewing, Ticket
from interlock.engine.bench.workbench import Workbench
from interlock.engine.blobs import INLINE, Keep
from interlock.errors import InterlockError
from interlock.ports.workspaces import Workspaces
from interlock.views.display import one_line
from interlock.views.inbox import approval_title

_MOST_RAN = 60
MOST_DIFFS = 200
"""Tickets of a landing whose own diffs are stored; the diff of the whole landing always is."""


async def request_review(
    ticket: Ticket, stage: Reviewing, state: State, keep: Keep, workspaces: Workspaces
) -> AskReview:
    saved = stage.saved
    diff = await workspaces.whole_diff(saved.base, saved.commit)
    shown, whole = await shortened(diff, keep)
    since, since_blob = "", None
    if ticket.reviewed:
        since, since_blob = await shortened(await diff_since(workspaces, ticket.reviewed, saved.commit), keep)
    payload = ReviewPayload(
        saved.base,
        saved.commit,
        saved.tree,
        shown,
        whole,
        files_of(diff),
        tuple(_gate(ticket, number, stage.took[number : number + 1]) for number in range(len(ticket.spec.verify))),
        _why_unverified(ticket, stage),
        _ran(ticket, state),
        ticket.result or "",
        dollars(state.ledger.committed(Scope("ticket", ticket.name))),
        ticket.rounds + 1,
        ticket.reviewed,
        since,
        since_blob,
        0 if is_cut(diff) else count_parts(diff),
    )
    return AskReview(ticket.track, ticket.id, ticket.attempts, payload)


def _gate(ticket: Ticket, number: int, took: tuple[int, ...]) -> GateOnTree:
    """The result of a gate; without a duration it did not run on this tree."""
    gate, reused = ticket.spec.verify[number], ticket.rests_on(number)
    if not took or took[0] < 0:
        return GateOnTree(ticket.id, gate.shown, "skipped by a person" if took else "not run")
    status = "passed" if gate.criteria is None else "judged"
    return GateOnTree(ticket.id, gate.shown, status, reused, UNSET if reused else took[0])


def _why_unverified(ticket: Ticket, stage: Reviewing) -> str:
    if not ticket.spec.verify:
        return "the ticket has no gate"
    return "a person skipped a gate" if stage.unverified else ""


def _ran(ticket: Ticket, state: State) -> tuple[str, ...]:
    lines = [_line(state.approvals[name]) for name in ticket.unseen[:_MOST_RAN]]
    more = len(ticket.unseen) - len(lines)
    return (*lines, f"and {more} more") if more > 0 else tuple(lines)


def _line(approval: Approval) -> str:
    return one_line(f"{approval.id} {approval_title(approval)}", 160)


async def landed_tickets(track: Track, workbench: Workbench, workspaces: Workspaces) -> tuple[LandedTicket, ...]:
    """The tickets on the track's branch, each with its own diff and the evidence for it."""
    state, tickets = workbench.state, list[LandedTicket]()
    for name in track.order:
        ticket = track.tickets[name]
        stage = ticket.stage
        if not isinstance(stage, Completed) or stage.commit is None:
            continue
        blob, files = None, ()
        if len(tickets) < MOST_DIFFS:
            diff = await workspaces.diff(stage.commit)
            content, files = diff.encode(errors="surrogateescape"), files_of(diff)
            blob = Blob(await workbench.keep(content), len(content))
        cost = state.ledger.committed(Scope("ticket", ticket.name))
        tickets.append(
            LandedTicket(
                ticket.id,
                one_line(ticket.spec.description, 100),
                stage.commit,
                files,
                blob,
                ticket.unverified,
                reviewed=ticket.rounds > 0 and not ticket.unseen,
                ran=len(ticket.unseen),
                summary=one_line(ticket.result or "", 200),
                cost=dollars(cost) if cost else "",
            )
        )
    return tuple(tickets)


async def diff_since(workspaces: Workspaces, before: str, commit: str) -> str:
    """The last round's commit is on no ref any more: if git removed it, the whole diff has to do."""
    try:
        return await workspaces.whole_diff(before, commit)
    except InterlockError as error:
        return f"(what changed since the last round is not known: {error})"


async def shortened(diff: str, keep: Keep) -> tuple[str, Blob | None]:
    if len(diff) <= INLINE:
        return diff, None
    content = diff.encode(errors="surrogateescape")
    return diff[:INLINE], Blob(await keep(content), len(content))

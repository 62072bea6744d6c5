"""Reviews and landings: the evidence, the reviewer's comments, and the exact change."""

from imgui_bundle import imgui

from interlock.domain.review.comments import comment_from
from interlock.domain.values.approvals import Approval, Comment, LandedTicket, MergePayload, ReviewPayload
from interlock.errors import BadValue
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.diffs.change_view import draw_change, draw_view_buttons
from interlock.gui.drawing.diffs.hunk_view import DiffOptions, read_diff
from interlock.gui.drawing.prose import draw_prose
from interlock.gui.drawing.widgets import Ui
from interlock.views.display import counted, one_line, safe
from interlock.views.inbox import landing_evidence, review_evidence


class ReviewDraft:
    """The reviewer's unsent comments, and what they look at."""

    def __init__(self) -> None:
        self.comments: tuple[Comment, ...] = ()
        self.typed = ""
        self.fault = ""
        self.whole = False  # in a later round: the whole change, not only what changed since
        self.ticket = ""  # of a landing: only this ticket's diff is shown
        self.ran = False  # the list of what ran without a question is shown


def draw_review(
    ui: Ui,
    approval: Approval,
    payload: ReviewPayload,
    draft: ReviewDraft,
    chosen: set[int],
    options: DiffOptions,
    send: Sender,
) -> None:
    _draw_lines(ui, review_evidence(payload))
    if payload.summary:
        ui.small("The worker says", ui.look.faint)
        draw_prose(ui, payload.summary, ui.look.dim)
    if payload.ran:
        _draw_ran(ui, approval, payload, draft)
    _draw_comments(ui, approval, draft)
    since = bool(payload.since) and not draft.whole
    if payload.since:
        _draw_since_button(ui, approval, draft, since=since)
    draw_view_buttons(ui, options, approval.id)
    blob, shown = (payload.since_blob, payload.since_diff) if since else (payload.diff_blob, payload.diff)
    diff = (send.text(blob.sha256) if blob else shown) or shown
    _draw_diff(ui, approval, diff, draft, chosen if payload.parts and not since else None, options)


def draw_landing(
    ui: Ui,
    approval: Approval,
    payload: MergePayload,
    draft: ReviewDraft,
    chosen: set[int],
    options: DiffOptions,
    send: Sender,
) -> None:
    _draw_lines(ui, landing_evidence(payload))
    for ticket in payload.tickets or ():
        _draw_ticket(ui, approval, ticket, draft)
    _draw_comments(ui, approval, draft)
    since = bool(payload.since) and not draft.whole
    if payload.since:
        _draw_since_button(ui, approval, draft, since=since)
    draw_view_buttons(ui, options, approval.id)
    one = next((one for one in payload.tickets or () if one.id == draft.ticket), None)
    if one is not None:
        ui.small(f"Only the change of {safe(one.id)}", ui.look.waiting)
        diff = (send.text(one.diff.sha256) if one.diff else "") or ""
        draw_change(ui, read_diff(diff), one.files, None, options, scope=f"{approval.id}.{one.id}")
        return
    blob, shown = payload.diff_blob, payload.diff
    if since:
        blob, shown = payload.since_blob or None, payload.since_diff or ""
    diff = (send.text(blob.sha256) if blob else shown) or shown
    _draw_diff(ui, approval, diff, draft, chosen if payload.parts and not since else None, options)


def _draw_diff(
    ui: Ui, approval: Approval, diff: str, draft: ReviewDraft, chosen: set[int] | None, options: DiffOptions
) -> None:
    payload = approval.payload
    assert isinstance(payload, ReviewPayload | MergePayload)

    def comment_on(path: str, line: int) -> None:
        draft.typed = f"{path}:{line}: "

    draw_change(ui, read_diff(diff), payload.files or (), chosen, options, scope=approval.id, on_line=comment_on)


def _draw_lines(ui: Ui, lines: tuple[tuple[str, str], ...]) -> None:
    tones = {"good": ui.look.good, "bad": ui.look.bad, "dim": ui.look.dim}
    for line, tone in lines:
        ui.wrapped(safe(line), tones[tone], small=tone == "dim")


def _draw_ran(ui: Ui, approval: Approval, payload: ReviewPayload, draft: ReviewDraft) -> None:
    label = "Hide" if draft.ran else "Show"
    imgui.align_text_to_frame_padding()
    ui.small(f"{counted(len(payload.ran), 'action')} ran in the worktree without a question", ui.look.dim)
    imgui.same_line(0, 8)
    if ui.button("inbox.ran", label, scope=approval.id, weight="quiet"):
        draft.ran = not draft.ran
    for line in payload.ran if draft.ran else ():
        ui.wrapped(safe(line), ui.look.dim, small=True)


def _draw_since_button(ui: Ui, approval: Approval, draft: ReviewDraft, *, since: bool) -> None:
    label = "Show the whole change" if since else "Show what changed since the last round"
    if ui.button("inbox.since", label, scope=approval.id, weight="quiet"):
        draft.whole = not draft.whole
    ui.beside("Side by side")


def _draw_ticket(ui: Ui, approval: Approval, ticket: LandedTicket, draft: ReviewDraft) -> None:
    """One ticket of a landing: whether a person has seen its work, and a button for its own diff."""
    seen = "reviewed" if ticket.reviewed else f"ran without a question: {ticket.ran}" if ticket.ran else "asked"
    facts = [seen, "unverified" if ticket.unverified else "verified", counted(len(ticket.files), "file"), ticket.cost]
    label = "Show all" if draft.ticket == ticket.id else "Show its diff"
    scope = f"{approval.id}.{ticket.id}"
    if ui.button("inbox.ticket_diff", label, scope=scope, weight="quiet", enabled=ticket.diff is not None):
        draft.ticket = "" if draft.ticket == ticket.id else ticket.id
    imgui.same_line(0, 8)
    words = f"{ticket.id}  {ticket.title}   {', '.join(fact for fact in facts if fact)}"
    ui.small(ui.fitted(one_line(words, 300)), ui.look.bad if ticket.unverified else ui.look.dim)


def _draw_comments(ui: Ui, approval: Approval, draft: ReviewDraft) -> None:
    for number, comment in enumerate(draft.comments):
        place = f"{comment.file}:{comment.line}" if comment.line else comment.file
        if ui.button("inbox.uncomment", "Remove", scope=f"{approval.id}.{number}", weight="quiet"):
            draft.comments = (*draft.comments[:number], *draft.comments[number + 1 :])
        imgui.same_line(0, 8)
        ui.wrapped(safe(f"{place}: {comment.text}"), ui.look.waiting, small=True)
    hint = "A comment: click a line, or FILE:LINE: TEXT"
    typed = ui.input("inbox.comment", draft.typed, scope=approval.id, hint=hint, label="comment", width=-90)
    if typed is not None:
        draft.typed = typed
    imgui.same_line()
    if ui.button("inbox.add_comment", "Add", scope=approval.id, enabled=bool(draft.typed.strip())):
        try:
            draft.comments = (*draft.comments, comment_from(draft.typed))
            draft.typed = draft.fault = ""
        except BadValue as error:
            draft.fault = str(error)
    if draft.fault:
        ui.wrapped(safe(draft.fault), ui.look.bad, small=True)

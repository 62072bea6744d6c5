"""The payload of an approval: the exact bytes that would run, and the parts that the user may edit."""

from imgui_bundle import imgui
from msgspec import Struct

from interlock.domain.values.approvals import (
    Approval,
    GatePayload,
    MergePayload,
    ReviewPayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    count_choices,
)
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.diffs.change_view import draw_view_buttons
from interlock.gui.drawing.diffs.effect_view import draw_effect_diff, draw_effect_summary
from interlock.gui.drawing.diffs.hunk_view import DiffOptions, draw_hunks, read_diff
from interlock.gui.drawing.diffs.review_view import ReviewDraft, draw_landing, draw_review
from interlock.gui.drawing.prose import draw_prose
from interlock.gui.drawing.text_widgets import clipped
from interlock.gui.drawing.theme import NORMAL
from interlock.gui.drawing.widgets import Ui
from interlock.views.answers.actions import EDITABLE
from interlock.views.answers.edits import editable_text
from interlock.views.display import counted, exact, one_line, pieces, safe
from interlock.views.inbox import covered_by_step, with_whole_texts


class AnswerDraft:
    """The user's unsent answer to one approval."""

    def __init__(self, approval: Approval) -> None:
        self.editing = False
        self.diff = DiffOptions()
        self.text = self.original = ""  # the edited text, and the text before the edit; set when editing begins
        self.context = approval.payload.context if isinstance(approval.payload, SpawnPayload) else ""
        self.message = ""
        self.review = ReviewDraft()
        self.rule = ""  # the rule that would always allow it, once requested
        self.hunks = set(range(1, count_choices(approval.payload) + 1))


def draw_payload(ui: Ui, approval: Approval, draft: AnswerDraft, send: Sender) -> None:
    payload = approval.payload
    match payload:
        case ScriptPayload():
            _draw_text(ui, approval, draft, payload.script, "script")
            net = "on" if payload.network else "off"
            wide = "worktree only" if payload.sandbox != "off" else "ANYTHING: the sandbox is off"
            _draw_facts(ui, ("may write", wide), ("network", net))
            _draw_folder(ui, payload.directory)
            if payload.services:
                ui.small("Services that start beside it")
                _draw_code(ui, "\n".join(payload.services))
            if payload.effect:
                draw_effect_summary(ui, approval, payload.effect)
                if payload.effect.lines:
                    _draw_code(ui, "\n".join(payload.effect.lines))
                draw_effect_diff(ui, approval, payload.effect, send, draft.diff)
            if draft.rule:
                ui.gap(2)
                ui.small("This new rule would allow the script without an approval:", ui.look.waiting)
                _draw_code(ui, draft.rule.strip())
        case ToolPayload():
            _draw_tool(ui, approval, payload, draft, send)
        case SpawnPayload():
            _draw_facts(ui, ("role", payload.role), ("model", payload.model))
            for line in payload.terms or ():
                ui.wrapped(safe(line), ui.look.waiting if payload.unsupervised else ui.look.dim, small=True)
            ui.small("Prompt")
            _draw_text(ui, approval, draft, payload.prompt, "prompt")
            _draw_context(ui, approval, payload, draft, send)
        case StepPayload():
            ui.wrapped(safe(payload.description))
            _draw_facts(ui, ("role", payload.role))
            if payload.script:
                _draw_code(ui, payload.script)
            if payload.gates:
                ui.small("Verified by")
                _draw_code(ui, "\n".join(payload.gates))
            ui.small(covered_by_step(payload))
        case GatePayload():
            if payload.unchanged:
                ui.small("no file was changed, and no gate has run", ui.look.bad)
            elif payload.packages:
                ui.small("the gate has not run: its packages are not installed", ui.look.waiting)
            elif not payload.files:
                ui.small(f"failed {payload.attempts} of {payload.max_attempts} times", ui.look.bad)
            if payload.command:
                _draw_code(ui, payload.command)
            ui.gap(2)
            draw_prose(ui, payload.message, ui.look.dim)
            if payload.diff:
                diff = send.text(payload.diff_blob.sha256) if payload.diff_blob else payload.diff
                draw_view_buttons(ui, draft.diff, approval.id)
                draw_hunks(ui, read_diff(diff or payload.diff), None, draft.diff, scope=approval.id)
        case MergePayload():
            _draw_facts(ui, ("onto", payload.branch), ("from", payload.before[:10]), ("to", payload.after[:10]))
            draw_landing(ui, approval, payload, draft.review, draft.hunks, draft.diff, send)
        case ReviewPayload():
            draw_review(ui, approval, payload, draft.review, draft.hunks, draft.diff, send)
        case TracksPayload():
            ui.wrapped(safe(payload.text), ui.look.dim)
            for plan in payload.tracks:
                ui.wrapped_bold(safe(plan.title))
                ui.wrapped(safe(plan.description), ui.look.dim)
            if draft.editing:
                _draw_text(ui, approval, draft, draft.text, "tracks")
        case _:
            ui.wrapped(safe(payload.what))
            ui.wrapped(safe(payload.question), ui.look.dim)


def _draw_tool(ui: Ui, approval: Approval, payload: ToolPayload, draft: AnswerDraft, send: Sender) -> None:
    diff = payload.diff
    if payload.diff_blob is not None:
        diff = send.text(payload.diff_blob.sha256) or payload.diff
    change = read_diff(diff)
    change = change if change.hunks else read_diff(payload.diff)  # without the whole diff: its beginning
    hunks = change.hunks
    if len(hunks) < payload.hunks:
        words = f"Only {len(hunks)} of {counted(payload.hunks, 'hunk')} are shown."
        ui.wrapped(words, ui.look.bad, small=True, key="inbox.unseen", scope=approval.id)
    if hunks:
        added, removed = sum(hunk.added for hunk in hunks), sum(hunk.removed for hunk in hunks)
        ui.small(f"{len(draft.hunks)} of {counted(payload.hunks, 'hunk')} chosen   +{added} -{removed}")
        draw_view_buttons(ui, draft.diff, approval.id)
        draw_hunks(ui, change, draft.hunks, draft.diff, scope=approval.id)
    else:
        ui.small("Arguments")
    if draft.editing or not hunks:
        _draw_text(ui, approval, draft, _whole_arguments(payload, send) or payload.arguments, "arguments")
    _draw_facts(ui, ("tool", payload.tool), *((("contacts", ", ".join(payload.hosts)),) if payload.hosts else ()))
    _draw_folder(ui, payload.directory)


def _draw_text(ui: Ui, approval: Approval, draft: AnswerDraft, text: str, what: str) -> None:
    if not draft.editing:
        _draw_code(ui, text)
        return
    rows = min(24, max(6, draft.text.count("\n") + 2))
    new = ui.input(f"inbox.edit_{what}", draft.text, scope=approval.id, lines=rows, mono=True, label=f"edited {what}")
    if new is not None:
        draft.text = new


def _draw_context(ui: Ui, approval: Approval, payload: SpawnPayload, draft: AnswerDraft, send: Sender) -> None:
    ui.small("Context")
    whole = payload.context
    if payload.context_blob is not None:
        whole = send.text(payload.context_blob.sha256) or payload.context
    if not draft.editing:
        _draw_code(ui, whole)
        return
    if draft.context == payload.context:
        draft.context = whole
    new = ui.input("inbox.edit_context", draft.context, scope=approval.id, lines=12, mono=True, label="edited context")
    if new is not None:
        draft.context = new


class _Page(Struct, frozen=True):
    """A text in rows that fit the width: the line number, or 0 for a continuation, and a piece of the line."""

    text: str
    rows: tuple[tuple[int, str], ...]
    lines: int


_pages: dict[tuple[int, int], _Page] = {}


def _page(ui: Ui, text: str, columns: int) -> _Page:
    """Cached per text and width. Nothing is left out: exactly the approved bytes run."""
    key = (hash(text), columns)
    page = _pages.get(key)
    if page is None or page.text != text:
        lines = ui.look.drawable(exact(text), spell=True).split("\n")
        rows = tuple(
            (0 if at else number, piece)
            for number, line in enumerate(lines, 1)
            for at, piece in enumerate(pieces(line.expandtabs(4), columns))
        )
        if len(_pages) > 64:
            _pages.clear()
        page = _pages[key] = _Page(text, rows, len(lines))
    return page


def _draw_code(ui: Ui, text: str) -> None:
    """The exact bytes, with line numbers."""
    look = ui.look
    imgui.push_font(look.mono, NORMAL)
    high = imgui.get_text_line_height() + 4
    digit = imgui.calc_text_size("0").x
    wide = digit * len(str(text.count("\n") + 1))
    columns = max(12, int((imgui.get_content_region_avail().x - wide - 52) / digit))
    page = _page(ui, text, columns)
    imgui.push_style_color(imgui.Col_.child_bg.value, look.code)
    imgui.begin_child(
        ui.child("code", str(hash(text))),
        imgui.ImVec2(0, min(len(page.rows), 22) * high + 18),
        imgui.ChildFlags_.borders.value,
        imgui.WindowFlags_.horizontal_scrollbar.value,
    )
    digits = len(str(page.lines))

    def row(at: int) -> None:
        number, piece = page.rows[at]
        ui.text(f"{number or '':>{digits}}", look.faint)
        imgui.same_line(wide + 26)
        ui.text(piece)

    imgui.push_style_var(imgui.StyleVar_.item_spacing.value, imgui.ImVec2(8, 4))
    clipped(len(page.rows), high, row)
    imgui.pop_style_var()
    imgui.end_child()
    imgui.pop_style_color()
    imgui.pop_font()


def _draw_facts(ui: Ui, *pairs: tuple[str, str]) -> None:
    for at, (name, value) in enumerate(pairs):
        if at:
            imgui.same_line(0, 16)
        ui.small(name, ui.look.faint)
        imgui.same_line(0, 6)
        bad = value in ("on", "ANYTHING: the sandbox is off")
        good = value in ("off", "worktree only")
        ui.small(one_line(value, 64), ui.look.bad if bad else ui.look.good if good else ui.look.dim)


def _draw_folder(ui: Ui, directory: str) -> None:
    """The whole path of the folder it would run in."""
    ui.small("in", ui.look.faint)
    imgui.same_line(0, 6)
    ui.wrapped(exact(directory), ui.look.dim, small=True)


def _whole_arguments(payload: ToolPayload, send: Sender) -> str:
    """Empty while a long text is being fetched."""
    blob = payload.whole_arguments
    return payload.arguments if blob is None else send.text(blob.sha256)


def is_editable(approval: Approval, send: Sender) -> bool:
    """False also while a long text is being fetched."""
    payload = approval.payload
    return bool(_whole_arguments(payload, send)) if isinstance(payload, ToolPayload) else approval.kind in EDITABLE


def text_to_edit(approval: Approval, send: Sender) -> str:
    """Only of what is editable."""
    payload = approval.payload
    blob = payload.whole_arguments if isinstance(payload, ToolPayload) else None
    texts = {} if blob is None else {blob.sha256: send.text(blob.sha256)}
    return editable_text(with_whole_texts(approval, texts)) or ""

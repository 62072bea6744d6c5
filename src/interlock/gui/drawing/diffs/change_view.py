"""A change file by file: those with risks first, generated ones folded, each with its hunks."""

from collections.abc import Sequence

from imgui_bundle import imgui

from interlock.domain.values.approvals import ReviewFile
from interlock.gui.drawing.diffs.hunk_view import (
    MOST_HUNKS,
    DiffOptions,
    OnLine,
    ReadDiff,
    draw_hunk,
    draw_hunks,
    warn_unseen,
)
from interlock.gui.drawing.widgets import Ui
from interlock.views.display import counted, exact

_MOST_OPEN = 40  # hunks; the files of a larger change are folded at first


def draw_view_buttons(ui: Ui, options: DiffOptions, scope: str) -> None:
    label = "One column" if options.both_sides else "Side by side"
    if ui.button("inbox.sides", label, scope=scope, weight="quiet"):
        options.both_sides = not options.both_sides
    label = "Show blanks" if options.hide_blanks else "Hide blanks"
    ui.beside(label)
    about = "Lines that differ only in blanks count as unchanged"
    if ui.button("inbox.blanks", label, scope=scope, weight="quiet", about=about):
        options.hide_blanks = not options.hide_blanks


def draw_change(
    ui: Ui,
    diff: ReadDiff,
    files: Sequence[ReviewFile],
    chosen: set[int] | None,
    options: DiffOptions,
    *,
    scope: str,
    on_line: OnLine | None = None,
) -> None:
    """`files` determine the order. A diff that belongs to other files is drawn as it is."""
    hunks = {hunk.number: hunk for hunk in diff.shown(options)}
    if not files or sum(file.parts for file in files) != len(hunks):
        draw_hunks(ui, diff, chosen, options, scope=scope)
        return
    warn_unseen(ui, tuple(hunks.values()), scope)
    many = len(hunks) > _MOST_OPEN
    drawn = 0
    for file in files:
        numbers = range(file.first, file.first + file.parts)
        folded = (file.folded or many) != (file.path in options.turned)
        if _draw_file(ui, file, numbers, chosen, scope, folded=folded):
            options.turned ^= {file.path}
        if folded:
            continue
        for number in numbers:
            drawn += 1
            if drawn <= MOST_HUNKS:
                moves = diff.moves_shown(options)
                draw_hunk(ui, hunks[number], chosen, options, moves, scope=scope, on_line=on_line)
    if drawn > MOST_HUNKS:
        ui.small(f"and {counted(drawn - MOST_HUNKS, 'more hunk')}: interlock approvals show {scope}", ui.look.bad)


def _draw_file(ui: Ui, file: ReviewFile, numbers: range, chosen: set[int] | None, scope: str, *, folded: bool) -> bool:
    """The heading of a file; returns whether it was folded or unfolded."""
    place = f"{scope}.{file.first}"
    if chosen is not None:
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(3, 2))
        before = chosen.issuperset(numbers)
        now = ui.checkbox("inbox.file", "", before, scope=place)
        imgui.pop_style_var()
        if now != before:
            (chosen.update if now else chosen.difference_update)(numbers)
        imgui.same_line()
    turned = ui.button("inbox.fold", "+" if folded else "-", scope=place, weight="quiet", width=22)
    imgui.same_line(0, 6)
    counts = f"+{file.added} -{file.removed}"
    ui.bold(ui.fitted(exact(file.path), keep=imgui.calc_text_size(counts).x + 12, small=False))
    ui.right(counts, ui.look.faint)
    if file.risks:
        ui.small(", ".join(file.risks), ui.look.waiting)
    return turned

"""The help: every key of every panel, and the answers with their letters."""

from collections.abc import Sequence

from interlock.tui.lines.rows import EMPTY, Row, Span, row, wrapped
from interlock.tui.panels.panel import Panel

EVERYWHERE = (
    ("1 … 7, F1 … F7", "the panels; F-keys also from an input"),
    ("Tab, Shift+Tab", "the next or previous part of the screen"),
    ("Ctrl+P", "all commands, by name"),
    ("j k, arrows, PgUp PgDn, g G", "move in a list"),
    ("Esc", "leave an input or a window; take an answer back"),
    ("q, Ctrl+Q", "quit; what waits keeps waiting"),
)
INBOX = (
    ("a", "approve, or approve what is edited or chosen"),
    ("e", "edit in $EDITOR, then approve the edit"),
    ("o", "edit the context of a worker that would start"),
    ("p, [ ], Space", "go to the next part of a diff; Space takes it or leaves it out"),
    ("w, W", "show the rule that always allows this; again: approve and store it, W for all projects"),
    ("c", "request changes of a review or a landing"),
    ("i", "comment on the line under the cursor"),
    ("r", "reject, with a reason if you want"),
    ("t  s  x", "retry, skip, abort"),
    ("d", "in a later round: only what changed since, or the whole change"),
    ("m, M, A, R", "mark this, mark all of this kind, approve or reject all marked"),
    ("u", "discard your edit, rule, comments or marks"),
    ("v", "the detail alone, or beside the list again"),
)
BOARD = (
    ("Enter", "fold a track, open a ticket"),
    ("t  s  x  b  K", "retry, skip, cancel, block a ticket, stop its worker"),
    ("+  -, Ctrl+arrows", "priority, and place in the order"),
    ("i", "a note to the ticket's worker"),
    ("S  L  X", "start or pause, land, abort a track"),
    ("n", "a new goal, which is planned as tracks"),
)
OTHERS = (
    ("Streams", "[ ] another stream, f follow, / filter, Ctrl+S search, n N next and previous"),
    ("Discussion", "Enter write or send, Ctrl+J a new line, S stop, n new, [ ] another one"),
    ("Timeline", "/ filter, Enter the whole line"),
    ("Graph", "◆ critical path, ← what else it waits for, Enter the ticket"),
)


def help_rows(panels: Sequence[Panel], width: int) -> list[Row]:
    rows: list[Row] = []
    for title, pairs in (
        ("Everywhere", EVERYWHERE),
        ("Inbox: letters answer only while it has the bright frame", INBOX),
        ("Board", BOARD),
        ("Other panels", OTHERS),
    ):
        rows += [row(Span(title, "accent", bold=True))]
        for keys, what in pairs:
            for number, part in enumerate(wrapped(what, width - 30, "dim")):
                rows.append(row(Span(f"  {'' if number else keys:<28}", "text", bold=True), *part.spans))
        rows.append(EMPTY)
    said = "An answer by a single letter waits two seconds: any key takes it back. A click answers at once."
    return rows + wrapped(said, width, "waiting")

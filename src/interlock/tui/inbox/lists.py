"""The list of what waits, the detail of one approval, and its actions."""

import time
from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from interlock.domain.values.approvals import Approval
from interlock.tui.colours import Colours
from interlock.tui.inbox.diff_rows import NOWHERE, Piece, Place
from interlock.tui.inbox.marks import Marks
from interlock.tui.lines.bar import Bar
from interlock.tui.lines.line_list import LineList
from interlock.tui.lines.rows import EMPTY, Row, Span, row
from interlock.tui.picture import Picture
from interlock.tui.symbols import KINDS
from interlock.views.answer_sets import fits_many
from interlock.views.answers.actions import Action
from interlock.views.display import one_line
from interlock.views.inbox import approval_title


class InboxList(LineList):
    """What is equal once, with its count; what holds up most is first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,right,l", "open", show=False),
        # The list is short: these keys scroll the detail.
        Binding("pagedown,space,ctrl+f", "detail(1)", show=False),
        Binding("pageup,ctrl+b", "detail(-1)", show=False),
    ]

    class Scrolled(Message):
        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    def __init__(self, colours: Colours, picture: Picture, marks: Marks) -> None:
        super().__init__(colours, id="inbox-list")
        self._picture = picture
        self._marks = marks

    def count(self) -> int:
        return len(self._picture.groups)

    def row_at(self, index: int, width: int) -> Row:
        alike = self._picture.groups[index]
        approval = alike.first
        box = ""
        if self._marks.any and fits_many(approval):
            box = "[x] " if self._marks.has(alike) else "[ ] "
        title = approval_title(approval)
        times = f"{alike.count:,}x " if alike.count > 1 else ""
        return row(
            Span(box, "accent"),
            Span(f"{KINDS[approval.kind]} ", "waiting"),
            Span(f"{approval.id:<5}", "faint"),
            Span(times, "accent", bold=True),
            Span(one_line(title[:1].upper() + title[1:], 200), "text" if index == self.cursor else "dim"),
            right=[Span(self._picture.elapsed(approval.requested_at), "faint")],
        )

    def action_open(self) -> None:
        self.post_message(self.Opened(self))

    def action_detail(self, by: int) -> None:
        self.post_message(self.Scrolled(by))


class Detail(LineList):
    """The rows of one approval; the cursor stands on the line that a comment or a switch is about."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "switch", show=False),
        Binding("enter", "fold", show=False),
        Binding("left,h", "leave", show=False),
        Binding("right_square_bracket", "hunk(1)", show=False),
        Binding("left_square_bracket", "hunk(-1)", show=False),
    ]

    class Switched(Message):
        """Hunks were switched, or a file was folded."""

        def __init__(self, place: Place, *, fold: bool = False) -> None:
            super().__init__()
            self.place = place
            self.fold = fold

    class Left(Message):
        pass

    def __init__(self, colours: Colours) -> None:
        super().__init__(colours, id="detail")
        self.pieces: Sequence[Piece] = ()

    def show_pieces(self, found: Sequence[Piece], *, again: bool) -> None:
        """`again`: the same approval, so the place is kept."""
        self.pieces = found
        if not again:
            self.cursor = 0
        self.changed()
        if not again:
            self.scroll_to(y=0, animate=False, force=True)

    def count(self) -> int:
        return len(self.pieces)

    def row_at(self, index: int, width: int) -> Row:
        return self.pieces[index].row if index < len(self.pieces) else EMPTY

    @property
    def place(self) -> Place:
        return self.pieces[self.cursor].place if self.cursor < len(self.pieces) else NOWHERE

    def action_switch(self) -> None:
        if self.place.hunk or self.place.file_hunks:
            self.post_message(self.Switched(self.place))
        else:
            self.action_page(1)

    def action_fold(self) -> None:
        if self.place.fold:
            self.post_message(self.Switched(self.place, fold=True))
        else:
            self.action_cursor(1)

    def action_hunk(self, by: int) -> None:
        """The next or previous heading of a hunk or file."""
        at = self.cursor + by
        while 0 <= at < len(self.pieces):
            place, before = self.pieces[at].place, self.pieces[at - 1].place if at else NOWHERE
            if (place.hunk and place.hunk != before.hunk) or place.fold:
                self.select(at)
                self.scroll_to(y=max(0, at - 1), animate=False, force=True)
                return
            at += by

    def action_leave(self) -> None:
        self.post_message(self.Left())


class ActionBar(Bar):
    """The possible actions; a click on one is its key."""

    class Pressed(Message):
        def __init__(self, action: Action) -> None:
            super().__init__()
            self.action = action

    def __init__(self, colours: Colours) -> None:
        super().__init__(colours, id="actions")
        self._places: list[tuple[int, int, int, Action]] = []

    def show_actions(self, actions: Sequence[tuple[Action, str, bool]]) -> None:
        """Each with its words and whether it is possible now; on as many rows as they need."""
        rows: list[Row] = []
        spans: list[Span] = []
        self._places = []
        used = 0
        for action, label, possible in actions:
            needs = len(action.key) + cell_len(label) + 5
            if spans and used + needs > self.size.width:
                rows.append(row(*spans))
                spans, used = [], 0
            self._places.append((len(rows), used, used + needs - 1, action))
            role = "faint" if not possible else "good" if action.decision in ("approve", "retry") else "text"
            on = "tint-good" if role == "good" else "raised"
            spans += [
                Span(f" {action.key}", "accent" if possible else "faint", on, bold=True),
                Span(f" {label} ", role, on, bold=role == "good"),
                Span(" "),
            ]
            used += needs
        rows.append(row(*spans))
        if self.styles.height is None or self.styles.height.value != len(rows):
            self.styles.height = len(rows)
        self.show(*rows)

    def on_click(self, event: events.Click) -> None:
        for line, start, end, action in self._places:
            if event.y == line and start <= event.x < end:
                self.post_message(self.Pressed(action))


class Glance:
    """An approval that has just appeared is not answered: a key pressed now was meant for something else."""

    LEAST_S = 0.3

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._shown = ""
        self._shown_at = 0.0

    def look(self, approval: Approval, *, picked: bool) -> None:
        """`picked`: the user moved to it."""
        if approval.id != self._shown:
            self._shown = approval.id
            self._shown_at = 0.0 if picked else time.monotonic()

    def long_enough(self, approval: Approval) -> bool:
        seen = max(self._picture.first_seen.get(approval.id, 0.0), self._shown_at)
        return time.monotonic() - seen >= self.LEAST_S

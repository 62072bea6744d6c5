"""Inbox: the pending approvals. Each shows its asker, reason and exact bytes; letters answer while it has the keyboard.

The letters and words of the answers are those of all front ends (`views/answers/actions.py`).
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.review.comments import comment_from
from interlock.domain.values.answer_sets import SetDecision
from interlock.domain.values.approvals import Approval, Decision, MergePayload, ReviewPayload
from interlock.errors import BadValue, InterlockError
from interlock.tui.colours import Colours
from interlock.tui.inbox.detail_rows import detail_rows
from interlock.tui.inbox.draft import Draft, answer_of, is_possible, label_of, takes_comments
from interlock.tui.inbox.lists import ActionBar, Detail, Glance, InboxList
from interlock.tui.inbox.marks import Marks
from interlock.tui.lines.line_list import FixedLines, LineList
from interlock.tui.lines.rows import EMPTY, Span, row, wrapped
from interlock.tui.panels.panel import Panel
from interlock.tui.picture import Picture
from interlock.tui.sending import Sender
from interlock.views.answers.actions import Action, actions_of
from interlock.views.answers.edits import editable_context, editable_text, suffix_of
from interlock.views.display import counted, one_line

LETTERS = "aeopwcrtsx"
"""The keys of all actions on approvals; a test compares them with the table."""

_MOST_DRAFTS = 200
_MOST_ROWS = 8  # of the list


class Inbox(Panel):
    label = "Inbox"
    keys = (("j k", "move"), ("Enter", "into the detail"), ("m", "mark"), ("v", "view all"))
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(letter, f"press('{letter}')", show=False) for letter in LETTERS),
        Binding("W", "everywhere", show=False),
        Binding("m", "mark", show=False),
        Binding("M", "mark_kind", show=False),
        Binding("A", "answer_marked('approve')", show=False),
        Binding("R", "answer_marked('reject')", show=False),
        Binding("u", "discard", show=False),
        Binding("v", "view_all", show=False),
        Binding("i", "comment", show=False),
        Binding("d", "whole_change", show=False),
        Binding("escape", "to_list", show=False),
    ]

    def __init__(self, colours: Colours, picture: Picture, send: Sender) -> None:
        super().__init__(colours, picture, send)
        self.marks = Marks()
        self._glance = Glance(picture)
        self._drafts: dict[str, Draft] = {}
        self._chosen = ""  # the approval under the cursor
        self._picked = False
        self._all = False  # the detail has the whole panel
        self._shown: tuple[object, ...] = ()  # what the rows of the detail were made from

    def compose(self) -> ComposeResult:
        self.list = InboxList(self.colours, self.picture, self.marks)
        self.detail = Detail(self.colours)
        self.actions = ActionBar(self.colours)
        self.empty = FixedLines(self.colours, id="inbox-empty")
        self.empty.has_cursor = False
        yield self.list
        yield self.detail
        yield self.actions
        yield self.empty

    # ── drawing ──────────────────────────────────────────────────────────────────────────

    def draw(self) -> None:
        groups = self.picture.groups
        self.marks.keep(self.picture.pending)
        marked = f"{counted(len(self.marks.names), 'approval')} marked: A approves, R rejects" if self.marks.any else ""
        self.show_title(f"Inbox  {len(self.picture.pending):,} waiting", marked)
        for widget in (self.list, self.detail, self.actions):
            widget.display = bool(groups) and not (widget is self.list and self._all)
        self.empty.display = not groups
        if not groups:
            self._draw_empty()
            return
        at = next((at for at, alike in enumerate(groups) if alike.first.id == self._chosen), None)
        if at is None:  # it is answered: the next one takes its place
            at = min(self.list.cursor, len(groups) - 1)
            self._chosen = groups[at].first.id
        high = min(len(groups), _MOST_ROWS, max(1, self.size.height // 4))
        if self.list.styles.height is None or self.list.styles.height.value != high:
            self.list.styles.height = high
        self.list.cursor = at
        self.list.changed()
        self.list.show_cursor_row()
        self._draw_detail(groups[at].first)

    def _draw_empty(self) -> None:
        width = max(20, self.empty.size.width - 2)
        if self.picture.lost:
            said = self.picture.lost[:1].upper() + self.picture.lost[1:]
            self.empty.show_rows([EMPTY, *wrapped(f"{said} …", width, "dim")])
            return
        said = "Actions that no rule allows are shown here before they run, with asker, reason and exact text."
        hint = wrapped(self.picture.hint, width, "waiting") if self.picture.hint else []
        first = (
            wrapped("Board: n plans a goal. Or in another terminal: interlock run --tickets FILE.json", width, "faint")
            if not self.picture.state.track_order
            else []
        )
        self.empty.show_rows(
            [
                EMPTY,
                row(Span("Nothing waits for you", "text", bold=True)),
                EMPTY,
                *wrapped(said, width, "dim"),
                EMPTY,
                *first,
                *hint,
            ]
        )

    def _draw_detail(self, approval: Approval) -> None:
        draft = self.draft(approval)
        self._glance.look(approval, picked=self._picked)
        self._picked = False
        width = max(20, self.detail.cells)
        made_from = (approval.id, draft.version, draft.fetched, width)
        if made_from != self._shown:
            again = bool(self._shown) and self._shown[0] == approval.id
            self._shown = made_from
            urgency = self.picture.outlook.urgency.get(approval.id)
            self.detail.show_pieces(detail_rows(approval, draft, urgency, width), again=again)
        self.actions.show_actions(
            [
                (action, label_of(action, approval, draft), is_possible(action, approval, draft))
                for action in actions_of(approval)
            ]
        )

    def tick(self) -> None:
        if self.picture.groups:
            self.list.refresh()

    # ── the shown approval ───────────────────────────────────────────────────────────────

    def shown(self) -> Approval | None:
        groups = self.picture.groups
        return next((alike.first for alike in groups if alike.first.id == self._chosen), None)

    def draft(self, approval: Approval) -> Draft:
        draft = self._drafts.get(approval.id)
        if draft is None:
            if len(self._drafts) > _MOST_DRAFTS:
                self._drafts.pop(next(iter(self._drafts)))
            draft = self._drafts[approval.id] = Draft(approval)
            self._fetch(approval, draft)
        return draft

    def _fetch(self, approval: Approval, draft: Draft) -> None:
        def take(whole: Approval) -> None:
            draft.whole, draft.fetched = whole, True
            draft.touch()
            self.draw()

        self.send.run(lambda bench: bench.whole(approval), then=take)

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        if event.lines is self.list and self.picture.groups:
            self._chosen, self._picked = self.picture.groups[self.list.cursor].first.id, True
            self.draw()

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        self.detail.focus()

    def on_inbox_list_scrolled(self, event: InboxList.Scrolled) -> None:
        self.detail.scroll_rows(event.by * max(1, self.detail.size.height - 1))

    def on_detail_left(self) -> None:
        self.action_to_list()

    def action_to_list(self) -> None:
        self._all = False
        self.draw()
        self.list.focus()

    def action_view_all(self) -> None:
        self._all = not self._all
        self.draw()
        (self.detail if self._all else self.list).focus()

    # ── preparing an answer ──────────────────────────────────────────────────────────────

    def on_detail_switched(self, event: Detail.Switched) -> None:
        approval = self.shown()
        if approval is None:
            return
        draft, place = self.draft(approval), event.place
        if event.fold:
            draft.turned ^= {place.fold}
        else:
            numbers = {*place.file_hunks} or {place.hunk}
            if numbers <= draft.hunks:
                draft.hunks -= numbers
            else:
                draft.hunks |= numbers
        draft.touch()
        self.draw()

    def action_discard(self) -> None:
        approval = self.shown()
        if approval is None:
            return
        draft = self.draft(approval)
        if draft.edited is None and draft.context is None and not draft.rule and not draft.comments:
            self.marks.clear()
        draft.edited = draft.context = None
        draft.rule, draft.comments = "", ()
        draft.touch()
        self.draw()

    def action_whole_change(self) -> None:
        approval = self.shown()
        payload = approval.payload if approval else None
        if approval is not None and isinstance(payload, ReviewPayload | MergePayload) and payload.since:
            draft = self.draft(approval)
            draft.whole_change = not draft.whole_change
            draft.touch()
            self.draw()

    def action_comment(self) -> None:
        approval = self.shown()
        if approval is None or not takes_comments(approval):
            self.send.note("comments belong to reviews and landings", "waiting")
            return
        place = self.detail.place if self.detail.has_focus else None
        start = f"{place.path}:{place.line}: " if place and place.path and place.line else ""
        start = start or (f"{place.path}: " if place and place.path else "")

        def take(text: str) -> None:
            try:
                draft = self.draft(approval)
                draft.comments = (*draft.comments, comment_from(text))
            except BadValue as error:
                self.send.note(str(error), "bad")
                return
            draft.touch()
            self.draw()

        self.shell.ask("A comment, as FILE:LINE: TEXT", take, start)

    def action_mark(self) -> None:
        groups = self.picture.groups
        if groups and not self.marks.toggle(groups[self.list.cursor]):
            self.send.note("this one needs its own decision", "waiting")
        self.draw()

    def action_mark_kind(self) -> None:
        approval = self.shown()
        if approval is not None:
            self.marks.mark_kind(self.picture.pending, approval)
            self.draw()

    # ── answering ────────────────────────────────────────────────────────────────────────

    def on_action_bar_pressed(self, event: ActionBar.Pressed) -> None:
        self._press(event.action, by_key=False)

    def action_press(self, letter: str) -> None:
        approval = self.shown()
        if approval is None:
            return
        action = next((one for one in actions_of(approval) if one.key == letter), None)
        if action is not None:
            self._press(action, by_key=True)

    def _press(self, action: Action, *, by_key: bool) -> None:
        approval = self.shown()
        if approval is None or not self._glance.long_enough(approval):
            return
        draft = self.draft(approval)
        if not is_possible(action, approval, draft):
            self.send.note("choose at least one part" if action.name == "approve" else "not for a part or an edit")
            return
        match action.name:
            case "edit":
                self.run_worker(self._edit(approval, draft))
            case "context":
                self.run_worker(self._edit_context(approval, draft))
            case "parts":
                self.detail.focus()
                self.detail.action_hunk(1)
            case "always":
                self._always(approval, draft, everywhere=False, by_key=by_key)
            case "changes" | "reject":
                self._with_words(action, approval, draft)
            case _:
                assert action.decision is not None
                command = answer_of(approval, action.decision, draft)
                self._give(f"{action.doing} {approval.id}", command, by_key=by_key)

    def _give(
        self, words: str, command: AnswerApproval, rule: str = "", *, everywhere: bool = False, by_key: bool = True
    ) -> None:
        """A click answers at once; a key after a pause in which it can be taken back."""

        def act() -> None:
            self.send.answer(command, rule, everywhere=everywhere)

        if by_key:
            self.send.hold((command.approval,), words, act)
        else:
            act()

    def _with_words(self, action: Action, approval: Approval, draft: Draft) -> None:
        """Enter sends the answer with the words: no further pause is needed."""
        decision: Decision = "changes" if action.name == "changes" else "reject"
        question = "What should change?" if decision == "changes" else f"Reject {approval.id}: why? (may be empty)"

        def take(text: str) -> None:
            draft.message = text.strip()
            if decision == "changes" and not draft.message and not draft.comments:
                self.send.note("say what should change, or comment on lines with i", "bad")
                return
            self.send.answer(answer_of(approval, decision, draft))

        about = [
            row(Span(one_line(f"{place.file}:{place.line}: {place.text}", 64), "accent"))
            for place in draft.comments[-6:]
        ]
        self.shell.ask(question, take, draft.message, about)

    def _always(self, approval: Approval, draft: Draft, *, everywhere: bool, by_key: bool) -> None:
        """The first press shows the rule, the second approves and stores it."""
        if draft.rule:
            where = "in all projects" if everywhere else "in this project"
            words = f"Approving {approval.id} always, {where}"
            command = answer_of(approval, "approve", draft)
            self._give(words, command, draft.rule, everywhere=everywhere, by_key=by_key)
            return

        def show(rule: str) -> None:
            draft.rule = rule
            draft.touch()
            self.draw()

        self.send.run(lambda bench: bench.always_rule(approval.payload), then=show)

    def action_everywhere(self) -> None:
        approval = self.shown()
        if approval is not None and self._glance.long_enough(approval) and self.draft(approval).rule:
            self._always(approval, self.draft(approval), everywhere=True, by_key=True)

    def action_answer_marked(self, decision: SetDecision) -> None:
        names = self.marks.names
        if not names:
            self.send.note("m marks approvals, then A approves and R rejects all of them", "waiting")
            return
        command = self.marks.answer(decision)
        doing = "Approving" if decision == "approve" else "Rejecting"
        self.send.hold(names, f"{doing} {counted(len(names), 'approval')}", lambda: self.send.answer_many(command))

    # ── editing ──────────────────────────────────────────────────────────────────────────

    async def _edit(self, approval: Approval, draft: Draft) -> None:
        text = editable_text(draft.whole)
        if text is None:
            self.send.note("its whole text cannot be read, so it cannot be edited", "bad")
            return
        edited = await self._in_editor(text if draft.edited is None else draft.edited, suffix_of(draft.whole))
        if edited is not None:
            draft.edited = None if edited == text else edited
            draft.touch()
            self.draw()

    async def _edit_context(self, approval: Approval, draft: Draft) -> None:
        context = editable_context(draft.whole)
        if context is None:
            self.send.note("its whole context cannot be read, so it cannot be edited", "bad")
            return
        edited = await self._in_editor(context if draft.context is None else draft.context, "md")
        if edited is not None:
            draft.context = None if edited == context else edited
            draft.touch()
            self.draw()

    async def _in_editor(self, text: str, suffix: str) -> str | None:
        try:
            return await self.shell.edit(text, suffix)
        except (InterlockError, OSError, UnicodeDecodeError) as error:
            self.send.note(str(error), "bad")
            return None

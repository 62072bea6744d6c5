"""Discussion: a chat with the model about the project. Its answers stream in as Markdown."""

from typing import ClassVar

import msgspec
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from interlock.desk.feed import ANSWERING, THINKING, Feed, Stream
from interlock.domain.messages.commands.discussion_commands import StartDiscussion, StopTurn
from interlock.domain.messages.events.discussion_events import DiscussionStarted
from interlock.domain.values.discussions import Discussion as Talk
from interlock.domain.values.discussions import Quiet, Thinking, Waiting
from interlock.ports.front import Receipt
from interlock.ports.model import Message
from interlock.tui.bench import Bench
from interlock.tui.colours import Colours
from interlock.tui.lines.line_list import FixedLines
from interlock.tui.lines.prose import prose_rows
from interlock.tui.lines.rows import EMPTY, Row, Span, row, wrapped
from interlock.tui.panels.panel import Panel
from interlock.tui.picture import Picture
from interlock.tui.sending import Sender
from interlock.views.display import one_line

_MOST = 200  # messages shown, the latest
_LONGEST = 40_000
_STREAMED = 400  # lines of a streaming answer that are read again


class Draft(TextArea):
    """Enter sends; Ctrl+J or Alt+Enter begins a line."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+j,alt+enter,shift+enter", "new_line", show=False)]

    def action_new_line(self) -> None:
        self.insert("\n")

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            panel = next(one for one in self.ancestors if isinstance(one, Discussion))
            panel.send_draft()
            return
        await super()._on_key(event)


class Discussion(Panel):
    label = "Discussion"
    keys = (("Enter", "write"), ("S", "stop"), ("n", "new"), ("[ ]", "other"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "write", show=False),
        Binding("S", "stop", show=False),
        Binding("n", "new", show=False),
        Binding("left_square_bracket", "choose(-1)", show=False),
        Binding("right_square_bracket", "choose(1)", show=False),
    ]

    def __init__(self, colours: Colours, picture: Picture, send: Sender, feed: Feed) -> None:
        super().__init__(colours, picture, send)
        self._feed = feed
        self.chosen = ""  # empty: the latest one
        self._messages: dict[str, Message | None] = {}  # by the hash of their blob; None while it is fetched
        self._rows: dict[tuple[str, int], list[Row]] = {}

    def compose(self) -> ComposeResult:
        self.lines = FixedLines(self.colours, id="discussion-lines")
        self.lines.has_cursor = False
        self.lines.follow = True
        yield self.lines
        self.draft = Draft(id="discussion-draft", placeholder="Write to the model; Enter sends, Ctrl+J begins a line")
        yield self.draft

    def talk(self) -> Talk | None:
        discussions = self.picture.state.discussions
        if self.chosen in discussions:
            return discussions[self.chosen]
        return discussions.get(f"D-{len(discussions)}")

    # ── drawing ──────────────────────────────────────────────────────────────────────────

    def draw(self) -> None:
        talk = self.talk()
        name = one_line(talk.title or talk.id, 50) if talk else "a new one"
        self.show_title(f"Discussion  {name}", _stage(talk))
        width = max(20, self.lines.cells)
        if talk is None or not talk.messages:
            said = "Ask about the project, or ask for a change. Changes appear in the inbox before they are made."
            self.lines.show_rows([EMPTY, *wrapped(said, width, "dim")])
            return
        rows: list[Row] = []
        for blob in talk.messages[-_MOST:]:
            rows += self._message_rows(blob.sha256, width)
        stage = talk.stage
        stream = self._feed.streams.get(f"Discussion: {talk.id}")
        if isinstance(stage, Thinking):
            rows += [EMPTY, row(Span("model", "planner", bold=True))]
            rows += _streamed(stream, width) if stream is not None else [row(Span("…", "dim"))]
        elif isinstance(stage, Waiting):
            rows.append(row(Span(f"waits for your answer to {stage.approval} in the inbox", "waiting")))
        elif isinstance(stage, Quiet) and stage.error:
            rows += wrapped(f"The turn ended without an answer: {stage.error}", width, "bad")
        self.lines.show_rows(rows)

    def _message_rows(self, sha256: str, width: int) -> list[Row]:
        key = (sha256, width)
        if key in self._rows:
            return self._rows[key]
        message = self._message(sha256)
        if message is None:
            return [row(Span("…", "faint"))]
        if len(self._rows) > 2 * _MOST:
            self._rows.clear()
        self._rows[key] = made = _rows_of(message, width)
        return made

    def _message(self, sha256: str) -> Message | None:
        if sha256 not in self._messages:
            if len(self._messages) > 2 * _MOST:
                self._messages.clear()
            self._messages[sha256] = None

            def take(text: str | None) -> None:
                self._messages[sha256] = _read(text)
                self.draw()

            self.send.run(lambda bench: bench.text(sha256), then=take)
        return self._messages[sha256]

    # ── acting ───────────────────────────────────────────────────────────────────────────

    def take_keyboard(self) -> None:
        self.screen.set_focus(self.lines)

    def action_write(self) -> None:
        self.screen.set_focus(self.draft)

    def leave_input(self) -> None:
        self.lines.focus()

    def send_draft(self) -> None:
        text = self.draft.text
        if not text.strip():
            return
        talk = self.talk()
        if talk is not None and not isinstance(talk.stage, Quiet):
            self.send.note("the model is answering: S in the discussion stops it", "waiting")
            return
        self.draft.text = ""
        self.lines.follow = True

        def give_back() -> None:
            self.draft.text = f"{text}\n{self.draft.text}" if self.draft.text else text

        async def say(bench: Bench) -> Receipt:
            name = talk.id if talk is not None else await self._started(bench)
            return await bench.say(name, text)

        self.send.run(say, otherwise=give_back)

    async def _started(self, bench: Bench) -> str:
        receipt = await bench.submit(StartDiscussion())
        self.chosen = next(one.event.discussion for one in receipt.records if isinstance(one.event, DiscussionStarted))
        return self.chosen

    def action_stop(self) -> None:
        talk = self.talk()
        if talk is not None and not isinstance(talk.stage, Quiet):
            self.send.submit(StopTurn(talk.id), "the turn is stopped")

    def action_new(self) -> None:
        self.send.run(self._started, "a new discussion")

    def action_choose(self, by: int) -> None:
        talk = self.talk()
        names = [one.id for one in self.picture.state.discussions_in_order()]
        if talk is not None:
            self.chosen = names[(names.index(talk.id) + by) % len(names)]
            self.draw()


def _stage(talk: Talk | None) -> str:
    if talk is None or isinstance(talk.stage, Quiet):
        return "your turn"
    return "the model is answering" if isinstance(talk.stage, Thinking) else "waits for an answer in the inbox"


def _read(text: str | None) -> Message:
    if text is None:
        return Message("assistant", "(the message was removed)")
    try:
        return msgspec.json.decode(text, type=Message)
    except msgspec.MsgspecError:
        return Message("assistant", "(this message cannot be read)")


def _rows_of(message: Message, width: int) -> list[Row]:
    if message.role == "tool":
        return [row(Span(f"  {one_line(message.text, 160)}", "faint"))]
    user = message.role == "user"
    rows = [EMPTY, row(Span("you" if user else "model", "accent" if user else "planner", bold=True))]
    if message.reasoning:
        rows += wrapped(one_line(message.reasoning, 600), width, "faint")
    if message.text:
        rows += prose_rows(message.text[:_LONGEST], width)
    rows += [
        row(Span(f"  {one_line(call.name, 60)} ", "accent"), Span(one_line(str(call.args), 160), "dim"))
        for call in message.calls
    ]
    return rows


def _streamed(stream: Stream, width: int) -> list[Row]:
    """The end of the reasoning, and the answer so far."""
    lines = list(zip(stream.lines, stream.aside, strict=True))[-_STREAMED:]
    reasoning = [line for line, aside in lines if aside and line not in (THINKING, ANSWERING)]
    answer = "\n".join(line for line, aside in lines if not aside)
    rows = wrapped("\n".join(reasoning[-6:]), width, "faint") if reasoning and not answer.strip() else []
    return rows + (prose_rows(answer, width) if answer.strip() else [row(Span("…", "dim"))])

"""The progress of a run as lines: one per event."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Self

from interlock.cli.terminal.output import paint, say
from interlock.cli.terminal.sign_of_life import SignOfLife
from interlock.cli.terminal.turn_lines import turn_lines
from interlock.domain.messages.envelopes import CONTAINED, Recorded
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested
from interlock.domain.messages.events.attempt_events import (
    AttemptLost,
    AttemptReturned,
    GateFinished,
    TicketStarted,
    ToolFinished,
    TurnFinished,
)
from interlock.domain.messages.events.epic_events import (
    EpicAccepted,
    EpicAdded,
    EpicDropped,
    PlannerAnswered,
    PlanningFailed,
    TrackPlanned,
)
from interlock.domain.messages.events.ticket_events import (
    TicketBlocked,
    TicketCancelled,
    TicketCompleted,
    TicketSkipped,
)
from interlock.domain.messages.events.track_events import TrackEnded, TrackPaused
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Answered
from interlock.engine.blobs import Fetch
from interlock.views.display import counted, one_line, safe
from interlock.views.inbox import approval_title
from interlock.views.journal_lines import error_line
from interlock.views.mma_status import active_tiers
from interlock.views.verification import reused_text

QUIET_ABOVE = 1_000
"""Above this number of tickets only failures are shown."""


class ProgressDisplay:
    """Lines only, for a log. `fetch` reads the messages of workers; without it only events are shown."""

    def __init__(self, *, quiet: bool, fetch: Fetch | None = None) -> None:
        self._quiet = quiet
        self._fetch = fetch
        self._now: tuple[str, ...] = ()  # the tiers at work
        self._paused = False
        self._life = None if quiet else SignOfLife(self._say_silence)

    def __enter__(self) -> Self:
        if self._life is not None:
            self._life.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._life is not None:
            self._life.end()

    def hear(self, key: str, piece: str) -> None:
        """A piece of a model's text: a log has the whole turn instead, when it ends."""

    def tell(self, text: str) -> None:
        """A sentence about the run itself."""
        if not self._quiet:
            say(text, sys.stderr)

    def _say_silence(self, seconds: float) -> None:
        if self._paused:
            return
        at_work = ", ".join(safe(tier) for tier in self._now[:4]) or "nothing runs"
        say(paint(f"{' ' * 8}  … {at_work}; no news for {seconds:.0f} s", "dim"))

    @contextmanager
    def paused(self) -> Generator[None]:
        """Print nothing while a prompt uses the terminal."""
        self._paused = True
        try:
            yield
        finally:
            self._paused = False

    def show(self, records: Sequence[Recorded], state: State, tracks: Sequence[str], epics: Sequence[str] = ()) -> None:
        if self._quiet:
            return
        total = sum(state.tracks[name].total for name in tracks)
        for recorded in records:
            event = recorded.event
            if getattr(event, "track", None) in tracks or hasattr(event, "approval") or hasattr(event, "epic"):
                line = line_of(recorded, state)
                if line is not None and (total <= QUIET_ABOVE or line[1] == "bad"):
                    say(log_line(recorded, *line))
                if isinstance(event, TurnFinished) and self._fetch is not None and total <= QUIET_ABOVE:
                    for text in turn_lines(event, self._fetch):
                        say(log_line(recorded, text, None))
        self._now = active_tiers(state)
        if records and self._life is not None:
            self._life.heard()


def log_line(recorded: Recorded, text: str, tone: str | None) -> str:
    return f"{paint(recorded.at[11:19], 'dim')}  {paint(text, tone)}"


def _answered_by(state: State, approval: str) -> str:
    answer = state.approvals[approval].state
    return answer.by if isinstance(answer, Answered) else ""


def line_of(recorded: Recorded, state: State) -> tuple[str, str | None] | None:
    """The text and colour of an event in the progress output; None for events that are not shown."""
    event = recorded.event
    match event:
        case EpicAdded(epic, text):
            return f"{epic}  planning: {one_line(text, 80)}", "running"
        case EpicAccepted(epic, tracks):
            return f"{epic}  accepted: {', '.join(tracks)}; planning their tickets", "good"
        case EpicDropped(epic, reason):
            return f"{epic}  dropped: {one_line(reason)}", "bad"
        case PlannerAnswered(epic, track, _, tier, model, usage):
            tokens = f"{usage.input:,} tokens in, {usage.output:,} out"
            return f"{track or epic}  {tier} answered ({safe(model)}, {tokens})", None
        case PlanningFailed(epic, track, reason):
            return f"{track or epic}  planning failed: {one_line(reason)}", "bad"
        case TrackPlanned(track):
            return f"track {track} is planned: {counted(state.tracks[track].total, 'ticket')}", "good"
        case TicketStarted(_, ticket, attempt):
            again = f", attempt {attempt}" if attempt > 1 else ""
            return f"{ticket}  started{again}", "running"
        case GateFinished(_, ticket, _, _, result, _, feedback):
            gate = f"{ticket}  gate {one_line(result.command, 60)}"
            if result.passed:
                how = reused_text(result.reused) if result.reused else f"{result.duration_ms} ms"
                return f"{gate}: passed ({how})", "good"
            back = "; back to the worker" if feedback is not None else ""
            how = result.explanation or error_line(result) or f"exit code {result.exit_code}, without output"
            return f"{gate}: failed: {one_line(how, 80)}{back}", "bad"
        case ToolFinished(_, ticket, _, _, tool, _, by, refused) if refused:
            return f"{ticket}  {safe(tool)}: {refused} by {by}, not run", "waiting"
        case ToolFinished(_, ticket, _, _, tool, failed, by) if by != "policy:reading":
            return (
                f"{ticket}  {safe(tool)}: {'failed' if failed else 'done'} (allowed by {by})",
                "bad" if failed else None,
            )
        case TicketCompleted(_, ticket, _, commit, unverified):
            where = f", merged as {commit[:10]}" if commit else ""
            return f"{ticket}  completed{' (unverified)' if unverified else ''}{where}", "good"
        case TicketBlocked(_, ticket, reason):
            return f"{ticket}  blocked: {one_line(reason)}", "bad"
        case TicketSkipped(_, ticket):
            return f"{ticket}  skipped by {recorded.actor}", None
        case TicketCancelled(_, ticket, reason):
            return f"{ticket}  cancelled: {one_line(reason)}", None
        case AttemptReturned(_, ticket, attempt, why):
            return f"{ticket}  attempt {attempt} cannot be merged, a new one follows: {one_line(why)}", "waiting"
        case AttemptLost(_, ticket, attempt, why):
            return f"{ticket}  attempt {attempt} lost: {one_line(why)}", "waiting"
        case ApprovalRequested(approval=approval):
            title = one_line(approval_title(state.approvals[approval]))
            if _answered_by(state, approval) == CONTAINED:  # nobody was asked
                return f"{approval}  {title} (contained in its worktree)", "dim"
            return f"{approval}  asks: {title}", "waiting"
        case ApprovalAnswered(approval, decision):
            return None if recorded.actor == CONTAINED else (f"{approval}  {decision} by {recorded.actor}", None)
        case TrackPaused(track):
            return f"track {track} is paused; 'interlock tracks resume {track}' continues it", "waiting"
        case TrackEnded(track, status):
            return f"track {track} is {status}", "good" if status == "done" else "bad"
        case _:
            return None

"""The journal as a readable log: one line per event with time, kind, subject and text."""

import re
from typing import Literal, assert_never

from msgspec import UNSET, Struct, to_builtins

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested, ApprovalsAnswered
from interlock.domain.messages.events.attempt_events import (
    GateFinished,
    PartsTaken,
    TicketStarted,
    ToolBegun,
    ToolFinished,
    TurnFinished,
    WorkSubmitted,
)
from interlock.domain.messages.events.call_events import CallEnded, CallReserved
from interlock.domain.messages.events.discussion_events import DiscussionReplied
from interlock.domain.messages.events.epic_events import PlannerAnswered, TracksProposed
from interlock.domain.messages.events.event import Event
from interlock.domain.messages.events.event_base import OfDiscussion, OfTicket
from interlock.domain.messages.events.steering_events import AutonomySet
from interlock.domain.messages.events.subjects import track_of
from interlock.domain.messages.events.test_history_events import TestExecuted, TestReportRead, TestsForgotten
from interlock.domain.messages.events.ticket_events import TicketBlocked, TicketCompleted
from interlock.domain.messages.events.track_events import LandingReturned, TrackEnded
from interlock.domain.values.approvals import Approval
from interlock.domain.values.gates import GateResult
from interlock.views.answer_sets import set_sentence
from interlock.views.display import counted, one_line, safe
from interlock.views.inbox import approval_title, what_changed
from interlock.views.verification import passed_text, seconds

Role = Literal["text", "dim", "faint", "good", "running", "waiting", "bad", "accent", "planner"]

_KINDS: dict[str, tuple[str, Role]] = {
    "epic": ("plan", "planner"),
    "planner": ("plan", "planner"),
    "tracks": ("plan", "planner"),
    "planning": ("plan", "planner"),
    "track": ("track", "accent"),
    "landing": ("land", "accent"),
    "tickets": ("plan", "planner"),
    "ticket": ("ticket", "running"),
    "attempt": ("ticket", "running"),
    "work": ("ticket", "running"),
    "parts": ("ticket", "running"),
    "gate": ("gate", "waiting"),
    "tool": ("tool", "accent"),
    "turn": ("turn", "planner"),
    "session": ("turn", "planner"),
    "call": ("call", "dim"),
    "approval": ("asks", "waiting"),
    "approvals": ("asks", "waiting"),
    "autonomy": ("asks", "waiting"),
    "discussion": ("chat", "planner"),
    "conductor": ("bench", "dim"),
    "test": ("test", "accent"),
    "tests": ("test", "accent"),
}
"""First word of the event's name → its kind and colour."""


class JournalLine(Struct, frozen=True):
    version: int
    at: str
    kind: str
    role: Role
    whose: str
    text: str
    text_role: Role
    more: str = ""  # a second line, such as the output of a failed gate


def journal_line(recorded: Recorded) -> JournalLine:
    event = recorded.event
    name = str(to_builtins(event)["type"])
    kind, role = _KINDS.get(name.split("_")[0], ("fact", "dim"))
    text, text_role, more = _text_of(recorded, name)
    whose, text, more = (safe(each).replace("\n", " ") for each in (_subject(event), text, more))
    return JournalLine(recorded.version, recorded.at, kind, role, whose, text, text_role, more)


def _subject(event: Event) -> str:
    match event:
        case OfTicket():
            return event.ticket
        case OfDiscussion():
            return event.discussion
        case ApprovalRequested():
            return event.ticket or event.discussion or event.track
        case TestExecuted():
            return event.execution.category
        case _:
            return track_of(event)


def _text_of(recorded: Recorded, name: str) -> tuple[str, Role, str]:
    event = recorded.event
    match event:
        case TicketStarted(attempt=attempt):
            return f"started, attempt {attempt}", "text", ""
        case WorkSubmitted(summary=summary):
            return f"submitted: {one_line(summary, 160)}" if summary else "submitted its work", "text", ""
        case GateFinished(result=result):
            command = one_line(result.command, 100)
            if result.passed:
                return f"{command}  {passed_text(result)}", "good", ""
            return (
                f"{command}  {result.status}, exit {result.exit_code}",
                "text",
                one_line(error_line(result) or result.explanation or result.status, 200),
            )
        case TicketCompleted(unverified=unverified, commit=commit):
            where = f", merged as {commit[:10]}" if commit else ""
            return ("done, unverified" if unverified else "verified") + where, "good", ""
        case TicketBlocked(reason=reason):
            return f"blocked: {one_line(reason, 200)}", "bad", ""
        case ToolBegun(what=what, by=by):
            return f"begins: {one_line(what, 160)}   by {one_line(by, 60)}", "text", ""
        case ToolFinished(tool=tool, by=by, refused=refused) if refused:
            return f"{one_line(tool, 60)}  {refused}, not run   by {one_line(by, 60)}", "bad", ""
        case ToolFinished(tool=tool, failed=failed, by=by):
            return (
                f"{one_line(tool, 60)}  {'failed' if failed else 'done'}   by {one_line(by, 60)}",
                "bad" if failed else "text",
                "",
            )
        case TurnFinished(model=model, usage=usage) | DiscussionReplied(model=model, usage=usage):
            return f"{one_line(model, 60)} answered, {usage.input:,} in, {usage.output:,} out", "dim", ""
        case PlannerAnswered(tier=tier, usage=usage):
            return f"{one_line(tier, 40)} answered, {usage.input:,} in, {usage.output:,} out", "dim", ""
        case TracksProposed(tracks=tracks):
            return f"proposed: {one_line(', '.join(plan.title for plan in tracks), 200)}", "text", ""
        case CallReserved(tier=tier, model=model):
            return f"{one_line(tier, 40)} asks {one_line(model, 60)}", "faint", ""
        case CallEnded(error=error):
            return (f"failed: {one_line(error, 200)}", "bad", "") if error else ("ended", "faint", "")
        case ApprovalRequested():
            asked = one_line(approval_title(_approval(event, recorded)), 160)
            by = f"   allowed by {event.allowed_by}" if event.allowed_by else ""
            changed = "; ".join(what_changed(_approval(event, recorded)))
            return f"{event.approval} {asked}{by}", "dim" if by else "waiting", one_line(changed, 400)
        case ApprovalAnswered(approval=approval, decision=decision, message=message):
            why = f": {one_line(message, 120)}" if message else ""
            return f"{approval} {decision} by {recorded.actor}{why}", "text", ""
        case ApprovalsAnswered():
            return f"{event.decision} by {recorded.actor}: {one_line(set_sentence(event), 200)}", "text", ""
        case TestExecuted(execution=done):
            words = f"{one_line(done.name, 120)}  {done.status}, {seconds(done.execution_time_ms)}"
            return words, "good" if done.status == "passed" else "bad", one_line(done.error_message, 200)
        case TestReportRead(report=report):
            return f"{one_line(report.name, 100)}: {report.runs:,} runs, {report.skipped:,} skipped", "text", ""
        case TestsForgotten(through=through):
            return f"the first {through:,} are not shown any more", "dim", ""
        case TrackEnded(status=status):
            return f"the track is {status}", "good" if status == "done" else "bad", ""
        case PartsTaken() | LandingReturned() | AutonomySet():
            return _review_text(event), "text", ""
        case _:
            return _plain(recorded, name)


def _review_text(event: PartsTaken | LandingReturned | AutonomySet) -> str:
    match event:
        case PartsTaken():
            return "only the accepted parts are left"
        case LandingReturned(approval=approval, parts=parts):
            what = f"{counted(len(parts), 'part')} accepted" if parts else "changes requested"
            return f"the landing is asked about again: {what} in {approval}"
        case AutonomySet(level=level, track=track, ticket=ticket):
            about = f"{track}/{ticket}" if ticket else track or "the project"
            return f"autonomy of {about}: {level or 'not chosen any more'}"
        case _:
            assert_never(event)


def _plain(recorded: Recorded, name: str) -> tuple[str, Role, str]:
    known: dict[str, object] = to_builtins(recorded.event)
    reason = known.get("reason") or known.get("error") or known.get("why") or known.get("text") or known.get("title")
    words = name.replace("_", " ")
    bad = name.endswith("failed") or (name == "discussion_turn_ended" and bool(reason))
    return f"{words}{f': {one_line(str(reason), 200)}' if reason else ''}", "bad" if bad else "text", ""


def _approval(event: ApprovalRequested, recorded: Recorded) -> Approval:
    return Approval(
        id=event.approval,
        kind=event.kind,
        asker=event.asker,
        track=event.track,
        ticket=event.ticket,
        payload=event.payload,
        digest=event.digest,
        requested_at=recorded.at,
        discussion=event.discussion,
        again=event.again or UNSET,
    )


def error_line(result: GateResult) -> str:
    """The first line of a failed command's output that looks like an error, else its last line; empty for none."""
    lines = [line for line in (result.stderr.strip() or result.stdout.strip()).splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\b(\w*Error|error|fatal|FAILED|FAIL)\b", line)]
    return (errors[:1] or lines[-1:] or [""])[0].strip()

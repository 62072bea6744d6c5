"""Carries out the commands that a person types in the editor: /plan, /status, /run, /land, /approvals."""

from functools import reduce

from acp.schema import StopReason

from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.commands.epic_commands import DropEpic, PlanEpic
from interlock.domain.messages.commands.track_commands import PauseTrack, ResumeTrack, StartTrack
from interlock.domain.messages.events.epic_events import EpicAdded
from interlock.domain.state.state import State
from interlock.domain.values.approvals import ALLOWED
from interlock.domain.values.autonomy import MEANING
from interlock.domain.values.budgets import Usage
from interlock.editor.bench import Work
from interlock.editor.session import CANCELLED, EditorSession
from interlock.errors import Rejected
from interlock.views.autonomy import project_level, why_only_ask
from interlock.views.board import activity_of, not_verified, track_row, track_rows
from interlock.views.display import counted, one_line
from interlock.views.inbox import approval_title
from interlock.views.mma_status import unfinished_landings
from interlock.views.outlook.urgency import most_urgent_first
from interlock.views.usage.costs import cost_shown

MOST = 20  # lines of one kind in a list


async def run_command(session: EditorSession, name: str, argument: str) -> StopReason:
    """Raises Rejected for a wrong argument."""
    session.cancelled = False
    session.offers.again()
    match name:
        case "plan":
            return await _plan(session, argument)
        case "run":
            return await _run(session, argument)
        case "land":
            return await _land(session, argument)
        case "approvals":
            return await _approvals(session)
        case _:
            await session.tell("\n".join(status_lines(session.bench.state)))
            return "end_turn"


async def _plan(session: EditorSession, text: str) -> StopReason:
    if not text:
        raise Rejected("write the goal after the command: /plan Make the import twice as fast")
    receipt = await session.bench.submit(PlanEpic(text))
    epic = next(one.event.epic for one in receipt.records if isinstance(one.event, EpicAdded))
    await session.tell(f"Planning epic {epic}; its tracks need your approval before anything starts.")
    return await _follow(session, session.bench.work(epics=(epic,)), dropped=epic)


async def _run(session: EditorSession, track: str) -> StopReason:
    bench = session.bench
    if track:
        status = bench.state.track(track).status
        await bench.submit(ResumeTrack(track) if status == "paused" else StartTrack(track))
        return await _follow(session, bench.work(tracks=(track,)))
    work = bench.unfinished()
    of_epics = {name for epic in work.epics(bench.state) for name in epic.tracks}
    for name in work.tracks(bench.state):
        status = bench.state.tracks[name].status
        if status == "running" or (status == "ready" and name not in of_epics):
            await bench.submit(StartTrack(name))
    for name in [one.id for one in bench.state.tracks.values() if one.status == "paused"]:
        await session.tell(f"Track {name} is paused; /run {name} continues it.")
    for epic in [one for one in work.epics(bench.state) if one.status == "planning" and not _runs(bench.state, one.id)]:
        await session.tell(f"The planning of epic {epic.id} was interrupted; 'interlock resume' continues it.")
    if not work.tracks(bench.state):
        await session.tell("Nothing is unfinished.")
        return "end_turn"
    return await _follow(session, work)


def _runs(state: State, epic: str) -> bool:
    return state.conductor.runs_epic(epic)


async def _follow(session: EditorSession, work: Work, *, dropped: str = "") -> StopReason:
    """Follows the work to its end: one track of an epic after the other."""
    bench, blocked = session.bench, set[str]()
    session.watch_work(work)
    try:
        while not session.cancelled:
            state = bench.state
            session.news.clear()
            for line in _newly_blocked(work, state, blocked):
                await session.tell(line)
            if work.is_idle(state):
                following = work.next_track(state)
                if following is None:
                    break
                await bench.submit(StartTrack(following))
                continue
            await session.changed()
    finally:
        session.watch_work(None)
    if session.cancelled:
        await _stop(session, work, dropped)
        return "cancelled"
    await session.tell("\n".join(_outcome(work, bench.state)) or "Nothing was done.")
    return "end_turn"


async def _stop(session: EditorSession, work: Work, dropped: str) -> None:
    """Starts nothing more: running attempts finish, and an epic that is not accepted yet is dropped."""
    state = session.bench.state
    commands: list[HumanCommand] = [
        PauseTrack(name) for name in work.tracks(state) if state.tracks[name].status == "running"
    ]
    if dropped and state.epics[dropped].status in ("planning", "proposed"):
        commands.append(DropEpic(dropped, CANCELLED))
    for command in commands:
        await session.bench.submit(command)
    paused = [one.track for one in commands if isinstance(one, PauseTrack)]
    if paused:
        await session.tell(f"Paused: {', '.join(paused)}; running attempts finish. /run TRACK continues.")


def _newly_blocked(work: Work, state: State, told: set[str]) -> list[str]:
    lines: list[str] = []
    for track in (state.tracks[name] for name in work.tracks(state) if state.tracks[name].counts.blocked):
        for ticket in track.tickets.values():
            if ticket.status == "blocked" and ticket.name not in told:
                told.add(ticket.name)
                lines.append(f"{ticket.name} is blocked: {one_line(activity_of(ticket, track), 300)}")
    return lines


def _outcome(work: Work, state: State) -> list[str]:
    lines = [f"Epic {epic.id} is {epic.status}: {epic.reason}" for epic in work.epics(state) if epic.reason]
    for name in work.tracks(state):
        track = state.tracks[name]
        row = track_row(track)
        done = f"{row.progress.completed} of {row.progress.total} done{not_verified(track)}"
        lines.append(
            f"Track {name}: {track.status}, {done}." + (f" {one_line(track.fault, 300)}" if track.fault else "")
        )
        if row.unlanded:
            lines.append(f"Its work is on branch interlock/{name}; /land {name} merges it into yours.")
    return lines


async def _land(session: EditorSession, track: str) -> StopReason:
    bench = session.bench
    if not track:
        ready = [row.id for row in track_rows(bench.state) if row.unlanded]
        raise Rejected(f"name the track: /land TRACK; finished and not landed: {', '.join(ready) or 'none'}")
    name = bench.state.track(track).id
    asked = [one for one in bench.state.pending_approvals() if one.kind == "merge" and one.track == name]
    if not asked:
        await bench.ask_landing(name)
    session.watch_work(bench.work(tracks=(name,)))
    try:
        while not session.cancelled:
            session.news.clear()
            landing = bench.state.track(name).landing
            open_ = any(one.kind == "merge" and one.track == name for one in bench.state.pending_approvals())
            if not open_ and (landing is None or landing.state in ("landed", "failed", "changes")):
                break
            await session.changed()
    finally:
        session.watch_work(None)
    if session.cancelled:
        return "cancelled"
    landing = bench.state.track(name).landing
    if landing is None:
        await session.tell(f"{name} is not landed: it was rejected.")
    elif landing.state == "landed":
        await session.tell(f"{name} is landed on {landing.branch}: {landing.after[:12]}. {landing.detail}".strip())
    else:
        await session.tell(f"{name} is not landed: {landing.detail or landing.state}")
    return "end_turn"


async def _approvals(session: EditorSession) -> StopReason:
    """Offers everything that is pending in the project, until each is answered or dismissed."""
    bench = session.bench
    pending = bench.state.pending_approvals()
    lines = [f"{one.id} ({one.kind}): {one_line(approval_title(one), 120)}" for one in pending[:MOST]]
    lines += [f"… and {len(pending) - MOST} more"] if len(pending) > MOST else []
    await session.tell("\n".join(f"- {line}" for line in lines) or "Nothing waits for an answer.")
    if not pending:
        return "end_turn"
    session.watch_work(None, everything=True)
    try:
        while not session.cancelled:
            session.offers.settled.clear()
            await session.synced()
            if not session.offers.is_asking:
                break
            await session.offers.settled.wait()
    finally:
        session.watch_work(None)
    return "cancelled" if session.cancelled else "end_turn"


def status_lines(state: State) -> list[str]:
    rows = track_rows(state)
    lines = [f"{counted(len(rows), 'track')}; autonomy {project_level(state)}: {MEANING[project_level(state)]}"]
    if why := why_only_ask(state):
        lines.append(why)
    for row in rows[-MOST:]:
        lines.append(
            f"- {row.id}: {row.status}, {row.progress.completed} of {row.progress.total}, {one_line(row.title, 80)}"
        )
        track = state.tracks.get(row.id)
        for ticket in [] if track is None else [track.tickets[name] for name in track.order]:
            if track is not None and ticket.status in ("in_progress", "blocked"):
                lines.append(f"  - {ticket.id}: {one_line(activity_of(ticket, track), 120)}")
    lines += unfinished_landings(state)
    if pending := most_urgent_first(state):
        lines.append(f"{counted(len(pending), 'approval')} pending; /approvals asks about them:")
        for approval, _ in pending[:MOST]:
            answers = "|".join(ALLOWED[approval.kind])
            lines.append(f"- {approval.id} ({answers}): {one_line(approval_title(approval), 100)}")
    if state.usage:
        lines.append(f"Spent {cost_shown(reduce(Usage.plus, state.usage.values(), Usage()))}.")
    return lines

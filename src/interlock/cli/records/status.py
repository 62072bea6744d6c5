"""`interlock status`: a short overview."""

from functools import reduce

from interlock.assembly.project import read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import STATUS_COLOUR, SYMBOL, paint, say, say_json
from interlock.cli.terminal.sessions import project_of
from interlock.client import is_locked
from interlock.domain.values.autonomy import MEANING
from interlock.domain.values.budgets import Usage
from interlock.views.autonomy import project_level, why_only_ask
from interlock.views.display import counted, one_line, safe
from interlock.views.inbox import approval_title
from interlock.views.mma_status import mma_status, run_status, unfinished_landings
from interlock.views.outlook.forecast import forecast, forecast_basis, forecast_text
from interlock.views.outlook.urgency import most_urgent_first
from interlock.views.usage.costs import cost_shown

MOST = 20


class StatusArgs(CommandArgs, frozen=True):
    track: str | None


def status_(args: StatusArgs) -> int:
    project = project_of(args)
    state = read_state(project)
    held = is_locked(project.folder / "lock")
    if args.json:
        say_json({**mma_status(state, {}, args.track), "at_work": held and state.conductor.on})
        return DONE
    now = run_status(state, args.track)
    if now.track is None:
        say(f"{now.status}; {counted(len(state.tracks), 'track')} ('interlock tracks list')")
    else:
        done = sum(ticket["status"] == "completed" for ticket in now.tickets)
        head = f"{paint(now.track['id'], 'bold')}  {paint(now.status, STATUS_COLOUR.get(now.status))}"
        unverified = sum(ticket["status"] == "completed" and ticket["unverified"] for ticket in now.tickets)
        words = f" ({unverified} unverified)" if unverified else ""
        say(f"{head}  {done}/{len(now.tickets)}{words}  {safe(now.track['title'])}")
        if (found := forecast(state, state.tracks[now.track["id"]])) is not None:
            say(f"{forecast_text(found)} ({forecast_basis(found)})")
    for ticket in [t for t in now.tickets if t["status"] in ("in_progress", "blocked")][:MOST]:
        mark = paint(SYMBOL[ticket["status"]], STATUS_COLOUR.get(ticket["status"]))
        say(f"  {mark} {ticket['id']:12} {one_line(ticket['doing'], 90)}")
    for sentence in unfinished_landings(state):
        say(paint(f"{safe(sentence)}; 'interlock resume' finishes it", "bad"))
    if not held and (state.conductor.on or state.busy):
        say(paint("nobody is at work: the process ended in the middle; 'interlock resume' continues", "waiting"))
    elif now.active_tiers and held:
        say(f"at work: {', '.join(safe(tier) for tier in now.active_tiers[:MOST])}")
    if (level := project_level(state)) != "ask":
        say(f"autonomy {level}: {MEANING[level]}")
    elif why := why_only_ask(state):
        say(why)
    pending = most_urgent_first(state)
    if pending:
        say(paint(f"{len(pending)} wait for you:", "waiting"))
        for approval, urgency in pending[:MOST]:
            reason = f"  ({urgency.reason})" if urgency.reason else ""
            say(f"  {approval.id:6} {approval.kind:7} {one_line(approval_title(approval), 90)}{reason}")
    if state.usage:
        say(f"spent {cost_shown(reduce(Usage.plus, state.usage.values(), Usage()))}")
    return DONE

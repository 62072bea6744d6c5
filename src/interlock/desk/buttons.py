"""The buttons of the desk by name. HTTP clients use the names, and the window uses them as widget keys."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from interlock.desk.authority import Authority
from interlock.desk.desk import Desk
from interlock.desk.fields import find
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.discussion_commands import StopTurn
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.commands.steering_commands import SetAutonomy
from interlock.domain.messages.commands.ticket_commands import CancelTicket, KillWorker, RetryTicket, SkipTicket
from interlock.domain.messages.commands.track_commands import AbortTrack, PauseTrack, ResumeTrack, StartTrack
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.epic_events import EpicAdded
from interlock.domain.values.approvals import Approval, Comment, Decision, Kind, TracksPayload
from interlock.domain.values.autonomy import Autonomy
from interlock.errors import BadValue, NotFound, Rejected

Result = dict[str, Any]
Press = Callable[[Desk, Authority, Any], Awaitable[Result]]


async def click(desk: Desk, by: Authority, item: str, user_data: Any = None) -> Result:
    find(item, BUTTONS, "button")
    return await BUTTONS[item][1](desk, by, user_data)


async def answer(desk: Desk, by: Authority, command: AnswerApproval) -> Result:
    by.must_answer()
    await desk.front.submit(by.actor, command, by.submission)
    return {"approval": command.approval, "decision": command.decision, "by": by.actor}


def _answers(decision: Decision, *kinds: Kind) -> Press:
    async def press(desk: Desk, by: Authority, user_data: Any) -> Result:
        by.must_answer()  # first, so that a caller without the right learns nothing
        approval = _chosen(desk, kinds, user_data)
        return await answer(desk, by, AnswerApproval(approval.id, decision))

    return press


def _request_changes(kind: Kind) -> Press:
    async def press(desk: Desk, by: Authority, user_data: Any) -> Result:
        by.must_answer()
        if not isinstance(user_data, Changes):
            raise BadValue("user_data must be {approval?, message, comments}: say what should change")
        approval = _chosen(desk, (kind,), user_data.approval)
        command = AnswerApproval(approval.id, "changes", message=user_data.message, comments=user_data.comments)
        return await answer(desk, by, command)

    return press


class Changes(Struct, frozen=True, forbid_unknown_fields=True):
    """The changes that a person requests in a review or at a landing."""

    message: str = ""
    comments: tuple[Comment, ...] = ()
    approval: str | None = None


def _chosen(desk: Desk, kinds: tuple[Kind, ...], user_data: Any) -> Approval:
    """The named approval, or the oldest pending one of the first kind that has any."""
    if user_data is not None:
        approval = desk.state.approval(_text(user_data, "an approval's id"))
        if approval.kind not in kinds:
            raise BadValue(f"approval {approval.id} is a {approval.kind}, not a {' or '.join(kinds)}")
        return approval
    pending = desk.state.pending_approvals()
    for kind in kinds:
        for approval in pending:
            hidden = isinstance(approval.payload, TracksPayload) and approval.payload.epic in desk.view.hidden
            if approval.kind == kind and not hidden:
                return approval
    raise Rejected(f"no {' or '.join(kinds)} approval is pending")


async def _save(desk: Desk, by: Authority, user_data: Any) -> Result:
    return {"saved": desk.equipment.save(desk.view.values)}


async def _plan(desk: Desk, by: Authority, user_data: Any) -> Result:
    text = desk.view.values["mma_epic_input"]
    if not text.strip():
        raise BadValue("mma_epic_input is empty: set it to the epic first")
    receipt = await desk.front.submit(by.actor, PlanEpic(text))
    return {"epic": next(r.event.epic for r in receipt.records if isinstance(r.event, EpicAdded))}


async def _load(desk: Desk, by: Authority, user_data: Any) -> Result:
    desk.load_track(_text(user_data, "a track's id"))
    return {"track": desk.view.track}


def _on_track(command: Callable[[str], Command]) -> Press:
    async def press(desk: Desk, by: Authority, user_data: Any) -> Result:
        name = _track(desk, user_data)
        await desk.front.submit(by.actor, command(name))
        return {"track": name, "status": desk.state.track(name).status}

    return press


async def _land(desk: Desk, by: Authority, user_data: Any) -> Result:
    """Requests an approval; a person answers it."""
    receipt = await desk.front.ask_landing(by.actor, _track(desk, user_data))
    return {"approval": next(r.event.approval for r in receipt.records if isinstance(r.event, ApprovalRequested))}


def _set_autonomy(level: Autonomy) -> Press:
    async def press(desk: Desk, by: Authority, user_data: Any) -> Result:
        by.must_answer()  # it decides about approvals before they come
        name = "" if user_data is None else _text(user_data, "a track's id, or track/ticket")
        track, _, ticket = (name, "", "") if name in desk.state.tracks or not name else name.rpartition("/")
        await desk.front.submit(by.actor, SetAutonomy(level, track, ticket))
        return {"autonomy": level, "track": track, "ticket": ticket}

    return press


def _on_ticket(command: Callable[[str, str], Command]) -> Press:
    async def press(desk: Desk, by: Authority, user_data: Any) -> Result:
        text = _text(user_data, "a ticket: track/ticket, or the id alone in the selected track")
        track, _, ticket = text.rpartition("/")
        track = track or _track(desk, None)
        await desk.front.submit(by.actor, command(track, ticket))
        return {"track": track, "ticket": ticket, "status": desk.state.ticket(track, ticket).status}

    return press


async def _send(desk: Desk, by: Authority, user_data: Any) -> Result:
    text = desk.view.values["ai_input"]
    if not text.strip():
        raise BadValue("ai_input is empty: set it to the message first")
    # The input is emptied before the first wait: what is typed meanwhile belongs to the next message.
    desk.change(values={**desk.view.values, "ai_input": ""}, error="")
    try:
        name = await desk.discussion_in_view(by)
        await desk.front.say(by.actor, name, text, desk.view.values["files_base_dir"])
    except BaseException:
        typed = desk.view.values["ai_input"]
        desk.change(values={**desk.view.values, "ai_input": f"{text}\n{typed}" if typed else text})
        raise
    return {"discussion": name}


async def _stop(desk: Desk, by: Authority, user_data: Any) -> Result:
    name = desk.view.discussion
    if not name:
        raise Rejected("no discussion is selected")
    await desk.front.submit(by.actor, StopTurn(name, "stopped"))
    return {"discussion": name}


async def _new_discussion(desk: Desk, by: Authority, user_data: Any) -> Result:
    desk.change(discussion="", response="", error="")
    return {"discussion": await desk.discussion_in_view(by)}


async def _reset(desk: Desk, by: Authority, user_data: Any) -> Result:
    await desk.reset(by)
    return {"discussion": desk.view.discussion}


def _track(desk: Desk, user_data: Any) -> str:
    if user_data is not None:
        return desk.state.track(_text(user_data, "a track's id")).id
    name = desk.track_in_view() or (desk.state.running[0] if desk.state.running else None)
    if name is None:
        raise NotFound("no track is selected: give its id as user_data")
    return name


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise BadValue(f"user_data must be {what}")
    return value


_APPROVALS: dict[str, tuple[Kind, ...]] = {
    "spawn": ("spawn",),
    "mma_step": ("step",),
    "tool": ("tool", "script", "ask"),
    "script": ("script",),
    "ask": ("ask",),
    "merge": ("merge",),
    "review": ("review",),
}

_RETURNED: dict[Kind, str] = {"review": "a review", "merge": "a landing"}

_OTHERS: dict[str, tuple[str, Press]] = {
    "btn_project_save": ("write provider and model into interlock.toml", _save),
    "btn_mma_plan_epic": ("plan the epic in mma_epic_input", _plan),
    "btn_mma_accept_tracks": ("accept the proposed tracks", _answers("approve", "tracks")),
    "btn_mma_reject_tracks": ("reject the proposed tracks", _answers("reject", "tracks")),
    "btn_mma_load_track": ("show a track (user_data: its id)", _load),
    "btn_mma_start_track": ("start a track, or continue it", _on_track(StartTrack)),
    "btn_mma_pause_track": ("start no more tickets of a track", _on_track(PauseTrack)),
    "btn_mma_resume_track": ("continue a paused track", _on_track(ResumeTrack)),
    "btn_mma_abort_track": ("abort a track", _on_track(AbortTrack)),
    "btn_mma_land_track": ("ask to merge a finished track into your branch", _land),
    "btn_ticket_retry": ("try a blocked ticket again", _on_ticket(RetryTicket)),
    "btn_ticket_skip": ("complete a ticket unverified", _on_ticket(SkipTicket)),
    "btn_ticket_cancel": ("cancel a ticket", _on_ticket(CancelTicket)),
    "btn_worker_kill": ("kill a ticket's worker", _on_ticket(KillWorker)),
    "btn_autonomy_ask": ("ask before every change (user_data: a track or track/ticket)", _set_autonomy("ask")),
    "btn_autonomy_review": ("ask about each ticket's finished diff", _set_autonomy("review")),
    "btn_autonomy_land": ("ask only about the landing", _set_autonomy("land")),
    "btn_gen_send": ("send the message in ai_input", _send),
    "btn_gen_stop": ("end the model's turn", _stop),
    "btn_new_discussion": ("start an empty discussion", _new_discussion),
    "btn_reset": ("clear the desk; tracks and history stay", _reset),
}


def _table() -> dict[str, tuple[str, Press]]:
    buttons = dict(_OTHERS)
    for name, kinds in _APPROVALS.items():
        what = " or ".join(kinds)
        buttons[f"btn_approve_{name}"] = (
            f"approve the oldest {what}, or the one in user_data",
            _answers("approve", *kinds),
        )
        buttons[f"btn_reject_{name}"] = (
            f"reject the oldest {what}, or the one in user_data",
            _answers("reject", *kinds),
        )
    for kind, what in _RETURNED.items():
        about = f"request changes of {what} (user_data: {{approval, message, comments}})"
        buttons[f"btn_changes_{kind}"] = (about, _request_changes(kind))
    buttons["btn_abort_spawn"] = ("abort the track whose worker wants to start", _answers("abort", "spawn"))
    for decision in ("retry", "skip", "abort"):
        effect = {"retry": "try again", "skip": "continue without it", "abort": "block the ticket"}[decision]
        buttons[f"btn_gate_{decision}"] = (f"a gate failed in its last attempt: {effect}", _answers(decision, "gate"))
        buttons[f"btn_unknown_{decision}"] = (
            f"it is unknown whether a call took effect: {decision}",
            _answers(decision, "unknown"),
        )
    return buttons


BUTTONS = _table()

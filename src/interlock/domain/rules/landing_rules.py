"""Rules for landing a finished track on the user's branch."""

from typing import assert_never

from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding, LandingCommand
from interlock.domain.messages.events.event import Events
from interlock.domain.messages.events.track_events import LandingFailed, TrackLanded
from interlock.domain.rules.approval_request import request
from interlock.domain.state.state import State
from interlock.errors import Rejected


def decide(state: State, command: LandingCommand, actor: str) -> Events:
    match command:
        case AskLanding():
            return ask_landing(state, command, actor)
        case FinishLanding():
            return finish_landing(state, command)
        case FailLanding():
            return fail_landing(state, command)
        case _:
            assert_never(command)


def ask_landing(state: State, command: AskLanding, actor: str) -> Events:
    track = state.track(command.track)
    if track.status != "done":
        raise Rejected(f"track {track.id!r} is {track.status}; only a done track can be landed")
    if any(a.kind == "merge" and a.track == track.id for a in state.pending_approvals()):
        raise Rejected(f"the landing of track {track.id!r} is already requested")
    why = f"land track {track.id} on {command.payload.branch}"
    return (request(state, command.payload, asker=actor, why=why, track=track.id),)


def finish_landing(state: State, command: FinishLanding) -> Events:
    track = state.track(command.track)
    if track.landing is None or track.landing.state != "started":
        raise Rejected(f"track {track.id!r} is not being landed")
    return (TrackLanded(track.id, command.commit, command.detail),)


def fail_landing(state: State, command: FailLanding) -> Events:
    track = state.track(command.track)
    if track.landing is None or track.landing.state != "started":
        raise Rejected(f"track {track.id!r} is not being landed")
    return (LandingFailed(track.id, command.reason),)

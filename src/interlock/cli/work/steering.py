"""Steering work: `interlock tell`, `interlock discussions stop`, `interlock autonomy`."""

from typing import Literal

from interlock.assembly.project import read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import say, say_json
from interlock.cli.terminal.sessions import open_session, project_of
from interlock.cli.work.tickets import find
from interlock.cli.work.tracks import read_text
from interlock.domain.messages.commands.discussion_commands import StopTurn
from interlock.domain.messages.commands.steering_commands import SetAutonomy, Tell
from interlock.domain.state.state import State
from interlock.domain.values.autonomy import MEANING
from interlock.views.autonomy import autonomy_dict
from interlock.views.display import safe


class TellArgs(CommandArgs, frozen=True):
    recipient: str
    text: str


class StopArgs(CommandArgs, frozen=True):
    discussion: str
    message: str


class AutonomyArgs(CommandArgs, frozen=True):
    level: Literal["ask", "review", "land", "unset"] | None
    subject: str | None


def tell(args: TellArgs) -> int:
    text = read_text("-") if args.text == "-" else args.text
    with open_session(project_of(args)) as session:
        command = _command(session.state, args.recipient, text)
        session.submit(command)
    recipient = command.discussion or f"{command.track}/{command.ticket}"
    if args.json:
        say_json({"told": recipient})
    else:
        say(f"note for {recipient} recorded: the model gets it with its next request")
    return DONE


def stop(args: StopArgs) -> int:
    with open_session(project_of(args)) as session:
        name = session.state.discussion(args.discussion).id
        session.submit(StopTurn(name, args.message or "stopped"))
    if args.json:
        say_json({"stopped": name})
    else:
        say(f"{name}: the turn is ended; its messages stay")
    return DONE


def autonomy(args: AutonomyArgs) -> int:
    """Without a level it shows the levels; with one it sets that of the project, a track or a ticket."""
    if args.level is None:
        return _show_autonomy(args)
    level = None if args.level == "unset" else args.level
    with open_session(project_of(args)) as session:
        track, ticket = _subject(session.state, args.subject)
        session.submit(SetAutonomy(level, track, ticket))
        state = session.state
    if args.json:
        say_json(autonomy_dict(state))
        return DONE
    about = f"{track}/{ticket}" if ticket else track or "the project"
    say(f"autonomy of {safe(about)}: {args.level}" + (f" ({MEANING[level]})" if level else ""))
    if level in ("review", "land"):
        say("network, changed tests or gates, new packages, budgets and unknown outcomes ask as before")
        say("it counts only where bubblewrap contains all commands ('interlock doctor')")
    return DONE


def _show_autonomy(args: AutonomyArgs) -> int:
    shown = autonomy_dict(read_state(project_of(args)))
    if args.json:
        say_json(shown)
        return DONE
    say(f"project: {shown['chosen']} ({MEANING[shown['chosen']]})")
    for name, level in (*shown["tracks"].items(), *shown["tickets"].items()):
        say(f"{safe(name)}: {level}")
    if not shown["sandboxed"] and shown["chosen"] != "ask":
        say("no work has run yet, or it ran without bubblewrap: there every change asks")
    return DONE


def _subject(state: State, text: str | None) -> tuple[str, str]:
    """A track's id, else a ticket's name; nothing means the project."""
    if not text:
        return "", ""
    return (text, "") if text in state.tracks else find(state, text)


def _command(state: State, recipient: str, text: str) -> Tell:
    """A discussion's id, else a ticket's name."""
    if recipient in state.discussions:
        return Tell(text, discussion=recipient)
    track, ticket = find(state, recipient)
    return Tell(text, track, ticket)

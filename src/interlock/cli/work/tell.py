"""`interlock tell` and `interlock discussions stop`: send a note to a model at work, or end its turn."""

from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import say, say_json
from interlock.cli.terminal.sessions import open_session, project_of
from interlock.cli.work.tickets import find
from interlock.cli.work.tracks import read_text
from interlock.domain.messages.commands.discussion_commands import StopTurn
from interlock.domain.messages.commands.steering_commands import Tell
from interlock.domain.state.state import State


class TellArgs(CommandArgs, frozen=True):
    recipient: str
    text: str


class StopArgs(CommandArgs, frozen=True):
    discussion: str
    message: str


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


def _command(state: State, recipient: str, text: str) -> Tell:
    """A discussion's id, else a ticket's name."""
    if recipient in state.discussions:
        return Tell(text, discussion=recipient)
    track, ticket = find(state, recipient)
    return Tell(text, track, ticket)

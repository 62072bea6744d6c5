"""The commands that a person can type in the editor."""

from acp.schema import AvailableCommand, AvailableCommandInput, UnstructuredCommandInput


def _command(name: str, description: str, hint: str = "") -> AvailableCommand:
    given = AvailableCommandInput(UnstructuredCommandInput(hint=hint)) if hint else None
    return AvailableCommand(name=name, description=description, input=given)


COMMANDS = [
    _command("plan", "Plan an epic as tracks and tickets, and run them after your approval", "the goal, in words"),
    _command("status", "Tracks, tickets, pending approvals and the cost so far"),
    _command("run", "Continue unfinished tracks, or the named one", "a track; none means all that is unfinished"),
    _command("land", "Merge a finished track into your branch, after your approval", "a track"),
    _command("approvals", "Ask about everything in this project that waits for an answer"),
]


def parted(text: str) -> tuple[str, str] | None:
    """The command and its argument, if the text begins with one of the commands."""
    word, _, rest = text.strip().partition(" ")
    if "\n" in word:
        word, _, more = word.partition("\n")
        rest = f"{more} {rest}"
    known = {f"/{command.name}" for command in COMMANDS}
    return (word[1:], rest.strip()) if word in known else None

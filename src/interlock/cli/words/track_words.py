"""Arguments of `interlock tracks …`."""

from interlock.cli.words.commands import Commands, add_command, add_group, add_message_option

_EPIC = "E-1 (default: the only epic with a pending proposal)"


def add_tracks(commands: Commands) -> None:
    group = add_group(
        commands,
        "tracks",
        "tracks: list, show, import, edit, accept, reject, pause, resume, abort, land",
        "interlock tracks list",
        "interlock tracks land demo",
    )
    add_command(group, "list", "work.tracks:list_", "list all tracks with their progress", "interlock tracks list")
    _add_show(group)
    _add_pause_and_resume(group)
    _add_abort(group)
    _add_land(group)
    _add_accept(group)
    _add_reject(group)
    _add_edit(group)
    _add_import(group)


def _add_show(group: Commands) -> None:
    command = add_command(
        group, "show", "work.tracks:show", "show one track with its tickets", "interlock tracks show demo"
    )
    command.add_argument("track", metavar="TRACK")


def _add_pause_and_resume(group: Commands) -> None:
    pause = add_command(
        group,
        "pause",
        "work.tracks:pause",
        "start no more attempts; running attempts finish",
        "interlock tracks pause demo",
    )
    pause.add_argument("track", metavar="TRACK")
    resume = add_command(
        group, "resume", "work.tracks:resume", "let a paused track continue", "interlock tracks resume demo"
    )
    resume.add_argument("track", metavar="TRACK")


def _add_abort(group: Commands) -> None:
    command = add_command(
        group,
        "abort",
        "work.tracks:abort",
        "kill the track's workers and cancel its unfinished tickets",
        "interlock tracks abort demo --message 'no longer needed'",
    )
    command.add_argument("track", metavar="TRACK")
    add_message_option(command)


def _add_land(group: Commands) -> None:
    command = add_command(
        group,
        "land",
        "work.landing:land",
        "merge a finished track into your branch (shows the diff and asks for approval)",
        "interlock tracks land demo",
    )
    command.add_argument("track", metavar="TRACK")
    command.add_argument("--approve", choices=["all"], help="also answer the approval: for tests and demos only")


def _add_accept(group: Commands) -> None:
    command = add_command(
        group,
        "accept",
        "work.tracks:accept",
        "accept the tracks proposed for an epic: their tickets are planned and the first track starts",
        "interlock tracks accept",
        "interlock tracks accept E-2 --edit tracks.json",
    )
    command.add_argument("epic", nargs="?", metavar="EPIC", help=_EPIC)
    command.add_argument("--edit", metavar="FILE", help="a JSON list of tracks to plan instead; - is stdin")


def _add_reject(group: Commands) -> None:
    command = add_command(
        group,
        "reject",
        "work.tracks:reject",
        "reject the tracks proposed for an epic",
        "interlock tracks reject E-1 --message 'too many tracks'",
    )
    command.add_argument("epic", nargs="?", metavar="EPIC", help=_EPIC)
    add_message_option(command)


def _add_edit(group: Commands) -> None:
    command = add_command(
        group,
        "edit",
        "work.tracks:edit",
        "change a track's title or description",
        "interlock tracks edit demo --title 'Round prices correctly'",
    )
    command.add_argument("track", metavar="TRACK")
    command.add_argument("--title", metavar="TEXT")
    command.add_argument("--description", metavar="TEXT")


def _add_import(group: Commands) -> None:
    command = add_command(
        group,
        "import",
        "work.tracks:import_",
        "store the tickets of a file without running them",
        "interlock tracks import plan.json",
        "interlock tracks import more.json --into plan",
    )
    command.add_argument("file", metavar="FILE", help="a JSON array of tickets, or a track; - is stdin")
    command.add_argument("--into", metavar="TRACK", help="add the tickets to this track")

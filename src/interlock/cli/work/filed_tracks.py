"""`interlock tracks list` and `show` in a folder without a journal: read from the track files."""

import sys

from interlock.assembly.project import Project
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import STATUS_COLOUR, SYMBOL, paint, say, say_json
from interlock.domain.reading.ticket_data import ticket_to_dict
from interlock.domain.values.tickets import Ticket, TicketSpec
from interlock.errors import Rejected
from interlock.trackfiles.reading import FiledTrack, read_tracks
from interlock.views.board import TrackRow
from interlock.views.display import one_line, safe
from interlock.wire import to_plain


def filed_tracks(project: Project) -> tuple[FiledTrack, ...]:
    """The tracks in the track files; empty if there is a journal. A note on stderr names the source."""
    tracks = () if project.is_initialised else read_tracks(project.root, project.settings.tracks_dir)
    if tracks:
        say(f"there is no journal here; read from the files in {safe(project.settings.tracks_dir)}", sys.stderr)
    return tracks


def filed_rows(project: Project) -> tuple[TrackRow, ...]:
    return tuple(track.row for track in filed_tracks(project))


def show_filed(tracks: tuple[FiledTrack, ...], name: str, *, as_json: bool) -> int:
    track = next((track for track in tracks if track.row.id == name), None)
    if track is None:
        raise Rejected(f"no track {name!r}; there are {', '.join(track.row.id for track in tracks[:10])}")
    row = track.row
    if as_json:
        unknown = dict.fromkeys(ticket_to_dict(Ticket(track="", spec=TicketSpec(id=""), created_at="")))
        tickets = [{**unknown, "track": row.id, **to_plain(ticket)} for ticket in track.tickets]
        say_json({**to_plain(row), "description": None, "landing": None, "forecast": None, "tickets": tickets})
        return DONE
    say(f"{paint(row.id, 'bold')}  {paint(safe(row.status), STATUS_COLOUR.get(row.status))}  {safe(row.title)}")
    say(f"{row.progress.completed} of {row.progress.total} done, {row.blocked} blocked, {row.cancelled} cancelled")
    say()
    for ticket in track.tickets:
        mark = paint(SYMBOL.get(ticket.status, "?"), STATUS_COLOUR.get(ticket.status))
        about = f"{one_line(ticket.id, 64):12} {one_line(ticket.description, 60):60}"
        say(f"  {mark} {about} {one_line(ticket.status, 60)}".rstrip())
    return DONE

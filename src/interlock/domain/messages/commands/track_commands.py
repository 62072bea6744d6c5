"""Commands about whole tracks."""

from interlock.domain.values.tickets import TicketSpec
from interlock.domain.values.wire_names import Tagged as _Command


class AddTrack(_Command, frozen=True):
    track: str
    title: str
    description: str
    tickets: tuple[TicketSpec, ...]


class AddTickets(_Command, frozen=True):
    track: str
    tickets: tuple[TicketSpec, ...]


class StartTrack(_Command, frozen=True):
    """Starts or continues a track; plans its tickets again if that failed."""

    track: str


class PauseTrack(_Command, frozen=True):
    track: str


class ResumeTrack(_Command, frozen=True):
    track: str


class EditTrack(_Command, frozen=True):
    """None means unchanged."""

    track: str
    title: str | None = None
    description: str | None = None


class AbortTrack(_Command, frozen=True):
    track: str
    reason: str = "aborted"


TrackCommand = AddTrack | AddTickets | StartTrack | PauseTrack | ResumeTrack | EditTrack | AbortTrack

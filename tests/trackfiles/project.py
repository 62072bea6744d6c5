"""A project's folder and a changing state, without an engine."""

from pathlib import Path

from interlock.domain.messages.commands.track_commands import AddTrack
from interlock.trackfiles.writing import TrackWriter
from tests.domain.given import Bench, shell

DIR = "conductor/tracks"
NAMES = ["metadata.json", "plan.md", "spec.md", "state.toml"]


class Desk:
    def __init__(self, folder: Path) -> None:
        self.outside = folder / "outside"
        self.root = folder / "project"
        self.outside.mkdir()
        self.root.mkdir()
        self.tracks = self.root / DIR
        self.bench = Bench()
        self.writer = TrackWriter(self.root, DIR)

    def add(self, name: str, *tickets: str) -> None:
        self.bench.send(AddTrack(name, f"Track {name}", "Why.", tuple(shell(ticket) for ticket in tickets)))

    def write(self) -> list[str]:
        return self.writer.write(self.bench.state)

    def reopened(self) -> None:
        """A new writer, as in another process."""
        self.writer = TrackWriter(self.root, DIR)

    def names(self, track: str) -> list[str]:
        return sorted(path.name for path in (self.tracks / track).iterdir())

    def plan(self, track: str) -> str:
        return (self.tracks / track / "plan.md").read_text()

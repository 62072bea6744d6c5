"""What the keys of the board do besides drawing: pause the run, and open the full-screen workbench."""

import sys
from collections.abc import Sequence

from interlock.api.control_client import ControlClient
from interlock.assembly.project import Project
from interlock.cli.terminal.sessions import actor, silence_s
from interlock.domain.messages.commands.track_commands import PauseTrack, ResumeTrack
from interlock.domain.state.state import State
from interlock.errors import InterlockError
from interlock.sandbox.jobs.foreground import ForegroundProgram


class RunControls:
    """Sends its commands through the private socket, because the session belongs to the main thread."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def pause_or_continue(self, state: State, tracks: Sequence[str]) -> str:
        """Pauses what runs; if nothing runs, continues what is paused. Returns what has been done."""
        by_status = {status: [name for name in tracks if state.track(name).status == status] for status in _STATUSES}
        running, paused = by_status["running"], by_status["paused"]
        if not running and not paused:
            return "nothing runs that could be paused"
        try:
            client = ControlClient(self._project.socket, silence_s())
            try:
                for name in running:
                    client.submit(actor(), PauseTrack(name))
                for name in paused if not running else ():
                    client.submit(actor(), ResumeTrack(name))
            finally:
                client.close()
        except InterlockError as error:
            return str(error)
        return "paused: what runs is finished; p continues" if running else ""

    def open_workbench(self, program: ForegroundProgram) -> str:
        """The full-screen workbench, until the person leaves it. Returns what went wrong."""
        # -P: no module of the current folder, which may be a project of somebody else.
        argv = [sys.executable, "-P", "-m", "interlock.cli.main", "tui", "-C", str(self._project.root)]
        try:
            code = program.run(argv)
        except OSError as error:
            return f"interlock tui cannot be started: {error}"
        return f"interlock tui ended with {code}" if code else ""


_STATUSES = ("running", "paused")

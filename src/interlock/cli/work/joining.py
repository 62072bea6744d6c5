"""Work in a process that other commands use as well: which options count there, and how long it stays open."""

import sys
from collections.abc import Callable

from interlock.cli.arguments import WorkArgs
from interlock.cli.terminal.output import say
from interlock.cli.terminal.sessions import RemoteSession, Session
from interlock.cli.work.goal import Goal
from interlock.domain.values.autonomy import Autonomy
from interlock.errors import Misconfigured
from interlock.views.board import work_besides
from interlock.views.display import one_line


def check_options(
    session: Session, args: WorkArgs, workers: int | None = None, autonomy: Autonomy | None = None
) -> None:
    """Refuse options that the process that holds the project would ignore; an approval must not depend on its options.

    Call it before anything is submitted.
    """
    if not isinstance(session, RemoteSession):
        return
    conductor = session.state.conductor
    given = {
        "--provider": args.provider is not None,
        "--model": args.model is not None,
        "--script": args.script is not None,
        "--agent": args.agent is not None,
        "--max-tool-rounds": args.max_tool_rounds is not None,
        "--approve all": args.approve_all and not conductor.approve_all,
        "--workers": workers is not None and workers != conductor.workers,
        "--autonomy ('interlock autonomy' sets it)": autonomy is not None and autonomy != (conductor.autonomy or "ask"),
    }
    holder = f"process {session.holder} holds this project and works for this command, too"
    end = "or end that process first"
    if refused := [option for option, is_given in given.items() if is_given]:
        raise Misconfigured(f"{holder}, with its own options: leave out {', '.join(refused)}, {end}")
    if conductor.approve_all and not args.approve_all:
        raise Misconfigured(f"{holder}, with --approve all: your approvals would be answered unasked. Wait, {end}")
    if not args.json:
        say(
            f"process {session.holder} holds this project: the work runs there, and this command follows it", sys.stderr
        )


def _tell_on_stderr(text: str) -> None:
    say(text, sys.stderr)


class Staying:
    """Whether the process that holds the project must stay open for work of others, with one notice about it."""

    def __init__(
        self, session: Session, goal: Goal, *, quiet: bool, tell: Callable[[str], None] = _tell_on_stderr
    ) -> None:
        self._session = session
        self._goal = goal
        self._quiet = quiet
        self._tell = tell

    def needed(self) -> bool:
        if isinstance(self._session, RemoteSession):
            return False
        state, goal = self._session.state, self._goal
        others = work_besides(state, goal.tracks(state), tuple(epic.id for epic in goal.epics(state)))
        clients = self._session.clients_at_work
        if not others and not clients:
            return False
        if not self._quiet:
            self._quiet = True
            named = f" ({one_line(', '.join(others), 80)})" if others else ""
            self._tell(f"other work runs in this process{named}: it stays until that ends; Ctrl-C stops it")
        return True

    def wait(self) -> None:
        """Keep this process open until nobody needs it."""
        for _ in self._session.follow():
            if not self.needed():
                return

"""The commands of the palette."""

from collections.abc import Sequence
from functools import partial

from interlock.domain.messages.commands.steering_commands import SetAutonomy
from interlock.domain.values.autonomy import MEANING, Autonomy
from interlock.ports.effects import UndoPlan
from interlock.tui.lines.rows import Span, row
from interlock.tui.panels.board import Board
from interlock.tui.panels.discussion import Discussion
from interlock.tui.panels.panel import Panel
from interlock.tui.panels.streams import Streams
from interlock.tui.screens.palette import Entry
from interlock.tui.shell import Shell
from interlock.views.display import counted, one_line

_LEVELS: tuple[Autonomy, ...] = ("ask", "review", "land")
_MOST_FILES = 8


def entries(app: Shell, panels: Sequence[Panel]) -> list[Entry]:
    board = next(panel for panel in panels if isinstance(panel, Board))
    streams = next(panel for panel in panels if isinstance(panel, Streams))
    talk = next(panel for panel in panels if isinstance(panel, Discussion))
    shown = [
        Entry(f"Show {panel.label}", str(number), partial(app.show_panel, panel.label))
        for number, panel in enumerate(panels, 1)
    ]
    levels = [Entry(f"Autonomy {level}: {MEANING[level]}", "", partial(_set_autonomy, app, level)) for level in _LEVELS]
    return [
        *shown,
        Entry("Plan a goal", "n", board.action_goal),
        Entry("Start or pause the track", "S", board.action_start_or_pause),
        Entry("Land the track", "L", board.action_land),
        Entry("Abort the track", "X", board.action_abort),
        Entry("Retry the ticket", "t", board.action_retry),
        Entry("Skip the ticket", "s", board.action_skip),
        Entry("Cancel the ticket", "x", board.action_cancel),
        Entry("Block the ticket", "b", board.action_block),
        Entry("Stop the ticket's worker", "K", board.action_kill),
        Entry("Tell the ticket's worker something", "i", board.action_tell),
        Entry("New discussion", "n", talk.action_new),
        Entry("Stop the model's turn", "S", talk.action_stop),
        Entry("Follow the stream", "f", streams.action_follow),
        Entry("Undo the last change of your files", "", partial(_undo, app, redo=False)),
        Entry("Redo the last undone change", "", partial(_undo, app, redo=True)),
        *levels,
        Entry("Help", "?", app.action_help),
        Entry("Quit", "q", app.action_leave),
    ]


def _set_autonomy(app: Shell, level: Autonomy) -> None:
    app.sender.submit(SetAutonomy(level), f"autonomy {level}: {MEANING[level]}")


def _undo(app: Shell, *, redo: bool) -> None:
    """Shows what would change, and asks first."""

    def confirm(plan: UndoPlan) -> None:
        about = [row(Span(one_line(line, 64), "dim")) for line in plan.files[:_MOST_FILES]]
        rest = len(plan.files) - len(about) + plan.more
        if rest > 0:
            about.append(row(Span(f"and {counted(rest, 'more change')}", "faint")))
        verb = "Make again" if redo else "Take back"
        question = f"{verb} {plan.id}: {one_line(plan.what, 80)}?"
        app.confirm(question, lambda: app.sender.run(lambda bench: bench.undo(plan), f"done: {plan.id}"), about)

    app.sender.run(lambda bench: bench.undo_plan(redo=redo), then=confirm)

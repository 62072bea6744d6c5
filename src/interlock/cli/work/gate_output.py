"""`interlock tickets show ID --output`: the whole output of a ticket's gates, from the journal."""

from typing import Any

from interlock.assembly.project import Project, kept_text, project_reader
from interlock.cli.terminal.output import say
from interlock.domain.messages.events.attempt_events import GateFinished, TicketStarted
from interlock.domain.values.gates import Blob
from interlock.errors import JournalError
from interlock.views.display import safe
from interlock.wire import to_plain


def gate_runs(project: Project, track: str, ticket: str) -> list[GateFinished]:
    """The runs of the ticket's gates in its latest attempt that reached them; oldest first."""
    runs: list[GateFinished] = []
    reader = project_reader(project)
    try:
        for recorded in reader.read(0):
            event = recorded.event
            if not isinstance(event, GateFinished | TicketStarted) or (event.track, event.ticket) != (track, ticket):
                continue
            if isinstance(event, GateFinished):
                runs = [run for run in runs if run.attempt == event.attempt] + [event]
    finally:
        reader.close()
    return runs


def say_output(project: Project, runs: list[GateFinished]) -> None:
    if not runs:
        say("no gate of this ticket has run")
    for run in runs:
        result = run.result
        how = f": {safe(result.explanation)}" if result.explanation else ""
        say(f"attempt {run.attempt}, gate {run.gate + 1}: {safe(result.command)}")
        say(f"{result.status}, exit code {result.exit_code}, {result.duration_ms} ms{how}")
        for name, text in (("stdout", _stdout(project, run)), ("stderr", _stderr(project, run))):
            if text:
                say(f"{name}:")
                say(safe(text).rstrip("\n"))
        say("")


def output_dicts(project: Project, runs: list[GateFinished]) -> list[dict[str, Any]]:
    return [
        {
            "attempt": run.attempt,
            "gate": run.gate,
            **to_plain(run.result),
            "stdout": _stdout(project, run),
            "stderr": _stderr(project, run),
        }
        for run in runs
    ]


def _stdout(project: Project, run: GateFinished) -> str:
    return _whole(project, run.result.stdout_blob, run.result.stdout)


def _stderr(project: Project, run: GateFinished) -> str:
    return _whole(project, run.result.stderr_blob, run.result.stderr)


def _whole(project: Project, blob: Blob | None, tail: str) -> str:
    """The whole stream; its end, if the stored text was removed."""
    if blob is None:
        return tail
    try:
        return kept_text(project, blob.sha256).decode(errors="replace")
    except JournalError:
        return tail

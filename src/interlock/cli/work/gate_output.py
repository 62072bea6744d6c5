"""`interlock tickets show ID --output`: the whole output of a ticket's gates, from the journal."""

from typing import Any

from msgspec import Struct

from interlock.assembly.project import Project, kept_text, project_reader
from interlock.cli.terminal.output import say
from interlock.domain.messages.events.attempt_events import GateFinished
from interlock.domain.messages.events.ticket_events import TicketBlocked
from interlock.domain.values.gates import Blob, Reused
from interlock.errors import JournalError
from interlock.views.display import safe
from interlock.views.verification import passed_text
from interlock.wire import to_plain


class FailedScript(Struct, frozen=True):
    reason: str
    output: Blob


Run = GateFinished | FailedScript


def runs_of(project: Project, track: str, ticket: str) -> list[Run]:
    """The runs of gates in the ticket's latest attempt that reached them, oldest first, and its script that failed."""
    runs: list[Run] = []
    reader = project_reader(project)
    try:
        for recorded in reader.read(0):
            event = recorded.event
            if not isinstance(event, GateFinished | TicketBlocked) or (event.track, event.ticket) != (track, ticket):
                continue
            if isinstance(event, GateFinished):
                gates = (run for run in runs if isinstance(run, GateFinished) and run.attempt == event.attempt)
                runs = [*gates, event]
            elif event.output is not None:  # a later attempt: its script failed before any gate
                runs = [FailedScript(event.reason, event.output)]
    finally:
        reader.close()
    return runs


def say_output(project: Project, runs: list[Run]) -> None:
    if not runs:
        say("no gate of this ticket has run, and no script of it has failed")
    for run in runs:
        if isinstance(run, FailedScript):
            say(safe(run.reason.partition("\n")[0]))
            say("output:")
            say(safe(_whole(project, run.output, run.reason.partition("\n")[2])).rstrip("\n"))
            continue
        result = run.result
        how = f": {safe(result.explanation)}" if result.explanation else ""
        say(f"attempt {run.attempt}, gate {run.gate + 1}: {safe(result.command)}")
        if result.reused:
            say(f"{passed_text(result)}; its output: interlock tickets show {_source(result.reused)} --output")
        else:
            say(f"{result.status}, exit code {result.exit_code}, {result.duration_ms} ms{how}")
        if result.tools:
            say(f"with {safe(', '.join(result.tools))}")
        for name, text in (("stdout", _stdout(project, run)), ("stderr", _stderr(project, run))):
            if text:
                say(f"{name}:")
                say(safe(text).rstrip("\n"))
        say("")


def output_dicts(project: Project, runs: list[Run]) -> list[dict[str, Any]]:
    return [
        {"gate": None, "reason": run.reason, "output": _whole(project, run.output, "")}
        if isinstance(run, FailedScript)
        else {
            "attempt": run.attempt,
            "gate": run.gate,
            **to_plain(run.result),
            "stdout": _stdout(project, run),
            "stderr": _stderr(project, run),
        }
        for run in runs
    ]


def _source(reused: Reused) -> str:
    return f"{reused.track}/{reused.ticket}"


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

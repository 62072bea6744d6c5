"""The process that holds a project's journal, as other processes see it: its pid, and the submissions it recorded."""

from pathlib import Path

from interlock.assembly.project import Project, project_reader
from interlock.journal.lock import holder_pid
from interlock.ports.front import Receipt


def holder_of(project: Project) -> int | None:
    """The pid of the process that holds the project, or held it last."""
    return holder_pid(project.folder / "lock")


def describe_silence(project: Project, problem: str) -> str:
    """`problem`, with the process that must act and the command that makes it act."""
    pid = holder_of(project)
    if pid is None:
        return f"{problem}; end the process that holds the project, then try again"
    if _is_stopped(pid):
        return f"{problem}: process {pid} is stopped; 'kill -CONT {pid}' continues it, 'kill -9 {pid}' ends it"
    return (
        f"{problem}: process {pid} is busy or hangs; wait and try again, or end it with 'kill {pid}'"
        f" (then 'kill -9 {pid}'). The journal keeps everything"
    )


def recorded_submission(project: Project, submission: str, after: int) -> Receipt | None:
    """The records that a submission caused after a version; None if there are none."""
    reader = project_reader(project)
    try:
        records = tuple(record for record in reader.read(after) if record.cause == submission)
    finally:
        reader.close()
    return Receipt(records[-1].version, records) if records else None


def _is_stopped(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[:1] in (["T"], ["t"])

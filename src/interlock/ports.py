"""The seams of the program: roles the engine needs and plug-ins play.

Nothing here does anything. `app.py` decides who plays which role.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from interlock.domain.approvals import ScriptPayload
from interlock.domain.commands import Command
from interlock.domain.envelopes import Actor, Recorded
from interlock.domain.gates import GateResult
from interlock.domain.state import State
from interlock.domain.tampering import Change
from interlock.domain.tickets import Saved, TicketSpec

# ── journal ──────────────────────────────────────────────────────────────────────────────


class Head(Struct, frozen=True):
    """The last row: its version (0 when empty) and its chained hash (hex)."""

    version: int
    hash: str


class Checkpoint(Struct, frozen=True):
    """A disposable picture of the state after `version`; `body` is opaque to the journal."""

    head: Head
    body: bytes


class Journal(Protocol):
    """The one truth. `append` is all-or-nothing and durable when it returns."""

    def head(self) -> Head: ...
    def append(self, records: Sequence[Recorded]) -> None: ...
    def read(self, after: int = 0) -> Iterator[Recorded]: ...
    def put_blob(self, content: bytes) -> str: ...
    def get_blob(self, sha256: str) -> bytes: ...
    def save_checkpoint(self, checkpoint: Checkpoint) -> None: ...
    def load_checkpoint(self) -> Checkpoint | None: ...
    def close(self) -> None: ...


class Clock(Protocol):
    def now(self) -> str:
        """RFC 3339 in UTC, with microseconds and a final Z."""
        ...


class Ids(Protocol):
    def new(self) -> str: ...


# ── processes ────────────────────────────────────────────────────────────────────────────


class Job(Struct, frozen=True, kw_only=True):
    """A hostile command and exactly what it may touch.

    `env` is the whole environment; where there is no private /tmp and home, TMPDIR and HOME name some.
    `writable` and `readable` are absolute host paths that exist; `readable` ones cannot be written,
    and win over a writable parent. `programs` are executables of the user's own choice, which are shown
    with the tools they belong to.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    network: bool = False
    timeout_s: float | None = None
    stdin: bytes | None = None
    keep: str | None = None  # a folder for the whole output (bounded): files `stdout`, `stderr`


class Finished(Struct, frozen=True, kw_only=True):
    """How a job ended. When it is returned, nothing the job started is alive."""

    status: Literal["exited", "killed", "timed_out", "error"]
    exit_code: int  # the exit status; 128+n when killed by signal n; -1 otherwise
    signal: int | None
    stdout: str  # the last 5,000 characters, with a marker naming what was dropped
    stderr: str
    duration_ms: int
    message: str = ""  # "error": why it could not run; "killed": beyond which limit; "exited": a hint, if there is one


class Output(Struct, frozen=True):
    """What one of our own programs (git) said."""

    code: int
    stdout: bytes
    stderr: bytes


OnOutput = Callable[[bytes], None]
"""Takes a stream's pieces as they come, on the loop, and never raises. While it works nothing more is read, so a slow
one makes the job wait; whoever has heard enough cancels `run`."""


class Sandbox(Protocol):
    """The only door through which processes start. Cancelling `run` kills all it started first."""

    @property
    def level(self) -> Literal["bubblewrap", "landlock", "off"]: ...

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        """`on_stdout` hears every byte of stdout before this returns, beside the tail that is kept."""
        ...

    async def run_trusted(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes | None = None,
        timeout_s: float = 600,
    ) -> Output:
        """Run a program of ours on arguments of ours (git plumbing); never anything a model or repository wrote."""
        ...


# ── workspaces ───────────────────────────────────────────────────────────────────────────


class Workspace(Struct, frozen=True):
    """One attempt's own folder."""

    path: str
    base: str  # the commit it was made from
    git_dir: str | None  # read-only for the worker; None when it must not see one
    root: str = ""  # the whole worktree; `path` is inside it when the project is a folder of a larger repository


class Link(Struct, frozen=True):
    """What is there in place of a file: the name of another one, as it is written in the link."""

    target: str


class Conflict(Struct, frozen=True):
    """The attempt does not fit on the track's tip any more."""

    paths: tuple[str, ...]
    text: str


class Combined(Struct, frozen=True):
    """An attempt's change on top of the track's tip, not yet published."""

    tip: str
    commit: str
    tree: str


class Landing(Struct, frozen=True):
    """What landing a track would do to the user's branch."""

    branch: str
    before: str
    after: str
    diff: str


class Survey(Struct, frozen=True):
    """A commit and the files in it, by their paths from the project's folder."""

    commit: str
    files: tuple[str, ...]


class Workspaces(Protocol):
    """Git, as the engine needs it. Only these methods ever change a repository of the user's."""

    async def open(self) -> None: ...
    async def exclude(self, folders: Sequence[str]) -> None: ...
    async def dirty(self) -> tuple[str, ...]: ...
    async def start_track(self, track: str) -> str: ...
    def path_for(self, track: str, ticket: str) -> str: ...
    async def prepare(self, track: str, ticket: str) -> Workspace: ...

    async def survey(self) -> "Survey":
        """What the project's folder holds where work would begin now."""
        ...

    async def read(self, commit: str, path: str) -> bytes | Link | None:
        """A file of a commit, by its path from the project's folder; None when there is none."""
        ...

    async def current(self, track: str, ticket: str) -> Workspace | None:
        """The ticket's folder as it was left, if it is still there."""
        ...

    async def save(self, workspace: Workspace, track: str, ticket: str, attempt: int, message: str) -> Saved: ...

    async def changed(self, base: str, commit: str) -> str:
        """Which files differ between two commits, and by how many lines; shortened when it is long."""
        ...

    async def changes(self, base: str, commit: str) -> tuple[Change, ...]: ...
    async def diff(self, commit: str) -> str: ...
    async def show_tree(self, track: str, ticket: str, commit: str) -> Workspace: ...
    async def combine(
        self, track: str, ticket: str, saved: Saved, message: str, onto: str | None = None
    ) -> Combined | Conflict:
        """The attempt's change on the branch's tip, or on a commit that is to be published with it."""
        ...

    async def publish(self, track: str, combined: Combined) -> bool: ...
    async def merged_commit(self, track: str, ticket: str) -> str | None: ...

    async def merged_tickets(self, track: str) -> frozenset[str]:
        """Every ticket that has its commit on the track's branch."""
        ...

    async def retire(self, track: str, ticket: str, attempt: int, message: str) -> None:
        """Remove the folder of an attempt that ended badly; its work is kept on the attempt's ref first."""
        ...

    async def remove(self, track: str, ticket: str) -> None: ...
    async def landing(self, track: str) -> Landing: ...
    async def land(self, track: str, landing: Landing) -> None: ...
    async def is_landed(self, landing_after: str) -> bool: ...
    async def sweep(self, live: frozenset[tuple[str, str]]) -> None: ...


# ── work ─────────────────────────────────────────────────────────────────────────────────


class Assignment(Struct, frozen=True):
    """One attempt at one ticket. `digest` names exactly what was allowed to run."""

    track: str
    ticket: TicketSpec
    attempt: int
    script: str  # the ticket's own, or the human's edit of it
    digest: str = ""
    why: str | None = None  # what went wrong before
    env: tuple[tuple[str, str], ...] = ()  # with which alone a rule allows it


class Done(Struct, frozen=True):
    """The work is finished and saved; None when there is nothing to merge."""

    saved: Saved | None
    summary: str = ""


class Failed(Struct, frozen=True):
    """The work ended badly."""

    reason: str
    output: str = ""


class Crew(Protocol):
    """Where attempts run."""

    def terms(self, assignment: Assignment) -> ScriptPayload:
        """Exactly what `work` would run, for the approval that must come first."""
        ...

    async def work(self, assignment: Assignment) -> Done | Failed:
        """Runs it, unless the terms are not (any more) those that `digest` names."""
        ...


class GateRunner(Protocol):
    """Runs one gate of a ticket on one saved tree."""

    async def run(self, track: str, ticket: TicketSpec, gate: int, commit: str) -> GateResult: ...


class PolicyVerdict(Struct, frozen=True):
    """`env` must be added to the environment of what is allowed: it is allowed only so.

    Without the name of a rule nothing is recorded about it: for whoever has no policy at all.
    """

    verdict: Literal["allow", "ask", "deny"]
    rule: str
    reason: str
    env: tuple[tuple[str, str], ...] = ()


class Policy(Protocol):
    """What rules say before a person is asked."""

    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        """Of a script that would run in a directory; `own` are the gates accepted with its ticket."""
        ...

    def tool(self, name: str) -> PolicyVerdict:
        """Of a tool that changes something, by its name."""
        ...


# ── tools and code views ─────────────────────────────────────────────────────────────────


class ToolSpec(Struct, frozen=True):
    """A tool as a model is told of it. `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]
    changes: bool  # it may change something: never without an approval or a rule


class ToolPlace(Struct, frozen=True):
    """Where a worker's tools act: the worktree (read and write), and git for looking."""

    root: str
    readable: tuple[str, ...] = ()  # mounted read-only for commands
    env: tuple[tuple[str, str], ...] = ()  # added to the environment of commands


class Hunk(Struct, frozen=True):
    """One piece of a file's change, as a unified diff piece; hunks are numbered from 1 over the whole call."""

    number: int
    path: str
    header: str  # @@ -1,3 +1,4 @@ def name
    text: str  # the lines with their ' ', '-' or '+'


class Preview(Struct, frozen=True):
    """What a changing call would do: hunks for edits, the script for a command."""

    title: str
    hunks: tuple[Hunk, ...] = ()
    script: str | None = None


class ToolOutcome(Struct, frozen=True):
    text: str
    failed: bool = False
    exit_code: int | None = None  # of a script that ran


class Tools(Protocol):
    """The tools of the agent loop. Arguments come from a model and are hostile."""

    def offered(self, *, changing: bool) -> tuple[ToolSpec, ...]:
        """All tools, or only those that change nothing."""
        ...

    async def preview(self, place: ToolPlace, name: str, args: dict[str, Any]) -> Preview:
        """What a changing call would do now; raises ToolFailure with a text for the model if it cannot be done."""
        ...

    async def texts(self, place: ToolPlace, paths: Sequence[str]) -> dict[str, str | None]:
        """These files as they are now; None where there is none. What may not be read or is no text is left out."""
        ...

    async def run(
        self, place: ToolPlace, name: str, args: dict[str, Any], hunks: tuple[int, ...] | None = None
    ) -> ToolOutcome:
        """Do it (only these hunks of it, where given). Never raises for what a model did wrong: that is an outcome."""
        ...


class CodeViews(Protocol):
    """What of a file a worker is shown."""

    def curated(self, path: str, content: bytes) -> str: ...
    def skeleton(self, path: str, content: bytes) -> str: ...

    def is_secret(self, path: str) -> bool:
        """By its name: then nothing of it is shown."""
        ...


class Mention(Struct, frozen=True):
    """A name in a source, in code and not in a string or comment."""

    line: int
    role: Literal["definition", "import", "use"]
    text: str  # its line


class ClassFound(Struct, frozen=True):
    name: str  # dotted
    line: int
    bases: tuple[str, ...]  # as written


class Structure(Protocol):
    """Python sources by their definitions: texts in, texts out.

    A name is dotted (`Class.method`, `function.inner`); `line` chooses among several of that name, 0 when there is only
    one; no name is the module. `with_…` gives the whole new text. Raises ToolFailure with a sentence for the model.
    """

    def summary(self, path: str, text: str) -> str: ...
    def skeleton(self, text: str) -> str: ...
    def outline(self, text: str) -> str: ...
    def definition(self, text: str, name: str, line: int = 0) -> str: ...
    def with_definition(self, text: str, name: str, new: str, line: int = 0) -> str: ...
    def signature(self, text: str, name: str, line: int = 0) -> str: ...
    def with_signature(self, text: str, name: str, new: str, line: int = 0) -> str: ...
    def variable(self, text: str, name: str, line: int = 0) -> str: ...
    def with_variable(self, text: str, name: str, new: str, line: int = 0) -> str: ...
    def class_summary(self, text: str, name: str, line: int = 0) -> str: ...
    def docstring(self, text: str, name: str, line: int = 0) -> str: ...
    def imports(self, text: str) -> tuple[str, ...]: ...
    def mentions(self, text: str, name: str) -> tuple[Mention, ...]: ...
    def classes(self, text: str) -> tuple[ClassFound, ...]: ...
    def problems(self, text: str) -> tuple[str, ...]: ...


# ── what front ends get ──────────────────────────────────────────────────────────────────


class Receipt(Struct, frozen=True):
    """A command was taken: the version after it, and what it recorded. All of it is durable."""

    version: int
    records: tuple[Recorded, ...]


class Submit(Protocol):
    """The door. Raises Rejected when refused, JournalError when it could not be made durable."""

    async def submit(self, actor: Actor, command: Command) -> Receipt: ...


class Following(Protocol):
    """Everything recorded after a version, in order, without gap or repeat, as it becomes durable."""

    async def next(self) -> Sequence[Recorded]: ...
    def close(self) -> None: ...


class Front(Submit, Protocol):
    """What a front end holds: the door, the latest durable state, and a way to follow."""

    @property
    def state(self) -> State: ...
    def follow(self, after: int) -> Following: ...
    async def ask_landing(self, actor: Actor, track: str) -> Receipt: ...
    async def say(self, actor: Actor, discussion: str, text: str, base_dir: str = "") -> Receipt: ...

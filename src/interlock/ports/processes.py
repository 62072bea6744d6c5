"""The sandbox: the only port through which processes start."""

import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct


class Layer(Struct, frozen=True):
    """Where a job's changes of its first writable folder go instead; `folder` is ours.

    "overlay": to `upper` in it. "copy": `copy` in it is used in the place of the writable folder.
    """

    folder: str
    kind: Literal["overlay", "copy"] = "overlay"


class Job(Struct, frozen=True, kw_only=True):
    """An untrusted command and its exact access rights.

    `env` is the whole environment; without a private /tmp and home, TMPDIR and HOME must be set.
    `writable` and `readable` are absolute host paths that exist; `readable` ones cannot be written,
    and win over a writable parent. `programs` are executables that the user chose, made visible with
    the tools they belong to.
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
    input: int | None = None  # a descriptor that it reads instead of `stdin`; it stays the caller's
    keep: str | None = None  # a folder for the whole output (bounded): files `stdout`, `stderr`
    layer: Layer | None = None  # its changes are kept apart; only bubblewrap can do that


class Finished(Struct, frozen=True, kw_only=True):
    """How a job ended. When it is returned, no process of the job is alive."""

    status: Literal["exited", "killed", "timed_out", "error"]
    exit_code: int  # the exit status; 128+n when killed by signal n; -1 otherwise
    signal: int | None
    stdout: str  # the last 5,000 characters, with a marker about the dropped part
    stderr: str
    duration_ms: int
    message: str = ""  # "error": why it could not run; "killed": the exceeded limit; "exited": an optional hint

    @property
    def succeeded(self) -> bool:
        return self.status == "exited" and self.exit_code == 0

    @property
    def meaning(self) -> str:
        """The meaning of this exit code in a shell; empty for codes without a fixed meaning."""
        match self.exit_code:
            case 126:
                return "a command was found but could not be executed"
            case 127:
                return "a command was not found"
            case code if code > 128 and (name := signal_name(code - 128)):
                return f"as a shell reports a command killed by signal {code - 128} ({name})"
            case _:
                return ""

    @property
    def ending(self) -> str:
        """How the job ended, such as `exit code 127: a command was not found`."""
        match self.status:
            case "error":
                return f"it could not be run: {self.message}"
            case "timed_out":
                seconds = f"{self.duration_ms / 1000:.1f}".removesuffix(".0")
                return f"timed out after {seconds} s; everything it started was killed"
            case "killed":
                return self.message or f"killed by signal {self.signal} ({signal_name(self.signal)})"
            case "exited":
                return f"exit code {self.exit_code}{f': {self.meaning}' if self.meaning else ''}"


def signal_name(number: int | None) -> str:
    """Such as `Killed` for 9; empty for a number that is no signal."""
    try:
        return signal.strsignal(number or 0) or ""
    except ValueError:
        return ""


class View(Struct, frozen=True):
    """What a job finds beside the folders that it was given."""

    options: str  # the level of the sandbox, its limits and its features
    paths: tuple[str, ...]  # files and folders of the machine, read-only
    links: tuple[tuple[str, str], ...] = ()  # places and targets of links that the sandbox makes


class Output(Struct, frozen=True):
    """The output of a trusted program such as git."""

    code: int
    stdout: bytes
    stderr: bytes


OnOutput = Callable[[bytes], None]
"""Receives a stream's pieces on the event loop; it must not raise.

Reading pauses while it runs, so a slow receiver slows the job. To stop early, cancel `run`."""


IsComplete = Callable[[bytes], bool]
"""Tells whether the bytes so far are a whole answer."""


class Conversation(Protocol):
    """A trusted program that stays and answers requests, one at a time. It ends with this process."""

    async def ask(self, request: bytes, is_complete: IsComplete) -> bytes | None:
        """The answer; None if the program ended instead. A cancelled request ends the program."""
        ...

    async def close(self) -> None:
        """Ends the program. The next request starts it again."""
        ...


class LiveJob(Protocol):
    """An untrusted job that stays, with a stream in each direction. Its standard error is dropped."""

    async def send(self, data: bytes) -> bool:
        """Writes to its input, and waits while it does not read; False if it has ended."""
        ...

    async def receive(self) -> bytes:
        """The next bytes of its output; empty when it has ended."""
        ...

    async def close(self) -> Finished | None:
        """Kills all of its processes; they are dead when this returns. Says how it ended, if by itself."""
        ...


class Sandbox(Protocol):
    """Starts every process. Cancelling `run` first kills all processes of the job."""

    @property
    def level(self) -> Literal["bubblewrap", "landlock", "off"]: ...

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        """`on_stdout` receives every byte of stdout before this returns."""
        ...

    def open(self, job: Job) -> LiveJob:
        """Starts a job that stays until it is closed, with the limits and guarantees of `run`."""
        ...

    def view(self, job: Job) -> View | None:
        """What the job would see of this machine; None if that is not limited, as without a sandbox."""
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
        """Runs a trusted program with trusted arguments (git plumbing), never text from a model or repository."""
        ...

    def converse(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Conversation:
        """A trusted program as for `run_trusted`, that reads requests from its input until it ends."""
        ...

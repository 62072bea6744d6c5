"""Verification gates: their command or criteria, limits and results."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

PRESETS: dict[str, tuple[int, int]] = {"fast": (1, 30), "full": (5, 300), "extended": (10, 600)}
"""Preset name → (attempts, seconds)."""

TIMEOUT_RANGE = (1, 600)

GateStatus = Literal["passed", "failed", "timed_out", "killed", "error"]


class Gate(Struct, frozen=True, gc=False, omit_defaults=True):
    """A gate as its author wrote it: a shell command, or criteria. None means not given."""

    command: str
    preset: Literal["fast", "full", "extended"] | None = None
    max_attempts: int | None = None
    timeout_s: float | None = None
    loop: bool = False
    cwd: str | None = None
    env: dict[str, str] = {}
    criteria: str | None = None  # instead of a command: text that a model judges
    name: str | None = None  # of the criteria, if they have one
    network: bool = False  # its effects may last: after a crash a person decides whether it runs again
    judges: tuple[str, ...] = ()  # patterns of files that decide its result: a worker that changes one stops
    stdin: Literal["answer"] | None = None  # the worker's last answer; otherwise it is empty
    flaky: bool = False  # its result depends on more than its inputs: a pass is never reused

    @property
    def shown(self) -> str:
        """The command or the criteria, as one text."""
        if self.criteria is None:
            return self.command
        return f"{self.name}: {self.criteria}" if self.name else self.criteria


class GateDefaults(Struct, frozen=True, gc=False):
    max_attempts: int = 5
    timeout_s: float = 300.0
    stuck_after: int = 3  # so many equal failures in a row ask a person early; 0 means never
    network: bool = False  # for all gates


class GateLimits(Struct, frozen=True, gc=False):
    """The limits in force for a gate."""

    max_attempts: int
    timeout_s: float


class Blob(Struct, frozen=True, gc=False):
    """A large text, stored beside the journal under its hash."""

    sha256: str
    size: int


class NewPackages(Struct, frozen=True, gc=False):
    """Packages that the work added or changed; the diff of their lists is the result's `stdout`."""

    key: str  # of the installation
    lists: tuple[str, ...]  # the changed dependency lists
    commands: tuple[str, ...]  # that install them, with network


class GateInputs(Struct, frozen=True, gc=False):
    """What a run depended on, as two digests: a pass counts again only where both are the same."""

    run: str  # the tree and its extra files, the command, its environment, the sandbox, the system
    tools: str  # the state of every file outside the worktree that the command could read


class Reused(Struct, frozen=True, gc=False):
    """The recorded run that a pass rests on."""

    track: str
    ticket: str
    attempt: int
    version: int  # of the journal
    at: str
    duration_ms: int


class GateResult(Struct, frozen=True, gc=False, kw_only=True):
    """One run of one gate. Passed only if it exited normally with 0."""

    status: GateStatus
    exit_code: int
    command: str
    duration_ms: int
    stdout: str = ""  # the last characters; the blobs hold all of it
    stderr: str = ""
    explanation: str = ""
    stdout_blob: Blob | None = None
    stderr_blob: Blob | None = None
    tools: tuple[str, ...] | UnsetType = UNSET  # interpreters and their versions, and the user's where they differ
    packages: "NewPackages | UnsetType" = UNSET  # not run: a person must first accept their installation
    inputs: GateInputs | UnsetType = UNSET  # of a pass that may be reused
    reused: Reused | UnsetType = UNSET  # not run: an earlier run with the same inputs passed

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    @property
    def timed_out(self) -> bool:
        return self.status == "timed_out"


def gate_id(track: str, ticket: str, number: int) -> str:
    """The name of gate number `number` (from 0) of a ticket; no other gate of the project has it."""
    return f"shell-verify-{track}/{ticket}/{number + 1}"


def limits(gate: Gate, defaults: GateDefaults) -> GateLimits:
    """The gate's own values, else its preset's, else the defaults. The timeout is clamped."""
    attempts, seconds = PRESETS[gate.preset] if gate.preset else (defaults.max_attempts, defaults.timeout_s)
    if gate.max_attempts is not None:
        attempts = gate.max_attempts
    if gate.timeout_s is not None:
        seconds = gate.timeout_s
    low, high = TIMEOUT_RANGE
    return GateLimits(max(1, attempts), min(max(seconds, low), high))

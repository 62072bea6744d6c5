"""Verification gates as data: what is to run, with which limits, and how it ended."""

from typing import Literal

from msgspec import Struct

PRESETS: dict[str, tuple[int, int]] = {"fast": (1, 30), "full": (5, 300), "extended": (10, 600)}
"""Preset name → (attempts, seconds)."""

TIMEOUT_RANGE = (1, 600)

GateStatus = Literal["passed", "failed", "timed_out", "killed", "error"]


class Gate(Struct, frozen=True, gc=False, omit_defaults=True):
    """A verification as its author wrote it: a shell command, or criteria. None means: not said."""

    command: str
    preset: Literal["fast", "full", "extended"] | None = None
    max_attempts: int | None = None
    timeout_s: float | None = None
    loop: bool = False
    cwd: str | None = None
    env: dict[str, str] = {}
    criteria: str | None = None  # instead of a command: words, judged by a model
    name: str | None = None  # of the criteria, where they have one
    network: bool = False  # what it does there may last: after a crash a person says whether it runs again

    @property
    def shown(self) -> str:
        """What is verified, in one text."""
        if self.criteria is None:
            return self.command
        return f"{self.name}: {self.criteria}" if self.name else self.criteria


class GateDefaults(Struct, frozen=True, gc=False):
    max_attempts: int = 5
    timeout_s: float = 300.0
    stuck_after: int = 3  # the same failure so often in a row asks a human early; 0: never
    network: bool = False  # for all gates


class GateLimits(Struct, frozen=True, gc=False):
    """What really applies to a gate."""

    max_attempts: int
    timeout_s: float


class Blob(Struct, frozen=True, gc=False):
    """A big text, kept beside the journal and named by its hash."""

    sha256: str
    size: int


class GateResult(Struct, frozen=True, gc=False, kw_only=True):
    """One run of one gate. Passed only if it exited normally with 0."""

    status: GateStatus
    exit_code: int
    command: str
    duration_ms: int
    stdout: str = ""  # tails; the whole is in the blobs
    stderr: str = ""
    explanation: str = ""
    stdout_blob: Blob | None = None
    stderr_blob: Blob | None = None

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    @property
    def timed_out(self) -> bool:
        return self.status == "timed_out"


def limits(gate: Gate, defaults: GateDefaults) -> GateLimits:
    """Explicit beats preset beats default; the timeout is clamped."""
    attempts, seconds = PRESETS[gate.preset] if gate.preset else (defaults.max_attempts, defaults.timeout_s)
    if gate.max_attempts is not None:
        attempts = gate.max_attempts
    if gate.timeout_s is not None:
        seconds = gate.timeout_s
    low, high = TIMEOUT_RANGE
    return GateLimits(max(1, attempts), min(max(seconds, low), high))

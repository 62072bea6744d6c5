"""The confining sandbox levels, for tests that run on each of them."""

from collections.abc import Mapping, Sequence

import pytest

from interlock.ports.processes import Sandbox
from interlock.sandbox.jobs.jobs import USUAL, JobLimits
from interlock.sandbox.levels import landlock
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.sandbox.levels.landlock import LandlockSandbox
from interlock.sandbox.levels.unconfined import UnconfinedSandbox

CONFINED = ("bubblewrap", "landlock")


def make_sandbox(
    level: str, *, env: Mapping[str, str] | None = None, hidden: Sequence[str] = (), limits: JobLimits = USUAL
) -> Sandbox:
    match level:
        case "bubblewrap":
            return BubblewrapSandbox(env=env, hidden=hidden, limits=limits)
        case "landlock":
            if reason := landlock.missing():
                pytest.skip(reason)
            return LandlockSandbox(env=env, hidden=hidden, limits=limits)
        case _:
            return UnconfinedSandbox(limits=limits)

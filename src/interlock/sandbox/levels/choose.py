"""Chooses the strongest sandbox that works on this machine, or none with a reason."""

import sys
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from interlock.errors import Misconfigured
from interlock.ports.processes import Sandbox
from interlock.sandbox.jobs.jobs import USUAL, JobLimits
from interlock.sandbox.levels import landlock
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox, program
from interlock.sandbox.levels.landlock import LandlockSandbox
from interlock.sandbox.levels.probe import probe
from interlock.sandbox.levels.unconfined import UnconfinedSandbox

Setting = Literal["auto", "bubblewrap", "landlock", "off"]

_OTHERWISE = (
    'Interlock runs nothing without a sandbox, unless your own configuration (not a project\'s) says sandbox = "off":'
    " then commands run with all your rights."
)


class SandboxChoice(Struct, frozen=True):
    sandbox: Sandbox
    why: str = ""  # why it is not the strongest; empty if it is, or if the setting names it


async def choose(setting: Setting, hidden: Sequence[str] = (), limits: JobLimits = USUAL) -> Sandbox:
    """`hidden`: Interlock's own folders (state, configuration), which must not exist in a sandbox."""
    return (await choice(setting, hidden, limits)).sandbox


async def choice(setting: Setting, hidden: Sequence[str] = (), limits: JobLimits = USUAL) -> SandboxChoice:
    if setting == "off":
        return SandboxChoice(UnconfinedSandbox(limits=limits))
    if sys.platform != "linux":
        raise Misconfigured(f"There is a sandbox only on Linux. {_OTHERWISE}")
    why = ""
    if setting != "landlock":
        bubblewrap = BubblewrapSandbox(hidden=hidden, limits=limits)
        if not (why := await _problem_with_bubblewrap(bubblewrap)):
            return SandboxChoice(bubblewrap)
        if setting == "bubblewrap":
            raise Misconfigured(f"{why}. {_OTHERWISE}")
    confined = LandlockSandbox(hidden=hidden, limits=limits)
    if problem := await _problem_with_landlock(confined):
        raise Misconfigured(f"{why + '; ' if why else ''}{problem}. {_OTHERWISE}")
    return SandboxChoice(confined, why)


async def _problem_with_bubblewrap(sandbox: BubblewrapSandbox) -> str:
    if program() is None:
        return "bubblewrap is not installed (on Debian: apt install bubblewrap)"
    reason = await probe(sandbox)
    return f"bubblewrap is installed but does not work here: {reason}" if reason else ""


async def _problem_with_landlock(sandbox: LandlockSandbox) -> str:
    if reason := landlock.missing():
        return f"the sandbox made with Landlock does not work either: {reason}"
    landlock.sweep()
    reason = await probe(sandbox)
    return f"the sandbox made with Landlock does not work here: {reason}" if reason else ""

"""Chooses the strongest sandbox that works on this machine, or none with a reason."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from interlock.errors import Misconfigured
from interlock.ports.processes import Sandbox
from interlock.sandbox.jobs.jobs import USUAL, JobLimits
from interlock.sandbox.levels import landlock
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox, Features, program
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
    missing: tuple[str, ...] = ()  # promises of the level that do not hold on this machine (probe.py)


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
        with_bubblewrap = await _with_bubblewrap(hidden, limits)
        if isinstance(with_bubblewrap, SandboxChoice):
            return with_bubblewrap
        why = with_bubblewrap
        if setting == "bubblewrap":
            raise Misconfigured(f"{why}. {_OTHERWISE}")
    with_landlock = await _with_landlock(hidden, limits)
    if isinstance(with_landlock, str):
        raise Misconfigured(f"{why + '; ' if why else ''}{with_landlock}. {_OTHERWISE}")
    return replace(with_landlock, why=why)


async def _with_bubblewrap(hidden: Sequence[str], limits: JobLimits) -> SandboxChoice | str:
    """The sandbox with the most features that work, or the reason why none does."""
    if program() is None:
        return "bubblewrap is not installed (on Debian: apt install bubblewrap)"
    reason = ""
    for features in _features():
        sandbox = BubblewrapSandbox(hidden=hidden, limits=limits, features=features)
        result = await probe(sandbox, limits)
        if not result.broken:
            return SandboxChoice(sandbox, missing=result.missing)
        reason = reason or result.broken
    return f"bubblewrap is installed but does not work here: {reason}"


def _features() -> Iterator[Features]:
    """The best first. Before version 0.7, bwrap cannot limit a size; root can do without a user namespace."""
    for user_namespace in (True, False) if os.geteuid() == 0 else (True,):
        for sizes in (True, False):
            yield Features(user_namespace=user_namespace, sizes=sizes)


async def _with_landlock(hidden: Sequence[str], limits: JobLimits) -> SandboxChoice | str:
    if reason := landlock.missing():
        return f"the sandbox made with Landlock does not work either: {reason}"
    landlock.sweep()
    sandbox = LandlockSandbox(hidden=hidden, limits=limits)
    result = await probe(sandbox, limits)
    if result.broken:
        return f"the sandbox made with Landlock does not work here: {result.broken}"
    return SandboxChoice(sandbox, missing=result.missing)

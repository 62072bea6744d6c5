"""Which sandbox to use: one that was seen to work here, or none and a reason."""

import shutil
import sys
from collections.abc import Sequence
from typing import Literal

from interlock.errors import Misconfigured
from interlock.ports import Sandbox
from interlock.sandbox.bubblewrap import BubblewrapSandbox
from interlock.sandbox.probe import probe
from interlock.sandbox.unconfined import UnconfinedSandbox

_OTHERWISE = (
    'Interlock runs nothing without a sandbox, unless your own configuration (not a project\'s) says sandbox = "off":'
    " then commands can do whatever you can."
)


async def choose(setting: Literal["auto", "bubblewrap", "off"], hidden: Sequence[str] = ()) -> Sandbox:
    """`hidden`: folders of Interlock's own (state, configuration) that must not exist in a sandbox."""
    if setting == "off":
        return UnconfinedSandbox()
    if sys.platform != "linux":
        raise Misconfigured(f"There is a sandbox only on Linux. {_OTHERWISE}")
    if shutil.which("bwrap") is None:
        raise Misconfigured(f"bubblewrap is not installed (on Debian: apt install bubblewrap). {_OTHERWISE}")
    sandbox = BubblewrapSandbox(hidden=hidden)
    if reason := await probe(sandbox):
        raise Misconfigured(f"bubblewrap is installed but does not work here: {reason}. {_OTHERWISE}")
    return sandbox

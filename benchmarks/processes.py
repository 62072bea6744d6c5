"""The cost of a whole command, as the kernel reports it for an ended process."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.samples import Data, Unavailable

INTERLOCK = str(Path(sys.executable).with_name("interlock"))


def spent(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> Data:
    """Wall and CPU time of the command and its awaited children, and the peak memory of one process."""
    begun = time.perf_counter()
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    with child:
        output = child.stderr.read() if child.stderr else b""
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise Unavailable(f"{argv[0]} ended with {child.returncode}: {output.decode(errors='replace').strip()[-200:]}")
    return {"wall": time.perf_counter() - begun, "cpu": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss / 1024}

"""What each level promises, for people. The tests in tests/security try to break each promise."""

from collections.abc import Sequence

_FILTERED = "cannot make the system calls that could leave a sandbox"
_NAMESPACE = "has its own user namespace, also if you are root"
_SIZES = "fills its /tmp, /dev/shm and home only up to [limits] tmp_mb each"
_PROMISES: dict[str, tuple[str, ...]] = {
    "bubblewrap": (
        "writes only in its own worktree and a private /tmp",
        "sees system folders and your toolchain read-only; not your home, other worktrees, .interlock or tokens",
        "reads git's data but cannot change it, nor see addresses in its configuration; only the engine commits",
        "has no network, and sees no process but its own",
        "has no capabilities, and writes no setting of the kernel: /proc is read-only, and there is no /sys",
        "cannot stop, trace or look into the process that reports how it ended",
        _NAMESPACE,
        _FILTERED,
        _SIZES,
        "leaves no process behind when it ends or is stopped",
    ),
    "landlock": (
        "writes only in its own worktree and a private temporary folder",
        "reads system folders and your toolchain; not your home, other worktrees, .interlock or tokens",
        "can see that other files are there and change the mode and times of those you own, but not read or write them",
        "reads git's data but cannot change it (a .git file is put back when it ends); only the engine commits",
        "has no network and no sockets by name, not even among its own processes",
        "can see the command lines of other processes, but not signal, trace or look into them",
        "has no capabilities, and writes nothing below /proc and /sys",
        _FILTERED,
        "is killed when its temporary files grow beyond [limits] tmp_mb",
        "leaves no process behind when it ends or is stopped",
    ),
    "off": (
        "RUNS WITHOUT A SANDBOX, because your settings disable it: it has all your permissions",
        "leaves no process behind when it ends or is stopped",
    ),
}
# Promises that depend on the machine, with the reason why one does not hold.
_MISSING = {
    "filter": (_FILTERED, "there is no filter of system calls for this architecture"),
    "user namespace": (_NAMESPACE, "this machine allows none: a command has no capabilities, but is in yours"),
    "sizes": (_SIZES, "this bubblewrap cannot limit a size; version 0.7 can"),
}


def promises(level: str, missing: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The promises that hold, and those that do not hold here (`missing` of probe.py), with the reason."""
    lost = dict(_MISSING[name] for name in missing)
    kept = tuple(promise for promise in _PROMISES[level] if promise not in lost)
    return kept, tuple(f"{promise}: {why}" for promise, why in lost.items())

"""The options of bwrap that make the file system of a job. Outer mounts come first: later ones cover earlier ones."""

import os
import stat
from collections.abc import Iterator, Sequence

from interlock.ports.processes import Job
from interlock.sandbox.limits import own_folders
from interlock.sandbox.limits.toolchain import Toolchain, contains

_SYSTEM = ("/", "/tmp", "/usr", "/etc", "/proc", "/dev", "/bin")
# Parts of /proc about the machine, not about the command's own processes. The kernel gives most only to root; but then
# the command is root's, too.
_ABOUT_THE_MACHINE = ("kallsyms", "kcore", "key-users", "keys", "latency_stats", "sched_debug", "sysrq-trigger")
_FOLDERS_OF_DRIVERS = ("acpi", "asound", "bus", "driver", "fs", "irq", "scsi")


def of_kernel(size_mb: int) -> list[str]:
    """/proc and /dev, nothing of them writable but shared memory; there is no /sys."""
    args = ["--proc", "/proc"]
    if os.geteuid() == 0:
        for name in _readable_for_root_alone():
            args += ["--ro-bind", os.devnull, f"/proc/{name}"]
        for name in _FOLDERS_OF_DRIVERS:
            if os.path.isdir(f"/proc/{name}"):
                args += ["--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}"]
    args += ["--remount-ro", "/proc"]
    args += ["--dev", "/dev", *of_size(size_mb), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    return [*args, *of_size(size_mb), "--tmpfs", "/tmp", "--dir", "/etc"]


def of_size(size_mb: int) -> list[str]:
    return ["--size", str(size_mb << 20)] if size_mb else []


def of_toolchain(toolchain: Toolchain, homes: Sequence[str], size_mb: int) -> list[str]:
    """Tools read-only, and an empty home."""
    args = ["--dir", "/run", "--dir", "/var", "--symlink", "../tmp", "/var/tmp"]
    for place, target in toolchain.links:
        args += ["--symlink", target, place]
    around = [path for path in toolchain.paths if any(contains(path, home) for home in homes)]
    for path in around:
        args += ["--ro-bind-try", path, path]
    for home in dict.fromkeys(homes):
        args += [*of_size(size_mb), "--tmpfs", home]
    for path in toolchain.paths:
        if path not in around:
            args += ["--ro-bind-try", path, path]
    return args


def of_job(job: Job, covered: Sequence[str], hidden: Sequence[str]) -> list[str]:
    """The folders of the job; `covered` are empty and read-only.

    Folders around a hidden one become mounts too, because a mount cannot be renamed: otherwise a job could move a
    project, and the next one would see its state folder at a place where nobody looks.
    """
    around = {above for place in _covers(hidden, job.writable) for above in _between(place, job.writable)}
    args: list[str] = []
    for path in (*job.writable, *sorted(around)):
        args += ["--bind", in_layer(job, path), path]
    for path in job.readable:
        args += ["--ro-bind", path, path]
    for path in covered:
        args += ["--tmpfs", path, "--remount-ro", path]
    return args


def in_layer(job: Job, path: str) -> str:
    """The path to mount at `path`: if the job's changes are kept apart, the one beside."""
    if job.layer is None or not contains(job.writable[0], path):
        return path
    beside = os.path.join(job.layer.folder, "merged" if job.layer.kind == "overlay" else "copy")
    return os.path.normpath(os.path.join(beside, os.path.relpath(path, job.writable[0])))


def of_hidden(hidden: Sequence[str], job: Job, tools: Sequence[str]) -> list[str]:
    """Covers these real paths wherever they are visible; folders of the job that are inside one stay."""
    given = (*job.writable, *job.readable)
    covers = _covers(hidden, (*given, *tools))
    folders = [place for place, path in covers.items() if os.path.isdir(path)]
    again = [path for path in given if any(contains(place, path) for place in folders)]
    args: list[str] = []
    for place in sorted({*covers, *again}):
        if place in again:
            source = in_layer(job, place) if place in job.writable else place
            args += ["--bind" if place in job.writable else "--ro-bind", source, place]
        elif place in folders:
            args += ["--tmpfs", place]
        else:
            args += ["--ro-bind", os.devnull, place]
    for place in folders:
        args += ["--remount-ro", place]
    return args


def _covers(hidden: Sequence[str], shown: Sequence[str]) -> dict[str, str]:
    """The real path for each place where one of these is visible."""
    return {place: path for path in hidden for place in own_folders.places(path, shown)}


def _between(place: str, writable: Sequence[str]) -> Iterator[str]:
    """The folders between a writable one and this place."""
    for folder in writable:
        above = os.path.dirname(place)
        while above != folder and contains(folder, above):
            yield above
            above = os.path.dirname(above)


def can_be_empty(home: str, job: Job) -> bool:
    """An empty home, unless the job was given the real one or the path is needed otherwise."""
    if not os.path.isabs(home) or os.path.normpath(home) in _SYSTEM:
        return False
    return not any(contains(path, home) for path in (*job.writable, *job.readable))


def _readable_for_root_alone() -> Iterator[str]:
    for name in sorted(os.listdir("/proc")):
        if name in _ABOUT_THE_MACHINE or (not name.isdigit() and _is_closed(f"/proc/{name}")):
            yield name


def _is_closed(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and not mode & stat.S_IROTH

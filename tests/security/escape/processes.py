"""Attempts on other processes: the keeper that reports how the command ended, and processes of the user outside."""

import ctypes
import os
import resource
import signal

from tests.security.escape.table import LIBC, Try, Wishes, arrives, attempt, call, each, is_victim, opens, reads

_READ = ("mem", "maps", "smaps", "environ", "auxv", "pagemap", "syscall", "stack", "io", "personality", "numa_maps")
_WRITE = (
    *("mem", "clear_refs", "coredump_filter", "comm", "oom_score_adj", "oom_adj", "sched", "autogroup", "loginuid"),
    *("uid_map", "gid_map", "projid_map", "setgroups", "timens_offsets", "timerslack_ns", "attr/current", "attr/exec"),
)
_LINKS = ("exe", "cwd", "root", "ns/user", "ns/mnt", "ns/net")


def _of(who: str, make: Try) -> Try:
    """Applied to the victim only if its number is the victim's."""
    return lambda w: (who == "keeper" or is_victim(w)) and make({**w, "target": w[who]})


for who in ("keeper", "victim"):
    each(
        _READ,
        f"read {{}} of the {who}",
        lambda name, who=who: _of(who, lambda w: reads(f"/proc/{w['target']}/{name}")),
    )
    each(
        _WRITE,
        f"open {{}} of the {who} for writing",
        lambda name, who=who: _of(who, lambda w: opens(f"/proc/{w['target']}/{name}", os.O_WRONLY)),
    )
    each(
        _LINKS,
        f"follow {{}} of the {who}",
        lambda name, who=who: _of(who, lambda w: os.readlink(f"/proc/{w['target']}/{name}")),
    )
    each(
        ("fd", "fdinfo", "map_files", "task"),
        f"open what is in {{}} of the {who}",
        lambda name, who=who: _of(who, lambda w: _opens_any(f"/proc/{w['target']}/{name}")),
    )


def _opens_any(folder: str) -> bool:
    """A file of a process is open; the folders of its threads contain public files."""
    names = os.listdir(folder)
    if folder.endswith("/task"):
        return any(_tries(f"{folder}/{name}/mem", os.O_RDWR) for name in names)
    return any(_tries(f"{folder}/{name}", flags) for name in names for flags in (os.O_RDONLY, os.O_WRONLY))


def _tries(path: str, flags: int) -> bool:
    try:
        return opens(path, flags)
    except OSError:
        return False


def _vector(address: int, length: int) -> ctypes.Array[ctypes.c_size_t]:
    return (ctypes.c_size_t * 2)(address, length)


def _calls(who: str) -> dict[str, Try]:
    buffer = ctypes.create_string_buffer(8)
    here = _vector(ctypes.addressof(buffer), 8)
    there = _vector(0x400000, 8)
    return {
        "attach to": lambda w: call(w, "ptrace", 16, w["target"], 0, 0) == 0,
        "seize": lambda w: call(w, "ptrace", 0x4206, w["target"], 0, 0) == 0,
        "read the memory of": lambda w: arrives(w, "process_vm_readv", w["target"], here, 1, there, 1, 0),
        "write the memory of": lambda w: arrives(w, "process_vm_writev", w["target"], here, 1, there, 1, 0),
        "take a descriptor of": lambda w: call(w, "pidfd_getfd", os.pidfd_open(w["target"]), 0, 0) >= 0,
        "compare with": lambda w: arrives(w, "kcmp", os.getpid(), w["target"], 0, 0, 0),
        "move pages of": lambda w: arrives(w, "move_pages", w["target"], 0, 0, 0, 0, 0),
        "migrate pages of": lambda w: arrives(w, "migrate_pages", w["target"], 0, 0, 0),
        "measure": lambda w: arrives(w, "perf_event_open", 0, w["target"], -1, -1, 0),
        "advise the memory of": lambda w: call(w, "process_madvise", os.pidfd_open(w["target"]), there, 1, 20, 0) >= 0,
        "read the lock list of": lambda w: _lock_list(w["numbers"].get("get_robust_list"), w["target"]),
    }


def _lock_list(number: int, pid: int) -> bool:
    head, size = ctypes.c_size_t(), ctypes.c_size_t()
    return LIBC.syscall(number, pid, ctypes.byref(head), ctypes.byref(size)) == 0


for who in ("keeper", "victim"):
    for name, function in _calls(who).items():
        attempt(f"{name} the {who}")(_of(who, function))


def _on_victim(name: str, function: Try) -> None:
    attempt(f"{name} the victim", outside=True)(_of("victim", function))


_on_victim("signal", lambda w: os.kill(w["victim"], 0) is None)
_on_victim("signal by its descriptor", lambda w: signal.pidfd_send_signal(os.pidfd_open(w["victim"]), 0) is None)
_on_victim("signal the group of", lambda w: os.killpg(os.getpgid(w["victim"]), 0) is None)
_on_victim("signal the thread of", lambda w: call(w, "tgkill", w["victim"], w["victim"], 0) == 0)
_on_victim(
    "limit", lambda w: resource.prlimit(w["victim"], resource.RLIMIT_CORE, resource.prlimit(w["victim"], 4)) or True
)
_on_victim("slow down", lambda w: os.setpriority(os.PRIO_PROCESS, w["victim"], 19) is None)
_on_victim("pin to a processor", lambda w: os.sched_setaffinity(w["victim"], {0}) is None)
_on_victim("schedule", lambda w: os.sched_setscheduler(w["victim"], os.SCHED_BATCH, os.sched_param(0)) is None)
_on_victim("change the disk priority of", lambda w: call(w, "ioprio_set", 1, w["victim"], 0x6000) == 0)


@attempt("slow down all processes of the user", levels=("landlock",))
def _(_: Wishes) -> object:
    return os.setpriority(os.PRIO_USER, os.getuid(), 5) is None


@attempt("have the kernel signal the victim")
def _(w: Wishes) -> object:
    import fcntl
    import socket

    if not is_victim(w):
        return False
    one, other = socket.socketpair()
    fcntl.fcntl(one, fcntl.F_SETOWN, w["victim"])
    fcntl.fcntl(one, 10, signal.SIGCONT)  # F_SETSIG
    fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC)
    other.send(b"x")
    with open(f"/proc/{w['victim']}/status") as file:
        return "State:\tZ" in file.read() or not is_victim(w)


@attempt("see a process outside", levels=("bubblewrap",), outside=True)
def _(w: Wishes) -> object:
    return is_victim(w)


# ── shared objects ───────────────────────────────────────────────────────────────────────


@attempt("use shared memory of the user", outside=True)
def _(w: Wishes) -> object:
    return LIBC.shmget(w["key"], 0, 0) >= 0


@attempt("use semaphores of the user", outside=True)
def _(w: Wishes) -> object:
    return LIBC.semget(w["key"], 0, 0) >= 0


@attempt("use a message queue of the user", outside=True)
def _(w: Wishes) -> object:
    return LIBC.msgget(w["key"], 0) >= 0


@attempt("remove shared memory of the user by its number")
def _(w: Wishes) -> object:
    return LIBC.shmctl(w["segment"], 2, ctypes.create_string_buffer(256)) == 0


@attempt("open a named queue of the user", outside=True)
def _(w: Wishes) -> object:
    return LIBC.syscall(w["numbers"]["mq_open"], os.fsencode(w["queue"]), os.O_RDONLY, 0, 0) >= 0


@attempt("open shared memory with a name", outside=True)
def _(w: Wishes) -> object:
    return opens(f"/dev/shm/{w['queue']}", os.O_RDWR)


# ── rights and limits ────────────────────────────────────────────────────────────────────


@attempt("take all capabilities")
def _(_: Wishes) -> object:
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    return LIBC.capset(header, (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)) == 0


@attempt("raise an ambient capability")
def _(_: Wishes) -> object:
    return LIBC.prctl(47, 2, 21, 0, 0) == 0


@attempt("have a capability")
def _(_: Wishes) -> object:
    with open("/proc/self/status") as file:
        caps = [line.split()[1] for line in file if line.startswith(("CapInh", "CapPrm", "CapEff", "CapAmb"))]
    return any(int(cap, 16) for cap in caps)


@attempt("become another user")
def _(_: Wishes) -> object:
    return os.setresuid(12345, 12345, 12345) is None


@attempt("become another group")
def _(_: Wishes) -> object:
    return os.setresgid(12345, 12345, 12345) is None


@attempt("join other groups")
def _(_: Wishes) -> object:
    return os.setgroups([0, 4, 6, 27]) is None


@attempt("permit itself new rights")
def _(_: Wishes) -> object:
    return LIBC.prctl(38, 0, 0, 0, 0) == 0


@attempt("become faster than others")
def _(_: Wishes) -> object:
    return os.setpriority(os.PRIO_PROCESS, 0, -20) is None


@attempt("become a real-time process")
def _(_: Wishes) -> object:
    return os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)) is None


for kind in ("NOFILE", "MEMLOCK", "NPROC", "RTPRIO", "MSGQUEUE", "NICE"):

    def _raise(_: Wishes, kind: str = kind) -> object:
        number = getattr(resource, f"RLIMIT_{kind}")
        hard = resource.getrlimit(number)[1]
        if hard == resource.RLIM_INFINITY:
            return False
        try:
            return resource.setrlimit(number, (hard + 1, hard + 1)) is None
        except ValueError:  # how Python reports the refusal
            return False

    attempt(f"raise the limit {kind}")(_raise)


@attempt("write into its own input")
def _(_: Wishes) -> object:
    return os.write(0, b"x" * 4096)


@attempt("grow its own input")
def _(_: Wishes) -> object:
    return os.ftruncate(0, 1 << 30) is None


@attempt("have more descriptors than its three streams")
def _(w: Wishes) -> object:
    return w["more_descriptors"]


for folder in ("/tmp", "/dev/shm", "~"):

    def _fill(w: Wishes, folder: str = folder) -> object:
        path = os.path.join(os.path.expanduser(folder), "large")
        block = bytes(1 << 20)
        with open(path, "wb", buffering=0) as file:
            for _ in range(4 * w["tmp_mb"]):
                file.write(block)
        return True

    attempt(f"fill {folder}", levels=("bubblewrap",))(_fill)

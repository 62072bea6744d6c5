"""Attempts on the kernel: mounts, namespaces, devices, settings below /proc and /sys, sockets."""

import ctypes
import errno
import os
import socket
import stat

from tests.security.escape.table import LIBC, Try, Wishes, arrives, attempt, call, each, opens, walk_all

# ── system calls ─────────────────────────────────────────────────────────────────────────

# With arguments that the kernel refuses after its check of rights.
_CALLS: dict[str, tuple[object, ...]] = {
    "mount": (b"none", b"/no/such/folder", b"tmpfs", 0, 0),
    "umount2": (b"/no/such/folder", 0),
    "pivot_root": (b"/no/such/folder", b"/no/such/folder"),
    "chroot": (b"/no/such/folder",),
    "open_tree": (-100, b"/", 1),
    "move_mount": (-1, b"", -1, b"", 0),
    "fsopen": (b"tmpfs", 0),
    "fsconfig": (-1, 0, 0, 0, 0),
    "fsmount": (-1, 0, 0),
    "fspick": (-100, b"/no/such/folder", 0),
    "mount_setattr": (-1, b"", 0, 0, 0),
    "setns": (-1, 0),
    "swapon": (b"/no/such/file", 0),
    "swapoff": (b"/no/such/file",),
    "reboot": (0, 0, 0, 0),
    "kexec_load": (0, -1, 0, 0xFFFF0000),
    "kexec_file_load": (-1, -1, 0, 0, 0xFFFF),
    "init_module": (0, 0, 0),
    "finit_module": (-1, b"", 0xFFFF),
    "delete_module": (b"no such module", 0),
    "acct": (b"/no/such/file",),
    "iopl": (7,),
    "ioperm": (0, -1, 1),
    "settimeofday": (1, 1),
    "clock_settime": (0, 1),
    "clock_adjtime": (0, 1),
    "sethostname": (1, 4096),
    "setdomainname": (1, 4096),
    "vhangup": (),
    "quotactl": (-1, 0, 0, 0),
    "quotactl_fd": (-1, 0, 0, 0),
    "syslog": (99, 0, 0),
    "bpf": (0, 0, 0),
    "perf_event_open": (0, 0, -1, -1, 0),
    "keyctl": (0, -3, 1),
    "add_key": (b"user", b"interlock-test", b"x", 1, -2),
    "request_key": (b"user", b"interlock-test", 0, 0),
    "userfaultfd": (0x800000,),
    "fanotify_init": (0, 0),
    "lookup_dcookie": (0, 0, 0),
    "modify_ldt": (0, 0, 0),
    "io_uring_setup": (1, 0),
    "io_uring_enter": (-1, 0, 0, 0, 0, 0),
    "io_uring_register": (-1, 0, 0, 0),
    "nfsservctl": (0, 0, 0),
}
for name, arguments in _CALLS.items():
    attempt(f"call {name}")(lambda w, name=name, arguments=arguments: arrives(w, name, *arguments))

_NAMESPACES = {
    "mount": 0x20000,
    "cgroup": 0x2000000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
    "time": 0x80,
}


def _clones(flag: int) -> Try:
    def run(w: Wishes) -> object:
        pid = call(w, "clone", flag | 17, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        return True

    return run


for name, flag in _NAMESPACES.items():
    attempt(f"unshare a {name} namespace")(lambda w, flag=flag: call(w, "unshare", flag) == 0)
    if name != "time":
        attempt(f"clone into a {name} namespace")(_clones(flag))


@attempt("clone into a user namespace by a structure")
def _(w: Wishes) -> object:
    arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
    pid = call(w, "clone3", arguments, 88)
    if pid == 0:
        os._exit(0)
    return True


@attempt("unshare a user namespace from a thread")
def _(w: Wishes) -> object:
    import threading

    done: list[bool] = []
    thread = threading.Thread(target=lambda: done.append(arrives(w, "unshare", 0x10000000)))
    thread.start()
    thread.join()
    return done[0]


each(
    ("user", "mnt", "net", "pid", "ipc", "uts", "cgroup"),
    "join the {} namespace of the keeper",
    lambda name: lambda w: call(w, "setns", os.open(f"/proc/{w['keeper']}/ns/{name}", os.O_RDONLY), 0) == 0,
)

# ── devices ──────────────────────────────────────────────────────────────────────────────

each(
    (
        *("mem", "kmem", "port", "kmsg", "sda", "vda", "nvme0n1", "loop-control", "loop0", "fuse", "kvm", "net/tun"),
        *(
            "uinput",
            "input/event0",
            "dri/card0",
            "userfaultfd",
            "vhost-net",
            "vhost-vsock",
            "cpu/0/msr",
            "nvram",
            "rtc0",
        ),
        *(
            "mapper/control",
            "btrfs-control",
            "vsock",
            "autofs",
            "tty0",
            "tty1",
            "ttyS0",
            "hwrng",
            "vcs",
            "fb0",
            "console",
        ),
    ),
    "open the device {}",
    lambda name: lambda _: opens(f"/dev/{name}", os.O_RDWR | os.O_NOCTTY),
)
_NODES = {"memory": (stat.S_IFCHR, 1, 1), "kernel log": (stat.S_IFCHR, 1, 11), "disk": (stat.S_IFBLK, 8, 0)}
for name, (kind, major, minor) in _NODES.items():

    def _node(
        _: Wishes, path: str = f"node of {name}", kind: int = kind, device: int = os.makedev(major, minor)
    ) -> object:
        os.mknod(path, kind | 0o600, device)
        return opens(path)

    attempt(f"make a device: {name}")(_node)


def _types(number: int) -> Try:
    def run(_: Wishes) -> object:
        result = LIBC.ioctl(_terminal(), number, ctypes.c_char_p(b"x"))
        return result >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.EACCES)

    return run


def _terminal() -> int:
    try:
        return os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return os.openpty()[1]  # its own; the call is refused for every terminal


attempt("type into a terminal")(_types(0x5412))
attempt("paste into a terminal")(_types(0x541C))

# ── settings ─────────────────────────────────────────────────────────────────────────────

each(
    (
        *(
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/modprobe",
            "/proc/sys/kernel/sysrq",
            "/proc/sysrq-trigger",
        ),
        *("/proc/sys/kernel/hostname", "/proc/sys/kernel/ns_last_pid", "/proc/sys/kernel/randomize_va_space"),
        *("/proc/sys/fs/binfmt_misc/register", "/proc/sys/fs/suid_dumpable", "/proc/sys/fs/protected_hardlinks"),
        *("/proc/sys/vm/drop_caches", "/proc/sys/vm/overcommit_memory", "/proc/sys/net/ipv4/ip_forward"),
        *("/proc/sys/kernel/unprivileged_bpf_disabled", "/proc/sys/user/max_user_namespaces", "/proc/mtrr"),
        *("/proc/irq/default_smp_affinity", "/proc/scsi/scsi", "/proc/acpi/wakeup", "/proc/pressure/cpu"),
        *(
            "/proc/1/oom_score_adj",
            "/proc/self/uid_map",
            "/proc/self/setgroups",
            "/proc/self/mem",
            "/proc/self/loginuid",
        ),
        *("/proc/self/attr/exec", "/proc/thread-self/attr/current", "/sys/kernel/uevent_helper", "/sys/power/state"),
        *("/sys/kernel/mm/transparent_hugepage/enabled", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/tasks"),
        *("/sys/kernel/debug/sched/debug", "/sys/kernel/tracing/trace_marker", "/sys/module/kernel/parameters/panic"),
        *("/sys/firmware/efi/vars", "/sys/devices/system/cpu/cpu0/online", "/sys/kernel/profiling"),
    ),
    "open for writing: {}",
    lambda path: lambda _: opens(path, os.O_WRONLY),
)
each(
    (
        *("kcore", "kmsg", "kpageflags", "kpagecount", "kpagecgroup", "keys", "timer_list", "slabinfo", "vmallocinfo"),
        *("pagetypeinfo", "sched_debug", "latency_stats", "kallsyms", "key-users"),
    ),
    "read /proc/{}",
    lambda name: lambda w: (w["root"] or name not in ("keys", "key-users", "kallsyms")) and opens(f"/proc/{name}"),
    levels=("bubblewrap",),
)
each(
    ("kcore", "kmsg", "sysrq-trigger"),
    "read /proc/{} without namespaces",
    lambda name: lambda _: opens(f"/proc/{name}"),
    levels=("landlock",),
)


@attempt("make a control group")
def _(_: Wishes) -> object:
    os.mkdir("/sys/fs/cgroup/interlock-test")
    return True


@attempt("see the devices of the machine", levels=("bubblewrap",))
def _(_: Wishes) -> object:
    return os.listdir("/sys")


def writable_below(*roots: str) -> list[str]:
    """All files that open for writing, but for the streams of this job: its own processes have them open anyway."""
    own = tuple(f"/proc/{pid}/" for pid in (os.getpid(), os.getppid()))
    found: list[str] = []
    for path in walk_all(*roots):
        if path.startswith(own) and path.split("/")[-2] == "fd":
            continue
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC))
        except OSError:
            continue
        found.append(path)
    return found


@attempt("open any file below /proc for writing")
def _(_: Wishes) -> object:
    if found := writable_below("/proc"):
        raise AssertionError(found[:20])


@attempt("open any file below /sys for writing")
def _(w: Wishes) -> object:
    def is_open(path: str) -> bool:
        try:
            return opens(path, os.O_WRONLY)
        except OSError:
            return False

    return writable_below("/sys") or [path for path in w["settings"] if is_open(path)]


# ── sockets ──────────────────────────────────────────────────────────────────────────────


def _connects(family: int, kind: int, address: Try) -> Try:
    def run(w: Wishes) -> object:
        with socket.socket(family, kind) as talk:
            talk.settimeout(3)
            talk.connect(address(w))  # pyright: ignore[reportArgumentType]  an address of this family
        return True

    return run


_UNIX = socket.AF_UNIX
attempt("connect by TCP", outside=True)(
    _connects(socket.AF_INET, socket.SOCK_STREAM, lambda w: ("127.0.0.1", w["tcp"]))
)
attempt("connect by TCP to all addresses", outside=True)(
    _connects(socket.AF_INET, socket.SOCK_STREAM, lambda w: ("0.0.0.0", w["tcp"]))
)
attempt("connect by TCP of version 6")(_connects(socket.AF_INET6, socket.SOCK_STREAM, lambda w: ("::1", w["tcp6"])))
attempt("connect to a socket with a path", outside=True)(
    _connects(_UNIX, socket.SOCK_STREAM, lambda w: f"{w['outside']}/server.sock")
)
attempt("connect to datagrams with a path", outside=True)(
    _connects(_UNIX, socket.SOCK_DGRAM, lambda w: f"{w['outside']}/datagrams.sock")
)
attempt("connect to an abstract socket", outside=True)(
    _connects(_UNIX, socket.SOCK_STREAM, lambda w: f"\0{w['marker']}")
)
attempt("connect to abstract datagrams", outside=True)(
    _connects(_UNIX, socket.SOCK_DGRAM, lambda w: f"\0{w['marker']}-d")
)


@attempt("send from a pair to an abstract socket", outside=True)
def _(w: Wishes) -> object:
    one, _ = socket.socketpair(_UNIX, socket.SOCK_DGRAM)
    return one.sendto(b"x", f"\0{w['marker']}-d")


@attempt("send from a pair to a socket with a path", outside=True)
def _(w: Wishes) -> object:
    one, _ = socket.socketpair(_UNIX, socket.SOCK_DGRAM)
    return one.sendto(b"x", f"{w['outside']}/datagrams.sock")


@attempt("send datagrams by UDP", levels=("landlock",))
def _(w: Wishes) -> object:
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", w["tcp"]))


_FAMILIES = {
    "packet": 17,
    "key": 15,
    "bluetooth": 31,
    "vsock": 40,
    "alg": 38,
    "xdp": 44,
    "can": 29,
    "tipc": 30,
    "rds": 21,
    "nfc": 39,
    "qipcrtr": 42,
    "smc": 43,
    "kcm": 41,
    "ax25": 3,
    "ipx": 4,
    "appletalk": 5,
    "llc": 26,
    "pppox": 24,
}
for name, family in _FAMILIES.items():
    attempt(f"make a socket of the family {name}")(
        lambda _, family=family: any(_makes(family, kind) for kind in (1, 2, 3, 5))
    )


def _makes(family: int, kind: int) -> bool:
    try:
        socket.socket(family, kind, 0).close()
    except OSError as error:
        # The kernel did not refuse the family, only this kind of socket.
        return error.errno not in (errno.EAFNOSUPPORT, errno.EPERM, errno.EACCES)
    return True


each(
    ("ICMP", "TCP", "UDP", "RAW"),
    "make a raw socket for {}",
    lambda name: lambda _: socket.socket(socket.AF_INET, socket.SOCK_RAW, getattr(socket, f"IPPROTO_{name}")),
)


def _netlink(kind: int, message: int, body: bytes) -> bytes:
    import struct

    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, kind) as talk:
        talk.settimeout(3)
        talk.bind((0, 0))
        talk.send(struct.pack("=IHHII", 16 + len(body), message, 0x301, 1, 0) + body)
        return talk.recv(1 << 16)


@attempt("see the interfaces of the machine", levels=("landlock",))
def _(_: Wishes) -> object:
    return _netlink(0, 18, b"\0" * 16)


@attempt("see an interface of the machine", levels=("bubblewrap",))
def _(_: Wishes) -> object:
    return [name for _, name in socket.if_nameindex() if name != "lo"]


@attempt("see a listening socket of the machine")
def _(w: Wishes) -> object:
    import struct

    body = struct.pack("=BBBBI", socket.AF_INET, socket.IPPROTO_TCP, 0, 0, 0xFFF) + bytes(48)
    return struct.pack("!H", w["tcp"]) in _netlink(4, 20, body)


@attempt("hear about processes outside")
def _(_: Wishes) -> object:
    import struct

    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 11) as talk:
        talk.settimeout(0.5)
        talk.bind((0, 1))
        listen = struct.pack("=IIIIHHI", 1, 1, 0, 0, 4, 0, 1)
        talk.send(struct.pack("=IHHII", 16 + len(listen), 3, 0, 0, os.getpid()) + listen)
        if (child := os.fork()) == 0:
            os._exit(0)
        os.waitpid(child, 0)
        return talk.recv(4096) and talk.recv(4096)


@attempt("write to the audit log")
def _(_: Wishes) -> object:
    import struct

    answer = _netlink(9, 1005, b"interlock-test\0\0")
    return struct.unpack_from("=i", answer, 16)[0] == 0

"""Builds the seccomp filter (classic BPF) that blocks system calls of a command.

Both levels use the same builder. With bubblewrap a command has its own namespaces, so most calls reach only its own
objects. With Landlock it shares the host's namespaces, so more calls are blocked. A filter sees numbers, not memory: a
call whose relevant argument is behind a pointer (`clone3`, io_uring) is blocked as a whole with ENOSYS, and libraries
fall back to an older call.
"""

import errno
import platform
import struct

from msgspec import Struct

_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000

_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, …CGROUP, …UTS, …IPC, …USER, …PID, …NET
_NEW_TIME = 0x80
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # inject input into the terminal
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_NETLINK_ROUTE = 0
_STREAM, _SEQPACKET = 1, 5
_PRIO_USER = 2
_SET_UID = 0o4000  # not setgid: shared folders have it, and chmod keeps it
_MAKING = 0o100 | 0o20000000  # O_CREAT, O_TMPFILE

# Numbers for x86-64 and arm64; None if the call does not exist.
_Numbers = dict[str, tuple[int | None, int | None]]
_REFUSED: _Numbers = {
    # inspecting or impersonating another process
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # keyrings and large kernel interfaces
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    "syslog": (103, 116),
    "modify_ldt": (154, None),
    # mounts
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "setns": (308, 268),
    # the machine itself
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "acct": (163, 89),
    "iopl": (172, None),
    "ioperm": (173, None),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    "nfsservctl": (180, 42),
}
_NOT_IMPLEMENTED: _Numbers = {
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "openat2": (437, 437),  # the mode of a new file is behind a pointer
}
# A watch tells the names of files that a command without namespaces may not list.
_WATCHES: _Numbers = {
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
}
# A command without namespaces could change the attributes and access lists of files that it may not open.
_ATTRIBUTES: _Numbers = {
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
}
# The argument with the mode. A file with the bit setuid gives its owner's rights to others, also after the job.
_MODES: dict[str, int] = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2}
_OPENING: dict[str, int] = {"open": 1, "openat": 2}  # the argument with the flags; the mode follows
# Named objects that all processes of a user share without an IPC namespace.
_SHARED: _Numbers = {
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
# Calls that act on any process of the user; 0 is the caller.
_ON_ITSELF_ONLY: _Numbers = {
    "prlimit64": (302, 261),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
}
_OTHERS: _Numbers = {
    "clone": (56, 220),
    "unshare": (272, 97),
    "ioctl": (16, 29),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "creat": (85, None),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "open": (2, None),
    "openat": (257, 56),
}


class Machine(Struct, frozen=True):
    audit: int  # AUDIT_ARCH_… values
    column: int
    second_abi: bool = False  # x32: the same architecture with other call numbers


MACHINES = {"x86_64": Machine(0xC000003E, 0, True), "aarch64": Machine(0xC00000B7, 1)}


def numbers(machine: str) -> dict[str, int]:
    """All calls of the filter, by name."""
    column = MACHINES[machine].column
    tables = (_REFUSED, _NOT_IMPLEMENTED, _WATCHES, _ATTRIBUTES, _SHARED, _ON_ITSELF_ONLY, _OTHERS)
    return {name: n for table in tables for name, both in table.items() if (n := both[column]) is not None}


def program(*, shared: bool, network: bool, machine: str = "") -> bytes | None:
    """The filter; None for an unsupported architecture. `shared`: the command has no namespaces of its own."""
    machine = machine or platform.machine()
    if machine not in MACHINES:
        return None
    known = numbers(machine)
    refused, missing = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
    code = [_test(_EQUAL, MACHINES[machine].audit, 1, 0), _return(_KILL)]
    code = [_load(_ARCHITECTURE), *code, _load(_NUMBER)]
    if MACHINES[machine].second_abi:
        code += [_test(_AT_LEAST, _X32, 0, 1), _return(_KILL)]

    def on(name: str, *block: bytes) -> None:
        code.extend((_test(_EQUAL, known[name], 0, len(block)), *block))

    for name in filter(known.get, _REFUSED):
        on(name, _return(refused))
    for name in _NOT_IMPLEMENTED:
        on(name, _return(missing))
    on("clone", *_if_any_bit(0, _NEW_NAMESPACES, refused))
    on("unshare", *_if_any_bit(0, _NEW_NAMESPACES | _NEW_TIME, refused))
    on("ioctl", *_if_one_of(1, (_TIOCSTI, _TIOCLINUX), refused))
    on("socket", *_sockets(shared=shared, network=network))
    for name in filter(known.get, _MODES):
        on(name, *_if_any_bit(_MODES[name], _SET_UID, refused))
    for name in filter(known.get, _OPENING):
        on(name, *_if_made_with(_OPENING[name], _SET_UID, refused))
    if shared or network:
        on("socketpair", *_connected_pairs(refused))
    if shared:
        for name in filter(known.get, _WATCHES):
            on(name, _return(missing))
        for name in _ATTRIBUTES:
            on(name, _return(_ERRNO | errno.EOPNOTSUPP))
        for name in _SHARED:
            on(name, _return(refused))
        for name in _ON_ITSELF_ONLY:
            on(name, *_unless_one_of(0, (0,), refused))
        on("setpriority", *_on_own_processes(refused))
        on("ioprio_set", *_unless_one_of(1, (0,), refused))
    return b"".join((*code, _return(_ALLOW)))


def _sockets(*, shared: bool, network: bool) -> tuple[bytes, ...]:
    """Allows only needed socket families: vsock, packet, bluetooth, AF_ALG … have no namespace, or known holes.

    Abstract Unix sockets reach as far as the network namespace: with the host's network they are blocked.
    """
    other = _ERRNO | errno.EAFNOSUPPORT
    if not network:
        return (_return(other),) if shared else _unless_one_of(0, (_UNIX, _INET, _INET6, _NETLINK), other)
    return (*_only_routes(_ERRNO | errno.EPROTONOSUPPORT), *_unless_one_of(0, (_INET, _INET6, _NETLINK), other))


def _only_routes(other: int) -> tuple[bytes, ...]:
    """In the host's network, netlink tells about sockets, devices and processes of others; names need only routes."""
    is_netlink = (_load(_argument(0)), _test(_EQUAL, _NETLINK, 0, 3))
    return (*is_netlink, _load(_argument(2)), _test(_EQUAL, _NETLINK_ROUTE, 1, 0), _return(other))


def _connected_pairs(refused: int) -> tuple[bytes, ...]:
    """A datagram socket pair can send to any other socket of the machine, also by abstract name; these types cannot."""
    kinds = (_load(_argument(1)), struct.pack("=HBBI", _AND, 0, 0, 0xF))
    return (*kinds, _test(_EQUAL, _STREAM, 2, 0), _test(_EQUAL, _SEQPACKET, 1, 0), _return(refused), _return(_ALLOW))


def _on_own_processes(refused: int) -> tuple[bytes, ...]:
    own = _unless_one_of(1, (0,), refused)
    return (_load(_argument(0)), _test(_EQUAL, _PRIO_USER, 0, 1), _return(refused), *own)


def _if_any_bit(argument: int, bits: int, answer: int) -> tuple[bytes, ...]:
    return (_load(_argument(argument)), _test(_ANY_BIT, bits, 0, 1), _return(answer), _return(_ALLOW))


def _if_made_with(flags: int, bits: int, answer: int) -> tuple[bytes, ...]:
    """For a call that may make a file; without these flags the argument after them has no meaning."""
    made = _if_any_bit(flags + 1, bits, answer)
    return (_load(_argument(flags)), _test(_ANY_BIT, _MAKING, 1, 0), _return(_ALLOW), *made)


def _if_one_of(argument: int, values: tuple[int, ...], answer: int) -> tuple[bytes, ...]:
    tests = [_test(_EQUAL, value, len(values) - n, 0) for n, value in enumerate(values)]
    return (_load(_argument(argument)), *tests, _return(_ALLOW), _return(answer))


def _unless_one_of(argument: int, values: tuple[int, ...], answer: int) -> tuple[bytes, ...]:
    tests = [_test(_EQUAL, value, len(values) - n, 0) for n, value in enumerate(values)]
    return (_load(_argument(argument)), *tests, _return(answer), _return(_ALLOW))


def _argument(number: int) -> int:
    """The lower 32 bits of an argument: all these arguments are ints."""
    return _ARGUMENTS + 8 * number


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", _LOAD, 0, 0, offset)


def _test(operation: int, value: int, then: int, otherwise: int) -> bytes:
    return struct.pack("=HBBI", operation, then, otherwise, value)


def _return(answer: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, answer)

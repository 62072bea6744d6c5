"""Starts a command with reduced rights: Landlock, seccomp, no capabilities, resource limits.

The keeper (keeper.py) imports this file alone, in an interpreter without Interlock. A fork of the small keeper process
drops its own rights and becomes the command. The keeper stays outside, adopts orphans of the command and kills them.
"""

import ctypes
import errno
import os
import resource
import stat
import struct

TYPE_CHECKING = False  # importing `typing` would cost time
if TYPE_CHECKING:
    from collections.abc import Callable

ABI = 6
"""The oldest sufficient version of Landlock. With an older one a command could signal any process of the user: it
could kill its keeper and survive, or end Interlock."""

FEWEST_FILES = 256  # a keeper has some descriptors itself, with high numbers
LEAST_MEMORY_MB = 64  # and needs some more

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_CLOSE_RANGE, _WHEN_IT_EXECS = 436, 4
_OPENAT2, _AT_FDCWD, _NO_SYMLINKS = 437, -100, 0x04
_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS, _SECCOMP, _CAPBSET_DROP, _CAP_AMBIENT, _DUMPABLE = 38, 22, 24, 47, 4
_FILTER, _CLEAR_ALL = 2, 4
_CAPABILITY_VERSION_3 = 0x20080522
_MOST_CAPABILITIES = 64
_DEFAULT_PATH = b"/usr/local/bin:/usr/bin:/bin"

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_EVERYTHING = (1 << 16) - 1
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1

RIGHTS = {
    b"read": _EXECUTE | _READ_FILE | _READ_DIR,
    b"write": _EVERYTHING & ~(_MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEV),
    b"device": _READ_FILE | _WRITE_FILE | _IOCTL_DEV,
    b"list": _READ_DIR,
}

_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of Landlock in this kernel; 0 without Landlock."""
    return max(0, _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION)))


def spawn(
    cwd: bytes,
    argv: list[bytes],
    env: dict[bytes, bytes],
    signals: list[int],
    streams: list[int],
    rules: list[bytes],
    before: "Callable[[], None]",
) -> int | str:
    """The pid of the confined command, or an error text. A rule is a right with a path, `network`, or the filter.

    `before` is called in the process that becomes the command.
    """
    said, saying = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            before()
            _exec_confined(cwd, argv, env, signals, streams, rules)
        except BaseException as error:  # noqa: BLE001  whatever it is, this must not go on as a second keeper
            os.write(saying, (str(error) or type(error).__name__).encode()[:4000])
        finally:
            os._exit(127)
    os.close(saying)
    problem = b""
    while part := os.read(said, 4096):
        problem += part
    os.close(said)
    if not problem:
        return pid
    os.waitpid(pid, 0)
    return problem.decode(errors="replace")


def _exec_confined(
    cwd: bytes,
    argv: list[bytes],
    env: dict[bytes, bytes],
    signals: list[int],
    streams: list[int],
    rules: list[bytes],
) -> None:
    import signal

    for number, stream in enumerate(streams[:3]):
        os.dup2(stream, number)
    _check_call(_libc.syscall(_CLOSE_RANGE, 3, ctypes.c_uint32(0xFFFFFFFF), _WHEN_IT_EXECS), "keep descriptors")
    os.setsid()
    for number in signals:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        os.chdir(cwd)
    except OSError as error:
        raise OSError(f"cannot enter {cwd.decode(errors='replace')}: {error.strerror}") from error
    _drop_capabilities()
    _check_call(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "gain no rights")
    _landlock([rule for rule in rules if not rule.startswith(b"filter ")], network=b"network" in rules)
    for rule in rules:
        if rule.startswith(b"filter "):
            _seccomp(bytes.fromhex(rule[7:].decode()))
    _exec(argv, env)


def _landlock(rules: list[bytes], *, network: bool) -> None:
    # Handled rights are denied unless a rule grants them. Rights of newer versions are unknown and not handled.
    net = 0 if network else _BIND_TCP | _CONNECT_TCP
    attributes = struct.pack("=QQQ", _EVERYTHING, net, _ABSTRACT_SOCKETS | _SIGNALS)
    ruleset = _check_call(
        _libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0), "use Landlock"
    )
    for rule in rules:
        right, _, path = rule.partition(b" ")
        if path:
            _grant(ruleset, RIGHTS[right], path)
    _check_call(_libc.syscall(_RESTRICT_SELF, ruleset, 0), "use Landlock")
    os.close(ruleset)


def _grant(ruleset: int, rights: int, path: bytes) -> None:
    """Paths are resolved before, so a link in one was placed later: it is refused."""
    how = struct.pack("=QQQ", os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, 0, _NO_SYMLINKS)
    fd = _libc.syscall(_OPENAT2, _AT_FDCWD, path, how, ctypes.c_size_t(len(how)))
    if fd < 0 and ctypes.get_errno() == errno.ENOSYS:  # in a sandbox of another Interlock
        fd = _open_by_steps(path)
    if fd < 0 and ctypes.get_errno() == errno.ENOENT:
        return
    _check_call(fd, f"grant {path.decode(errors='replace')}")
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _OF_A_FILE
        if rights:
            rule = struct.pack("=Qi", rights, fd)
            _check_call(
                _libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), f"grant {path.decode(errors='replace')}"
            )
    finally:
        os.close(fd)


def _open_by_steps(path: bytes) -> int:
    """A descriptor of a path without links, or −1 with the error as a system call leaves it."""
    fd = os.open("/", os.O_PATH | os.O_CLOEXEC)
    for name in filter(None, path.split(b"/")):
        outer = fd
        try:
            fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=outer)
        except OSError as error:
            ctypes.set_errno(error.errno or errno.EIO)
            return -1
        finally:
            os.close(outer)
        if stat.S_ISLNK(os.fstat(fd).st_mode):
            os.close(fd)
            ctypes.set_errno(errno.ELOOP)
            return -1
    return fd


def _seccomp(program: bytes) -> None:
    text = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(text))
    _check_call(_libc.prctl(_SECCOMP, _FILTER, header, 0, 0), "filter system calls")


def _drop_capabilities() -> None:
    for number in range(_MOST_CAPABILITIES):
        if _libc.prctl(_CAPBSET_DROP, number, 0, 0, 0):  # beyond the last capability, or not permitted
            break
    _libc.prctl(_CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    header, none = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0), bytes(24)
    _check_call(_libc.capset(header, none), "drop capabilities")


def _exec(argv: list[bytes], env: dict[bytes, bytes]) -> None:
    name = argv[0]
    folders = [b""] if b"/" in name else env.get(b"PATH", _DEFAULT_PATH).split(b":")
    problem = "not found"
    for folder in folders:
        try:
            os.execve(folder + b"/" + name if folder else name, argv, env)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            problem = error.strerror or str(error)
    raise OSError(f"cannot run {name.decode(errors='replace')}: {problem}")


def _check_call(result: int, what: str) -> int:
    if result < 0:
        raise OSError(f"cannot {what}: {os.strerror(ctypes.get_errno())}")
    return result


def hide() -> None:
    """Makes this process non-dumpable: only root can read its memory, environment and descriptors."""
    _libc.prctl(_DUMPABLE, 0, 0, 0, 0)


def limit(memory_mb: int, open_files: int) -> None:
    """Limits per process, inherited by children. 0: unchanged."""
    # RLIMIT_DATA, not RLIMIT_AS: some runtimes reserve a terabyte of address space and use little.
    kinds = (
        (resource.RLIMIT_DATA, memory_mb << 20, LEAST_MEMORY_MB << 20),
        (resource.RLIMIT_NOFILE, open_files, FEWEST_FILES),
    )
    for kind, asked, least in kinds:
        if asked:
            most = max(asked, least)
            hard = resource.getrlimit(kind)[1]
            lower = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (lower, lower))

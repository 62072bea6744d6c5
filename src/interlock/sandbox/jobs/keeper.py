"""Starts one command, waits for it and reports how it ended. A separate program: `python -I -S <this file> DUTY …`.

`launcher CONTROL FOLDER`: writes its pid to CONTROL, stays, and forks a keeper for each job. The keeper adopts orphans
of its command (child subreaper) and kills them before it reports, also if Interlock itself is gone. So a job ends even
if Interlock dies while bwrap creates its namespace, when `--die-with-parent` of bwrap is not yet active. FOLDER
contains confine.py, overlay.py and space.py.

`inside REPORT SPEC`: the init of a bubblewrap namespace. bwrap reports only 128+n, so this writes one line to REPORT, a
descriptor, and then exits with the same number. The kernel carries the exit status to bwrap: no command can forge it.
The command has the same user, so this process first becomes non-dumpable: then the command can open neither its memory
nor its descriptors. Signals from inside do not reach an init that ignores them.

It imports nothing of Interlock, and for `inside` no module with Python code: 7 ms instead of 20.
"""

import posix
import sys

TYPE_CHECKING = False  # importing `typing` would cost time
if TYPE_CHECKING:
    import signal as _signal

    from interlock.sandbox.jobs import confine, overlay, space
else:
    import _signal

_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4
_UNCATCHABLE = (_signal.SIGKILL, _signal.SIGSTOP)
_DEFAULT_PATH = b"/usr/local/bin:/usr/bin:/bin"
_LIBC: str = None  # pyright: ignore[reportAssignmentType]  the program itself, with all it has loaded
_MOST_DESCRIPTORS = 64
_MOST_NUMBER = 1 << 30  # of a descriptor
_LONGEST_REPORT = 4000
_WATCH = b"watch "  # the rule with the temporary folder of the command
_OVERLAY = b"overlay "  # the rule with the folder of an overlay
_LOOK_MS = 50  # seconds between two counts of the processes

Command = tuple[bytes, list[bytes], dict[bytes, bytes]]  # directory, arguments, environment


def read_spec(fd: int) -> tuple[Command, list[int], list[bytes]]:
    """Parses the command, its limits (processes, memory, open files, temporary files; 0: none) and its Landlock rules.

    Fields are separated by NUL; lists begin with their length.
    """
    parts: list[bytes] = []
    while part := posix.read(fd, 1 << 20):
        parts.append(part)
    posix.close(fd)
    limits, cwd, *rest = b"".join(parts).split(b"\0")
    rules, rest = counted(rest)
    argv, pairs = counted(rest)
    env = dict(pair.split(b"=", 1) for pair in pairs)
    return (cwd, argv, env), list(map(int, limits.split())), rules  # pyright: ignore[reportReturnType]


def counted(fields: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """A list with its length in the first field, and the rest."""
    count = 1 + int(fields[0])
    return fields[1:count], fields[count:]


def ignore_signals() -> list[int]:
    """Ignores all signals: a script may call `kill -TERM -1`. Returns the signals to restore for the command."""
    ours: list[int] = []
    for number in range(1, _signal.NSIG):
        if number in _UNCATCHABLE:
            continue
        try:
            _signal.signal(number, _signal.SIG_DFL if number == _signal.SIGCHLD else _signal.SIG_IGN)
        except (OSError, ValueError):
            continue
        ours.append(number)
    return ours


def spawn(cwd: bytes, argv: list[bytes], env: dict[bytes, bytes], signals: list[int], streams: list[int]) -> int | str:
    """The pid of the command, or an error text."""
    try:
        posix.chdir(cwd)
    except OSError as error:
        return f"cannot enter {cwd.decode(errors='replace')}: {error.strerror}"
    name = argv[0]
    folders = [b""] if b"/" in name else env.get(b"PATH", _DEFAULT_PATH).split(b":")
    actions = [(posix.POSIX_SPAWN_DUP2, stream, number) for number, stream in enumerate(streams)]
    problem = "not found"
    for folder in folders:
        path = folder + b"/" + name if folder else name
        try:
            posix.stat(path)  # much cheaper than a fork that fails
            return posix.posix_spawn(
                path,
                argv,
                env,
                file_actions=actions,
                setpgroup=0,
                setsigmask=(),
                setsigdef=signals,
            )
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            problem = error.strerror or str(error)
    return f"cannot run {name.decode(errors='replace')}: {problem}"


def ending(status: int) -> tuple[int, str]:
    """The exit code and the report line of a wait status."""
    if posix.WIFSIGNALED(status):
        number = posix.WTERMSIG(status)
        return 128 + number, f"killed {number}"
    code = posix.WEXITSTATUS(status)
    return code, f"exited {code}"


def inside(report: int, spec: int) -> int:
    posix.set_inheritable(report, False)  # the command gets its three streams only
    signals = ignore_signals()
    command, (processes, *_), _ = read_spec(spec)
    limit_processes(processes)
    posix.closerange(3, report)
    posix.closerange(report + 1, _MOST_NUMBER)
    started = spawn(*command, signals, []) if hide() else "the process that watches over it cannot be protected"
    if isinstance(started, str):
        code, line = 127, f"error {started}"
    else:
        code, line = ending(reap(started))
    posix.write(report, line.encode()[:_LONGEST_REPORT])
    return code


def hide() -> bool:
    """Makes this process non-dumpable. `ctypes` itself would take longer to import than all the rest."""
    import _ctypes

    prctl = _ctypes.dlsym(_ctypes.dlopen(_LIBC, 0), "prctl")
    _ctypes.call_function(prctl, (_PR_SET_DUMPABLE, 0, 0, 0, 0))
    return _ctypes.call_function(prctl, (_PR_GET_DUMPABLE, 0, 0, 0, 0)) == 0


def reap(command: int) -> int:
    """Waits for the command, and meanwhile for the orphans that an init adopts; returns the command's wait status."""
    while True:
        pid, status = posix.waitpid(-1, 0)
        if pid == command:
            return status


def limit_processes(most: int) -> None:
    """A limit by the kernel, for all users but root. It counts all processes of the user, so the current ones are
    added; the keeper outside counts the job's own processes exactly.
    """
    import resource

    if not most:
        return
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    room = most + tasks()
    if hard == resource.RLIM_INFINITY or room < hard:
        resource.setrlimit(resource.RLIMIT_NPROC, (room, room))


def launcher(control_fd: int, folder: str) -> int:
    global confine, overlay, space
    import ctypes
    import fcntl
    import socket

    if pid := posix.fork():  # daemonise: no parent has to wait for this process
        posix.write(control_fd, str(pid).encode())
        return 0
    posix.setsid()
    ignore_signals()
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)  # keepers are reaped automatically
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    sys.path.append(folder)
    import confine
    import overlay
    import space

    confine.hide()
    control = socket.socket(fileno=control_fd)
    while True:
        _, fds, _, _ = socket.recv_fds(control, 1, _MOST_DESCRIPTORS)
        if not fds:
            return 0
        if posix.fork() == 0:
            control.close()
            signals = ignore_signals()
            prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            # Move away from the descriptor numbers of the command.
            keep(signals, *(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 2 * _MOST_DESCRIPTORS) for fd in fds))
            posix._exit(0)  # pyright: ignore[reportPrivateUsage]
        for fd in fds:
            posix.close(fd)


def keep(signals: list[int], line: int, spec: int, *streams: int) -> None:
    """Runs one job with `streams` as descriptors 0, 1, 2, … The report goes to `line`; when Interlock closes its side
    or dies, the job ends.
    """
    import select

    posix.closerange(3, 2 * _MOST_DESCRIPTORS)
    command, (processes, memory_mb, open_files, tmp_mb), rules = read_spec(spec)
    confine.limit(memory_mb, open_files)
    watched = [rule for rule in rules if rule.startswith(_WATCH)]
    area = space.Space(watched[0][len(_WATCH) :], tmp_mb) if watched and tmp_mb else None
    layers = [rule[len(_OVERLAY) :] for rule in rules if rule.startswith(_OVERLAY)]
    rules = [rule for rule in rules if rule not in watched and not rule.startswith(_OVERLAY)]
    if problem := "".join(map(overlay.mount, layers)):
        started = problem
    elif rules:
        started = confine.spawn(*command, signals, list(streams), rules, lambda: limit_processes(processes))
    else:
        started = spawn(*command, signals, list(streams))
    posix.chdir("/")  # keep no descriptor of the job
    for stream in streams:
        posix.close(stream)
    if isinstance(started, str):
        posix.write(line, f"error {started}".encode())
        return
    poll = select.poll()
    poll.register(line, select.POLLIN)
    poll.register(main := posix.pidfd_open(started), select.POLLIN)
    before = tasks()
    beyond = ""
    while not (ready := poll.poll(_LOOK_MS if processes or area else None)) and not beyond:
        before = min(before, now := tasks())
        if processes and now - before > processes and len(descendants()) > processes:
            beyond = f"limit {processes}"
        elif area and area.is_exceeded():
            beyond = f"space {tmp_mb}"
    if beyond:
        text = beyond
    elif any(fd == main for fd, _ in ready):
        text = ending(posix.waitpid(started, 0)[1])[1]
    else:
        text = "stopped"
    kill_descendants()
    for layer in layers:
        overlay.unmount(layer)
    posix.write(line, text.encode())


def tasks() -> int:
    """The number of threads on this machine: one cheap read; counting the job's own is expensive."""
    with open("/proc/loadavg", "rb") as file:
        return int(file.read().split()[3].partition(b"/")[2])


def descendants() -> set[int]:
    """All descendants. A process that is created or adopted meanwhile is seen the next time."""
    parents: dict[int, list[int]] = {}
    for pid in map(int, filter(str.isdigit, posix.listdir("/proc"))):
        parents.setdefault(parent_of(pid), []).append(pid)
    known: set[int] = set()
    waiting = [posix.getpid()]
    while waiting:
        young = parents.get(waiting.pop(), [])
        known.update(young)
        waiting += young
    return known


def kill_descendants() -> None:
    """Kills children until waitpid reports none: orphans become children of this process."""
    import select

    rounds = 0
    while True:
        alive = children()
        beyond = [pid for pid in alive if not kill(pid)]
        try:
            while posix.waitpid(-1, posix.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        if alive and alive == beyond:  # a process of another user, through sudo
            return
        rounds += 1
        if rounds > 500:  # a process is stuck in the kernel
            select.select([], [], [], 0.001)


def kill(pid: int) -> bool:
    try:
        posix.kill(pid, _signal.SIGKILL)
    except PermissionError:
        return False
    return True


def children() -> list[int]:
    me = posix.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children", "rb") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:  # a kernel without CONFIG_PROC_CHILDREN
        return [pid for pid in map(int, filter(str.isdigit, posix.listdir("/proc"))) if parent_of(pid) == me]


def parent_of(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


if __name__ == "__main__":
    posix.close(int(sys.argv[0].rpartition("/")[2]))  # this file, /proc/self/fd/N
    if sys.argv[1] == "inside":
        code = inside(int(sys.argv[2]), int(sys.argv[3]))
    else:
        code = launcher(int(sys.argv[2]), sys.argv[3])
    posix._exit(code)  # pyright: ignore[reportPrivateUsage]

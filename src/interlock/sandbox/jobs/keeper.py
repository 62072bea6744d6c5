"""Starts one command, waits for it, says how it ended. A program of its own: `python -I -S <this file> DUTY …`.

`launcher CONTROL FOLDER`: stays, and forks a keeper for each job it is sent. The keeper adopts whatever its command
leaves behind (child subreaper) and kills it before it reports, also when Interlock itself is gone: so a job has an end
even if Interlock dies while bwrap is just making its namespace, when bwrap's own `--die-with-parent` is not in force.
FOLDER holds confine.py.

`inside REPORT SPEC`: within a bubblewrap namespace, whose init only tells 128+n. Writes one line to descriptor REPORT,
then exits with the same number, so that a forged line is noticed: what counts as success is the exit status alone.

It imports nothing of Interlock, and for `inside` only what is built into the interpreter: that is 7 ms instead of 20.
"""

import posix
import sys

TYPE_CHECKING = False  # the one of `typing` costs its import
if TYPE_CHECKING:
    import signal as _signal

    from interlock.sandbox.jobs import confine
else:
    import _signal

_PR_SET_CHILD_SUBREAPER = 36
_UNCATCHABLE = (_signal.SIGKILL, _signal.SIGSTOP)
_DEFAULT_PATH = b"/usr/local/bin:/usr/bin:/bin"
_MOST_DESCRIPTORS = 64
_LOOK_MS = 50  # how often the number of processes is looked at

Command = tuple[bytes, list[bytes], dict[bytes, bytes]]  # directory, arguments, environment


def read_spec(fd: int) -> tuple[Command, list[int], list[bytes]]:
    """The command, its limits (processes, megabytes, open files; 0: none), how it is confined by Landlock if it is.

    All NUL-separated, and what there are several of is counted.
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
    """As many as the first field says, and the rest."""
    count = 1 + int(fields[0])
    return fields[1:count], fields[count:]


def stand_firm() -> list[int]:
    """Ignore every signal that can be: a script's `kill -TERM -1` is not for us. Returns what the command gets back."""
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
    """The command's pid, or why there is none."""
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
            posix.stat(path)  # much cheaper than a process that finds nothing
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
    """A wait status as an exit status and a line."""
    if posix.WIFSIGNALED(status):
        number = posix.WTERMSIG(status)
        return 128 + number, f"killed {number}"
    code = posix.WEXITSTATUS(status)
    return code, f"exited {code}"


def inside(report: int, spec: int) -> int:
    posix.set_inheritable(report, False)  # the command gets its three streams and nothing else
    signals = stand_firm()
    command, (processes, *_), _ = read_spec(spec)
    limit_processes(processes)
    started = spawn(*command, signals, [])
    if isinstance(started, str):
        code, line = 127, f"error {started}"
    else:
        code, line = ending(posix.waitpid(started, 0)[1])
    posix.write(report, line.encode())
    return code


def limit_processes(most: int) -> None:
    """A stop that the kernel sees to, for all but root. It counts all of the user's, so there is room for those of now;
    the keeper outside, which counts the job's own, is the exact one.
    """
    import resource

    if not most:
        return
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    room = most + tasks()
    if hard == resource.RLIM_INFINITY or room < hard:
        resource.setrlimit(resource.RLIMIT_NPROC, (room, room))


def launcher(control_fd: int, folder: str) -> int:
    global confine
    import ctypes
    import fcntl
    import socket

    if posix.fork():  # started as a child, at work as an orphan: nobody has to wait for us
        return 0
    posix.setsid()
    stand_firm()
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)  # keepers need no burial
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    sys.path.append(folder)
    import confine

    confine.hide()
    control = socket.socket(fileno=control_fd)
    while True:
        _, fds, _, _ = socket.recv_fds(control, 1, _MOST_DESCRIPTORS)
        if not fds:
            return 0
        if posix.fork() == 0:
            control.close()
            signals = stand_firm()
            prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            # Out of the way of the numbers that the command's own will have.
            keep(signals, *(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 2 * _MOST_DESCRIPTORS) for fd in fds))
            posix._exit(0)  # pyright: ignore[reportPrivateUsage]
        for fd in fds:
            posix.close(fd)


def keep(signals: list[int], line: int, spec: int, *streams: int) -> None:
    """One job, whose descriptors 0, 1, 2, … are `streams`. The report goes to `line`; when Interlock closes its side of
    that, or is gone, the job ends.
    """
    import select

    posix.closerange(3, 2 * _MOST_DESCRIPTORS)
    command, (processes, memory_mb, open_files), rules = read_spec(spec)
    confine.limit(memory_mb, open_files)
    if rules:
        started = confine.spawn(*command, signals, list(streams), rules, lambda: limit_processes(processes))
    else:
        started = spawn(*command, signals, list(streams))
    posix.chdir("/")  # hold on to nothing of the job's
    for stream in streams:
        posix.close(stream)
    if isinstance(started, str):
        posix.write(line, f"error {started}".encode())
        return
    poll = select.poll()
    poll.register(line, select.POLLIN)
    poll.register(main := posix.pidfd_open(started), select.POLLIN)
    before = tasks()
    while not (ready := poll.poll(_LOOK_MS if processes else None)):
        before = min(before, now := tasks())
        if now - before > processes and len(descendants()) > processes:
            break
    if not ready:
        text = f"limit {processes}"
    elif any(fd == main for fd, _ in ready):
        text = ending(posix.waitpid(started, 0)[1])[1]
    else:
        text = "stopped"
    kill_descendants()
    posix.write(line, text.encode())


def tasks() -> int:
    """How many threads there are on this machine: one cheap read, where counting a job's own is dear."""
    with open("/proc/loadavg", "rb") as file:
        return int(file.read().split()[3].partition(b"/")[2])


def descendants() -> set[int]:
    """All that descend from us. A process that is born or adopted meanwhile may be missed, and is seen next time."""
    parents: dict[int, list[int]] = {}
    for pid in map(int, filter(str.isdigit, posix.listdir("/proc"))):
        parents.setdefault(parent_of(pid), []).append(pid)
    found: set[int] = set()
    waiting = [posix.getpid()]
    while waiting:
        young = parents.get(waiting.pop(), [])
        found.update(young)
        waiting += young
    return found


def kill_descendants() -> None:
    """Kill children until there are none: orphans become ours. That waitpid knows of nobody is the proof."""
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
        if alive and alive == beyond:  # only what runs as another user, by sudo
            return
        rounds += 1
        if rounds > 500:  # something is stuck in the kernel, not merely quick
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
    posix.close(int(sys.argv[0].rpartition("/")[2]))  # this very text, /proc/self/fd/N
    if sys.argv[1] == "inside":
        code = inside(int(sys.argv[2]), int(sys.argv[3]))
    else:
        code = launcher(int(sys.argv[2]), sys.argv[3])
    posix._exit(code)  # pyright: ignore[reportPrivateUsage]

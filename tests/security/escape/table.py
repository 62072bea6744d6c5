"""The table of attempts to leave a sandbox, and the program that makes them inside one.

An attempt returns true if it succeeded. Files below /proc and /sys are opened and closed, never written. Calls that
could harm the machine get arguments that the kernel refuses after its check of rights.

Runs with any Python, without the packages of the project: `python main.py WISHES.json`.
"""

import contextlib
import ctypes
import errno
import json
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, NamedTuple

Wishes = dict[str, Any]
Try = Callable[[Wishes], object]
BOTH = ("bubblewrap", "landlock")
LIBC = ctypes.CDLL(None, use_errno=True)
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EAFNOSUPPORT)
SECONDS = 10


class Attempt(NamedTuple):
    run: Try
    scene: str  # `plain`: a folder for itself; `above`: a folder with projects in it
    levels: tuple[str, ...]
    outside: bool  # it succeeds without a sandbox, for every user
    effect: bool  # with a private /tmp only the effect outside counts, which the scene looks for


ATTEMPTS: dict[str, Attempt] = {}


def attempt(
    name: str,
    *,
    scene: str = "plain",
    levels: tuple[str, ...] = BOTH,
    outside: bool = False,
    effect: bool = False,
) -> Callable[[Try], Try]:
    def keep(function: Try) -> Try:
        if name in ATTEMPTS:
            raise ValueError(f"there are two attempts called {name!r}")
        ATTEMPTS[name] = Attempt(function, scene, levels, outside, effect)
        return function

    return keep


def each(names: Iterable[str], form: str, make: Callable[[str], Try], *, levels: tuple[str, ...] = BOTH) -> None:
    """An attempt for each of these names."""
    for name in names:
        attempt(form.format(name), levels=levels)(make(name))


def opens(path: str, flags: int = os.O_RDONLY) -> bool:
    os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC))
    return True


def reads(path: str) -> bool:
    with open(path, "rb") as file:
        return bool(file.read(64))


def contains_secret(path: str) -> bool:
    with open(path, "rb") as file:
        return b"secret" in file.read(4096)


def call(w: Wishes, name: str, *arguments: object) -> int:
    """The result of a system call; raises OSError."""
    number = w["numbers"].get(name)
    if number is None:
        raise OSError(errno.ENOSYS, f"there is no {name} on this machine")
    ctypes.set_errno(0)
    result = LIBC.syscall(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def arrives(w: Wishes, name: str, *arguments: object) -> bool:
    """True if the kernel did more with the call than refuse it: other errors mean that it looked at the arguments."""
    try:
        call(w, name, *arguments)
    except OSError as error:
        return error.errno not in REFUSALS
    return True


def is_victim(w: Wishes) -> bool:
    """The number of the victim is the victim's here, too; in a namespace it may be another process's."""
    with open(f"/proc/{w['victim']}/cmdline", "rb") as file:
        return w["marker"].encode() in file.read()


def outcome(function: Try, w: Wishes) -> str:
    """Runs an attempt in a process of its own: empty if it was refused, else how it succeeded."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        text = ""
        try:
            signal.alarm(SECONDS)
            if function(w):
                text = "succeeded"
        except OSError:
            pass
        except BaseException as error:  # noqa: BLE001  a mistake in an attempt must be seen
            text = f"broken: {type(error).__name__}: {error}"
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    text = b""
    while part := os.read(reader, 4096):
        text += part
    os.close(reader)
    os.waitpid(pid, 0)
    return text.decode()


def open_descriptors() -> list[int]:
    found: list[int] = []
    for number in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):
            os.fstat(number)  # the descriptor of the listing is closed again
            found.append(number)
    return found


def main() -> None:
    descriptors = open_descriptors()
    with open(sys.argv[1]) as file:
        w: Wishes = json.load(file)
    w["keeper"] = os.getppid()
    w["more_descriptors"] = sorted(descriptors) != [0, 1, 2]
    chosen = {
        name: one
        for name, one in ATTEMPTS.items()
        if one.scene == w["scene"] and (w["level"] in one.levels or (w["level"] == "off" and one.outside))
    }
    outcomes = {name: outcome(one.run, w) for name, one in chosen.items()}
    counted = {
        name: text for name, text in outcomes.items() if not (chosen[name].effect and w["level"] == "bubblewrap")
    }
    succeeded = {name: text for name, text in counted.items() if text}
    with open(w["answer"], "w") as file:
        json.dump({"tried": list(chosen), "succeeded": succeeded}, file)


def walk_all(*roots: str) -> Iterator[str]:
    for root in roots:
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if not os.path.islink(os.path.join(folder, name))]
            yield from (os.path.join(folder, name) for name in files)


@contextlib.contextmanager
def inside(folder: str) -> Generator[None]:
    before = os.open(".", os.O_RDONLY)
    os.chdir(folder)
    try:
        yield
    finally:
        os.fchdir(before)
        os.close(before)

"""Mounts an overlay in a namespace of its own: what a command writes to a folder goes to another one.

The keeper (keeper.py) imports this file alone, in an interpreter without Interlock. The mount exists only for the
keeper and its command, and ends with them. All names are below one folder of ours, so that no name needs escaping:
`lower` is a link to the real folder, `upper` receives the changes, `merged` is what the command gets to see.
"""

import ctypes
import os

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_RECURSIVE, _SLAVE, _NO_SUID, _NO_DEVICES = 0x4000, 1 << 19, 2, 4
_DETACH = 2
_DUMPABLE = 4
_OPTIONS = b"lowerdir=lower,upperdir=upper,workdir=work,userxattr,volatile"

_libc = ctypes.CDLL(None, use_errno=True)


def mount(folder: bytes) -> str:
    """Mounts `merged` in this folder; returns an error text, or nothing."""
    user, group = os.geteuid(), os.getegid()
    try:
        os.chdir(folder)
        _libc.prctl(_DUMPABLE, 1, 0, 0, 0)  # otherwise the maps below belong to root; no command runs yet
        _check(_libc.unshare(_NEW_USER | _NEW_MOUNTS), "unshare")
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
        _check(_libc.mount(None, b"/", None, ctypes.c_ulong(_RECURSIVE | _SLAVE), None), "mount namespace")
        how = ctypes.c_ulong(_NO_SUID | _NO_DEVICES)
        _check(_libc.mount(b"overlay", b"merged", b"overlay", how, _OPTIONS), "mount overlay")
        os.chdir("/")
    except OSError as error:
        return f"an overlay cannot be mounted ({error.filename}: {error.strerror})"
    finally:
        _libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    return ""


def unmount(folder: bytes) -> None:
    """Called when no process of the command is left: then all changes are in `upper`."""
    _libc.umount2(folder + b"/merged", _DETACH)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)

"""Attempts on files: outside the job's folder, on git's data, and on Interlock's own folders."""

import ctypes
import os
import shutil
import stat
import subprocess

from tests.security.escape.table import (
    BOTH,
    LIBC,
    Wishes,
    arrives,
    attempt,
    call,
    contains_secret,
    each,
    opens,
)

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_SPECIAL = (
    "state/token",
    "home/.ssh/id_ed25519",
    "other/.interlock/journal.db",
    "worktrees/other/file",
    "tools/secret",
)


def _reader(name: str):
    return lambda w: contains_secret(f"{w['outside']}/{name}")


each(_SPECIAL, "read outside: {}", _reader)


@attempt("write over a file outside", outside=True)
def _(w: Wishes) -> object:
    return opens(f"{w['outside']}/file", os.O_WRONLY)


@attempt("append to a file outside", outside=True)
def _(w: Wishes) -> object:
    return opens(f"{w['outside']}/file", os.O_WRONLY | os.O_APPEND)


@attempt("make a file outside", outside=True, effect=True)
def _(w: Wishes) -> object:
    return opens(f"{w['outside']}/planted", NEW)


@attempt("make a file outside without a name", effect=True)
def _(w: Wishes) -> object:
    return opens(w["outside"], os.O_TMPFILE | os.O_WRONLY)


@attempt("truncate a file outside", outside=True)
def _(w: Wishes) -> object:
    os.truncate(f"{w['outside']}/file2", 0)
    return True


@attempt("remove a file outside")
def _(w: Wishes) -> object:
    os.unlink(f"{w['outside']}/file")
    return True


@attempt("remove a folder outside")
def _(w: Wishes) -> object:
    os.rmdir(f"{w['outside']}/empty")
    return True


@attempt("rename a file outside")
def _(w: Wishes) -> object:
    os.rename(f"{w['outside']}/file", f"{w['outside']}/renamed")
    return True


@attempt("move a file of the job out")
def _(w: Wishes) -> object:
    with open("mine", "w") as file:
        file.write("x")
    os.rename("mine", f"{w['outside']}/moved")
    return True


@attempt("move a file from outside in")
def _(w: Wishes) -> object:
    os.rename(f"{w['outside']}/state/token", "moved-in")
    return True


@attempt("exchange a file with one outside")
def _(w: Wishes) -> object:
    with open("exchanged", "w") as file:
        file.write("x")
    return LIBC.renameat2(-100, b"exchanged", -100, os.fsencode(f"{w['outside']}/file"), 2) == 0


@attempt("make a folder outside", outside=True, effect=True)
def _(w: Wishes) -> object:
    os.mkdir(f"{w['outside']}/folder")
    return True


@attempt("make a pipe outside", outside=True, effect=True)
def _(w: Wishes) -> object:
    os.mkfifo(f"{w['outside']}/pipe")
    return True


@attempt("make a link outside", outside=True, effect=True)
def _(w: Wishes) -> object:
    os.symlink("/", f"{w['outside']}/link")
    return True


@attempt("read by a symbolic link", outside=True)
def _(w: Wishes) -> object:
    os.symlink(f"{w['outside']}/state/token", "link-out")
    return contains_secret("link-out")


@attempt("read by a chain of links", outside=True)
def _(w: Wishes) -> object:
    os.symlink(w["outside"], "chain-1")
    os.symlink("chain-1/state", "chain-2")
    return contains_secret("chain-2/token")


@attempt("write by a symbolic link", outside=True)
def _(w: Wishes) -> object:
    os.symlink(f"{w['outside']}/file", "link-write")
    return opens("link-write", os.O_WRONLY)


@attempt("make a file by a dangling link", outside=True, effect=True)
def _(w: Wishes) -> object:
    os.symlink(f"{w['outside']}/by-link", "dangling")
    return opens("dangling", os.O_WRONLY | os.O_CREAT)


@attempt("read by a hard link")
def _(w: Wishes) -> object:
    os.link(f"{w['outside']}/state/token", "hard")
    return contains_secret("hard")


@attempt("write by a hard link")
def _(w: Wishes) -> object:
    os.link(f"{w['outside']}/file", "hard-write")
    return opens("hard-write", os.O_WRONLY)


@attempt("read by the way up from the job's folder", outside=True)
def _(w: Wishes) -> object:
    return contains_secret(os.path.join(os.path.relpath(w["outside"]), "state/token"))


@attempt("read from the folder above", outside=True)
def _(w: Wishes) -> object:
    os.chdir("..")
    return contains_secret(os.path.join(os.path.relpath(w["outside"]), "state/token"))


@attempt("read by a descriptor of the root", outside=True)
def _(w: Wishes) -> object:
    root = os.open("/", os.O_PATH)
    return os.close(os.open(f"{w['outside']}/state/token".lstrip("/"), os.O_RDONLY, dir_fd=root)) is None


@attempt("read by the root of this process", outside=True)
def _(w: Wishes) -> object:
    return contains_secret(f"/proc/self/root{w['outside']}/state/token")


@attempt("read by the folder of this process", outside=True)
def _(w: Wishes) -> object:
    return contains_secret(f"/proc/self/cwd/{os.path.relpath(w['outside'])}/state/token")


@attempt("read by the root of the keeper")
def _(w: Wishes) -> object:
    return contains_secret(f"/proc/{w['keeper']}/root{w['outside']}/state/token")


@attempt("read by the root of the victim")
def _(w: Wishes) -> object:
    return contains_secret(f"/proc/{w['victim']}/root{w['outside']}/state/token")


@attempt("read by a path without rights, opened again", outside=True)
def _(w: Wishes) -> object:
    path = os.open(f"{w['outside']}/state/token", os.O_PATH)
    return contains_secret(f"/proc/self/fd/{path}")


@attempt("link a path without rights into the folder")
def _(w: Wishes) -> object:
    path = os.open(f"{w['outside']}/state/token", os.O_PATH)
    flag = 0x400  # AT_SYMLINK_FOLLOW
    if LIBC.linkat(-100, f"/proc/self/fd/{path}".encode(), -100, b"relinked", flag):
        raise OSError(ctypes.get_errno(), "linkat")
    return contains_secret("relinked")


@attempt("run a program outside", outside=True)
def _(w: Wishes) -> object:
    return subprocess.run([f"{w['outside']}/program.sh"], check=False, capture_output=True).returncode == 0


@attempt("load a program outside by the interpreter", outside=True)
def _(w: Wishes) -> object:
    return subprocess.run(["/bin/sh", f"{w['outside']}/program.sh"], check=False, capture_output=True).returncode == 0


@attempt("map a file outside into memory", outside=True)
def _(w: Wishes) -> object:
    import mmap

    with open(f"{w['outside']}/state/token", "rb") as file, mmap.mmap(file.fileno(), 0, prot=1) as memory:
        return memory[:1] != b""


@attempt("list a folder outside", outside=True)
def _(w: Wishes) -> object:
    return os.listdir(f"{w['outside']}/state")


@attempt("watch a folder outside", outside=True)
def _(w: Wishes) -> object:
    watch = LIBC.inotify_init1(0)
    return watch >= 0 and LIBC.inotify_add_watch(watch, os.fsencode(f"{w['outside']}/state"), 0xFFF) >= 0


@attempt("set an attribute of a file outside", effect=True)
def _(w: Wishes) -> object:
    os.setxattr(f"{w['outside']}/file", "user.planted", b"x")
    return True


@attempt("set an attribute of a file of the system")
def _(_: Wishes) -> object:
    fd = os.open("/usr/bin/env", os.O_RDONLY)
    os.setxattr(fd, "user.planted", b"x")
    return True


@attempt("get a handle of a file")
def _(w: Wishes) -> object:
    handle = ctypes.create_string_buffer(136)
    ctypes.c_uint.from_buffer(handle).value = 128
    mount = ctypes.c_int()
    path = os.fsencode(f"{w['outside']}/state/token")
    return call(w, "name_to_handle_at", -100, path, handle, ctypes.byref(mount), 0) == 0


@attempt("open a file by a handle")
def _(w: Wishes) -> object:
    handle = ctypes.create_string_buffer(b"\x08\0\0\0\x01\0\0\0" + b"\2" + bytes(127), 136)
    return arrives(w, "open_by_handle_at", os.open("/", os.O_RDONLY), handle, 0)


@attempt("leave by chroot")
def _(w: Wishes) -> object:
    os.mkdir("jail")
    os.chroot("jail")
    os.chdir("../" * 40)
    return contains_secret(f".{w['outside']}/state/token")


@attempt("find the approve token by its usual place")
def _(w: Wishes) -> object:
    home = w["real_home"]
    return os.listdir(f"{home}/.local/state/interlock") or os.listdir(f"{home}/.config/interlock")


@attempt("read what is beside a folder of PATH", outside=True)
def _(w: Wishes) -> object:
    return contains_secret(f"{w['outside']}/tools/secret")


@attempt("list the parent of a folder of PATH", outside=True)
def _(w: Wishes) -> object:
    return "secret" in os.listdir(f"{w['outside']}/tools")


@attempt("run a program of the job's folder by a relative entry of PATH")
def _(w: Wishes) -> object:
    with open("ls", "w") as file:
        file.write("#!/bin/sh\nexit 0\n")
    os.chmod("ls", 0o755)
    return (shutil.which("ls") or "/").startswith((".", os.getcwd()))


@attempt("write to the system", levels=BOTH)
def _(w: Wishes) -> object:
    return opens("/usr/bin/planted", NEW)


each(
    ("/etc/passwd", "/etc/hosts", "/etc/ld.so.cache", "/usr/bin/env", "/bin/sh"),
    "open for writing: {}",
    lambda path: lambda _: opens(path, os.O_WRONLY),
)
each(("/etc/shadow", "/etc/gshadow", "/etc/sudoers"), "read: {}", lambda path: lambda _: opens(path))
each(
    ("/", "/etc", "/run", "/var", "/dev", "/usr/local/bin", "/lib", "/boot", "/opt", "/srv", "/mnt", "/media", "/home"),
    "make a file in {}",
    lambda folder: lambda _: opens(f"{folder}/interlock-planted", NEW),
)


@attempt("make a file in any other file system", levels=("bubblewrap",))
def _(w: Wishes) -> object:
    with open("/proc/self/mountinfo") as file:
        folders = {line.split()[4].replace("\\040", " ") for line in file}
    mine = {os.getcwd(), "/tmp", "/dev/shm", os.environ["HOME"]}
    return [folder for folder in folders - mine if os.path.isdir(folder) and _makes_file(folder)]


def _makes_file(folder: str) -> bool:
    try:
        return opens(f"{folder}/interlock-planted", NEW)
    except OSError:
        return False


# ── setuid ───────────────────────────────────────────────────────────────────────────────


@attempt("make a setuid program")
def _(_: Wishes) -> object:
    with open("program", "w") as file:
        file.write("x")
    os.chmod("program", 0o4755)
    return True


@attempt("make a setuid program by its descriptor")
def _(_: Wishes) -> object:
    with open("program-2", "w") as file:
        os.fchmod(file.fileno(), 0o4755)
    return True


@attempt("open a new file as setuid")
def _(_: Wishes) -> object:
    os.umask(0)
    os.close(os.open("program-3", NEW, 0o4755))
    return os.stat("program-3").st_mode & stat.S_ISUID


@attempt("make a nameless file as setuid")
def _(_: Wishes) -> object:
    os.umask(0)
    fd = os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o4755)
    return os.fstat(fd).st_mode & stat.S_ISUID


@attempt("make a node as setuid")
def _(_: Wishes) -> object:
    os.umask(0)
    os.mknod("program-4", stat.S_IFREG | 0o4755)
    return os.stat("program-4").st_mode & stat.S_ISUID


@attempt("open a new file as setuid by a structure")
def _(w: Wishes) -> object:
    how = (ctypes.c_uint64 * 3)(NEW, 0o4755, 0)
    call(w, "openat2", -100, b"program-5", how, 24)
    return True


@attempt("gain rights by a setuid program")
def _(_: Wishes) -> object:
    with open("/proc/self/status") as file:
        return "NoNewPrivs:\t1" not in file.read()


# ── git ──────────────────────────────────────────────────────────────────────────────────

each(
    ("config", "hooks/pre-commit", "HEAD", "objects/info/alternates", "info/attributes", "index"),
    "write git's {}",
    lambda name: lambda _: opens(f".git/{name}", os.O_WRONLY | os.O_CREAT),
)


@attempt("rename git's folder")
def _(_: Wishes) -> object:
    os.rename(".git", ".tig")
    return True


@attempt("change the mode of git's hooks")
def _(_: Wishes) -> object:
    return opens(".git/hooks/post-checkout", NEW) and os.chmod(".git/hooks/post-checkout", 0o755) is None


@attempt("read an address with a token in git's configuration")
def _(_: Wishes) -> object:
    return contains_secret(".git/config")

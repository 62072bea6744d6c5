"""Attempts on projects in a folder of the job: their state folders, their hooks, sockets in use."""

import os
import socket

from tests.security.escape.files import NEW
from tests.security.escape.table import LIBC, Wishes, attempt, contains_secret, inside, opens

PROJECTS = ("near", "deep/down/in/folders", "known")
for place in PROJECTS:
    attempt(f"read the token of a project below: {place}", scene="above", outside=True)(
        lambda _, place=place: contains_secret(f"{place}/.interlock/run/api.json")
    )
    attempt(f"write the journal of a project below: {place}", scene="above", outside=True)(
        lambda _, place=place: opens(f"{place}/.interlock/journal.db", os.O_WRONLY)
    )
    attempt(f"make a file in .interlock of a project below: {place}", scene="above")(
        lambda _, place=place: opens(f"{place}/.interlock/run/planted", NEW)
    )
    attempt(f"write a hook of a project below: {place}", scene="above", outside=True)(
        lambda _, place=place: opens(f"{place}/.git/hooks/pre-commit", os.O_WRONLY | os.O_CREAT)
    )


@attempt("read a state folder that a link leads to", scene="above", outside=True)
def _(_: Wishes) -> object:
    return contains_secret("visible/token")


@attempt("read a folder that a link in a state folder leads to", scene="above", outside=True)
def _(_: Wishes) -> object:
    return contains_secret("elsewhere/token")


@attempt("read the user's state folder by its real place", scene="above", outside=True)
def _(_: Wishes) -> object:
    return contains_secret("real-state/interlock/approve/token")


@attempt("read a token by the folder of this process", scene="above", outside=True)
def _(_: Wishes) -> object:
    return contains_secret("/proc/self/cwd/near/.interlock/run/api.json")


@attempt("read a token below a descriptor", scene="above", outside=True)
def _(_: Wishes) -> object:
    near = os.open("near", os.O_PATH)
    fd = os.open(".interlock/run/api.json", os.O_RDONLY, dir_fd=near)
    return b"secret" in os.read(fd, 100)


@attempt("read a token by a hard link", scene="above")
def _(_: Wishes) -> object:
    os.link("near/.interlock/run/api.json", "deep/hard")
    return contains_secret("deep/hard")


@attempt("move a state folder", scene="above")
def _(_: Wishes) -> object:
    os.rename("near/.interlock", "deep/moved")
    return contains_secret("deep/moved/run/api.json")


@attempt("move a project with its state folder", scene="above")
def _(_: Wishes) -> object:
    os.rename("near", "deep/near")
    return contains_secret("deep/near/.interlock/run/api.json")


@attempt("uncover a state folder", scene="above")
def _(_: Wishes) -> object:
    return LIBC.umount2(b"near/.interlock", 2) == 0


@attempt("connect to a socket in the job's folder", scene="above", outside=True)
def _(_: Wishes) -> object:
    with socket.socket(socket.AF_UNIX) as talk, inside("services"):
        talk.connect("server.sock")
    return True


@attempt("connect to a socket with a relative name in the job's folder", scene="above", outside=True)
def _(_: Wishes) -> object:
    with socket.socket(socket.AF_UNIX) as talk:
        talk.connect("relative.sock")
    return True

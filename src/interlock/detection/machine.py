"""The programs of this machine, as the project's own commands will find them: without Interlock's own environment."""

import os
import shutil
import sys
from collections.abc import Mapping

_OWN = "bin"


def own_folders() -> tuple[str, ...]:
    """The folders of programs of the environment that Interlock is installed in, unless it is the system's."""
    if sys.prefix == sys.base_prefix:
        return ()
    folder = os.path.join(sys.prefix, _OWN)
    return tuple(dict.fromkeys((folder, os.path.realpath(folder))))


def without_own_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment as the user had it before Interlock's own was activated."""
    own = own_folders()
    kept = dict(env)
    if own and "PATH" in kept:
        entries = kept["PATH"].split(":")
        kept["PATH"] = ":".join(entry for entry in entries if os.path.normpath(entry or ".") not in own)
    if own and os.path.realpath(kept.get("VIRTUAL_ENV") or "/") == os.path.realpath(sys.prefix):
        del kept["VIRTUAL_ENV"]
    return kept


class Machine:
    def __init__(self, env: Mapping[str, str], packages: str = "/var/lib/dpkg/status") -> None:
        """`packages` is the list of Debian's installed packages; it need not exist."""
        self.env = without_own_environment(env)
        self.home = self.env.get("HOME", "")
        self.packages = packages

    def find(self, *names: str) -> str:
        """The path of the first of these programs that PATH has; empty without one."""
        path = self.env.get("PATH", os.defpath)
        return next((found for name in names if (found := shutil.which(name, path=path))), "")

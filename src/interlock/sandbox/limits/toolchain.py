"""The folders of the machine that a sandbox mounts read-only, so that the user's tools work inside as outside.

These are the system folders and the folders that PATH and a few variables name. Tools in HOME are mounted by their own
prefix (a virtual environment, a version of node), never by a folder with other content. Only the user's environment is
used, never the job's: a ticket must not open a folder by naming it in PATH. Programs that the user chose by path are
mounted the same way.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

# Files that programs read; none is secret. Each is a mount and costs a tenth of a millisecond.
_ETC = (
    "alternatives",
    "crypto-policies",
    "fonts",
    "group",
    "hosts",
    "java",
    "ld.so.cache",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki",
    "protocols",
    "services",
    "ssl",
)
_ETC_PREFIXES = ("java-",)  # Debian: configuration by version
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
_PREFIX_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "RUSTUP_HOME", "JAVA_HOME", "GOROOT")
_BESIDE_BIN = ("lib", "lib64", "libexec", "include")
_NEVER_WHOLE = ("/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/run", "/etc", "/opt", "/mnt", "/media", "/srv")
# Marks of folders that contain only tools: virtual environments, conda, pyenv, asdf, rustup.
_SIGNS: tuple[set[str], ...] = (
    {"pyvenv.cfg"},
    {"conda-meta"},
    {"shims", "versions"},
    {"shims", "installs"},
    {"toolchains", "settings.toml"},
)
_PRIVATE = {".git", ".interlock"}  # a folder with one of these is a project


class Toolchain:
    """Paths to mount, each at its own place. Paths in writable folders are skipped: a worker may have made them."""

    def __init__(
        self, env: Mapping[str, str], programs: Sequence[str], *, network: bool = False, writable: Sequence[str] = ()
    ) -> None:
        self._home = _clean(env.get("HOME", ""))
        self._homes = {self._home, os.path.realpath(self._home)} - {"", "/"} if self._home else set[str]()
        self._writable = writable
        self._shown: dict[str, None] = {}
        self._links: dict[str, str] = {}
        self._seen: set[str] = set()
        self._system(network)
        for name in _PREFIX_VARIABLES:
            if prefix := _clean(env.get(name, "")):
                self._prefix(prefix)
        for entry in env.get("PATH", "").split(":"):
            if folder := _clean(entry):
                self._folder_of_programs(folder, env)
        for program in programs:
            self._program(program, env)

    @property
    def links(self) -> list[tuple[str, str]]:
        """(place, target) of system links, such as /bin → usr/bin."""
        return list(self._links.items())

    @property
    def paths(self) -> list[str]:
        """Outer folders first, so that inner ones are mounted on top."""
        return sorted(self._shown)

    def _system(self, network: bool) -> None:
        for place in _SYSTEM:
            if os.path.islink(place):
                self._links[place] = os.readlink(place)
            elif os.path.isdir(place):
                self._shown[place] = None
        for name in os.listdir("/etc"):
            if name in _ETC or name.startswith(_ETC_PREFIXES) or (network and name == "resolv.conf"):
                place = f"/etc/{name}"
                real = os.path.realpath(place)
                if os.path.islink(place) and self._is_shown(real):
                    self._links[place] = real
                elif os.path.exists(place):
                    self._shown[place] = None

    def _folder_of_programs(self, folder: str, env: Mapping[str, str]) -> None:
        if folder in self._seen or not os.path.isdir(folder) or not self._may_mount(folder):
            return
        self._seen.add(folder)
        if self._is_shown(folder) and self._is_shown(os.path.realpath(folder)):
            if not folder.startswith(_SYSTEM):
                self._pythons(folder, env)
            return
        parent, name = os.path.split(folder)
        if name == "bin" or name == "shims" or folder.endswith("/node_modules/.bin"):
            self._prefix(parent)
        self._show(folder)
        if os.path.exists(os.path.join(folder, "rustup")) and self._home:
            self._prefix(env.get("RUSTUP_HOME") or os.path.join(self._home, ".rustup"))
        for name in _names(folder):
            if os.path.islink(path := os.path.join(folder, name)):
                self._program(path, env)
        self._pythons(folder, env)

    def _pythons(self, folder: str, env: Mapping[str, str]) -> None:
        """The targets of the links in this folder, and the base Python of its virtual environment."""
        for name in ("python", "python3"):
            path = os.path.join(folder, name)
            if os.path.islink(path):
                self._program(path, env)
        for home in _base_python(os.path.join(os.path.dirname(folder), "pyvenv.cfg")):
            if os.access(os.path.join(home, "python3"), os.X_OK) or os.access(os.path.join(home, "python"), os.X_OK):
                self._folder_of_programs(home, env)

    def _program(self, path: str, env: Mapping[str, str]) -> None:
        """Mounts a program with all its links and their prefixes."""
        if not (os.path.isfile(path) and os.access(path, os.X_OK)):
            return
        for hop in _link_chain(path):
            folder = os.path.dirname(hop)
            for place in dict.fromkeys((folder, os.path.realpath(folder))):
                if self._is_shown(place):
                    continue
                if os.path.basename(place) == "bin":
                    self._folder_of_programs(place, env)
                else:
                    self._show(os.path.join(place, os.path.basename(hop)))

    def _prefix(self, prefix: str) -> None:
        """The whole prefix if it belongs to a tool; else only the folders beside its `bin`."""
        real = os.path.realpath(prefix)
        if not os.path.isdir(real):
            return
        if self._belongs_to_tool(prefix) and self._belongs_to_tool(real):
            self._show(prefix)
            self._show(real)
        else:
            for name in ("bin", *_BESIDE_BIN):
                if os.path.isdir(os.path.join(prefix, name)):
                    self._show(os.path.join(prefix, name))

    def _belongs_to_tool(self, prefix: str) -> bool:
        if not self._may_mount(prefix):
            return False
        names = set(_names(prefix))
        if any(signs <= names for signs in _SIGNS):
            return True
        if names & _PRIVATE:
            return False
        # Not HOME/.local, HOME/.cargo, HOME/go: they contain more than tools.
        return all(not contains(home, prefix) or prefix.count("/") - home.count("/") >= 2 for home in self._homes)

    def _show(self, path: str) -> None:
        if os.path.exists(path) and self._may_mount(path) and not self._is_shown(path):
            self._shown[path] = None

    def _may_mount(self, path: str) -> bool:
        """False for a folder that contains a home, or that a worker may have made."""
        if path in _NEVER_WHOLE or any(contains(path, home) for home in self._homes):
            return False
        return not any(contains(place, path) for place in self._writable)

    def _is_shown(self, path: str) -> bool:
        return any(contains(place, path) for place in (*self._shown, *self._links))


def contains(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _clean(path: str) -> str:
    """The normalised path; empty if it is not absolute."""
    return os.path.normpath(path) if path.startswith("/") else ""


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _link_chain(path: str) -> Iterator[str]:
    """The path and every path on its chain of links."""
    for _ in range(40):  # the kernel's own limit
        yield path
        if not os.path.islink(path):
            return
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))


def _base_python(config: str) -> Iterator[str]:
    """The folder of the base Python of a virtual environment."""
    try:
        with open(config, encoding="utf-8", errors="replace") as file:
            for line in file:
                key, _, value = line.partition("=")
                if key.strip() == "home" and (home := _clean(value.strip())):
                    yield home
    except OSError:
        return

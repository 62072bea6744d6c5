"""The folders of the machine that a sandbox mounts read-only, so that the user's tools work inside as outside.

These are the system folders and the folders that PATH and a few variables name, each alone. A tool also needs files
beside its `bin`. Its prefix is mounted whole only if the layout is known and nothing else is in it; otherwise only the
usual folders beside `bin`, and in a project not even those. Only the user's environment is used, never the job's: a
ticket must not open a folder by naming it in PATH. Programs that the user chose by path are mounted the same way.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

# Files that programs read; none is secret. Each is a mount and costs a tenth of a millisecond.
_ETC = (
    "alternatives",
    "crypto-policies",
    "debian_version",  # pip opens it if it is listed, and Landlock hides no names
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
    "php",
    "pki",
    "protocols",
    "services",
    "ssl",
)
_ETC_PREFIXES = ("java-",)  # Debian: configuration by version
_ETC_INNER = ("maven/m2.conf", "maven/logging")  # without the settings: they may have passwords
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
_PREFIX_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "RUSTUP_HOME", "JAVA_HOME", "GOROOT")
_BESIDE_BIN = ("lib", "lib64", "libexec", "include")
_NEVER_WHOLE = (
    *("/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/run", "/etc", "/opt", "/mnt", "/media", "/srv"),
    *("/boot", "/dev", "/proc", "/sys"),
)
# Marks of folders that contain only tools. pyenv and asdf are often clones; conda, rustup, Java, Go and Maven are not.
_SIGNS_OF_CLONES: tuple[set[str], ...] = ({"shims", "versions"}, {"shims", "installs"})
_SIGNS: tuple[set[str], ...] = (
    {"conda-meta"},
    {"toolchains", "settings.toml"},
    {"release", "conf", "legal", "lib"},
    {"VERSION", "api", "pkg", "src"},
    {"boot", "conf", "lib", "NOTICE"},
)
# A prefix with only these names is a tool too: a virtual environment, a version of Python or node.
_USUAL = {
    *("bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share", "man", "ssl"),
    *("pyvenv.cfg", ".gitignore", ".lock", "CACHEDIR.TAG", "uv-receipt.toml", "pipx_metadata.json"),
    *("README.md", "README", "LICENSE", "LICENSE.md", "CHANGELOG.md", "VERSION", "release"),
}
_PRIVATE = {".git", ".interlock"}  # a folder with one of these is a project
# Folders of a home with keys, or with the data of many programs: never mounted, nor a folder around them.
_SECRET = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".mozilla", ".thunderbird"),
    *(".config", ".local", ".local/share", ".local/state", ".cache", ".pki", ".gcloud", ".config/gcloud", ".secrets"),
)
_ONLY_SECRET = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".secrets", ".config/gcloud")
_MOST_PROGRAMS = 200


class Toolchain:
    """Paths to mount, each at its own place. Paths in writable folders are skipped: a worker may have made them."""

    def __init__(
        self, env: Mapping[str, str], programs: Sequence[str], *, network: bool = False, writable: Sequence[str] = ()
    ) -> None:
        self._home = _clean(env.get("HOME", ""))
        self._homes = {self._home, os.path.realpath(self._home)} - {"", "/"} if self._home else set[str]()
        self._secret = _real(self._homes, _SECRET)
        self._only_secret = _real(self._homes, _ONLY_SECRET)
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
        for name in _names("/etc") or _ETC:  # in the sandbox of another Interlock it may not be listed
            if name in _ETC or name.startswith(_ETC_PREFIXES) or (network and name == "resolv.conf"):
                place = f"/etc/{name}"
                real = os.path.realpath(place)
                if os.path.islink(place) and self._is_shown(real):
                    self._links[place] = real
                elif os.path.exists(place):
                    self._shown[place] = None
        for name in _ETC_INNER:
            self._show(f"/etc/{name}")

    def _folder_of_programs(self, folder: str, env: Mapping[str, str]) -> None:
        if folder in self._seen or not os.path.isdir(folder) or not self._may_mount(folder):
            return
        self._seen.add(folder)
        if self._is_shown(folder) and self._is_shown(os.path.realpath(folder)):
            if not folder.startswith(_SYSTEM):
                self._pythons(folder, env)
            return
        parent, name = os.path.split(folder)
        if folder.endswith("/node_modules/.bin"):
            self._show(parent)
        elif name in ("bin", "shims"):
            self._prefix(parent)
        if _has_project(folder):
            self._programs_alone(folder)
            return
        self._show(folder)
        if os.path.exists(os.path.join(folder, "rustup")) and self._home:
            self._prefix(env.get("RUSTUP_HOME") or os.path.join(self._home, ".rustup"))
        for name in _names(folder):
            if os.path.islink(path := os.path.join(folder, name)):
                self._program(path, env)
        self._pythons(folder, env)

    def _programs_alone(self, folder: str) -> None:
        """The programs of a project, or of a folder with projects."""
        for name in sorted(_names(folder))[:_MOST_PROGRAMS]:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path) and os.access(path, os.X_OK):
                self._show(path)

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
                    self._show(_package_of(place) or os.path.join(place, os.path.basename(hop)))

    def _prefix(self, prefix: str) -> None:
        """The whole prefix if it belongs to a tool; else the folders beside its `bin`, but not those of a project."""
        real = os.path.realpath(prefix)
        if not os.path.isdir(real):
            return
        if self._belongs_to_tool(prefix) and self._belongs_to_tool(real):
            self._show(prefix)
            self._show(real)
            return
        names = set(_names(prefix))
        is_environment = "pyvenv.cfg" in names
        for name in ("bin", "pyvenv.cfg", *_BESIDE_BIN):
            if name in names and (name == "bin" or is_environment or not names & _PRIVATE):
                self._show(os.path.join(prefix, name))

    def _belongs_to_tool(self, prefix: str) -> bool:
        if not self._may_mount(prefix):
            return False
        names = set(_names(prefix))
        if ".interlock" in names:
            return False
        if any(signs <= names for signs in _SIGNS_OF_CLONES):
            return True
        if ".git" in names:
            return False
        if any(signs <= names for signs in _SIGNS):
            return True
        # Not HOME/.local: its `share` contains more than tools.
        deep = all(not contains(home, prefix) or prefix.count("/") - home.count("/") >= 2 for home in self._homes)
        return deep and names <= _USUAL and bool(names & {"lib", "pyvenv.cfg"})

    def _show(self, path: str) -> None:
        if os.path.exists(path) and self._may_mount(path) and not self._is_shown(path):
            self._shown[path] = None

    def _may_mount(self, path: str) -> bool:
        """False for a folder that contains a home or keys, or that a worker may have made."""
        for place in dict.fromkeys((path, os.path.realpath(path))):
            if place in _NEVER_WHOLE or ".interlock" in place.split("/"):
                return False
            if any(contains(place, home) for home in (*self._homes, *self._secret)):
                return False
            if any(contains(secret, place) for secret in self._only_secret):
                return False
        return not any(contains(place, path) for place in self._writable)

    def _is_shown(self, path: str) -> bool:
        return any(contains(place, path) for place in (*self._shown, *self._links))


def _package_of(folder: str) -> str:
    """The outermost `node_modules` around a folder: a program of an npm package loads its parts from there."""
    parts = folder.split("/")
    return "/".join(parts[: parts.index("node_modules") + 1]) if "node_modules" in parts else ""


def contains(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _real(homes: set[str], names: Sequence[str]) -> set[str]:
    """These folders of each home, and the places that they lead to."""
    paths = {os.path.join(home, name) for home in homes for name in names}
    return paths | {os.path.realpath(path) for path in paths}


def _clean(path: str) -> str:
    """The normalised path; empty if it is not absolute."""
    return os.path.normpath(path) if path.startswith("/") else ""


def _has_project(folder: str) -> bool:
    """True for a project, or a folder with one directly in it."""
    names = _names(folder)
    inner = (os.path.join(folder, name, mark) for name in names[:_MOST_PROGRAMS] for mark in _PRIVATE)
    return bool(_PRIVATE & set(names)) or any(map(os.path.lexists, inner))


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

"""Explains a failed command by what the sandbox hides or forbids, from the command's own output.

A message such as "No such file" does not say that the file exists outside the sandbox. Each finding names what was
missing and what to do about it. The texts come from a program, so a finding may be wrong; it never changes a result.
"""

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

MOST = 6  # findings in one explanation


class Reason(Struct, frozen=True):
    what: str
    remedy: str


class Outside(Struct, frozen=True):
    """What the machine and the user's folder have. The functions tell, and change nothing."""

    exists: Callable[[str], bool] = lambda _: False  # an absolute path, outside the sandbox
    has_variable: Callable[[str], bool] = lambda _: False  # in the user's environment
    program: Callable[[str], str] = lambda _: ""  # its path outside the sandbox
    project: str = ""  # the user's folder
    worktree: str = ""  # the folder that the command ran in
    preparing: bool = False  # the command installed packages: it had network, and a temporary folder on the disk


_NETWORK = Reason(
    "it tried to reach the network, which gates do not have",
    "leave those tests out (by a marker or an option), or allow it: network = true of this gate, or [gates] network",
)
_NO_ANSWER = Reason(
    "a server of packages could not be reached, though installing has network",
    "check your network, the address of your mirror (PIP_INDEX_URL, ~/.npmrc) and its certificate (SSL_CERT_FILE)",
)
_DISK_FULL = Reason(
    "the disk of Interlock's state folder is full, or nearly so",
    "free some space ('interlock caches prune'), or put the folder on another disk with XDG_STATE_HOME",
)
_NO_NETWORK = re.compile(
    r"Temporary failure in name resolution|Name or service not known|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|"
    r"Network is unreachable|Could not resolve host|ENETUNREACH|nodename nor servname|"
    r"No address associated with hostname|"
    r"dial tcp: lookup|failed to lookup address information|UnknownHostException|Failed to download|"
    r"Could not fetch URL|network is offline|Could not reach host|no such host|could not be resolved: Cannot access",
)
_LOCAL = re.compile(
    r"(?:ECONNREFUSED|[Cc]onnection refused|Connect call failed|could not connect to server)"
    r"[^\n]{0,120}?(?:127\.0\.0\.1|localhost|::1)[\]\"')\s]*[:,]?\s*(?:port\s*)?(\d{2,5})"
)
_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_NODE_MODULE = re.compile(
    r"(?:Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND\]?:[^\n]*?package) '([^'./\n][^'\n]*)'"
)
_LIBRARY = re.compile(r"([\w.+-]+\.so[\w.]*): cannot open shared object file")
_PROGRAM = re.compile(
    r"^(?:/bin/)?(?:sh|bash|make)(?:\[\d+\])?: (?:\d+: |line \d+: )?([\w./+-]+): (?:command )?"
    r"(?:not found|No such file)"
    r"|^env: [‘'\"]?([\w.+-]+)[’'\"]?: No such file|spawn ([\w.+-]+) ENOENT"
    r"|FileNotFoundError: \[Errno 2\] No such file or directory: '([\w.+-]+)'",
    re.MULTILINE,
)
_MISSING_PATH = re.compile(
    r"(?:No such file or directory|ENOENT[^\n]{0,60}?|Permission denied|EACCES[^\n]{0,60}?|PermissionError[^\n]{0,40}?)"
    r"[:,]?\s*(?:open|stat|scandir|mkdir|access)?\s*[‘'\"](/[^’'\"\n]{1,300})[’'\"]"
)
_READ_ONLY = re.compile(
    r"(?:Read-only file system|EROFS[^\n]{0,60}?)[:,]?\s*(?:open|mkdir|unlink)?\s*(?:[‘'\"](/[^’'\"\n]{1,300})[’'\"])?"
)
_VARIABLE = re.compile(r"KeyError: '([A-Z][A-Z0-9_]{2,})'|[Ee]nvironment variable [`'\"]?([A-Z][A-Z0-9_]{2,})[`'\"]?")
_OPTION = re.compile(r"error: unrecognized arguments: (--?[\w-]+)")
_FIXTURE = re.compile(r"fixture '(\w+)' not found")
_DISPLAY = re.compile(
    r"[Cc]annot open display|no display name and no \$DISPLAY|Missing X server|could not connect to display"
)
_LOCALE = re.compile(r"locale\.Error: unsuppor|setlocale: [^\n]{0,80}: cannot change locale")
_SPACE = re.compile(r"No space left on device|ENOSPC|^only \d+ MB are free in ", re.MULTILINE)
_FILES = re.compile(r"Too many open files|EMFILE")
_THREADS = re.compile(
    r"can't start new thread|fork: retry: Resource temporarily unavailable|Resource temporarily unavailable.*fork"
)


def reasons(output: str, outside: Outside) -> tuple[Reason, ...]:
    """The likely reasons, each once, in the order in which people can act on them."""
    return tuple(dict.fromkeys(_found(output, outside)))[:MOST]


_NOTHING = re.compile(
    r"^Ran 0 tests in |^collected 0 items|^(?:=+ )?no tests ran in |^No tests? (?:files? )?found|^# tests 0$",
    re.MULTILINE,
)
_SOMETHING = re.compile(r"^Ran [1-9]\d* tests? in |\b[1-9]\d* (?:passed|passing)\b|^# tests [1-9]", re.MULTILINE)


def ran_no_test(output: str) -> bool:
    """Whether a test runner says that it found no test, and none says otherwise. Some still report success."""
    return _NOTHING.search(output) is not None and _SOMETHING.search(output) is None


def explanation(found: tuple[Reason, ...]) -> str:
    """The reasons as a text; empty without any."""
    if not found:
        return ""
    lines = (f"- {reason.what}: {reason.remedy}" for reason in found)
    return "\n".join(("What the sandbox has to do with it, judged by the output:", *lines))


def _found(output: str, outside: Outside) -> Iterator[Reason]:
    yield from _packages(output)
    yield from _programs(output, outside)
    yield from _paths(output, outside)
    for match in _LOCAL.finditer(output):
        yield Reason(
            f"nothing answers on port {match[1]} of this sandbox, which has a network of its own",
            "start the service inside: [workspace.services], or in the command itself",
        )
    if _NO_NETWORK.search(output):
        yield _NO_ANSWER if outside.preparing else _NETWORK
    for match in _VARIABLE.finditer(output):
        name = match[1] or match[2]
        if outside.has_variable(name):
            yield Reason(
                f"the variable {name} is set in your shell, and commands in the sandbox do not get it",
                f'give it to the gate: "env": {{"{name}": "…"}}, or a value for tests in the project',
            )
    yield from _limits(output, outside)


def _packages(output: str) -> Iterator[Reason]:
    for match in _MODULE.finditer(output):
        yield Reason(f"the Python package {match[1].split('.')[0]} is not installed", "add it to [workspace] prepare")
    for match in _NODE_MODULE.finditer(output):
        yield Reason(f"the package {match[1]} is not installed", "add it to package.json, or to [workspace] prepare")
    for match in _OPTION.finditer(output):
        yield Reason(f"a plugin that knows the option {match[1]} is not installed", "add it to [workspace] prepare")
    for match in _FIXTURE.finditer(output):
        yield Reason(f"a pytest plugin with the fixture {match[1]} is not installed", "add it to [workspace] prepare")
    for match in _LIBRARY.finditer(output):
        yield Reason(
            f"the system library {match[1]} is not installed", "install the package of your system that has it"
        )


def _programs(output: str, outside: Outside) -> Iterator[Reason]:
    for match in _PROGRAM.finditer(output):
        name = next(group for group in match.groups() if group)
        place = outside.program(name)
        if place:
            yield Reason(
                f"{name} is {place} on this machine, and the sandbox does not show that folder",
                "put its folder into PATH before you start Interlock, or install it for the project",
            )
        else:
            yield Reason(
                f"there is no program {name} in PATH",
                "install it, or add its folder to [workspace] path in interlock.toml",
            )


def _paths(output: str, outside: Outside) -> Iterator[Reason]:
    for match in _MISSING_PATH.finditer(output):
        path = match[1]
        inside = outside.worktree and path.startswith(outside.worktree + "/")
        same = path.replace(outside.worktree, outside.project, 1) if inside else ""
        if same and outside.exists(same):
            name = path.removeprefix(outside.worktree + "/")
            yield Reason(
                f"{name} is in your folder and not in git, so the worktree does not have it",
                "name it in .worktreeinclude, or make it by [workspace] setup",
            )
        elif path.startswith("/dev/"):
            yield Reason(f"the device {path} is not there", "leave those tests out: the sandbox has no devices")
        elif outside.project and path.startswith(outside.project + "/"):
            yield Reason(
                f"{path} is in your own folder, which no command of a ticket sees", "use a path relative to the project"
            )
        elif not inside and outside.exists(path):
            yield Reason(
                f"{path} exists on this machine and is hidden or closed in the sandbox",
                "keep what the tests need in the project, or use a temporary folder",
            )
    for match in _READ_ONLY.finditer(output):
        place = match[1] or "a folder outside the worktree"
        yield Reason(
            f"{place} cannot be written: only the worktree and temporary folders can; packages are shared",
            "write to a temporary folder, or below the project",
        )


def _limits(output: str, outside: Outside) -> Iterator[Reason]:
    if _DISPLAY.search(output):
        yield Reason(
            "there is no display", "use a headless mode of the tests, such as QT_QPA_PLATFORM=offscreen or xvfb-run"
        )
    if _LOCALE.search(output):
        yield Reason(
            "a locale that the command sets is not installed on this machine",
            "install it; on Debian: apt-get install locales-all",
        )
    if _SPACE.search(output):
        full = Reason("a temporary folder is full", "raise [limits] tmp_mb in your own settings")
        yield _DISK_FULL if outside.preparing else full
    if _FILES.search(output):
        yield Reason("it had too many open files", "raise [limits] open_files in your own settings")
    if _THREADS.search(output):
        yield Reason("it could not start another process or thread", "raise [limits] processes in your own settings")

"""The only place that calls git: explicit folders, a clean environment, no programs of workers or users."""

import os
from collections.abc import Mapping

from interlock.errors import Misconfigured, Unavailable
from interlock.ports.processes import Conversation, Output, Sandbox

OLDEST = (2, 38)  # `merge-tree --write-tree`, `core.fsyncMethod=batch`

_SAFE = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.safecrlf=false",
    "core.bigFileThreshold=32m",  # larger files are streamed and never diffed as text
    "credential.helper=",
    "protocol.allow=never",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "gpg.program=false",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "index.sparse=false",
    "core.quotePath=false",
    "trailer.separators=:",
    "i18n.logOutputEncoding=UTF-8",
)
NO_FETCH = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
"""A partial clone fetches missing objects from the address in its configuration, which may name a program."""
_DURABLE = ("core.fsync=committed,loose-object,reference", "core.fsyncMethod=batch")


def flags(*settings: str) -> tuple[str, ...]:
    return tuple(part for setting in settings for part in ("-c", setting))


def environment(**more: str) -> dict[str, str]:
    """The whole environment of git, without the user's git settings and variables."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return kept | {
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_NO_REPLACE_OBJECTS": "1",
        **NO_FETCH,
        **more,
    }


class Git:
    """git for one repository. A call runs one command and raises `Unavailable` on failure."""

    def __init__(self, run: Sandbox, git_dir: str, *, settings: tuple[str, ...] = (), env: Mapping[str, str]) -> None:
        self._run = run
        self._git_dir = git_dir
        self._flags = flags(*_SAFE, *settings)
        self._env = environment(**env)

    def converse(self, *args: str, durable: bool = False) -> Conversation:
        """A git command that stays and answers requests."""
        argv = ["git", f"--git-dir={self._git_dir}", *self._flags, *(flags(*_DURABLE) if durable else ()), *args]
        return self._run.converse(argv, cwd=self._git_dir, env=self._env)

    async def __call__(
        self,
        *args: str,
        work_tree: str | None = None,
        index: str | None = None,
        stdin: bytes | None = None,
        durable: bool = False,
        ok: tuple[int, ...] = (0,),
    ) -> Output:
        argv = ["git", f"--git-dir={self._git_dir}", *self._flags]
        if work_tree is not None:
            argv.append(f"--work-tree={work_tree}")
        if durable:
            argv += flags(*_DURABLE)
        env = self._env if index is None else {**self._env, "GIT_INDEX_FILE": index}
        output = await self._run.run_trusted([*argv, *args], cwd=work_tree or self._git_dir, env=env, stdin=stdin)
        if output.code not in ok:
            raise failure(args[0], output)
        return output

    async def line(self, *args: str) -> str:
        return text((await self(*args)).stdout)


def text(output: bytes) -> str:
    return shown(output).rstrip("\n")


def shown(raw: bytes) -> str:
    """Decodes a path or a file to text that can be stored and printed."""
    return raw.decode("utf-8", "backslashreplace")


def failure(verb: str, output: Output) -> Unavailable:
    lines = [line for line in shown(output.stderr).splitlines() if line.strip()]
    return Unavailable(f"git {verb} failed: {lines[-1] if lines else f'exit status {output.code}'}")


async def check_version(run: Sandbox) -> None:
    """Raises if git is missing or too old."""
    needed = f"Interlock needs git {OLDEST[0]}.{OLDEST[1]} or newer"
    try:
        output = await run.run_trusted(["git", "version"], cwd="/", env=environment())
    except (Misconfigured, FileNotFoundError) as error:
        raise Misconfigured(f"git was not found on PATH; {needed}") from error
    words = text(output.stdout).split()
    numbers = [part for part in (words[2] if len(words) > 2 else "").split(".") if part.isdigit()]
    if output.code != 0 or len(numbers) < 2:
        raise Misconfigured(f"git reports no version; {needed}")
    if (int(numbers[0]), int(numbers[1])) < OLDEST:
        raise Misconfigured(f"git is version {'.'.join(numbers)}; {needed}")

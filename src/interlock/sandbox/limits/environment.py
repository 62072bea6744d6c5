"""The environment of a command: an allow-list, so that it never contains keys or tokens of the user."""

import os
from collections.abc import Mapping

PATH = "/usr/local/bin:/usr/bin:/bin"  # without a usable one
_NAMES = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
        *("TERM", "COLORTERM", "NO_COLOR", "CI", "SOURCE_DATE_EPOCH"),
        *("VIRTUAL_ENV", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONUTF8"),
        *("PYENV_ROOT", "PYENV_VERSION", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"),
        *("NODE_PATH", "NODE_ENV", "NVM_DIR", "NVM_BIN", "JAVA_HOME", "GOROOT", "GOPATH", "GOFLAGS"),
        *("CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUST_BACKTRACE", "GEM_HOME", "GEM_PATH"),
    }
)
_PREFIXES = ("LC_",)


def clean_env(source: Mapping[str, str], extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The allowed variables of `source`, and `extra`, which was written for this command."""
    kept = {name: value for name, value in source.items() if name in _NAMES or name.startswith(_PREFIXES)}
    return with_plain_path({**kept, **(extra or {})})


def with_plain_path(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without relative and empty entries of PATH: with them, the current folder chooses programs."""
    return {**env, "PATH": plain_path(env["PATH"])} if "PATH" in env else dict(env)


def plain_path(path: str) -> str:
    return ":".join(entry for entry in path.split(":") if os.path.isabs(entry)) or PATH

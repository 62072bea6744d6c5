"""Sources of rules: shipped, the user's, and the project's as far as they are trusted."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from interlock.errors import Misconfigured
from interlock.identity.careful import read_plain
from interlock.policy.paths import Private
from interlock.policy.rule_files import failed_examples, policy_tables, read_rules
from interlock.policy.rules import Rule

_MOST_BYTES = 4_000_000

NAME = "policy"
"""The name of the project's rules in the trust store."""

Trusts = Callable[[bytes], bool]

_Stamp = tuple[tuple[int, int, int], ...]


@cache
def shipped_rules() -> tuple[Rule, ...]:
    text = (files("interlock.policy") / "default.toml").read_text(encoding="utf-8")
    return read_rules(text, "default.toml", "default")


def project_policy(text: str) -> bytes | None:
    """Only the rules of a project file; None if it has none."""
    tables = policy_tables(text)
    return msgspec.json.encode(tables, order="deterministic") if tables else None


class RuleSources:
    """Reads the files again after a change of a file or of the trust store."""

    def __init__(
        self,
        user_file: Path,
        project_file: Path | None,
        trusts: Trusts,
        private: Private,
        trust_file: Path | None = None,
        own_file: Path | None = None,
    ) -> None:
        """`own_file`: the user's rules for this project only."""
        self._user_file = user_file
        self._own_file = own_file
        self._project_file = project_file
        self._trusts = trusts
        self._private = private
        self._watched = [file for file in (user_file, project_file, trust_file, own_file) if file is not None]
        self._known: tuple[_Stamp, tuple[Rule, ...]] | None = None

    def rules(self) -> tuple[Rule, ...]:
        """The rules in effect. Raises Misconfigured, naming file and line."""
        stamp = tuple(_stamp(file) for file in self._watched)
        if self._known is None or self._known[0] != stamp:
            own = (*self.user(), *self._counting())
            if wrong := failed_examples(own, self._private):
                raise Misconfigured(wrong[0])
            self._known = (stamp, (*own, *shipped_rules()))
        return self._known[1]

    def user(self) -> tuple[Rule, ...]:
        """The user's rules: for all projects, and for this one."""
        files = (self._user_file, self._own_file) if self._own_file is not None else (self._user_file,)
        return tuple(rule for file in files for rule in read_rules(_text(file), str(file), "user"))

    def project(self) -> tuple[Rule, ...]:
        return read_rules(_text(self._project_file), "interlock.toml", "project") if self._project_file else ()

    def failed(self) -> list[str]:
        """Examples of rules that do not hold."""
        return failed_examples((*self.user(), *self.project(), *shipped_rules()), self._private)

    def project_content(self) -> bytes | None:
        """The rules of the project's file as they are trusted; None if it has none."""
        return project_policy(_text(self._project_file)) if self._project_file else None

    def trusted(self) -> bool:
        content = self.project_content()
        return content is None or self._trusts(content)

    def _counting(self) -> tuple[Rule, ...]:
        """An untrusted project can only make rules stricter."""
        rules = self.project()
        return rules if self.trusted() else tuple(rule for rule in rules if rule.verdict != "allow")


def _text(file: Path) -> str:
    try:
        return read_plain(file, _MOST_BYTES, follow=True).decode()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{file} cannot be read: {error}") from error


def _stamp(file: Path) -> tuple[int, int, int]:
    try:
        status = file.stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_size, status.st_ino)

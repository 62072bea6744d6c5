"""Where rules come from: those that are shipped, the user's, and the project's as far as they are trusted."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from interlock.errors import Misconfigured
from interlock.policy.paths import Private
from interlock.policy.rule_files import failed_examples, policy_tables, read_rules
from interlock.policy.rules import Rule

NAME = "policy"
"""What the project's rules are called among the things that are trusted."""

Trusts = Callable[[bytes], bool]

_Stamp = tuple[tuple[int, int, int], ...]


@cache
def shipped_rules() -> tuple[Rule, ...]:
    text = (files("interlock.policy") / "default.toml").read_text(encoding="utf-8")
    return read_rules(text, "default.toml", "default")


def project_policy(text: str) -> bytes | None:
    """Exactly the rules of a project, whatever else its file says; None if there are none."""
    tables = policy_tables(text)
    return msgspec.json.encode(tables, order="deterministic") if tables else None


class RuleSources:
    """Reads the files again when they, or what is trusted, have changed."""

    def __init__(
        self,
        user_file: Path,
        project_file: Path | None,
        trusts: Trusts,
        private: Private,
        trust_file: Path | None = None,
    ) -> None:
        self._user_file = user_file
        self._project_file = project_file
        self._trusts = trusts
        self._private = private
        self._watched = [file for file in (user_file, project_file, trust_file) if file is not None]
        self._known: tuple[_Stamp, tuple[Rule, ...]] | None = None

    def rules(self) -> tuple[Rule, ...]:
        """Those that count. Raises Misconfigured, naming file and line."""
        stamp = tuple(_stamp(file) for file in self._watched)
        if self._known is None or self._known[0] != stamp:
            own = (*self.user(), *self._counting())
            if wrong := failed_examples(own, self._private):
                raise Misconfigured(wrong[0])
            self._known = (stamp, (*own, *shipped_rules()))
        return self._known[1]

    def user(self) -> tuple[Rule, ...]:
        return read_rules(_text(self._user_file), str(self._user_file), "user")

    def project(self) -> tuple[Rule, ...]:
        return read_rules(_text(self._project_file), "interlock.toml", "project") if self._project_file else ()

    def failed(self) -> list[str]:
        """What examples of any rule say that is not so."""
        return failed_examples((*self.user(), *self.project(), *shipped_rules()), self._private)

    def trusted(self) -> bool:
        content = project_policy(_text(self._project_file)) if self._project_file else None
        return content is None or self._trusts(content)

    def _counting(self) -> tuple[Rule, ...]:
        """A project that is not trusted can only tighten."""
        rules = self.project()
        return rules if self.trusted() else tuple(rule for rule in rules if rule.verdict != "allow")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{file} cannot be read: {error}") from error


def _stamp(file: Path) -> tuple[int, int, int]:
    try:
        found = file.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)

"""What rules would have answered: the questions of the journal, and a corpus of harmful commands.

Everything is judged in a fictitious folder, so that a result does not depend on the files of this moment.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from msgspec import Struct
from msgspec.structs import replace

from interlock.policy.path_patterns import fits_path
from interlock.policy.paths import Private
from interlock.policy.programs import Programs
from interlock.policy.reading.shell_ast import Command, parse
from interlock.policy.reading.wrappers import program
from interlock.policy.rules import Rule
from interlock.policy.verdict import ShellPolicy
from interlock.views.rules.experience import Question

FOLDER = "/project"
_HOME = "/users/me"
_NO_PROGRAMS = Programs("/no-such-folder")  # which program a name finds is judged when a command runs


class Harm(Struct, frozen=True):
    """A harmful script; or a harmful edit, by its path."""

    kind: str
    script: str = ""
    path: str = ""
    programs: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        return self.script or f"edit {self.path}"


@cache
def harmful_corpus() -> tuple[Harm, ...]:
    """The shipped corpus (harmful.jsonl)."""
    lines = (files("interlock.policy.experience") / "harmful.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_harm(json.loads(line)) for line in lines)


def _harm(row: dict[str, str]) -> Harm:
    script = row.get("command", "")
    programs = frozenset(program(command.words) for command in parse(script, _HOME).commands)
    return Harm(row["class"], script, row.get("path", ""), programs)


class BackTest:
    """Judges questions and harmful commands with the rules in effect and some more."""

    def __init__(self, rules: Sequence[Rule], private: Private, questions: Sequence[Question]) -> None:
        self._rules = tuple(rules)
        self._private = private
        base = self._policy(())
        moved = [_moved(question) for question in questions]
        self.questions = tuple(question for question in moved if not _allows(base, question))
        self._refused = tuple(question for question in self.questions if question.reply != "approved")
        self._open = {q.id: base.open_commands(q.text, FOLDER) for q in self.questions if q.kind == "script"}
        self._programs = {name: {program(command.words) for command in open_} for name, open_ in self._open.items()}

    def open_commands(self, question: Question) -> tuple[Command, ...]:
        """The commands of a question that lack an allowing rule; empty if rules cannot answer it."""
        return self._open.get(question.id, ())

    def answered(self, rules: Sequence[Rule]) -> list[Question]:
        """The questions that these rules would have answered besides the rules in effect."""
        return self._answered(self.questions, rules, rules)

    def against(self, rule: Rule, others: Sequence[Rule]) -> list[Question]:
        """Questions that the rule would have answered, with the others, and that a person rejected or edited.

        The contents of an edit differ each time. So one refused edit counts against every rule about its file,
        whatever tool made it.
        """
        wrong = self._answered(self._refused, (rule, *others), (rule,))
        return [question for question in self._refused if question in wrong or _concerns(rule, question)]

    def _answered(self, some: Sequence[Question], rules: Sequence[Rule], about: Sequence[Rule]) -> list[Question]:
        """Only questions that `about` may change are judged, and equal ones once."""
        policy, programs = self._policy(rules), _programs(about)
        known: dict[tuple[str, tuple[str, ...]], bool] = {}
        found: list[Question] = []
        for question in some:
            if question.kind == "script" and not self._programs[question.id] & programs:
                continue
            key = (question.text, question.paths)
            if key not in known:
                known[key] = _allows(policy, question)
            if known[key]:
                found.append(question)
        return found

    def harm(self, rule: Rule, others: Sequence[Rule]) -> list[Harm]:
        """Harmful commands and edits that the rule would allow, with the others."""
        policy, programs = self._policy((rule, *others)), _programs((rule,))
        patterns = [rule.paths] if rule.tool else []
        return [
            harm
            for harm in harmful_corpus()
            if (harm.path and any(fits_path(harm.path, paths) for paths in patterns))
            or (harm.programs & programs and policy.script(harm.script, FOLDER).verdict == "allow")
        ]

    def refusals_about(self, names: Iterable[str]) -> list[str]:
        """Commands that a person refused or that are harmful, of these programs; as examples that must not match."""
        wanted = set(names)
        refused = [
            question.text.strip()
            for question in self.questions
            if question.reply == "rejected" and self._programs.get(question.id, set()) & wanted
        ]
        return list(dict.fromkeys((*refused, *(harm.script for harm in harmful_corpus() if harm.programs & wanted))))

    def _policy(self, more: Sequence[Rule]) -> ShellPolicy:
        rules = (*more, *self._rules)
        return ShellPolicy(lambda: rules, self._private, _HOME, _NO_PROGRAMS)


def _moved(question: Question) -> Question:
    """The question as if it had been asked in the fictitious folder."""
    folder = question.directory.rstrip("/")
    return replace(question, text=question.text.replace(folder, FOLDER)) if folder else question


def _allows(policy: ShellPolicy, question: Question) -> bool:
    if question.kind == "tool":
        return policy.tool(question.text, question.paths).verdict == "allow"
    return policy.script(question.text, FOLDER).verdict == "allow"


def _concerns(rule: Rule, question: Question) -> bool:
    return bool(rule.tool) and any(fits_path(path, rule.paths) for path in question.paths)


def _programs(rules: Sequence[Rule]) -> set[str]:
    """The programs that the rules are about."""
    exact = {program(rule.exactly) for rule in rules if rule.exactly}
    return exact | {begin[0] for rule in rules for begin in rule.commands}

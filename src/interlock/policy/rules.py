"""Rules: the commands and tools each one applies to, and its verdict."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from glob import iglob
from itertools import takewhile
from typing import Literal

from msgspec import Struct

from interlock.policy.flags import Known, has_loosely, parsed
from interlock.policy.host_patterns import NETWORK_TOOLS, fits_host
from interlock.policy.path_patterns import fits_path
from interlock.policy.paths import CommandLocation, classify, names_of, path_objection, tree_objection
from interlock.policy.reading.shell_ast import Command
from interlock.policy.reading.words import Word
from interlock.policy.reading.wrappers import program, system_name

Verdict = Literal["allow", "ask", "deny"]
Source = Literal["default", "user", "project"]
Operands = Literal["any", "none", "project", "git", "outside"]
_SIGNATURES = ("%G", "%(signature")
"""In formats of git: the state of a signature, which another program checks."""


class Rule(Struct, frozen=True, kw_only=True):
    """One rule. All given conditions must hold.

    Allow rules match strictly: the program, the words after it, and only the named options. Ask and deny rules match
    loosely: options before the subcommand, other spellings and other folders do not hide a command.
    """

    name: str
    verdict: Verdict
    source: Source
    reason: str = ""
    tool: str = ""
    paths: tuple[str, ...] = ()  # of a tool that changes files
    hosts: tuple[str, ...] = ()  # of a tool that contacts hosts
    commands: tuple[tuple[str, ...], ...] = ()
    exactly: tuple[Word, ...] = ()
    options: Known = {}
    whole_words: bool = False
    having: tuple[tuple[str, ...], ...] = ()
    first: re.Pattern[str] | None = None
    operands: Operands | tuple[str, ...] = "any"
    below: Literal["", "all", "visible"] = ""
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()
    since: str = ""  # the date when it was remembered
    at: str = ""  # file and line


class Hit(Struct, frozen=True):
    """A rule that applies to a command. `but` is the objection of an allow rule.

    `words` is the number of words of the command that the rule names.
    """

    rule: Rule
    but: str = ""
    words: int = 0


def matches_tool(rule: Rule, tool: str, paths: Sequence[str] = (), hosts: Sequence[str] = ()) -> bool:
    """`paths`: all files that the call changes; empty if they are not known, and then no path allows it.

    `hosts`: all hosts that it contacts. Then it changes no file, and a rule that allows must name the tool itself.
    """
    if not rule.tool or not fnmatchcase(tool, rule.tool):
        return False
    if hosts or tool in NETWORK_TOOLS:
        return _matches_hosts(rule, tool, hosts)
    if rule.hosts:
        return False
    if not rule.paths:
        return True
    if rule.verdict == "allow":
        return bool(paths) and all(fits_path(path, rule.paths) for path in paths)
    return not paths or any(fits_path(path, rule.paths, hidden=True) for path in paths)


def _matches_hosts(rule: Rule, tool: str, hosts: Sequence[str]) -> bool:
    if rule.paths:
        return False
    if rule.verdict != "allow":
        return not rule.hosts or not hosts or any(fits_host(host, rule.hosts, any_port=True) for host in hosts)
    if not rule.hosts:
        return rule.tool == tool and tool != "fetch_url"
    return bool(hosts) and all(fits_host(host, rule.hosts) for host in hosts)


def hit_of(rule: Rule, command: Command, place: CommandLocation) -> Hit | None:
    """The hit of a rule; None if the rule does not apply to the command."""
    words = command.words
    if not words or rule.tool:
        return None
    if rule.exactly:
        if words != rule.exactly:
            return None
        elsewhere = rule.verdict == "allow" and place.cwd != place.root  # ./build.sh is another file there
        return Hit(rule, "a rule allows it only where the script starts" if elsewhere else "")
    if rule.verdict == "allow":
        return _strict_hit(rule, words, place) if command.literal else None
    return Hit(rule) if _matches_loosely(rule, words, place) else None


# ── allowing ─────────────────────────────────────────────────────────────────────────────


def _strict_hit(rule: Rule, words: Sequence[Word], place: CommandLocation) -> Hit | None:
    called = system_name(words[0])
    if called == "git" and len(words) > 1 and words[1].text == "--no-pager":  # no allowed program has one
        words = (words[0], *words[2:])
    for begin in rule.commands:
        given = (called, *(word.text for word in words[1 : len(begin)]))
        if given == begin and not any(word.glob for word in words[: len(begin)]):
            but = _objection(rule, words[len(begin) :], place)
            return Hit(rule, but, len(begin))
    return None


def _objection(rule: Rule, words: Sequence[Word], place: CommandLocation) -> str:
    words = [_unless_expanded(word, place) for word in words]
    if rule.operands == "git" and any(mark in word.text for word in words for mark in _SIGNATURES):
        return "git runs another program to check signatures"
    options = parsed(words, rule.options, whole_words=rule.whole_words)
    if options is None:
        return "it has an option that is not known to be harmless"
    for alternatives in rule.having:
        if not options.options.intersection(alternatives):
            return f"it lacks {' or '.join(alternatives)}"
    operands = options.operands
    if rule.first is not None:
        if not operands or operands[0].glob or not rule.first.fullmatch(operands[0].text):
            return "its first word is not of the known kind"
        operands = operands[1:]
    for word in (*options.paths, *(operands if rule.operands in ("project", "git") else ())):
        if word.text.startswith("@") and rule.source != "default":  # no program of the shipped rules reads such a file
            return f"{word.text!r} may be a file with further words"
        if why := _argument_objection(word, place, git=rule.operands == "git"):
            return why
    if rule.operands == "none" and operands:
        return f"{operands[0].text!r} is one word too many"
    if isinstance(rule.operands, tuple):
        for word in operands:
            if word.glob or not any(fnmatchcase(word.text, pattern) for pattern in rule.operands):
                return f"{word.text!r} is not one of the words that are known to be harmless"
    if rule.operands == "any" and any(word.glob for word in operands):
        return "a pattern may become any words"
    if rule.below:
        # A word of git may be a revision, and then all its files are searched.
        tops = () if rule.operands == "git" else tuple(name for word in operands for name in names_of(word, place))
        for top in tops or (".",):
            if why := tree_objection(top, place, hidden=rule.below == "all"):
                return why
    return ""


def _unless_expanded(word: Word, place: CommandLocation) -> Word:
    """`--include=*.py` is not expanded, unless a file with such a name exists."""
    is_option = word.glob and word.text.startswith("--") and "=" in word.text and "[" not in word.text
    if is_option and next(iglob(word.text, root_dir=place.cwd), None) is None:
        return Word(word.text, word.literal)
    return word


def _argument_objection(word: Word, place: CommandLocation, *, git: bool) -> str | None:
    if not git:
        return path_objection(word, place)
    if word.glob or any(mark in word.text for mark in "*?[\\"):  # for git, \\.env is a pattern too
        return "a pattern may name private files"
    if word.text.startswith(":("):
        return "git interprets words after :( itself"
    pieces = word.text.split(":")
    for number in range(len(pieces)):  # HEAD:path, :0:path
        part = ":".join(pieces[number:])
        if part and (why := path_objection(Word(part), place)):
            return why
    return None


# ── asking and denying ───────────────────────────────────────────────────────────────────


def _matches_loosely(rule: Rule, words: Sequence[Word], place: CommandLocation) -> bool:
    for begin in rule.commands:
        rest = _after(begin, words)
        if rest is not None and _conditions_hold(rule, rest, place):
            return True
    return False


def _after(begin: Sequence[str], words: Sequence[Word]) -> Sequence[Word] | None:
    """The words after the first ones. Options, and a word that may be the value of an option, may come between."""
    if not fnmatchcase(program(words), begin[0]):
        return None
    passed: list[Word] = []
    left = list(begin[1:])
    for at, word in enumerate(words[1:], 1):
        if not left:
            return [*passed, *words[at:]]
        if word.text == left[0]:
            left.pop(0)
        elif word.text.startswith("-") or words[at - 1].text.startswith("-"):
            passed.append(word)
        else:
            return None
    return None if left else passed


def _conditions_hold(rule: Rule, words: Sequence[Word], place: CommandLocation) -> bool:
    for alternatives in rule.having:
        if not any(has_loosely(words, flag) for flag in alternatives):
            return False
    if rule.first is not None and not any(rule.first.fullmatch(word.text) for word in words):
        return False
    if rule.operands == "outside":
        if rule.whole_words:  # find: its folders come before its first test
            words = list(takewhile(lambda word: not word.text.startswith("-") or len(word.text) == 2, words))
        return any(_is_outside(word, place) for word in words)
    if isinstance(rule.operands, tuple):
        return any(fnmatchcase(word.text, pattern) for word in words for pattern in rule.operands)
    return True


def _is_outside(word: Word, place: CommandLocation) -> bool:
    text = word.text
    if text.startswith("-"):
        text = text.partition("=")[2]
    return bool(text) and classify(text, place) == "outside"


def by_verdict(hits: Sequence[Hit]) -> Mapping[tuple[Verdict, Source], Hit]:
    """The first effective hit of each verdict and source."""
    hits_by: dict[tuple[Verdict, Source], Hit] = {}
    for hit in hits:
        if not hit.but:
            hits_by.setdefault((hit.rule.verdict, hit.rule.source), hit)
    return hits_by

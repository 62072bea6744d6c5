"""Parses a shell script into all commands it would run, and the concerns that need a person.

Uses tree-sitter's grammar of bash. No text makes this raise: unreadable syntax is a concern, and a script with a
concern is never allowed without a person.
"""

import re
import threading
from typing import TYPE_CHECKING

from msgspec import Struct

from interlock.policy.reading.second_reader import is_clean, plain_commands
from interlock.policy.reading.words import UNKNOWN, Word, word_of
from interlock.policy.reading.wrappers import DOWNLOADERS, EVALUATORS, INTERPRETERS, Words, program, unwrapped

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_CHARACTERS = 10_000
MOST_COMMANDS = 100
_DEEPEST = 5  # nesting of scripts: bash -c "bash -c …"
_MOST_NODES = 20_000

WRITES = ">"
"""The program name of a redirection to a file, for rules."""
RUNS_ITSELF = "function-that-runs-itself"
RUNS_DOWNLOAD = "run-what-was-downloaded"
FORMS = (WRITES, RUNS_ITSELF, RUNS_DOWNLOAD)
"""Program names that stand for a form of a script."""


class Command(Struct, frozen=True):
    words: Words
    through: tuple[Word, ...] = ()  # the harmless wrappers that run it, such as `timeout`

    @property
    def literal(self) -> bool:
        return all(word.literal for word in self.words)


class Step(Struct, frozen=True):
    """One part of a plain script: a command, or a script that another shell runs. `then` is the separator after it."""

    then: str
    command: Command | None = None
    script: "ParsedScript | None" = None


class ParsedScript(Struct, frozen=True):
    """`commands`: all commands, including those run by wrappers. `concerns`: reasons why a person must decide.

    `steps`: the same commands in the order of a plain script; empty if there is a concern.
    """

    commands: tuple[Command, ...]
    concerns: tuple[str, ...]
    steps: tuple[Step, ...] = ()


# Node types of an allowed script. Every other type is a concern, under this name or its own.
_HARMLESS = frozenset(
    (
        *("program", "list", "pipeline", "command", "command_name", "word", "number", "string", "string_content"),
        *("raw_string", "concatenation", "comment", "redirected_statement", "file_redirect", "file_descriptor"),
        *("&&", "||", ";", "|", "\n", '"', "'", ">", ">>", ">&", ">|", "&>", "&>>", "<", "<&"),
    )
)
_CALLED = {
    "ERROR": "it does not parse",
    "&": "something is left running in the background",
    "|&": "it has a |&",
    "ansi_c_string": "it has a $'…' string",
    "arithmetic_expansion": "it computes $((…))",
    "brace_expression": "it has braces that expand",
    "c_style_for_statement": "it has a loop",
    "case_statement": "it has a case",
    "command_substitution": "it runs a command to make a word of its output",
    "compound_statement": "it groups commands",
    "declaration_command": "it sets variables",
    "expansion": "it expands a variable",
    "for_statement": "it has a loop",
    "function_definition": "it defines a function",
    "heredoc_redirect": "it has a here-document",
    "herestring_redirect": "it has a here-string",
    "if_statement": "it has an if",
    "negated_command": "it has a !",
    "process_substitution": "it reads or writes through another command",
    "simple_expansion": "it expands a variable",
    "subshell": "it has a subshell",
    "test_command": "it has a test",
    "unset_command": "it unsets variables",
    "variable_assignment": "it sets a variable",
    "while_statement": "it has a loop",
}
_SUBSTITUTIONS = ("command_substitution", "process_substitution")
_LARGE_CHARACTER = re.compile("[\U00010000-\U0010ffff]")


def parse(script: str, home: str = "/", depth: int = 0) -> ParsedScript:
    if len(script) > MOST_CHARACTERS:
        return ParsedScript((), (f"it has more than {MOST_CHARACTERS:,} characters",))
    if depth > _DEEPEST:
        return ParsedScript((), ("scripts run scripts too deeply",))
    walk = _Walk(home, depth)
    walk.read_script(script)
    steps = () if walk.concerns else tuple(walk.steps)
    return ParsedScript(tuple(walk.commands), tuple(dict.fromkeys(walk.concerns)), steps)


class _Walk:
    def __init__(self, home: str, depth: int) -> None:
        self.home = home
        self.depth = depth
        self.commands: list[Command] = []
        self.concerns: list[str] = []
        self.steps: list[Step] = []

    def read_script(self, script: str) -> None:
        if "\0" in script:
            self.concerns.append("it holds a NUL")
            script = script.replace("\0", "")
        elif not is_clean(script):
            self.concerns.append("it holds characters that hide or look like others")
        # The grammar's scanner passes characters to isalnum(), which crashes for large numbers ("{" and U+FCC50).
        readable = _LARGE_CHARACTER.sub("\ufffd", script)
        root = _parser().parse(readable.encode(errors="replace")).root_node
        if root.has_error:
            self.concerns.append(_CALLED["ERROR"])
        outer = self._visit(root)
        if self.concerns:
            self._inner(outer, ())
            return
        plain = plain_commands(script)
        if plain is None or [command.words for command in plain] != outer:
            self.concerns.append("it is not plain enough to be sure how a shell reads it")
            self._inner(outer, ())
            return
        self._inner(outer, [command.then for command in plain])

    def _visit(self, root: "Node") -> list[Words]:
        """Visits all nodes in text order and collects the commands."""
        commands: list[Words] = []
        stack, seen = [root], 0
        while stack:
            node = stack.pop()
            seen += 1
            if seen > _MOST_NODES:
                self.concerns.append("it has too many parts")
                break
            kind = node.type
            if node.is_missing:
                self.concerns.append(_CALLED["ERROR"])
            if kind not in _HARMLESS and _is_outermost(node):
                self.concerns.append(_CALLED.get(kind) or f"it has a {kind.replace('_', ' ')}")
            if kind == "command":
                if len(commands) >= MOST_COMMANDS:
                    self.concerns.append(f"it has more than {MOST_COMMANDS} commands")
                    break
                words = self._words(node)
                commands.append(words)
                self._find_piped_downloads(words, node)
            elif kind == "pipeline":
                self._pipeline(node)
            elif kind == "function_definition":
                self._function(node)
            elif kind == "file_redirect":
                self._redirect(node)
            elif kind == "declaration_command":
                commands.append(self._words(node))
            if kind not in ("word", "raw_string", "number", "comment"):
                stack += reversed(node.children)
        return commands

    def _words(self, node: "Node") -> Words:
        named = [
            child
            for child in node.children
            if child.is_named and child.type not in ("file_redirect", "herestring_redirect", "heredoc_redirect")
        ]
        if node.type == "declaration_command":
            first = (node.children[0].text or b"").decode(errors="replace")
            return (Word(first), *(word_of(child, self.home) for child in named))
        return tuple(word_of(child, self.home) for child in named if child.type != "variable_assignment")

    # ── commands run by commands ──────────────────────────────────────────────────

    def _inner(self, outer: list[Words], separators: "list[str] | tuple[()]") -> None:
        """Every command, followed by the commands it runs."""
        for number, words in enumerate(outer):
            self._add(words, separators[number] if separators else "", ())

    def _add(self, words: Words, then: str, through: tuple[Word, ...], depth: int = 0) -> None:
        inner = unwrapped(words)
        harmless = len(inner) == 1 and inner[0].harmless
        if not harmless:
            command = Command(words, through)
            self.commands.append(command)
            self.steps.append(Step(then, command))
        if inner and not harmless:
            self.concerns.append(f"{program(words)} runs another command")
        if depth > _DEEPEST:
            self.concerns.append("commands run commands too deeply")
            return
        outside = (*through, words[0])
        for wrapped in inner:
            if wrapped.script is None:
                self._add(wrapped.words, then, outside, depth + 1)
                continue
            within = parse(wrapped.script, self.home, self.depth + 1)
            self.commands += within.commands
            self.concerns += within.concerns
            self.steps.append(Step(then, Command((), outside), within))

    def _redirect(self, node: "Node") -> None:
        operator = next((child.type for child in node.children if not child.is_named), "")
        target = node.child_by_field_name("destination")
        word = word_of(target, self.home) if target is not None else Word(UNKNOWN, literal=False)
        if operator in (">&", "<&") and word.text.isdigit():
            return
        if operator == "<":
            self.concerns.append("it reads from a file by <")
        elif not (word.literal and word.text == "/dev/null"):
            self.concerns.append("it writes to a file")
            self.commands.append(Command((Word(WRITES), word)))

    # ── known harmful forms ────────────────────────────────────────────────────

    def _function(self, node: "Node") -> None:
        named = node.child_by_field_name("name")
        name = named.text if named is not None else None
        body = node.child_by_field_name("body")
        calls = [] if body is None else _descendants(body, ("command_name",))
        if name and any(called.text == name for called in calls):
            self.commands.append(Command((Word(RUNS_ITSELF), word_of(named, self.home) if named else Word(""))))

    def _pipeline(self, node: "Node") -> None:
        """A download that is piped into an interpreter."""
        downloaded = False
        for child in node.named_children:
            names = self._programs(child)
            if downloaded and names & INTERPRETERS:
                self.commands.append(Command((Word(RUNS_DOWNLOAD),)))
                return
            downloaded = downloaded or bool(names & DOWNLOADERS)

    def _find_piped_downloads(self, words: Words, node: "Node") -> None:
        if not _names(words) & (INTERPRETERS | EVALUATORS):
            return
        for part in _descendants(node, _SUBSTITUTIONS):
            if self._programs(part) & DOWNLOADERS:
                self.commands.append(Command((Word(RUNS_DOWNLOAD),)))
                return

    def _programs(self, node: "Node") -> set[str]:
        return {name for command in _descendants(node, ("command",)) for name in _names(self._words(command))}


def _names(words: Words) -> set[str]:
    """The programs of a command and of the commands it runs, if the words are known."""
    names, stack = set[str](), [words]
    for _ in range(20):
        if not stack:
            break
        one = stack.pop()
        names.add(program(one))
        stack += [wrapped.words for wrapped in unwrapped(one) if wrapped.words]
    return names


def _is_outermost(node: "Node") -> bool:
    """Reports only the outermost concern."""
    parent = node.parent
    return parent is None or parent.type in _HARMLESS


def _descendants(node: "Node", kinds: tuple[str, ...]) -> "list[Node]":
    nodes: list[Node] = []
    stack = [node]
    while stack:
        one = stack.pop()
        if one.type in kinds:
            nodes.append(one)
        stack += one.children
    return nodes


class _Parsers(threading.local):
    parser: "Parser | None" = None


_parsers = _Parsers()


def _parser() -> "Parser":
    """The parser of this thread, made at first use: loading the grammar is slow."""
    if _parsers.parser is None:
        import tree_sitter_bash
        from tree_sitter import Language, Parser

        _parsers.parser = Parser(Language(tree_sitter_bash.language()))
    return _parsers.parser

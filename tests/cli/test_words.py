"""Every command: its handler, its struct of arguments, its help text and the examples in it."""

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest
from msgspec import Struct

from interlock.cli.arguments import arguments_of, load_handler
from interlock.cli.words.parser import build, parse


def parsers(parser: argparse.ArgumentParser, path: str = "interlock") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield path, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield from parsers(child, f"{path} {name}")


PARSERS = dict(parsers(build()))
COMMANDS = [path for path, parser in PARSERS.items() if "handler" in parser._defaults]
HELP = {path: parser.format_help() for path, parser in PARSERS.items()}


def examples(path: str) -> list[str]:
    text = HELP[path].partition("\nexamples:\n")[2].partition("\n\n")[0]
    return [line.strip() for line in text.splitlines()]


def parsed(example: str) -> argparse.Namespace:
    program, *argv = shlex.split(example, comments=True)
    assert program == "interlock"
    return parse(argv)


@pytest.mark.parametrize("path", COMMANDS)
def test_a_handler_takes_exactly_the_arguments_that_its_parser_provides(path: str) -> None:
    parser = PARSERS[path]
    handler, kind = load_handler(parser.get_default("handler"))
    provided = {action.dest for action in parser._actions if action.default != argparse.SUPPRESS}
    assert callable(handler)
    assert issubclass(kind, Struct)
    assert set(kind.__struct_fields__) == provided


@pytest.mark.parametrize("path", PARSERS)
def test_every_help_text_has_examples_that_parse_and_fit_the_struct(path: str) -> None:
    assert examples(path), f"{path} --help has no examples"
    for example in examples(path):
        assert example.startswith(f"{path} ") or example == path, example
        namespace = parsed(example)
        _, kind = load_handler(namespace.handler)
        arguments_of(namespace, kind)


@pytest.mark.parametrize("path", PARSERS)
def test_no_help_text_prints_none_or_an_unfilled_placeholder(path: str) -> None:
    assert not re.search(r"^\s*None\s*$|%\(", HELP[path], re.MULTILINE)


@pytest.mark.parametrize("path", PARSERS)
def test_every_help_text_fits_eighty_columns(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    wide = [line for line in PARSERS[path].format_help().splitlines() if len(line) > 80 and " " in line.strip()]
    assert wide == []


def test_the_help_lists_each_command_once_below_its_topic() -> None:
    listed = re.findall(
        r"^  ([a-z-]+) {2,}\S", HELP["interlock"].partition("\nstart:\n")[2].partition("\nexamples:")[0], re.M
    )
    assert sorted(listed) == sorted(path.split()[1] for path in PARSERS if path.count(" ") == 1)


def test_json_may_be_asked_for_in_three_ways_where_tests_are_concerned() -> None:
    for asked in ("--json", "--format json", "--output=json"):
        assert parsed(f"interlock test list {asked}").json is True
    assert parsed("interlock test list --format table").json is False


def test_the_folder_can_be_named_before_the_command() -> None:
    for words in (["-C", "d", "status"], ["--project", "d", "status"], ["--project=d", "status"], ["-Cd", "status"]):
        assert parse(words).project == "d"
    assert parse(["-C", "d", "tracks", "list"]).project == "d"
    assert parse(["-C", "d"]).handler == parse(["gui"]).handler
    assert parse(["-C", "d"]).project == "d"
    assert parse(["status"]).project is None


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["-C", "a", "status", "-C", "b"], "given twice"),
        (["-C", "a", "completion", "bash"], "takes no -C"),
        (["-C", "a", "tracks"], "what should be done"),
        (["-C"], "expected one argument"),
    ],
)
def test_a_folder_that_cannot_count_is_refused(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        parse(words)
    assert (end.value.code, problem in capsys.readouterr().err) == (2, True)

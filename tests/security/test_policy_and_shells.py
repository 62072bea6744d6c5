"""The policy parses scripts as shells run them: random scripts in bash and dash, with argument-recording programs."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from interlock.policy.reading.shell_ast import ParsedScript, parse

PROGRAMS = ("ls", "cat", "rm")
PIECES = (
    *(
        "ls",
        "cat",
        "rm",
        " ",
        " ",
        "\t",
        "'",
        '"',
        "\\",
        "a",
        "b c",
        "-l",
        "|",
        "||",
        "&&",
        ";",
        "\n",
        "#",
        "$",
        "$'",
        "`",
    ),
    *("(", ")", "{", "}", "{a,b}", "<", ">", "2>&1", ">/dev/null", "2>/dev/null", "~", "=", "!", "^", "%", "\r", "&"),
    *(
        "[a]",
        "é",
        "\\\n",
        "\\n",
        "''",
        '""',
        "EOF",
        "<<",
        "@",
        "+",
        "$(",
        "${",
        "x=1",
        "\u00a0",
        "1>&2",
        " # c",
        "{}",
        "..",
    ),
)
BEGINNINGS = ("", "ls ", "cat ", "ls;", "ls|", "ls && cat ")


def scripts(count: int) -> list[tuple[str, ParsedScript]]:
    """Random scripts without concerns, with their parsed form."""
    chance = random.Random(20_260)
    pairs: list[tuple[str, ParsedScript]] = []
    while len(pairs) < count:
        text = chance.choice(BEGINNINGS) + "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 9)))
        read = parse(text)
        known = all(command.words[0].text in PROGRAMS for command in read.commands)
        if read.commands and not read.concerns and known:
            pairs.append((text, read))
    return pairs


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_the_words_that_were_read_are_those_that_arrive(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here")
    folder, reports, here = tmp_path / "bin", tmp_path / "reports", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    reports.mkdir()
    for name in PROGRAMS:
        (folder / name).write_text(f'#!/bin/sh\nprintf "%s\\001" {name} "$@" > {reports}/$$\n')
        (folder / name).chmod(0o755)
    for text, read in scripts(120):
        for file in reports.iterdir():  # one file for each program, because those of a pipeline run in parallel
            file.unlink()
        env = {"PATH": str(folder), "HOME": "/users/me"}
        subprocess.run(
            [program, "-c", text], cwd=here, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        ran = sorted(file.read_text()[:-1].split("\1") for file in reports.iterdir())
        meant = sorted([word.text for word in command.words] for command in read.commands)
        if "||" in text:  # the command after it may not have run
            assert all(call in meant for call in ran), text
        else:
            assert ran == meant, text
        assert list(here.iterdir()) == [], text

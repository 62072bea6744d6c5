"""Parsing a script: its words, its commands at any nesting, and concerns that prevent a verdict."""

import pytest

from interlock.policy.reading.second_reader import plain_commands
from interlock.policy.reading.shell_ast import parse
from interlock.policy.reading.words import UNKNOWN, Word

HOME = "/users/me"


def commands(script: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in parse(script, HOME).commands]


def words(script: str) -> tuple[Word, ...]:
    return parse(script, HOME).commands[0].words[1:]


@pytest.mark.parametrize(
    ("script", "word"),
    [
        ("echo a", Word("a")),
        ("echo 'a b'", Word("a b")),
        ('echo "a b"', Word("a b")),
        (r'echo "a \"b\" \\ \n"', Word(r'a "b" \ \n')),
        (r"echo a\ b", Word("a b")),
        ("echo a'b'\"c\"", Word("abc")),
        ("echo *.py", Word("*.py", glob=True)),
        (r"echo \*.py", Word("*.py")),
        ("echo '*'", Word("*")),
        (r"echo $'\x61\142\n\u00e9'", Word("ab\né", literal=False)),
        ("echo ~", Word(HOME, literal=False)),
        ("echo ~/x", Word(f"{HOME}/x", literal=False)),
        ("echo $HOME", Word(HOME, literal=False)),
        ('echo "${HOME}/x"', Word(f"{HOME}/x", literal=False)),
        ("echo $x", Word(UNKNOWN, literal=False)),
        ('echo "a$(ls)b"', Word(f"a{UNKNOWN}b", literal=False)),
        ("echo {a,b}", Word("{a,b}", literal=False)),
        ("echo $((1+1))", Word(UNKNOWN, literal=False)),
    ],
)
def test_a_parsed_word_is_exact_or_marked_as_a_guess(script: str, word: Word) -> None:
    assert words(script) == (word,)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("ls -la | head && pwd; id", [["ls", "-la"], ["head"], ["pwd"], ["id"]]),
        ("echo $(ls) `id` <(pwd)", [["echo", UNKNOWN, UNKNOWN, UNKNOWN], ["ls"], ["id"], ["pwd"]]),
        ("if a; then b; else c; fi", [["a"], ["b"], ["c"]]),
        ("for x in 1; do a; done; while b; do c; done", [["a"], ["b"], ["c"]]),
        ("f() { a; }", [["a"]]),
        ("(a; { b; })", [["a"], ["b"]]),
        ("cat <<E\n$(a)\nE", [["cat"], ["a"]]),
        ("X=$(a) b", [["b"], ["a"]]),
        ("bash -c 'a; b'", [["bash", "-c", "a; b"], ["a"], ["b"]]),
        ("bash -c ls", [["ls"]]),
        ("bash -xc a", [["bash", "-xc", "a"], ["a"]]),
        ("env -i A=1 a b", [["env", "-i", "A=1", "a", "b"], ["a", "b"]]),
        ("env -S 'a b' c", [["env", "-S", "a b", "c"], ["a", "b", "c"]]),
        ("sudo -u x a", [["sudo", "-u", "x", "a"], ["a"]]),
        ("timeout -k 1 5 a", [["timeout", "-k", "1", "5", "a"], ["a"]]),
        ("timeout 5 ls", [["ls"]]),
        ("xargs -n 1 a b", [["xargs", "-n", "1", "a", "b"], ["a", "b"]]),
        (
            "find . -exec a {} ';' -ok b ';'",
            [["find", ".", "-exec", "a", "{}", ";", "-ok", "b", ";"], ["a", "{}"], ["b"]],
        ),
        ("su -c 'a b'", [["su", "-c", "a b"], ["a", "b"]]),
        ("eval 'a b' c", [["eval", "a b", "c"], ["a", "b", "c"]]),
        ("nice -n 5 nohup a", [["nohup", "a"], ["a"]]),
        ("a > x", [[">", "x"], ["a"]]),
        ("command -v ls", [["command", "-v", "ls"]]),
    ],
)
def test_every_command_is_found_wherever_it_stands(script: str, expected: list[list[str]]) -> None:
    got = commands(script)
    if script == "bash -c 'a; b'":  # bash only runs that text, so only the text is judged
        expected = expected[1:]
    assert got == expected


@pytest.mark.parametrize(
    ("script", "concern"),
    [
        ("ls &", "something is left running in the background"),
        ("ls > x", "it writes to a file"),
        ("ls < x", "it reads from a file by <"),
        ("x=1 ls", "it sets a variable"),
        ("ls $x", "it expands a variable"),
        ("for x in 1; do ls; done", "it has a loop"),
        ("f() { ls; }", "it defines a function"),
        ("ls (", "it does not parse"),
        ("nohup ls", "nohup runs another command"),
        ("ls\0", "it holds a NUL"),
        ("ls \u202e", "it holds characters that hide or look like others"),
        ("ls [a]", "it is not plain enough to be sure how a shell reads it"),
        ("./timeout 5 ls", "timeout runs another command"),
        ("./bash -c ls", "bash runs another command"),
        ("a" * 10_001, "it has more than 10,000 characters"),
    ],
)
def test_a_construct_that_cannot_be_judged_is_a_concern(script: str, concern: str) -> None:
    assert parse(script).concerns[0] == concern


def test_scripts_in_scripts_are_read_only_so_deep() -> None:
    script = "ls"
    for _ in range(8):
        script = "bash -c " + "'" + script.replace("'", "'\\''") + "'"
    assert "scripts run scripts too deeply" in parse(script).concerns


@pytest.mark.parametrize(
    "script",
    ["ls", "ls -la 'a b' | head", "a && b || c; d\ne", "# x\nls # y", "ls 2>/dev/null", "ls >/dev/null 2>&1", "ls\n\n"],
)
def test_plain_scripts_are_read_the_same_way_twice(script: str) -> None:
    plain = plain_commands(script)
    assert plain is not None
    assert [command.words for command in plain] == [command.words for command in parse(script).commands]


@pytest.mark.parametrize(
    "script",
    [
        "$x",
        "`a`",
        "(a)",
        "{ a; }",
        "a &",
        "a < b",
        "a > b",
        "~/a",
        "x=1",
        "if a",
        "a {b,c}",
        "a [b]",
        "a;;b",
        "a &&",
        "|a",
        "a\\\nb",
        "é",
    ],
)
def test_everything_else_is_not_plain(script: str) -> None:
    assert plain_commands(script) is None

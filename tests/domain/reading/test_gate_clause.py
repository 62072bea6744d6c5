import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.reading.command_tokens import Token, quoted, tokens
from interlock.domain.reading.gate_clause import MOST_ATTEMPTS, parse_clause, write_clause
from interlock.domain.values.gates import Gate
from interlock.errors import Rejected

# Mostly the characters with a meaning in a gate clause.
COMMANDS = st.text(st.sampled_from("\\\"' \n:ab->*") | st.characters(codec="utf-8"), max_size=30)
GATES = st.builds(
    Gate,
    COMMANDS,
    preset=st.sampled_from([None, "fast", "full", "extended"]),
    max_attempts=st.none() | st.integers(1, MOST_ATTEMPTS),
    timeout_s=st.none() | st.floats(0, 1e300),
    loop=st.booleans(),
    stdin=st.sampled_from([None, "answer"]),
    flaky=st.booleans(),
)


@given(COMMANDS)
def test_any_command_can_be_written_and_arrives_unchanged(command: str) -> None:
    assert parse_clause(f"verify:{quoted(command)}") == Gate(command)
    assert parse_clause(f"verify:{quoted(command)} :fast") == Gate(command, preset="fast")


@given(GATES)
def test_a_gate_that_is_written_is_read_back(gate: Gate) -> None:
    assert parse_clause(write_clause(gate)) == gate


@given(st.text(st.sampled_from("verify:\"'\\ maxloptue103fs"), max_size=20))
def test_any_text_is_a_gate_or_refused_with_a_column(text: str) -> None:
    for clause in (text, f'verify:"x" {text}'):
        try:
            gate = parse_clause(clause)
        except Rejected as refused:
            column = int(str(refused).rpartition("(column ")[2].removesuffix(")"))
            assert 1 <= column <= len(clause) + 1
        else:
            assert parse_clause(write_clause(gate)) == gate


@pytest.mark.parametrize(
    ("clause", "gate"),
    [
        ('verify:"npm test"', Gate("npm test")),
        ("verify:'npm test'", Gate("npm test")),
        ('  verify:"npm test"  ', Gate("npm test")),
        ('verify:"npm test" :fast', Gate("npm test", preset="fast")),
        ('verify:"npm test":full', Gate("npm test", preset="full")),
        ('verify:"a" :extended max:3', Gate("a", preset="extended", max_attempts=3)),
        (
            'verify:"pytest -v" loop:true max:15 timeout:120',
            Gate("pytest -v", loop=True, max_attempts=15, timeout_s=120.0),
        ),
        ('verify:"a" timeout:0.5\tloop:false\n:fast', Gate("a", preset="fast", timeout_s=0.5)),
        (r'verify:"echo \"hi\""', Gate('echo "hi"')),
        (r"verify:'echo \'hi\''", Gate("echo 'hi'")),
        ("""verify:"echo 'hi'" """, Gate("echo 'hi'")),
        ("""verify:'echo "hi"' """, Gate('echo "hi"')),
        (r"""verify:"printf 'a\nb\\n'" """, Gate(r"printf 'a\nb\\n'")),
        (r"""verify:"grep -E '\bx\.py$' f" """, Gate(r"grep -E '\bx\.py$' f")),
        (r'verify:"ends in \\"', Gate("ends in \\")),
        (r'verify:"a\\\"b"', Gate(r"a\"b")),
        ('verify:"a * 3 and b --> c :: d"', Gate("a * 3 and b --> c :: d")),
        ('verify:"a\nb"', Gate("a\nb")),
        ('verify:"a" stdin:answer max:2', Gate("a", max_attempts=2, stdin="answer")),
        ('verify:""', Gate("")),
    ],
)
def test_a_clause_means_this_gate(clause: str, gate: Gate) -> None:
    assert parse_clause(clause) == gate


@pytest.mark.parametrize(
    ("clause", "problem"),
    [
        ("", "there is no gate here (column 1)"),
        ("   ", "there is no gate here (column 4)"),
        (":fast", 'a gate starts with verify:"command", not with a colon (column 1)'),
        ("verify", 'verify needs a command in quotes: verify:"command" (column 1)'),
        ('verify "x"', 'verify needs a command in quotes: verify:"command" (column 1)'),
        ("verify:npm test", 'the command of verify stands in quotes: verify:"command" (column 8)'),
        ("verify:", 'the command of verify stands in quotes: verify:"command" (column 8)'),
        ('verify: "x"', 'the command of verify stands in quotes: verify:"command" (column 8)'),
        ('verify:"npm test', 'the quote " is never closed (column 8)'),
        ("verify:'it\\'", "the quote ' is never closed (column 8)"),
        ('verify:"a" "b"', "after the command come options, each after a space, such as max:3 or :fast (column 12)"),
        ('verify:"a"max:3', "after the command come options, each after a space, such as max:3 or :fast (column 11)"),
        ('verify:"a" :quick', "after a colon comes a preset: fast, full, extended (column 13)"),
        ('verify:"a" :', "after a colon comes a preset: fast, full, extended (column 13)"),
        ('verify:"a" mx:3', "no option 'mx'; did you mean max? (column 12)"),
        ('verify:"a" stdin:other', "stdin is answer: the gate reads the worker's last answer (column 18)"),
        ('verify:"a" retries:3', "no option 'retries'; there are loop, max, timeout, stdin, flaky (column 12)"),
        ('verify:"a" max', "max needs a value, as in max:3 (column 15)"),
        ('verify:"a" max:', "max is a whole number from 1 to 1000 (column 16)"),
        ('verify:"a" max:0', "max is a whole number from 1 to 1000 (column 16)"),
        ('verify:"a" max:1001', "max is a whole number from 1 to 1000 (column 16)"),
        ('verify:"a" max:1.5', "max is a whole number from 1 to 1000 (column 16)"),
        ('verify:"a" max:٣', "max is a whole number from 1 to 1000 (column 16)"),
        ('verify:"a" max:"3"', "max is a whole number from 1 to 1000 (column 16)"),
        ('verify:"a" timeout:-1', "timeout is a number of seconds (column 20)"),
        ('verify:"a" timeout:soon', "timeout is a number of seconds (column 20)"),
        ('verify:"a" timeout:1e999', "timeout is a number of seconds (column 20)"),
        ('verify:"a" loop:yes', "loop is true or false (column 17)"),
        ('verify:"a" max:1 max:2', "'max' is given twice (column 18)"),
        ('verify:"a" :fast :full', "a preset is given twice (column 18)"),
        ('verify:"a" :: verify:"b"', "a ticket's gate ends here; each gate is an item of its own (column 12)"),
        ('verify:"a" --> >>b', "a ticket's gate ends here; each gate is an item of its own (column 12)"),
    ],
)
def test_a_wrong_clause_is_refused_with_the_column(clause: str, problem: str) -> None:
    with pytest.raises(Rejected) as refused:
        parse_clause(clause)
    assert str(refused.value) == problem


@pytest.mark.parametrize(
    ("clause", "name"), [('"reads well"', None), ("'reads well'", None), ('style:"reads well"', "style")]
)
def test_criteria_are_a_gate_too(clause: str, name: str | None) -> None:
    gate = parse_clause(clause)
    assert gate == Gate("", criteria="reads well", name=name)
    assert parse_clause(write_clause(gate)) == gate
    assert gate.shown == ("style: reads well" if name else "reads well")


def test_a_ticket_names_no_gate_of_a_file() -> None:
    with pytest.raises(Rejected, match=r"a ticket names no gate of a file \(code-quality\).*column 1"):
        parse_clause("code-quality")


def test_a_gate_with_a_folder_or_variables_of_its_own_cannot_be_a_clause() -> None:
    for gate in (Gate("a", cwd="web"), Gate("a", env={"CI": "1"})):
        with pytest.raises(Rejected, match="written as an object"):
            write_clause(gate)


def test_tokens_carry_their_columns() -> None:
    assert tokens("""a:'b\\'' "c" """) == [
        Token("word", "a", 1),
        Token("colon", ":", 2),
        Token("text", "b'", 3),
        Token("space", " ", 8),
        Token("text", "c", 9),
        Token("space", " ", 12),
    ]


def test_a_long_command_is_read_in_one_go() -> None:
    command = 'x"\\' * 300_000
    assert parse_clause(f"verify:{quoted(command)}").command == command

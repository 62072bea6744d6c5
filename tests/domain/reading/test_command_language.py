import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.reading.command_language import CommandLine, CommandStep, Operator, parse_command
from interlock.domain.reading.command_tokens import quoted
from interlock.domain.reading.gate_clause import AnyGate, Criteria, LibraryGate
from interlock.domain.values.gates import Gate
from interlock.errors import Rejected

# Mostly the characters with a meaning in the command language.
TEXTS = st.text(st.sampled_from("\\\"' \n:ab->*=+?@#%3") | st.characters(codec="utf-8", exclude_characters="\0"))


def gates_of(text: str) -> list[tuple[AnyGate, ...]]:
    return [step.gates for step in parse_command(text).steps]


def args_of(text: str) -> list[str]:
    return [step.args for step in parse_command(text).steps]


def test_a_command_with_everything() -> None:
    gates = (
        Gate("npm test", preset="fast", max_attempts=3),
        Criteria("reads well"),
        Criteria("no secrets", name="safe"),
        LibraryGate("code-quality"),
    )
    text = (
        '%lean @CAGEERF #short >>review src/a.py :: verify:"npm test" :fast max:3 :: "reads well"'
        " :: safe:'no secrets' :: code-quality * 2 --> >>fix it ==> >>report"
    )

    def column(piece: str) -> int:
        return text.index(piece) + 1

    assert parse_command(text) == CommandLine(
        steps=(
            CommandStep("review", "src/a.py", column(">>review"), gates, repeat=2),
            CommandStep("fix", "it", column(">>fix")),
            CommandStep("report", "", column(">>report"), delegated=True),
        ),
        modifiers=("lean",),
        framework="CAGEERF",
        style="short",
        operators=(
            Operator("modifier", 1, 0, "lean"),
            Operator("framework", column("@"), 0, "CAGEERF"),
            Operator("style", column("#"), 0, "short"),
            Operator("gate", column(":: verify"), 1, gates[0]),
            Operator("gate", column(':: "reads'), 1, gates[1]),
            Operator("gate", column(":: safe"), 1, gates[2]),
            Operator("gate", column(":: code"), 1, gates[3]),
            Operator("repeat", column("* 2"), 1, 2),
            Operator("chain", column("-->"), 2),
            Operator("delegate", column("==>"), 3),
        ),
    )


@given(TEXTS)
def test_any_command_in_quotes_arrives_unchanged_wherever_it_stands(command: str) -> None:
    clause = f"verify:{quoted(command)}"
    expected = Gate(command, preset="full")
    assert gates_of(f">>a :: {clause} :full") == [(expected,)]
    assert gates_of(f">>a it :: {clause}:full :: x * 2 :: {clause} :full")[0] == (expected, LibraryGate("x"), expected)
    assert gates_of(f">>a don't :: {clause} :full --> >>b won't :: {clause} :full") == [(expected,), (expected,)]


@given(TEXTS)
def test_any_text_is_a_command_or_refused_with_a_column(text: str) -> None:
    for command in (text, f">>a {text}", f'>>a :: verify:"x" {text}', f">>a :: {text}"):
        try:
            parse_command(command)
        except Rejected as refused:
            column = int(str(refused).rpartition("(column ")[2].removesuffix(")"))
            assert 1 <= column <= len(command) + 1


@given(TEXTS)
def test_a_quoted_text_among_the_words_stays_as_it_is_written(text: str) -> None:
    quoted = '"' + text.replace("\\", "").replace('"', "") + '"'
    assert args_of(f">>a see {quoted} --> >>b x={quoted} end") == [f"see {quoted}", f"x={quoted} end"]


@pytest.mark.parametrize(
    ("command", "args"),
    [
        (">>a don't and the dogs' bones", "don't and the dogs' bones"),
        (">>a 5\" pipes, 6' boards", "5\" pipes, 6' boards"),
        (">>a rock 'n' roll", "rock 'n' roll"),
        (r">>a \'tis \"quoted", "'tis \"quoted"),
        (r">>a C:\new \\host", r"C:\new \\host"),
        (">>a use std::vector, a->b, x-->y, 1+1, 2*3, *that*, why ? so", None),
        (">>a 'x * 3 ' and \"--> :: + >>b\"", None),
        (">>a f('a :: b', k=\"--> c\")", None),
        (">>a echo x >> file", "echo x >> file"),
        (">>a  two\n lines ", "two\n lines"),
        (">>a 1 + 2 * x", None),
    ],
)
def test_words_are_text_unless_they_are_clearly_operators(command: str, args: str | None) -> None:
    parsed = parse_command(command)
    assert parsed == CommandLine(steps=(CommandStep("a", command[4:] if args is None else args, 1),))


def test_words_alone_are_a_prompt_and_can_have_gates() -> None:
    assert parse_command("  Fix it, don't wait :: verify:'make test'").steps == (
        CommandStep(None, "Fix it, don't wait", 3, (Gate("make test"),)),
    )


def test_options_belong_to_the_gate_they_follow() -> None:
    assert gates_of('>>a :: verify:"x" max:2 loop:true :: verify:"y" :extended timeout:5 --> >>b :: verify:"z"') == [
        (Gate("x", max_attempts=2, loop=True), Gate("y", preset="extended", timeout_s=5.0)),
        (Gate("z"),),
    ]


def test_the_first_step_can_be_handed_over_too() -> None:
    assert parse_command("==> >>a") == CommandLine(
        steps=(CommandStep("a", "", 5, delegated=True),), operators=(Operator("delegate", 1, 1),)
    )


def test_judge_goes_with_any_other_modifier() -> None:
    for text in ("%judge %lean >>a", "%lean %judge >>a"):
        assert set(parse_command(text).modifiers) == {"judge", "lean"}


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("", "the command is empty; write words, or >>name of a prompt (column 1)"),
        (" \n ", "the command is empty; write words, or >>name of a prompt (column 1)"),
        ("%clean", "a prompt is missing here: >>name (column 7)"),
        (":: verify:'x'", "a prompt is missing here: >>name (column 1)"),
        ("--> >>a", "a prompt is missing here: >>name (column 1)"),
        ("* 3 >>a", "a prompt is missing here: >>name (column 1)"),
        (">>a -->", "a prompt is missing here: >>name (column 8)"),
        (">>a --> --> >>b", "a prompt is missing here: >>name (column 9)"),
        (">>", "'' is no name of a prompt; after >> comes one, such as >>review (column 3)"),
        (">> a", "'' is no name of a prompt; after >> comes one, such as >>review (column 3)"),
        (">>../a", "'../a' is no name of a prompt; after >> comes one, such as >>review (column 3)"),
        (">>a + >>b", "running steps in parallel (+) is not supported; steps are joined by --> (column 5)"),
        (">>a x +>>b", "running steps in parallel (+) is not supported; steps are joined by --> (column 7)"),
        (
            '>>a :: verify:"x" + >>b',
            "running steps in parallel (+) is not supported; steps are joined by --> (column 19)",
        ),
        ('>>a ? "x" : >>b', 'conditions (? "…" : >>prompt) are not supported (column 5)'),
        ('? "x" : >>b', 'conditions (? "…" : >>prompt) are not supported (column 1)'),
        (">>a * 0", "a step is repeated a whole number of times, from 1 to 100 (column 5)"),
        (">>a * -1", "a step is repeated a whole number of times, from 1 to 100 (column 5)"),
        (">>a * 1.5", "a step is repeated a whole number of times, from 1 to 100 (column 5)"),
        (">>a *101", "a step is repeated a whole number of times, from 1 to 100 (column 5)"),
        (">>a * 99999999999", "a step is repeated a whole number of times, from 1 to 100 (column 5)"),
        (">>a * 2 * 2", "a step is repeated twice (column 9)"),
        (">>a * 3 b", "* 3 repeats a step and stands at its end; quotes make it a text (column 5)"),
        ("what is 2 * 3", "* 3 repeats a step, which starts with >>prompt; quotes make it a text (column 11)"),
        (">>a >>b", "a second prompt, >>b: steps are joined by -->; quotes make it a text (column 5)"),
        (">>a --> b", "each step of a chain starts with >>prompt; quotes make --> a text (column 9)"),
        ("a --> >>b", "each step of a chain starts with >>prompt; quotes make --> a text (column 1)"),
        ("==> a", "each step of a chain starts with >>prompt; quotes make --> a text (column 5)"),
        (
            ">>a --> @x >>b",
            "modifiers, @framework and #style stand at the beginning of the command, for all steps (column 9)",
        ),
        ("%clen >>a", "no modifier %clen; did you mean %clean? (column 1)"),
        ("%quiet >>a", "no modifier %quiet; there are %clean, %lean, %framework, %judge (column 1)"),
        ("%judge %judge >>a", "%judge is given twice (column 8)"),
        ("%clean %judge %lean >>a", "%clean and %lean contradict each other (column 15)"),
        ("@a @b >>a", "a framework is given twice (column 4)"),
        ("#a #b >>a", "a style is given twice (column 4)"),
        ("# a", "'' is no name of a style (column 1)"),
        (">>a 'tis", "the quote ' is never closed; an apostrophe is written \\' there (column 5)"),
        (
            ">>a 'tis, isn't it",
            "the quote ' is closed inside a word; an apostrophe at a word's beginning is written \\' (column 5)",
        ),
        ('>>a x="y', 'the quote " is never closed (column 7)'),
        ('>>a :: verify:"x', 'the quote " is never closed (column 15)'),
        (">>a ::", "there is no gate here (column 7)"),
        (">>a :: --> >>b", "'-->' is no name of a gate, and criteria stand in quotes (column 8)"),
        (
            ">>a :: reads well",
            "after this gate comes another (::), the next step (-->) or nothing; only verify has options (column 14)",
        ),
        ('>>a :: ""', "the criteria are empty (column 8)"),
        (">>a :: x:' '", "the criteria are empty (column 10)"),
        (">>a :: x:y", 'the criteria of x stand in quotes: x:"text" (column 10)'),
        (">>a :: :fast", 'a gate starts with verify:"command", not with a colon (column 8)'),
        (">>a :: verify", 'verify needs a command in quotes: verify:"command" (column 8)'),
        ('>>a :: verify:"x" max:0', "max is a whole number from 1 to 1000 (column 23)"),
        ('>>a :: verify:"x" max:1 max:1', "'max' is given twice (column 25)"),
        ('>>a :: verify:"x" and more', "no option 'and'; there are loop, max, timeout, stdin, flaky (column 19)"),
    ],
)
def test_a_wrong_command_is_refused_with_the_column(command: str, problem: str) -> None:
    with pytest.raises(Rejected) as refused:
        parse_command(command)
    assert str(refused.value) == problem


def test_a_long_command_is_read_in_one_go() -> None:
    words = "don't \"a :: b\" * + ? x=( 'n' " * 30_000
    steps = parse_command(f">>a {words} :: verify:{quoted(words)} --> >>b {words}").steps
    assert steps == (
        CommandStep("a", words.strip(), 1, (Gate(words),)),
        CommandStep("b", words.strip(), steps[1].column),
    )

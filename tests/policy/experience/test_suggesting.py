"""Rules from experience: narrow, never against a person's answer, never for a harmful command."""

from collections.abc import Sequence

import pytest

from interlock.domain.checks.closed_names import ClosedNames
from interlock.policy.experience.back_test import FOLDER, BackTest, harmful_corpus
from interlock.policy.experience.shapes import fit_of, shapes
from interlock.policy.experience.suggesting import LEAST_EDITS, suggest
from interlock.policy.programs import Programs
from interlock.policy.reading.second_reader import plain_commands
from interlock.policy.rule_files import failed_examples, read_rules
from interlock.policy.rules import Rule
from interlock.policy.sources import shipped_rules
from interlock.policy.verdict import ShellPolicy
from interlock.views.rules.experience import Question, Reply, answered_questions
from interlock.views.rules.learned_rules import Suggestions
from tests.policy.experience.scripted_epic import play

PRIVATE = ClosedNames().refusal


def asked(*scripts: str, reply: Reply = "approved", first: int = 1) -> list[Question]:
    return [
        Question(f"A-{number}", "script", script, reply, f"2026-01-01T00:00:{number:02}Z", "/w/T")
        for number, script in enumerate(scripts, first)
    ]


def edited(*paths: str, reply: Reply = "approved", first: int = 1, tool: str = "edit_file") -> list[Question]:
    return [Question(f"A-{n}", "tool", tool, reply, "2026", "/w/T", (path,)) for n, path in enumerate(paths, first)]


def suggested(questions: Sequence[Question], least: int = 3) -> Suggestions:
    return suggest(questions, shipped_rules(), PRIVATE, least=least)


def rules_of(found: Suggestions) -> list[Rule]:
    return [rule for one in found.offered for rule in read_rules(one.rule, "x", "user")]


def abouts(found: Suggestions) -> list[str]:
    return [one.about for one in found.offered]


def allowed(found: Suggestions, script: str) -> bool:
    rules = (*rules_of(found), *shipped_rules())
    return (
        ShellPolicy(lambda: rules, PRIVATE, "/users/me", Programs("/nowhere")).script(script, FOLDER).verdict == "allow"
    )


def test_a_command_repeated_word_for_word_is_suggested_word_for_word() -> None:
    found = suggested(asked("npm run e2e", "npm run e2e", "npm run e2e"))
    (one,) = found.offered
    assert (one.number, one.name, one.answers) == (1, "learned-npm", ("A-1", "A-2", "A-3"))
    assert one.rule.splitlines()[:5] == [
        "[[policy]]",
        'name = "learned-npm"',
        'verdict = "allow"',
        'exactly = "npm run e2e"',
        'match = ["npm run e2e"]',
    ]
    assert (found.questions, found.answered, found.corpus) == (3, 3, len(harmful_corpus()))


def test_two_answers_are_too_few_unless_fewer_are_asked_for() -> None:
    assert suggested(asked("npm run e2e", "npm run e2e")).offered == ()
    assert abouts(suggested(asked("npm run e2e", "npm run e2e"), least=2)) == ["exactly: npm run e2e"]


def test_commands_of_a_known_shape_are_suggested_with_the_options_that_were_approved() -> None:
    found = suggested(asked("pytest -q tests/a.py", "pytest tests/b.py -x", "cd src && pytest -q 2>&1 | tail -5"))
    assert abouts(found) == ["pytest [-q -x] PATHS IN THE WORKTREE"]
    assert allowed(found, "pytest -xq tests/c.py tests/d.py | tail -3")
    for script in ("pytest -s tests/c.py", "pytest ../x", "pytest .env", "pytest @x", "pytest -p x", "pytest; rm x"):
        assert not allowed(found, script), script


def test_only_plain_expressions_of_sed_are_generalised() -> None:
    found = suggested(asked("sed -i s/a/b/ x.py", "sed -i 's|c|d|g' src/y.py", "sed -i 12d z.py"))
    assert allowed(found, "sed -i 's/old/new/2' src/other.py")
    for script in ("sed -i s/a/id/e x", "sed -i 's/a/b/w out' x", "sed -i 1e x", "sed -i d x", "sed -i s/a/b/ ../x"):
        assert not allowed(found, script), script


def test_words_that_are_no_paths_stay_those_that_were_approved() -> None:
    found = suggested(asked("make test", "make test -s", "make test", "make lint", "make lint", "make lint"))
    assert abouts(found) == ["make test [-s]", "exactly: make lint"]
    for script in ("make", "make deploy", "make test deploy", "make -s", "make test X=1"):
        assert not allowed(found, script), script


def test_one_refusal_withholds_a_rule_and_names_the_question() -> None:
    fine = asked("pip list --outdated", "pip list --outdated", "pip list --outdated")
    found = suggested([*fine, *asked("pip list --outdated", reply="rejected", first=4)])
    assert found.offered == ()
    assert [one.why for one in found.withheld] == [
        "it would have answered 1 question that a person refused or changed: A-4 (rejected)"
    ]
    assert suggested([*fine, *asked("pip list --outdated", reply="edited", first=4)]).offered == ()
    assert (found.refused, found.answered) == (1, 0)


def test_a_refusal_of_one_form_leaves_the_narrower_rule() -> None:
    fine = asked("ruff check a.py", "ruff check b.py", "ruff check a.py", "ruff check a.py")
    found = suggested([*fine, *asked("ruff check c.py", reply="rejected", first=5)])
    assert abouts(found) == ["exactly: ruff check a.py"]
    assert 'not_match = ["ruff check c.py"' in found.offered[0].rule


def test_a_refused_script_counts_against_rules_that_allow_it_only_together() -> None:
    fine = asked(*["make a"] * 3, *["make b"] * 3)
    found = suggested([*fine, *asked("make a && make b", reply="rejected", first=7)])
    assert abouts(found) == ["exactly: make a"]
    assert len(found.withheld) == 1


def test_a_harmful_command_is_withheld_however_often_it_was_approved() -> None:
    found = suggested(asked(*["git push origin HEAD"] * 9))
    assert found.offered == ()
    assert found.withheld[0].why == "it would allow 1 harmful command, such as: git push origin HEAD"


@pytest.mark.parametrize(
    "script", ["for f in *; do x; done", "A=1 make", "make > out", "make $X", "npm run e2e &", "rm -rf ~", "make *.c"]
)
def test_what_is_not_plain_is_never_suggested(script: str) -> None:
    assert suggested(asked(*[script] * 5)).offered == ()


def test_a_command_that_a_rule_asks_about_is_not_suggested() -> None:
    asks = read_rules('[[policy]]\nverdict = "ask"\ncommand = "make"\n', "x", "user")
    assert suggest(asked(*["make"] * 5), (*asks, *shipped_rules()), PRIVATE).offered == ()


def test_a_question_that_rules_answer_by_now_is_no_question() -> None:
    mine = read_rules('[[policy]]\nverdict = "allow"\nexactly = "make"\n', "x", "user")
    found = suggest(asked(*["make"] * 5), (*mine, *shipped_rules()), PRIVATE)
    assert (found.offered, found.questions) == ((), 0)


def test_a_name_that_is_taken_gets_a_number() -> None:
    found = suggest(asked(*["make x"] * 3), shipped_rules(), PRIVATE, taken={"learned-make"}.__contains__)
    assert [one.name for one in found.offered] == ["learned-make-2"]


def test_the_folder_of_the_worktree_does_not_matter() -> None:
    questions = asked("pytest /w/T/tests/a.py", "pytest /w/T/tests/b.py", "pytest tests/c.py")
    assert abouts(suggested(questions)) == ["pytest PATHS IN THE WORKTREE"]


def test_edits_are_suggested_for_a_folder_only_after_many_and_no_refused_one() -> None:
    many = edited(*(f"src/shop/m{number % 5}.py" for number in range(LEAST_EDITS)))
    assert abouts(suggested(many)) == ["edit_file on src/**"]
    assert suggested(many[:-1]).offered == ()
    refused = edited("src/shop/x.py", reply="edited", first=90, tool="write_file")
    assert suggested([*many, *refused]).offered == ()
    elsewhere = edited("src/other/x.py", reply="rejected", first=90)
    assert abouts(suggested([*many, *elsewhere])) == ["edit_file on src/shop/**"]


def test_files_that_start_programs_are_never_suggested() -> None:
    for path in ("Makefile", "package.json", ".github/workflows/ci.yml", "pyproject.toml"):
        assert suggested(edited(*[path] * LEAST_EDITS)).offered == (), path
    assert abouts(suggested(edited(*["CHANGELOG.md"] * LEAST_EDITS))) == ["edit_file on CHANGELOG.md"]


def test_every_suggested_rule_loads_and_its_examples_hold() -> None:
    found = suggested(answered_questions(play(5).state))
    rules = rules_of(found)
    assert len(rules) > 10
    assert failed_examples(rules, PRIVATE) == []
    assert all(rule.match for rule in rules)
    assert [one.number for one in found.offered] == list(range(1, len(rules) + 1))


def test_no_harmful_command_is_allowed_by_the_shipped_rules_or_fits_a_shape_with_all_its_options() -> None:
    """The widest rules that could ever be suggested."""
    widest = [
        f'[[policy]]\nname = "w{number}"\nverdict = "allow"\ncommand = {list(shape.command)!r}\n'
        f"options = {list(shape.options)!r}\nwhole_words = {str(shape.whole_words).lower()}\n"
        f'first = """{shape.first.replace(chr(92), chr(92) * 2)}"""\noperands = "{shape.operands}"\n'
        for number, shape in enumerate(shapes())
        if shape.operands != "seen"
    ]
    rules = read_rules("\n".join(widest), "x", "user")
    test = BackTest(shipped_rules(), PRIVATE, ())
    assert {rule.name: [harm.text for harm in test.harm(rule, rules)] for rule in rules if test.harm(rule, rules)} == {}


def test_a_command_without_a_shape_has_no_fit() -> None:
    for script in ("python x.py", "node a.js", "rm x", "pytest -p x", "./pytest", "tsc x", "make -j4 test"):
        commands = plain_commands(script)
        assert commands is not None
        assert fit_of(commands[0].words) is None, script


def learn(seed: int) -> tuple[int, int, int, int, int]:
    """Rules from the first 70 % of an epic's answers; what they answer of the rest.

    Approved questions and those answered of them; the same of scripts alone; refused questions that are answered.
    """
    questions = answered_questions(play(seed).state)
    cut = len(questions) * 7 // 10
    rules = rules_of(suggested(questions[:cut]))
    test = BackTest(shipped_rules(), PRIVATE, questions[cut:])
    answered = test.answered(rules)
    approved = [question for question in test.questions if question.reply == "approved"]
    scripts = [question for question in approved if question.kind == "script"]
    wrong = [question for question in answered if question.reply != "approved"]
    return (
        len(approved),
        len(answered) - len(wrong),
        len(scripts),
        sum(question.kind == "script" for question in answered) - sum(question.kind == "script" for question in wrong),
        len(wrong),
    )


def check(seeds: Sequence[int]) -> None:
    approved, answered, scripts, scripts_answered, wrong = map(sum, zip(*map(learn, seeds), strict=True))
    print(
        f"\n{len(seeds)} epics: {answered} of {approved} approved later questions answered"
        f" ({100 * answered / approved:.0f} %), of scripts {scripts_answered} of {scripts}"
        f" ({100 * scripts_answered / scripts:.0f} %); {wrong} refused ones answered"
    )
    assert wrong == 0
    assert answered >= 0.6 * approved
    assert scripts_answered >= 0.8 * scripts


def test_rules_of_the_first_answers_answer_most_later_questions_and_none_that_was_refused() -> None:
    check([1, 2, 3])


@pytest.mark.soak
def test_the_same_holds_for_forty_epics() -> None:
    check(range(1, 41))

"""`approvals answer` for many at once: by id and by filter, shown once, asked once, verified in the journal."""

import pytest

from tests.cli.project import Project, shell


@pytest.fixture
def waiting(project: Project) -> Project:
    """Three equal scripts, one other, and a step."""
    tickets = [
        *(shell(name, "touch made.txt") for name in ("a", "b", "c")),
        shell("d", "touch other.txt"),
        shell("e", "touch last.txt", step_mode=True),
    ]
    result = project.run("run", "--tickets", project.tickets("plan.json", tickets), "--workers", "5")
    assert result.code == 4, result
    return project


def ids(project: Project) -> dict[str, str]:
    return {one["ticket"]: one["id"] for one in project.run("approvals", "list", "--json").json}


def test_what_is_equal_is_listed_once_with_its_count(waiting: Project) -> None:
    names = ids(waiting)
    lines = waiting.run("approvals", "list").out.splitlines()
    assert len(lines) == 4
    (equal,) = [line for line in lines if line.startswith(f"{names['a']} ")]
    assert equal.endswith(f"x3, equal: {names['b']} {names['c']}")


def test_a_filter_selects_and_one_answer_binds_the_set(waiting: Project) -> None:
    names = ids(waiting)
    done = waiting.run("approvals", "answer", "--all", "--pattern", "touch made*", "approve", "--yes", "--json")
    assert done.code == 0, done
    assert set(done.json["answered"]) == {names["a"], names["b"], names["c"]}
    assert "3x script" in done.err
    shown = waiting.run("approvals", "show", names["a"]).out
    assert f"answered together with {names['b']}, {names['c']}: 3 approvals, set {done.json['root']}" in shown
    assert set(ids(waiting)) == {"d", "e"}
    (event,) = [row["event"] for row in waiting.journal() if row["event"]["type"] == "approvals_answered"]
    assert (event["root"], event["decision"], len(event["approvals"])) == (done.json["root"], "approve", 3)
    assert waiting.run("journal", "verify").code == 0
    rest = waiting.run("approvals", "answer", "--all", "--kind", "script", "reject", "--yes", "-m", "not this")
    assert (rest.code, rest.out.splitlines()[0]) == (0, "answered 1 of 1")
    assert set(ids(waiting)) == {"e"}


def test_ids_are_listed_and_what_was_answered_in_between_is_named(waiting: Project) -> None:
    names = ids(waiting)
    assert waiting.run("approvals", "answer", names["b"], "reject").code == 0
    done = waiting.run("approvals", "answer", names["a"], names["b"], "--yes", names["d"], "approve")
    assert done.out.splitlines()[0] == f"answered 2 of 3; {names['b']} already answered by human:ann"
    again = waiting.run("approvals", "answer", names["a"], names["b"], "approve", "--yes")
    assert (again.code, "none of 2 was answered" in again.err) == (1, True)


def test_nothing_is_answered_without_a_yes(waiting: Project) -> None:
    result = waiting.run("approvals", "answer", "--all", "approve")
    assert (result.code, "nothing was answered; --yes answers without asking" in result.err) == (4, True)
    assert len(ids(waiting)) == 5


def test_a_rule_selects_what_it_would_allow_by_now(waiting: Project) -> None:
    waiting.settings('[[policy]]\nname = "touching"\nverdict = "allow"\nexactly = "touch other.txt"\n')
    name = ids(waiting)["d"]
    done = waiting.run("approvals", "answer", "--all", "--rule", "touching", "approve", "--yes", "--json")
    assert done.json["answered"] == [name]
    assert "d" not in ids(waiting)
    assert len(ids(waiting)) == 4
    unknown = waiting.run("approvals", "answer", "--all", "--rule", "nothing", "approve", "--yes")
    assert (unknown.code, "there is no rule 'nothing'" in unknown.err) == (1, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("approve",), "name the approvals by their ids, or give --all"),
        (("--all", "A-1", "approve"), "give the ids, or --all with a filter, not both"),
        (("A-1", "A-2", "--kind", "script", "approve"), "a filter selects among all pending approvals: give --all"),
        (("A-1", "A-2", "retry"), "many approvals are approved or rejected; retry one by one"),
        (("A-1", "A-2", "approve", "--always"), "--always is for one approval"),
        (("--all", "approve", "--hunks", "1"), "--hunks is for one approval"),
        (("A-1", "A-99", "approve", "--yes"), "no approval 'A-99'"),
    ],
)
def test_a_wrong_choice_answers_nothing(waiting: Project, words: tuple[str, ...], sentence: str) -> None:
    result = waiting.run("approvals", "answer", *words)
    assert (result.code, sentence in result.err) == (1, True), result
    assert len(ids(waiting)) == 5


def test_nothing_selected_is_no_error(waiting: Project) -> None:
    result = waiting.run("approvals", "answer", "--all", "--track", "elsewhere", "approve", "--yes")
    assert (result.code, result.err) == (0, "no pending approval is selected\n")


def test_a_run_with_many_questions_names_the_command_that_answers_them(project: Project) -> None:
    file = project.tickets("many.json", [shell(f"t{number}", "make it") for number in range(6)])
    result = project.run("run", "--tickets", file, "--workers", "6")
    assert (result.code, "many at once: interlock approvals answer --all" in result.out) == (4, True)

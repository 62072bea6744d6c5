"""A worker that changes existing tests waits for an approval; new tests are allowed."""

import sys
from typing import Literal

import pytest

from interlock.domain.checks.test_tampering import (
    ChangedFile,
    Texts,
    tampered_files,
    tampering_question,
    wanted_texts,
)
from interlock.domain.messages.commands.attempt_commands import ReportGate, SubmitWork
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.values.approvals import GatePayload
from interlock.domain.values.gates import Blob, Gate
from interlock.domain.values.tickets import Blocked, Escalated, Merging, Queued, TicketSpec, Verifying
from tests.domain.given import FAIL, SAVED, Bench, bench

TESTS = ("tests/**", "test_*", "*_test.*", "*.spec.*")
FILE = "tests/test_a.py@abc"


@pytest.mark.parametrize(
    "path",
    ["tests/a.py", "tests/deep/down/a.txt", "test_a.py", "src/test_a.py", "src/money_test.go", "web/app.spec.ts"],
)
def test_an_existing_test_that_is_changed_or_deleted_is_named(path: str) -> None:
    changed, deleted = ChangedFile("changed", path, "abcdef0123456789"), ChangedFile("deleted", path, "")
    assert tampered_files([changed], (), TESTS) == (f"{path}@abcdef012345",)
    assert tampered_files([deleted], (), TESTS) == (f"{path}@deleted",)
    assert tampered_files([ChangedFile("added", path, "abc")], (), TESTS) == ()


@pytest.mark.parametrize("path", ["src/a.py", "contest.py", "latest/notes.md", "mytests/a.py", "src/attest_x.py"])
def test_other_files_are_the_workers_own(path: str) -> None:
    assert tampered_files([ChangedFile("changed", path, "abc")], (Gate("make test"),), TESTS) == ()


@pytest.mark.parametrize(
    ("command", "cwd", "path"),
    [
        ("python3 check.py", None, "check.py"),
        ("./scripts/verify.sh --all", None, "scripts/verify.sh"),
        ("sh -c 'bash tools/run.sh' && true", None, "tools/run.sh"),
        ("cat<data/wanted.txt|diff - out", None, "data/wanted.txt"),
        ("node check.js", "web", "web/check.js"),
        ("CONFIG=ci.toml make", None, "ci.toml"),
        ("./check.sh", "web", "web/check.sh"),
        ("sh check.sh", "./web/", "web/check.sh"),
        ("sh ../check.sh", "web", "check.sh"),
        ("cd web && ./check.sh", None, "web/check.sh"),
        ("cd 'my web'; cd ..; true check.sh", None, "check.sh"),
        ("make -C web -f rules.txt", None, "web/rules.txt"),
        ("sh web/../lib/../check.sh", None, "check.sh"),
        ("sh web//deep/./check.sh", None, "web/deep/check.sh"),
        ("sh $PWD/check.sh", None, "check.sh"),
        ('"${ROOT:-.}/check.sh"', None, "check.sh"),
        ("$(git rev-parse --show-toplevel)/check.sh", None, "check.sh"),
        ("'my checks/check it.sh'", None, "my checks/check it.sh"),
        ("my\\ checks/check\\ it.sh", None, "my checks/check it.sh"),
        ("curl -d @wanted.json x", None, "wanted.json"),
        ("pytest 'checks/money.py::test_add'", None, "checks/money.py"),
    ],
)
def test_a_file_that_the_gate_runs_is_a_judge_too(command: str, cwd: str | None, path: str) -> None:
    change = ChangedFile("changed", path, "abc")
    assert tampered_files([change], (Gate(command, cwd=cwd),), ()) == (f"{path}@abc",)
    assert tampered_files([change], (Gate("true", cwd="."),), ()) == ()


@pytest.mark.parametrize(
    "command",
    ["sh other/check.sh", "sh check.sh.bak", "sh recheck.sh", "sh check.sh/x", "sh ../check.sh"],
)
def test_a_file_of_a_like_name_is_not_named(command: str) -> None:
    assert tampered_files([ChangedFile("changed", "check.sh", "abc")], (Gate(command),), ()) == ()


MORE_TESTS = [
    *("src/__tests__/a.js", "web/app.test.js", "spec/models/user_spec.rb", "src/test/java/FooTest.java", "FooTests.cs"),
    *("pkg/testdata/golden.txt", "src/__snapshots__/a.snap", "e2e/login.js", "UserTest.php", "t/basic.t", "test/a.js"),
]
RUNNER_FILES = [
    *("conftest.py", "src/deep/conftest.py", "pytest.ini", "tox.ini", "Makefile", "sub/Makefile", "jest.config.js"),
    *("sitecustomize.py", "build.gradle.kts", ".github/workflows/ci.yml", "sub/.cargo/config.toml", "tsconfig.json"),
]


@pytest.mark.parametrize("path", MORE_TESTS)
def test_tests_of_other_languages_count_without_a_setting(path: str) -> None:
    assert tampered_files([ChangedFile("changed", path, "abc")], (), ()) == (f"{path}@abc",)
    assert tampered_files([ChangedFile("added", path, "abc")], (Gate("make test"),), ()) == ()


@pytest.mark.parametrize("how", ["added", "changed", "deleted"])
@pytest.mark.parametrize("path", RUNNER_FILES)
def test_a_setting_of_a_test_runner_counts_even_if_it_is_new(
    path: str, how: Literal["added", "changed", "deleted"]
) -> None:
    change = ChangedFile(how, path, "" if how == "deleted" else "abc")
    assert len(tampered_files([change], (Gate("run-the-tests"),), ())) == 1
    assert tampered_files([change], (), ()) == ()  # nothing is verified


@pytest.mark.parametrize(
    ("path", "cwd", "counts"),
    [
        ("unittest.py", None, True),
        ("pytest/__init__.py", None, True),
        ("src/json.py", None, True),
        ("web/random.py", "web", True),
        ("tests/unit/hypothesis.py", None, True),
        ("deep/down/_pytest/__init__.py", None, True),
        ("app/logging.py", None, False),
        ("money.py", None, False),
        ("money/__init__.py", None, False),
        ("unittest.txt", None, False),
        ("__init__.py", None, False),
        ("node_modules/jest/index.js", None, True),
        ("web/vendor/autoload.php", None, True),
    ],
)
def test_a_new_module_in_the_place_of_a_runners_module_counts(path: str, cwd: str | None, counts: bool) -> None:
    change, gate = ChangedFile("added", path, "abc"), Gate("python -m unittest", cwd=cwd)
    names = tampered_files([change], (gate,), (), library=sys.stdlib_module_names)
    assert bool(names) == counts
    assert tampered_files([ChangedFile("added", path, "abc")], (), ()) == ()


MIXED = [
    ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "true"}}', True),
    (
        "package.json",
        '{"scripts": {"test": "jest"}}',
        '{"scripts": {"test": "jest"}, "dependencies": {"a": "1"}}',
        False,
    ),
    ("package.json", '{"scripts": {}}', "{", True),
    ("package.json", "[1]", "[2]", True),
    ("package.json", "[1]", "[1] ", False),
    ("web/package.json", None, '{"scripts": {"test": "true"}}', True),
    ("package.json", '{"jest": {}}', None, True),
    ("pyproject.toml", '[project]\nname = "a"\n', '[project]\nname = "b"\n', False),
    ("pyproject.toml", "", '[tool.pytest.ini_options]\naddopts = "-k no"\n', True),
    ("pyproject.toml", "tool = 1", "tool = 2", True),
    ("pyproject.toml", "", 'tool.pytest.ini_options.addopts = "-k no"\n', True),
    ("pyproject.toml", "", '[ "tool".pytest.ini_options ]\naddopts = "-k no"\n', True),
    ("pyproject.toml", 'a = """\nx\n"""\n', 'a = """\ny\n"""\n', True),
    ("Cargo.toml", '[dependencies]\na = "1"\n', '[dependencies]\na = "2"\n', False),
    ("Cargo.toml", "", '[[test]]\nname = "x"\n', True),
    ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n", False),
    ("setup.cfg", "[tool:pytest]\n# a\naddopts =\n", "[tool:pytest]\naddopts =\n", False),
    ("setup.cfg", "", "[tool:pytest]\naddopts = -k no\n", True),
    ("go.mod", "require a v1\n", "require a v2\n", False),
    ("go.mod", "", "replace a => ./b\n", True),
    ("Gemfile", "gem 'a'\n", "gem 'b'\n", False),
    ("Gemfile", "", "gem 'rspec', path: 'x'\n", True),
]


@pytest.mark.parametrize(("path", "before", "after", "counts"), MIXED)
def test_of_a_mixed_file_only_the_part_that_decides_counts(
    path: str, before: str | None, after: str | None, counts: bool
) -> None:
    change = ChangedFile("changed" if before is not None else "added", path, "abc" if after is not None else "")
    texts = Texts({path: before} if before is not None else {}, {path: after} if after is not None else {})
    assert bool(tampered_files([change], (Gate("npm test"),), (), texts=texts)) == counts
    assert wanted_texts([change], ())[1] == (path,)


def test_a_script_that_a_gates_script_names_counts_and_the_program_under_test_does_not() -> None:
    gate = Gate("make -C web test && ./check.sh")
    read, _ = wanted_texts([], (gate,))
    assert {"web/Makefile", "Makefile", "check.sh", "web/check.sh"} <= set(read)
    texts = Texts({"check.sh": "python app.py\nsh scripts/lint.sh\n", "web/Makefile": "test:\n\t./verify-all\n"})
    changes = [ChangedFile("changed", path, "abc") for path in ("app.py", "scripts/lint.sh", "web/verify-all")]
    assert tampered_files(changes, (gate,), (), texts=texts) == ("scripts/lint.sh@abc", "web/verify-all@abc")


def test_the_file_that_the_ticket_is_about_is_what_is_judged_unless_it_is_a_test() -> None:
    gates = (Gate("grep -q done README.md"),)
    assert tampered_files([ChangedFile("changed", "README.md", "abc")], gates, TESTS, "README.md") == ()
    assert tampered_files([ChangedFile("changed", "README.md", "abc")], gates, TESTS, "./README.md") == ()
    assert tampered_files([ChangedFile("changed", "tests/a.py", "abc")], gates, TESTS, "tests/a.py") == (
        "tests/a.py@abc",
    )


def test_a_file_that_a_gate_declares_is_a_judge() -> None:
    gates = (Gate("make check", judges=("fixtures/**", "*.golden")), Gate("true"))
    changes = [
        ChangedFile("changed", "fixtures/deep/a.json", "abc"),
        ChangedFile("deleted", "src/out.golden", ""),
        ChangedFile("added", "fixtures/new.json", "abc"),
        ChangedFile("changed", "src/a.json", "abc"),
    ]
    assert tampered_files(changes, gates, ()) == ("fixtures/deep/a.json@abc", "src/out.golden@deleted")
    assert tampered_files(changes, gates, (), "src/out.golden") == ("fixtures/deep/a.json@abc",)
    assert tampered_files(changes, (Gate("make check"),), ()) == ()


def test_a_person_is_shown_which_files() -> None:
    text = tampering_question([f"tests/{number}.py@x" for number in range(25)])
    assert text.startswith("## Existing Tests Were Changed")
    assert "- tests/0.py@x\n" in text
    assert "- and 5 more" in text
    assert "more" not in tampering_question(["tests/a.py@x"])


def worker(*gates: Gate, approve_all: bool = False) -> Bench:
    return bench(TicketSpec(id="T", verify=gates), max_attempts=5, approve_all=approve_all)


def submitted(project: Bench, *files: str) -> None:
    project.send(SubmitWork("x", "T", 1, SAVED, "done", files), SYSTEM)


def fail_gate(project: Bench) -> None:
    """The gate fails, and the worker continues."""
    project.send(ReportGate("x", "T", 1, 0, FAIL, "tree", "", Blob("5a", 1)), SYSTEM)


def test_the_work_waits_before_its_gate_until_a_person_answers() -> None:
    project = worker(Gate("make test"))
    submitted(project, FILE)
    stage = project.ticket("T").stage
    assert stage == Escalated("A-1", Verifying(SAVED))
    payload = project.state.approval("A-1").payload
    assert isinstance(payload, GatePayload)
    assert (payload.files, payload.command) == ((FILE,), "make test")
    project.answer("A-1", "retry")
    assert project.ticket("T").stage in (Verifying(SAVED), Queued(Verifying(SAVED)))
    assert project.ticket("T").accepted == (FILE,)


def test_the_approval_shows_what_the_worker_changed_in_the_tests() -> None:
    project = worker(Gate("make test"))
    project.send(SubmitWork("x", "T", 1, SAVED, "done", (FILE,), "-assert 1", Blob("d1", 9_000)), SYSTEM)
    payload = project.state.approval("A-1").payload
    assert isinstance(payload, GatePayload)
    assert (payload.gate_id, payload.diff, payload.diff_blob) == ("shell-verify-x/T/1", "-assert 1", Blob("d1", 9_000))


def test_an_accepted_change_is_not_asked_about_again_but_another_change_is() -> None:
    project = worker(Gate("make test"))
    submitted(project, FILE)
    project.answer("A-1", "retry")
    fail_gate(project)
    submitted(project, FILE)
    assert not project.state.pending
    fail_gate(project)
    submitted(project, FILE, "tests/test_b.py@deleted")
    assert [project.state.approval(name).payload.files for name in project.state.pending.values()] == [  # pyright: ignore
        ("tests/test_b.py@deleted",)
    ]


def test_aborting_blocks_the_ticket_and_skipping_goes_on_unverified() -> None:
    project = worker(Gate("make test"))
    submitted(project, FILE)
    project.answer("A-1", "abort")
    assert isinstance(project.ticket("T").stage, Blocked)
    project = worker(Gate("make test"))
    submitted(project, FILE)
    project.answer("A-1", "skip")
    assert project.ticket("T").stage == Merging(SAVED, unverified=True)


@pytest.mark.parametrize("decision", ["retry", "skip"])
def test_a_ticket_without_gates_stops_as_well(decision: str) -> None:
    project = worker()
    submitted(project, FILE)
    assert project.ticket("T").stage == Escalated("A-1", Verifying(SAVED))
    project.answer("A-1", decision)
    assert project.ticket("T").stage == Merging(SAVED, unverified=True)


def test_changed_tests_block_the_ticket_when_no_person_can_answer() -> None:
    project = worker(Gate("make test"), approve_all=True)
    submitted(project, FILE)
    stage = project.ticket("T").stage
    assert isinstance(stage, Blocked)
    assert "changed existing tests" in stage.reason

"""A failure is explained by what the sandbox hides, only where the output says so."""

import pytest

from interlock.domain.checks.sandbox_reasons import MOST, Outside, Reason, explanation, ran_no_test, reasons

OUTSIDE = Outside(
    exists=lambda path: path in ("/people/ann/data/big.csv", "/people/ann/shop/.env.test", "/etc/shadow"),
    has_variable=lambda name: name == "SHOP_TOKEN",
    program=lambda name: "/people/ann/bin/terraform" if name == "terraform" else "",
    project="/people/ann/shop",
    worktree="/state/worktrees/shop/t/T-1",
)


def what(output: str) -> str:
    return "; ".join(reason.what for reason in reasons(output, OUTSIDE))


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            "E   ModuleNotFoundError: No module named 'requests.adapters'",
            "the Python package requests is not installed",
        ),
        ("Error: Cannot find module 'left-pad'\nRequire stack:", "the package left-pad is not installed"),
        ("Error: Cannot find module './lib/index.js'", ""),
        ("pytest: error: unrecognized arguments: --cov", "a plugin that knows the option --cov is not installed"),
        ("E       fixture 'mocker' not found", "a pytest plugin with the fixture mocker is not installed"),
        (
            "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
            "the system library libGL.so.1 is not installed",
        ),
        ("sh: 1: cmake: not found", "there is no program cmake in PATH"),
        ("bash: line 3: tox: command not found", "there is no program tox in PATH"),
        ("env: ‘node’: No such file or directory", "there is no program node in PATH"),
        ("Error: spawn git-lfs ENOENT", "there is no program git-lfs in PATH"),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: 'terraform'",
            "terraform is /people/ann/bin/terraform on this machine, and the sandbox does not show that folder",
        ),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: '/people/ann/data/big.csv'",
            "/people/ann/data/big.csv exists on this machine and is hidden or closed in the sandbox",
        ),
        (
            "Error: ENOENT: no such file or directory, open '/state/worktrees/shop/t/T-1/.env.test'",
            ".env.test is in your folder and not in git, so the worktree does not have it",
        ),
        ("No such file or directory: '/state/worktrees/shop/t/T-1/gone'", ""),
        ("No such file or directory: '/nowhere/at/all'", ""),
        (
            "No such file or directory: '/people/ann/shop/src/a.py'",
            "/people/ann/shop/src/a.py is in your own folder, which no command of a ticket sees",
        ),
        ("PermissionError: [Errno 13] Permission denied: '/dev/kvm'", "the device /dev/kvm is not there"),
        (
            "OSError: [Errno 30] Read-only file system: '/usr/lib/x'",
            "/usr/lib/x cannot be written: only the worktree and temporary folders can; packages are shared",
        ),
        (
            "touch: cannot touch 'a': Read-only file system",
            (
                "a folder outside the worktree cannot be written: only the worktree and temporary folders can;"
                " packages are shared"
            ),
        ),
        (
            "Error: connect ECONNREFUSED 127.0.0.1:5432",
            "nothing answers on port 5432 of this sandbox, which has a network of its own",
        ),
        (
            "ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 6379)",
            "nothing answers on port 6379 of this sandbox, which has a network of its own",
        ),
        (
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
            "it tried to reach the network, which gates do not have",
        ),
        (
            "KeyError: 'SHOP_TOKEN'",
            "the variable SHOP_TOKEN is set in your shell, and commands in the sandbox do not get it",
        ),
        ("KeyError: 'OTHER_TOKEN'", ""),
        (
            "the environment variable SHOP_TOKEN must be set",
            "the variable SHOP_TOKEN is set in your shell, and commands in the sandbox do not get it",
        ),
        ("qt.qpa.xcb: could not connect to display", "there is no display"),
        ("OSError: [Errno 28] No space left on device", "a temporary folder is full"),
        ("OSError: [Errno 24] Too many open files", "it had too many open files"),
        ("RuntimeError: can't start new thread", "it could not start another process or thread"),
        ("AssertionError: 3 != 4", ""),
    ],
)
def test_an_output_is_explained_in_the_terms_of_the_sandbox(output: str, expected: str) -> None:
    assert what(output) == expected


def test_each_reason_has_a_remedy_is_said_once_and_there_are_few() -> None:
    output = "\n".join(f"ModuleNotFoundError: No module named 'p{number % 9}'" for number in range(50))
    found = reasons(output, OUTSIDE)
    assert len(found) == MOST and len(set(found)) == MOST
    assert all(reason.remedy for reason in found)


def test_the_explanation_is_a_list_or_nothing() -> None:
    assert explanation(()) == ""
    assert explanation((Reason("a is missing", "add it"),)).splitlines()[1] == "- a is missing: add it"


def test_without_knowledge_of_the_machine_only_the_output_counts() -> None:
    known = reasons("KeyError: 'SHOP_TOKEN'\nsh: 1: terraform: not found\n'/etc/shadow'", Outside())
    assert [reason.what for reason in known] == ["there is no program terraform in PATH"]
    assert reasons("Permission denied: '/etc/shadow'", Outside()) == ()


def test_a_failed_installation_is_not_explained_by_the_walls_of_gates() -> None:
    preparing = Outside(preparing=True)
    [no_answer] = reasons("error: Failed to download `pyyaml==6.0.3`", preparing)
    [full] = reasons("OSError: [Errno 28] No space left on device", preparing)
    assert no_answer.what == "a server of packages could not be reached, though installing has network"
    assert full.what == "the disk of Interlock's state folder is full, or nearly so"
    assert reasons("only 3 MB are free in /state/environments", preparing) == (full,)


@pytest.mark.parametrize(
    ("output", "nothing"),
    [
        ("Ran 0 tests in 0.000s\n\nOK\n", True),
        ("collected 0 items\n\n=== no tests ran in 0.01s ===\n", True),
        ("# tests 0\n# pass 0\n", True),
        ("Ran 0 tests in 0.000s\nRan 3 tests in 0.1s\n", False),
        ("Ran 12 tests in 0.1s\n", False),
        ("4 passed in 0.1s", False),
        ("", False),
    ],
)
def test_a_run_without_a_single_test_is_recognised(output: str, nothing: bool) -> None:
    assert ran_no_test(output) is nothing


def test_a_locale_that_is_missing_is_named() -> None:
    (found,) = reasons("locale.Error: unsupported locale setting", OUTSIDE)
    assert found.what == "a locale that the command sets is not installed on this machine"

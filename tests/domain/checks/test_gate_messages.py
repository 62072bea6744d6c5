"""The messages about a failed gate."""

from msgspec.structs import replace

from interlock.domain.checks.gate_messages import (
    bounce_back,
    escalation_question,
    fresh_brief,
    other_gates_section,
    starts_fresh_session,
)
from interlock.domain.values.gates import Gate, GateResult

FAILED = GateResult(status="failed", exit_code=1, command="npm test", duration_ms=5, stderr="boom\n")


def test_a_bounce_back_says_what_failed_and_what_to_do() -> None:
    assert bounce_back(FAILED, 2, 5) == (
        "## Shell Verification FAILED (Attempt 2/5)\n"
        "\n"
        "**Command:** `npm test`\n"
        "**Exit Code:** 1\n"
        "\n"
        "### Error Output\n"
        "\n"
        "```\nboom\n```\n"
        "\n"
        "Fix the cause and submit again; it will be verified in the same way again."
    )


def test_an_escalation_names_the_actions() -> None:
    assert escalation_question(FAILED, 5, 5) == (
        "## Shell Verification FAILED - Maximum Attempts Reached\n"
        "\n"
        "**Command:** `npm test`\n"
        "**Attempts:** 5/5\n"
        "**Exit Code:** 1\n"
        "\n"
        "### Recent Error Output\n"
        "\n"
        "```\nboom\n```\n"
        "\n"
        "gate_action: `retry` (count again from 0), `skip` (go on, unverified) or `abort` (block the ticket)."
    )


def test_stdout_is_shown_when_stderr_is_empty() -> None:
    assert "```\n1 failed\n```" in bounce_back(replace(FAILED, stderr=" \n", stdout="1 failed\n"), 1, 1)
    assert "```\n(no output)\n```" in bounce_back(replace(FAILED, stderr=""), 1, 1)


def test_only_the_last_2000_characters_are_shown() -> None:
    text = bounce_back(replace(FAILED, stderr="x" + "y" * 2_000), 1, 1)
    assert "\n" + "y" * 2_000 + "\n" in text
    assert "x" not in text.split("### Error Output")[1].split("```")[1]


def test_a_fence_is_longer_than_any_inside() -> None:
    text = bounce_back(replace(FAILED, stderr="```\n````` and ``\n"), 1, 1)
    assert "``````\n```\n````` and ``\n``````" in text


def test_a_command_with_backticks_or_lines_is_quoted_whole() -> None:
    assert "**Command:** `` echo `date` ``" in bounce_back(replace(FAILED, command="echo `date`"), 1, 1)
    assert "**Command:** \n```sh\na\nb\n```" in bounce_back(replace(FAILED, command="a\nb"), 1, 1)


def test_a_timeout_says_so() -> None:
    late = replace(FAILED, status="timed_out", exit_code=-1, explanation="timed out after 30 s; everything was killed")
    for text in (bounce_back(late, 1, 5), escalation_question(late, 5, 5)):
        assert "**Exit Code:** -1\n**Timed out:** timed out after 30 s" in text


def test_an_exit_code_with_a_meaning_is_explained() -> None:
    missing = replace(FAILED, exit_code=127, explanation="exit code 127: a command was not found")
    assert "**Exit Code:** 127\n**Meaning:** exit code 127: a command was not found" in bounce_back(missing, 1, 1)


def test_a_fresh_worker_gets_the_goal_the_history_the_changes_and_the_last_failure() -> None:
    results = (
        FAILED,
        replace(FAILED, status="timed_out", stderr="", stdout="one\ntwo\n"),
        replace(FAILED, exit_code=3, stderr=" "),
    )
    assert fresh_brief("# Ticket T", results, " a.py | 2 +-\n", 5) == (
        "# Ticket T\n"
        "\n"
        "## The story so far\n"
        "\n"
        "Workers before you have changed files in this worktree, and their work was verified with this command:\n"
        "\n"
        "- Attempt 1: exit code 1: boom\n"
        "- Attempt 2: timed out: two\n"
        "- Attempt 3: exit code 3\n"
        "\n"
        "Do not repeat what did not help. What they changed is still there; read it before you go on:\n"
        "\n"
        "```\n a.py | 2 +-\n```\n"
        "\n" + bounce_back(results[2], 3, 5)
    )
    assert "```\n(nothing is changed)\n```" in fresh_brief("", results, "\n", 5)
    assert [starts_fresh_session(failed) for failed in (1, 2, 3, 4)] == [False, False, True, True]


def test_the_gates_after_a_failed_one_are_reported_too() -> None:
    passed = GateResult(status="passed", exit_code=0, command="b", duration_ms=1)
    failed = GateResult(status="failed", exit_code=2, command="c", duration_ms=1, stderr="a\nno such thing\n")
    results = [(Gate("b"), passed), (Gate("c"), failed), (Gate("", criteria="reads well"), None)]
    assert other_gates_section(results) == (
        "\n\n### The Other Gates\n\n- `b`: passed\n- `c`: failed, exit code 2: no such thing\n- `reads well`: not yet"
    )
    assert other_gates_section([]) == ""


def test_a_worker_learns_which_interpreter_ran() -> None:
    result = GateResult(
        status="failed", exit_code=1, command="pytest", duration_ms=1, tools=("python 3.11.7 (yours: 3.12.1)",)
    )
    assert "**Exit Code:** 1\n**Tools:** python 3.11.7 (yours: 3.12.1)\n" in bounce_back(result, 1, 2)

"""Texts about a failed gate: feedback for the worker, questions for a person."""

from collections.abc import Sequence

from interlock.domain.checks.fingerprints import fingerprint
from interlock.domain.values.gates import Gate, GateResult, NewPackages
from interlock.domain.values.markdown import fenced, longest_run

TAIL = 2_000
SHOWN_LISTS = 20  # dependency lists in a question
RETURNS = "gate_action: `retry` (the worker is told this and tries again), `skip` (go on, unverified) or `abort`."
ACTIONS = "gate_action: `retry` (count again from 0), `skip` (go on, unverified) or `abort` (block the ticket)."


def bounce_back(result: GateResult, attempt: int, max_attempts: int) -> str:
    """For the worker: attempt number `attempt` (from 1) of `max_attempts` failed."""
    return "\n".join(
        [
            f"## Shell Verification FAILED (Attempt {attempt}/{max_attempts})",
            "",
            *_facts(result),
            "",
            "### Error Output",
            "",
            _output(result),
            "",
            "Fix the cause and submit again; it will be verified in the same way again.",
        ]
    )


def starts_fresh_session(failed: int) -> bool:
    """After three failures a worker starts a fresh session instead of continuing a long one."""
    return failed >= 3


def fresh_brief(goal: str, results: Sequence[GateResult], changed: str, max_attempts: int) -> str:
    """The first message of a fresh session: the goal, earlier failures, changes so far, and the last failure."""
    failures = [f"- Attempt {number}: {_summary_line(result)}" for number, result in enumerate(results, 1)]
    return "\n".join(
        [
            goal,
            "",
            "## The story so far",
            "",
            "Workers before you have changed files in this worktree, and their work was verified with this command:",
            "",
            *failures,
            "",
            "Do not repeat what did not help. What they changed is still there; read it before you go on:",
            "",
            fenced(changed.strip("\n") or "(nothing is changed)"),
            "",
            bounce_back(results[-1], len(results), max_attempts),
        ]
    )


def _summary_line(result: GateResult) -> str:
    """One failure on one line: how it ended, and the last line of its output."""
    text = result.stderr if result.stderr.strip() else result.stdout
    last = (text.strip().splitlines() or [""])[-1].strip()[:200]
    how = "timed out" if result.timed_out else f"exit code {result.exit_code}"
    return f"{how}: {last}" if last else how


def escalation_question(result: GateResult, attempts: int, max_attempts: int) -> str:
    """For a person: the last attempt failed too."""
    command, *rest = _facts(result)
    return "\n".join(
        [
            "## Shell Verification FAILED - Maximum Attempts Reached",
            "",
            command,
            f"**Attempts:** {attempts}/{max_attempts}",
            *rest,
            "",
            "### Recent Error Output",
            "",
            _output(result),
            "",
            ACTIONS,
        ]
    )


def stuck_question(result: GateResult, attempts: int, max_attempts: int, times: int) -> str:
    """For a person: tries are left, but the last ones failed in the same way."""
    return "\n".join(
        [
            f"## Shell Verification FAILED - Not Converging ({attempts}/{max_attempts})",
            "",
            *_facts(result),
            f"**Evidence:** the same {times} times in a row, but for times, paths and addresses: {fingerprint(result)}",
            "",
            "### Recent Error Output",
            "",
            _output(result),
            "",
            ACTIONS,
        ]
    )


def packages_question(packages: NewPackages) -> str:
    """For a person: the gate needs packages that the work added or changed."""
    return "\n".join(
        [
            "## The Packages of the Project Were Changed",
            "",
            "The work changes which packages are installed, or what is compiled with them. The gate has not run yet:",
            "",
            *(f"- {path}" for path in packages.lists[:SHOWN_LISTS]),
            *((f"- and {len(packages.lists) - SHOWN_LISTS} more",) if len(packages.lists) > SHOWN_LISTS else ()),
            "",
            "`retry` installs them with network, in the sandbox; build scripts of the work may run then:",
            "",
            fenced("\n".join(packages.commands), "sh"),
            "",
            "gate_action: `retry` (install them, then verify), `skip` (go on, unverified) or `abort`.",
        ]
    )


def other_gates_section(outcomes: Sequence[tuple[Gate, GateResult | None]]) -> str:
    """The results of the gates after the failed one; None means not run yet."""
    if not outcomes:
        return ""
    lines = [f"- {_code(gate.shown)}: {'not yet' if result is None else _outcome(result)}" for gate, result in outcomes]
    return "\n".join(["", "", "### The Other Gates", "", *lines])


def _outcome(result: GateResult) -> str:
    return "passed" if result.passed else f"failed, {_summary_line(result)}"


def _facts(result: GateResult) -> list[str]:
    lines = [f"**Command:** {_code(result.command)}", f"**Exit Code:** {result.exit_code}"]
    if result.timed_out:
        lines.append(f"**Timed out:** {result.explanation or 'yes'}")
    elif result.explanation:
        lines.append(f"**Meaning:** {result.explanation}")
    if result.tools:
        lines.append(f"**Tools:** {', '.join(result.tools)}")
    return lines


def _output(result: GateResult) -> str:
    """The end of stderr, else of stdout, in a fence longer than any in the text."""
    text = (result.stderr if result.stderr.strip() else result.stdout)[-TAIL:].strip("\n")
    if not text.strip():
        text = "(no output)"
    return fenced(text)


def _code(text: str) -> str:
    """A Markdown code span, or for several lines a fenced block, that nothing in the text can close."""
    if "\n" in text:
        return f"\n{fenced(text, 'sh')}"
    ticks = "`" * (longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"

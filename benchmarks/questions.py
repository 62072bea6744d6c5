"""How often a person is asked: the demo and an epic of 40 tickets, with each level of autonomy and with learned rules.

The demo is the real program with its scripted model. The epic is the one of `tests/policy/experience`: its questions
are modelled on what agents ask, no model is behind them. Rules are learned from one epic and used in another.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.samples import Data, Unavailable, say, take
from benchmarks.table import Row, at_least, attempt, times

GROUP = "questions"
REVIEW, WITH_RULES = 5.0, 10.0
LEVELS = ("ask", "review", "land")
SEEDS = (101, 102, 103)


def rows(*, quick: bool) -> list[Row]:
    say("questions: the demo with three levels of autonomy, and epics of 40 tickets")
    seeds = SEEDS[: 1 if quick else 3]
    found = attempt(GROUP, "demo, questions per ticket", _demo_rows)
    found += attempt(GROUP, "a real run, questions per ticket", lambda: _run_rows(8 if quick else 40))
    return found + attempt(GROUP, "epic of 40 tickets, questions per ticket", lambda: _epic_rows(seeds))


def _demo_rows() -> Row:
    counts = {level: _demo(level) for level in LEVELS}
    row = Row(GROUP, "demo of 4 tickets, questions", ", ".join(f"{level} {counts[level]}" for level in LEVELS))
    row.ratio = f"review {times(counts['ask'] / counts['review'])}, land {times(counts['ask'] / counts['land'])} fewer"
    row.note = "it has one to two calls per ticket, so a review each spares little; the plan and the landing always ask"
    return row


def _demo(level: str) -> int:
    """The questions of one demo run, which answers them by itself."""
    with tempfile.TemporaryDirectory() as folder:
        root = str(Path(folder, "demo"))
        _interlock(folder, "demo", "--dir", root, "--autonomy", level)
        return _asked(_interlock(folder, "journal", "show", "--json", "-C", root))


def _run_rows(tickets: int) -> list[Row]:
    """The real program with the calls of the epic: in each ticket one turn of a scripted model makes all of them."""
    counts = {level: _run(level, tickets) for level in LEVELS}
    shown = ", ".join(f"{level} {counts[level] / tickets:.2f}" for level in LEVELS)
    row = Row(GROUP, f"a real run of {tickets} scripted tickets, questions per ticket", shown)
    row.reach = f"review ≥ {times(REVIEW)} fewer"
    row.value, row.ok = at_least(REVIEW, counts["ask"] / counts["review"])
    row.ratio = f"review {times(row.value)}, land {times(counts['ask'] / counts['land'])} fewer"
    return [row]


def _run(level: str, tickets: int) -> int:
    calls = take("benchmarks.questions:calls", tickets=tickets)["calls"]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "shop")
        root.mkdir()
        for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
            who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
            subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, timeout=60)
        plan = [{"id": f"T-{n:03}", "description": f"do {n}", "verify": ["test -s done"]} for n in range(len(calls))]
        rules = [{"match": f"# Ticket T-{n:03}", "tool_calls": made} for n, made in enumerate(calls)]
        Path(folder, "plan.json").write_text(json.dumps({"id": "shop", "title": "Shop", "tickets": plan}))
        Path(folder, "rules.json").write_text(json.dumps([*rules, {"match": "", "reply": "done"}]))
        model = ["--provider", "scripted", "--script", f"{folder}/rules.json"]
        words = ["run", "--tickets", f"{folder}/plan.json", "--autonomy", level, "--approve", "all", "--land", *model]
        _interlock(folder, *words, "-C", str(root))
        return _asked(_interlock(folder, "journal", "show", "--json", "-C", str(root)))


def calls(tickets: int) -> Data:
    """The changing calls of each ticket of an epic, as a scripted model makes them."""
    from interlock.domain.values.approvals import ScriptPayload
    from tests.policy.experience.scripted_epic import play

    asked = play(SEEDS[0], tickets).state.approvals.values()
    made: dict[str, list[dict[str, object]]] = {}
    for number, approval in enumerate(asked):
        of_ticket = made.setdefault(approval.ticket or "", [])
        if isinstance(approval.payload, ScriptPayload):
            of_ticket.append({"name": "run_shell", "args": {"script": approval.payload.script, "timeout_s": 5}})
        else:
            of_ticket.append({"name": "write_file", "args": {"path": f"src/f{number}.txt", "content": f"{number}\n"}})
    end = {"name": "write_file", "args": {"path": "done", "content": "done\n"}}
    return {"calls": [[*of_ticket, end] for of_ticket in made.values()]}


def _interlock(folder: str, *words: str) -> str:
    home = {"HOME": folder, "XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config"}
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", **home}
    program = [sys.executable, "-m", "interlock.cli.main"]
    done = subprocess.run([*program, *words], env=env, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise Unavailable(f"interlock {words[0]} failed: {done.stdout[-300:]}{done.stderr[-300:]}")
    return done.stdout


def _asked(journal: str) -> int:
    """Answers that a person would have given: `--approve all` gave them."""
    answers = (json.loads(line) for line in journal.splitlines())
    return sum(a["event"]["type"] == "approval_answered" and a["actor"] == "policy:approve-all" for a in answers)


def _epic_rows(seeds: tuple[int, ...]) -> list[Row]:
    counts = take("benchmarks.questions:epics", seeds=list(seeds))
    tickets, ask = counts["tickets"], counts["ask"]
    shown = {name: f"{counts[name] / tickets:.2f}" for name in ("ask", "rules", "review", "review_rules", "land")}
    plain = Row(GROUP, "epic of 40 tickets, questions per ticket", f"ask {shown['ask']}, with rules {shown['rules']}")
    plain.ratio = f"{times(ask / counts['rules'])} fewer"
    review = Row(GROUP, "the same with `review`", shown["review"], reach=f"≥ {times(REVIEW)} fewer")
    review.value, review.ok = at_least(REVIEW, ask / counts["review"])
    review.ratio = f"{times(ask / counts['review'])} fewer"
    both = Row(GROUP, "the same with `review` and rules", shown["review_rules"], reach=f"≥ {times(WITH_RULES)} fewer")
    both.value, both.ok = at_least(WITH_RULES, ask / counts["review_rules"])
    both.ratio = f"{times(ask / counts['review_rules'])} fewer"
    land = Row(GROUP, "the same with `land`", shown["land"], ratio=f"{times(ask / counts['land'])} fewer")
    land.note = f"seeds {seeds}; rules from another epic; the landing asks once, with every diff, at each level"
    return [plain, review, both, land]


def epics(seeds: list[int]) -> Data:
    """Counts questions of whole epics; each uses the rules learned from the epic before."""
    from interlock.domain.state.autonomy import is_contained
    from interlock.policy.experience.back_test import BackTest
    from interlock.policy.sources import shipped_rules
    from interlock.views.rules.experience import answered_questions
    from tests.policy.experience.scripted_epic import TICKETS, play
    from tests.policy.experience.test_suggesting import PRIVATE, rules_of, suggested

    counts = dict.fromkeys(("ask", "rules", "review", "review_rules", "land", "tickets"), 0)
    for seed in seeds:
        state = play(seed).state
        questions = answered_questions(state)
        rules = rules_of(suggested(answered_questions(play(seed + 1_000).state)))
        answered = {question.id for question in BackTest(shipped_rules(), PRIVATE, questions).answered(rules)}
        outside = {question.id for question in questions if not is_contained(state.approvals[question.id].payload)}
        counts["tickets"] += TICKETS
        counts["ask"] += len(questions) + TICKETS + 1  # the start of each worker, and the landing
        counts["rules"] += len(questions) - len(answered) + TICKETS + 1
        counts["review"] += len(outside) + TICKETS + 1
        counts["review_rules"] += len(outside - answered) + TICKETS + 1
        counts["land"] += len(outside) + 1
    return counts

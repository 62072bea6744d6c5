"""The policy on its corpus of tricks and harmless commands: the time of a verdict, and the number of wrong ones.

Compared with `codex execpolicy check`, whose rules are prefixes of a command's words. It takes the words of one
command, so a script is split here first, as codex does: plain commands one by one, everything else whole as
`bash -lc SCRIPT`. Its rules allow the same programs and subcommands as Interlock's; a prefix cannot express harmless
options or allowed paths.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import quantiles

from benchmarks.samples import RESULTS, Data, Unavailable, say, take
from benchmarks.table import Row, at_most, attempt, seconds
from interlock.policy.reading.second_reader import plain_commands
from interlock.policy.sources import shipped_rules
from tests.security.policy_scene import corpus, make_project, shipped_policy

GROUP = "policy"
REACH_S = 0.0005
NPM = RESULTS / "npm"
DECISIONS = {"allow": "allow", "prompt": "ask", "forbidden": "deny"}


def rows(*, quick: bool) -> list[Row]:
    repeat = 3 if quick else 20
    count = len(corpus())
    say(f"policy: {count} commands, {repeat} times")
    result_rows = attempt(GROUP, "a verdict on a shell command", lambda: _times(repeat))
    result_rows += attempt(GROUP, "wrong verdicts", lambda: _wrong(quick=quick))
    return result_rows


def _times(repeat: int) -> Row:
    took = take("benchmarks.policy:contest", repeat=repeat)
    row = Row(GROUP, "a verdict on a shell command", f"p50 {seconds(took['p50'])}, p99 {seconds(took['p99'])}")
    row.reach = f"p50 ≤ {seconds(REACH_S)}"
    row.value, row.ok = at_most(REACH_S, took["p50"])
    row.note = f"wall time, {took['commands']} commands {repeat} times; the grammar is loaded ({seconds(took['load'])})"
    return row


def _wrong(*, quick: bool) -> list[Row]:
    ours = take("benchmarks.policy:verdicts")
    tricks, harmless = ours["tricks"], ours["harmless"]
    row = Row(GROUP, f"tricks that are allowed, of {tricks}", str(ours["wrong"]), reach="0")
    row.value, row.ok = at_most(0, ours["wrong"])
    asked = Row(GROUP, f"harmless commands that ask, of {harmless}", str(ours["asked"]), reach="0")
    asked.value, asked.ok = at_most(0, ours["asked"])
    clear = Row(GROUP, f"clear harm that is only asked about, of {ours['harm']}", str(ours["not_denied"]))
    try:
        codex = _codex()
        counts = take("benchmarks.policy:of_codex", program=codex, every=5 if quick else 1, limit_s=1200)
    except Unavailable as why:
        row.peer = f"codex not available: {why}"
        return [row, asked, clear]
    of = f" of {counts['tricks']}" if quick else ""
    row.peer = f"codex {counts['version']}: {counts['wrong']}{of}"
    asked.peer, clear.peer = f"codex: {counts['asked']}", f"codex: {counts['not_denied']}"
    row.note = "codex execpolicy check with prefix rules for the same programs, scripts split here as codex does"
    return [row, asked, clear]


def _codex() -> str:
    """The program itself, not npm's start script."""
    for start in (
        NPM / "node_modules",
        *(Path(programs).resolve().parents[3] for programs in [shutil.which("codex")] if programs),
    ):
        if programs := sorted(start.glob("@openai/codex-*/vendor/*/bin/codex")):
            return str(programs[0])
    if shutil.which("npm") is None:
        raise Unavailable("there is no npm to install it with")
    NPM.mkdir(parents=True, exist_ok=True)
    words = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(NPM), "@openai/codex"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    programs = sorted(NPM.glob("node_modules/@openai/codex-*/vendor/*/bin/codex"))
    if done.returncode or not programs:
        raise Unavailable("npm could not install it")
    return str(programs[0])


# ── in a separate process ────────────────────────────────────────────────────────────────


def contest(repeat: int) -> Data:
    with tempfile.TemporaryDirectory(prefix="bench-", dir=RESULTS) as place:
        root = str(make_project(Path(place)))
        begun = time.perf_counter()
        policy = shipped_policy()
        policy.script("ls", root)
        load = time.perf_counter() - begun
        spent: list[float] = []
        scripts = [row["command"] for row in corpus()]
        for _ in range(repeat):
            for script in scripts:
                begun = time.perf_counter()
                policy.script(script, root)
                spent.append(time.perf_counter() - begun)
    parts = quantiles(spent, n=100)
    return {"p50": parts[49], "p99": parts[98], "load": load, "commands": len(scripts)}


def verdicts() -> Data:
    with tempfile.TemporaryDirectory(prefix="bench-", dir=RESULTS) as place:
        root, policy = str(make_project(Path(place))), shipped_policy()
        # Uses a path outside the scratch folders: in a scratch folder a denied command would only be asked about.
        folders = [("/project" if row.get("expect") == "deny" else root) for row in corpus()]
        pairs = zip(corpus(), folders, strict=True)
        return _counted([(row, policy.script(row["command"], folder).verdict) for row, folder in pairs])


def of_codex(program: str, every: int) -> Data:
    with tempfile.TemporaryDirectory(prefix="bench-", dir=RESULTS) as place:
        rules = Path(place) / "same.rules"
        rules.write_text("\n".join(_prefix_rules()) + "\n")
        env = {"PATH": os.environ.get("PATH", ""), "HOME": place, "CODEX_HOME": place}
        known: dict[tuple[str, ...], str] = {}

        def asked(words: tuple[str, ...]) -> str:
            if any("\0" in word for word in words):
                return "ask"
            if words not in known:
                argv = [program, "execpolicy", "check", "--rules", str(rules), "--", *words]
                done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)
                answer = json.loads(done.stdout) if done.returncode == 0 else {}
                known[words] = DECISIONS[answer.get("decision", "prompt")]
            return known[words]

        version = subprocess.run([program, "--version"], env=env, capture_output=True, text=True, check=False).stdout
        verdicts = [(row, _strictest([asked(words) for words in _split(row["command"])])) for row in corpus()[::every]]
    return {**_counted(verdicts), "version": version.split()[-1]}


def _split(script: str) -> list[tuple[str, ...]]:
    plain = plain_commands(script)
    if plain and not any(word.glob for command in plain for word in command.words) and ">" not in script:
        return [tuple(word.text for word in command.words) for command in plain]
    return [("bash", "-lc", script)]


def _prefix_rules() -> list[str]:
    """The programs of Interlock's rules as prefixes. A rule that a prefix cannot express becomes an ask."""
    prefixes: dict[str, str] = {}
    for rule in shipped_rules():
        if rule.verdict == "deny" and (rule.having or rule.operands != "any"):
            continue
        for begin in rule.commands:
            decision = {"allow": "allow", "ask": "prompt", "deny": "forbidden"}[rule.verdict]
            if rule.verdict != "ask" and "*" not in begin[0] and rule.name != "version":
                prefixes[f"prefix_rule(pattern={json.dumps(begin)}, decision={json.dumps(decision)})"] = decision
            elif rule.name == "version":
                line = f'prefix_rule(pattern={json.dumps([*begin, "--version"])}, decision="allow")'
                prefixes[line] = decision
    return list(prefixes)


def _strictest(verdicts: list[str]) -> str:
    return max(verdicts, key=("allow", "ask", "deny").index)


def _counted(verdicts: list[tuple[Data, str]]) -> Data:
    harmless = [verdict for row, verdict in verdicts if row.get("expect") == "allow"]
    tricks = [verdict for row, verdict in verdicts if row.get("expect") != "allow"]
    harm = [verdict for row, verdict in verdicts if row.get("expect") == "deny"]
    return {
        "tricks": len(tricks),
        "wrong": tricks.count("allow"),
        "harmless": len(harmless),
        "asked": len(harmless) - harmless.count("allow"),
        "harm": len(harm),
        "not_denied": len(harm) - harm.count("deny"),
    }

"""Tools that summarise a repository without skeletons: universal-ctags, ast-grep, aider's map.

Their output has less or other content (names, or a selection of them), so only aider's row has a target.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.processes import INTERLOCK, spent
from benchmarks.samples import RESULTS, Data, Unavailable, alternating, folder, middle, say
from benchmarks.table import Row, at_most, seconds, times

GROUP = "code views"
AIDER = "aider-chat==0.86.2"
FASTER = 1 / 5
_MAP = """
import json, sys
from aider.io import InputOutput
from aider.repomap import RepoMap

class Model:
    def token_count(self, text):
        return len(text) // 4

files = json.load(open(sys.argv[2]))
made = RepoMap(map_tokens=8192, root=sys.argv[1], main_model=Model(), io=InputOutput(yes=True)).get_repo_map([], files)
sys.stdout.write(made or "")
"""


def beside(place: str, repeat: int) -> list[Row]:
    say("code views: ctags, ast-grep, aider")
    result_rows: list[Row] = []
    with folder() as home:
        pattern = f"{place}/**/*.py"
        ours = [INTERLOCK, "view", "skeleton", "--no-cache", pattern]
        tools: dict[str, list[str] | Unavailable] = {
            "ours": ours,
            "universal-ctags": _ctags(place, f"{home}/tags"),
            "ast-grep outline": _ast_grep(place),
            "aider's map": _aider(place, home),
        }
        takes = {
            name: partial(_spent, argv, home, place)
            for name, argv in tools.items()
            if not isinstance(argv, Unavailable)
        }
        measured = alternating(takes, repeat, quietly=True)
        for name, argv in tools.items():
            got = argv if isinstance(argv, Unavailable) else measured[name]
            if name != "ours":
                result_rows.append(_row(name, measured["ours"], got, _token_count(argv, home, f"{home}/tags")))
    return result_rows


def _spent(argv: list[str], home: str, place: str) -> Data:
    """A fresh copy for each run, because aider keeps a cache beside the files."""
    for kept in Path(place).glob(".aider*"):
        shutil.rmtree(kept)
    shutil.rmtree(f"{home}/cache", ignore_errors=True)
    return spent(argv, env={**os.environ, "XDG_CACHE_HOME": f"{home}/cache", "HOME": home})


def _row(name: str, ours: list[Data] | Unavailable, peer: list[Data] | Unavailable, tokens: str) -> Row:
    row = Row(GROUP, "`interlock view skeleton` of django, wall time", "")
    if isinstance(peer, Unavailable):
        row.peer = f"{name} not available: {peer}"
        return row
    wall, our_wall = middle(peer, "wall"), middle(ours, "wall")
    row.ours = f"{seconds(our_wall)}, {middle(ours, 'mb'):.0f} MB"
    row.peer = f"{name}: {seconds(wall)}, {middle(peer, 'mb'):.0f} MB{tokens}"
    row.ratio = times(our_wall / wall)
    row.note = "peak memory of the largest process; what the others print is names, not signatures"
    if name == "aider's map":
        row.reach, row.note = (
            "≤ 1/5",
            "aider's map of all files, made anew, 8,192 tokens asked for; peak memory as above",
        )
        row.value, row.ok = at_most(FASTER, our_wall / wall)
    return row


def _token_count(argv: list[str] | Unavailable, home: str, tags: str) -> str:
    """The number of tokens of the output, if they can be counted."""
    if isinstance(argv, Unavailable):
        return ""
    from interlock.codeviews.views import tokens

    done = subprocess.run(argv, capture_output=True, check=False, env={**os.environ, "HOME": home})
    text = Path(tags).read_bytes() if argv[0].endswith("ctags") else done.stdout
    return f", {tokens.count(text, 'text'):,} tokens {tokens.method()}"


def _ctags(place: str, into: str) -> list[str] | Unavailable:
    program = shutil.which("ctags")
    if program is None:
        return Unavailable("ctags is not installed (Debian: universal-ctags)")
    output = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    if not re.search("Universal Ctags", output):
        return Unavailable("the ctags here is not universal-ctags")
    return [program, "-R", "--languages=Python", "--fields=+S", "-f", into, place]


def _ast_grep(place: str) -> list[str] | Unavailable:
    program = Path(sys.executable).with_name("ast-grep")
    return [str(program), "outline", place] if program.exists() else Unavailable("ast-grep-cli is not installed")


def _aider(place: str, home: str) -> list[str] | Unavailable:
    """Installed in a separate environment, because it pins a hundred packages."""
    python = RESULTS / "corpora" / "aider" / "bin" / "python"
    if not (python.parent / "aider").exists():
        say(f"  installing {AIDER}, which is large")
        subprocess.run([sys.executable, "-m", "venv", str(python.parent.parent)], capture_output=True, check=False)
        words = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", AIDER]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if not (python.parent / "aider").exists():
            return Unavailable((done.stderr.strip().splitlines() or ["pip installed nothing"])[-1])
    files = sorted(str(path) for path in Path(place).rglob("*.py"))
    Path(home, "files.json").write_text(json.dumps(files))
    Path(home, "map.py").write_text(_MAP)
    return [str(python), f"{home}/map.py", place, f"{home}/files.json"]

"""Tools that tell what a repository holds in another way than a skeleton: universal-ctags, ast-grep, aider's map.

They say less (names, or a chosen few of them) or other things, so nothing is to be reached here but aider's row.
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
    found: list[Row] = []
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
                found.append(_row(name, measured["ours"], got, _said(argv, home, f"{home}/tags")))
    return found


def _spent(argv: list[str], home: str, place: str) -> Data:
    """Made anew each time: aider keeps what it found beside the files."""
    for kept in Path(place).glob(".aider*"):
        shutil.rmtree(kept)
    shutil.rmtree(f"{home}/cache", ignore_errors=True)
    return spent(argv, env={**os.environ, "XDG_CACHE_HOME": f"{home}/cache", "HOME": home})


def _row(name: str, ours: list[Data] | Unavailable, theirs: list[Data] | Unavailable, tokens: str) -> Row:
    row = Row(GROUP, "`interlock view skeleton` of django, wall time", "")
    if isinstance(theirs, Unavailable):
        row.peer = f"{name} not available: {theirs}"
        return row
    wall, mine = middle(theirs, "wall"), middle(ours, "wall")
    row.ours = f"{seconds(mine)}, {middle(ours, 'mb'):.0f} MB"
    row.peer = f"{name}: {seconds(wall)}, {middle(theirs, 'mb'):.0f} MB{tokens}"
    row.ratio = times(mine / wall)
    row.note = "peak memory of the largest process; what the others print is names, not signatures"
    if name == "aider's map":
        row.reach, row.note = (
            "≤ 1/5",
            "aider's map of all files, made anew, 8,192 tokens asked for; peak memory as above",
        )
        row.value, row.ok = at_most(FASTER, mine / wall)
    return row


def _said(argv: list[str] | Unavailable, home: str, tags: str) -> str:
    """How many tokens its output is, where they can be counted."""
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
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    if not re.search("Universal Ctags", said):
        return Unavailable("the ctags here is not universal-ctags")
    return [program, "-R", "--languages=Python", "--fields=+S", "-f", into, place]


def _ast_grep(place: str) -> list[str] | Unavailable:
    program = Path(sys.executable).with_name("ast-grep")
    return [str(program), "outline", place] if program.exists() else Unavailable("ast-grep-cli is not installed")


def _aider(place: str, home: str) -> list[str] | Unavailable:
    """In an environment of its own: it wants exact versions of a hundred packages."""
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

"""Skeletons of whole repositories, compared with bare parsing, Python's own parser and repomix --compress."""

import ast
import json
import os
import re
import shutil
import subprocess
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.corpora import CORPORA, fetched, sources
from benchmarks.outlines import beside
from benchmarks.processes import INTERLOCK, spent
from benchmarks.samples import RESULTS, Data, Unavailable, alternating, folder, middle, say, take
from benchmarks.table import Row, at_most, attempt, seconds, times

GROUP = "code views"
PARSE = 1.2
WARM = 1 / 10
TOKENS = 0.8
FASTER = 1 / 5
REPOMIX = "repomix@1.14.0"
LIBRARY = str(Path(ast.__file__).parent)


def rows(*, quick: bool) -> list[Row]:
    repeat = 1 if quick else 5
    result_rows = attempt(
        GROUP, "skeletons of Python's library", partial(_parsing, LIBRARY, "Python's library", repeat)
    )
    try:
        django = str(fetched("django"))
    except Unavailable as why:
        return [*result_rows, Row(GROUP, "skeletons of django", ours="", peer=f"not available: {why}")]
    result_rows += attempt(GROUP, "skeletons of django", partial(_parsing, django, "django", repeat))
    result_rows += attempt(GROUP, "django again, from the cache", partial(_warm, django, repeat))
    result_rows += attempt(GROUP, "django beside repomix", partial(_repomix, django, repeat))
    result_rows += attempt(GROUP, "django beside other tools", partial(beside, django, repeat))
    return result_rows + attempt(GROUP, "skeletons in other languages", partial(_languages, 1 if quick else 3))


# ── parsing alone ────────────────────────────────────────────────────────────────────────


def _parsing(place: str, name: str, repeat: int) -> list[Row]:
    say(f"code views: {name}")
    data = take("benchmarks.codeviews:contest", place=place, repeat=repeat)
    what = f"skeletons of {name}, {data['files']:,} files, {data['bytes'] / 1e6:.0f} MB, one core"
    row = Row(GROUP, what, seconds(data["skeleton"]), f"tree-sitter, parsing only: {seconds(data['parse'])}")
    row.ratio, row.reach, row.note = times(data["skeleton"] / data["parse"]), f"≤ {PARSE}×", CPU
    row.value, row.ok = at_most(PARSE, data["skeleton"] / data["parse"])
    beside = Row(GROUP, what, seconds(data["skeleton"]), f"ast.parse: {seconds(data['ast'])}")
    beside.ratio, beside.note = times(data["skeleton"] / data["ast"]), CPU
    return [row, beside]


def _languages(repeat: int) -> list[Row]:
    """Every other language on its corpus: the cost of replacing bodies above parsing."""
    result_rows: list[Row] = []
    for name, corpus in CORPORA.items():
        for language in corpus.languages:
            if language == "python":
                continue
            say(f"code views: {language}")
            what = f"skeletons of {name}, {language}"
            try:
                data = take("benchmarks.codeviews:in_language", name=name, language=language, repeat=repeat)
            except Unavailable as why:
                result_rows.append(Row(GROUP, what, ours="", peer=f"not available: {why}"))
                continue
            row = Row(
                GROUP, f"{what}, {data['files']:,} files, {data['bytes'] / 1e6:.1f} MB", seconds(data["skeleton"])
            )
            row.peer = f"tree-sitter, parsing only: {seconds(data['parse'])}"
            row.ratio, row.reach = times(data["skeleton"] / data["parse"]), f"≤ {PARSE}×"
            row.value, row.ok = at_most(PARSE, data["skeleton"] / data["parse"])
            row.note = f"{CPU}; {data['broken']:,} files have syntax errors to the grammar and are parsed a second time"
            result_rows.append(row)
    return result_rows


def in_language(name: str, language: str, repeat: int) -> Data:
    from interlock.codeviews.syntax.trees import parse
    from interlock.codeviews.views.skeleton import skeleton

    paths = sources(name, language)
    contents = [path.read_bytes() for path in paths[:: max(1, len(paths) // 500)]]
    contenders: dict[str, Callable[[bytes], object]] = {
        "parse": lambda source: parse(source, language),
        "skeleton": lambda source: skeleton(source, language),
    }
    took: dict[str, list[float]] = {word: [] for word in contenders}
    for turn in range(-1, repeat):
        for word in list(contenders) if turn % 2 else reversed(list(contenders)):
            begun = time.process_time()
            for content in contents:
                contenders[word](content)
            if turn >= 0:
                took[word].append(time.process_time() - begun)
    trees = [parse(content, language) for content in contents]
    return {
        "files": len(contents),
        "bytes": sum(map(len, contents)),
        "broken": sum(tree is None or tree.root_node.has_error for tree in trees),
        **{word: median(times) for word, times in took.items()},
    }


CPU = "CPU time, median; all contenders in one process in turns, on the same bytes in memory"


def contest(place: str, repeat: int) -> Data:
    import tree_sitter_python
    from tree_sitter import Language, Parser

    from interlock.codeviews.views.skeleton import skeleton

    sources = [path.read_bytes() for path in Path(place).rglob("*.py") if "site-packages" not in path.parts]
    parser = Parser(Language(tree_sitter_python.language()))
    contenders: dict[str, Callable[[bytes], object]] = {
        "parse": parser.parse,
        "skeleton": lambda source: skeleton(source, "python"),
        "ast": _ast,
    }
    took: dict[str, list[float]] = {name: [] for name in contenders}
    warnings.simplefilter("ignore")
    for turn in range(-1, repeat):
        for name in list(contenders) if turn % 2 else reversed(list(contenders)):
            run = contenders[name]
            begun = time.process_time()
            for source in sources:
                run(source)
            if turn >= 0:
                took[name].append(time.process_time() - begun)
    return {
        "files": len(sources),
        "bytes": sum(map(len, sources)),
        **{name: median(times) for name, times in took.items()},
    }


def _ast(source: bytes) -> object:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


# ── the command ──────────────────────────────────────────────────────────────────────────


def _warm(place: str, repeat: int) -> Row:
    """The whole command with start and output: with an empty cache, then with a full one."""
    say("code views: the cache")
    cold: list[Data] = []
    warm: list[Data] = []
    command = [INTERLOCK, "view", "skeleton", place]
    for _ in range(repeat):
        with folder() as home:
            for into in (cold, warm):
                into.append(spent(command, env={**os.environ, "XDG_CACHE_HOME": home}))
    first, again = middle(cold, "wall"), middle(warm, "wall")
    row = Row(GROUP, "`interlock view skeleton` of django again, from the cache", seconds(again))
    row.peer, row.ratio, row.reach = f"ours, cold: {seconds(first)}", f"1/{first / again:.0f}", "≤ 1/10"
    row.value, row.ok = at_most(WARM, again / first)
    row.note = "wall time of the whole command with its start and output; tokens counted or estimated too"
    return row


def _repomix(place: str, repeat: int) -> list[Row]:
    program = _npm()
    say("code views: repomix")
    pattern = f"{place}/**/*.py"
    with folder() as home:
        into = f"{home}/packed.xml"
        takes = {
            "ours": partial(spent, [INTERLOCK, "view", "skeleton", "--no-cache", pattern]),
            "repomix": partial(
                spent, [program, "--compress", "--no-gitignore", "--include", "**/*.py", "-o", into, place]
            ),
        }
        samples = alternating(takes, repeat, quietly=True)
        repomix_output = subprocess.run(
            [program, "--compress", "--no-gitignore", "--include", "**/*.py", "-o", into, place],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    result_rows: list[Row] = []
    for key in ("wall", "cpu"):
        ours, other = middle(samples["ours"], key), middle(samples["repomix"], key)
        row = Row(GROUP, f"`interlock view skeleton` of django, {key} time", seconds(ours))
        row.peer, row.ratio = f"repomix --compress: {seconds(other)}", times(ours / other)
        if key == "wall":
            row.reach = "≤ 1/5"
            row.value, row.ok = at_most(FASTER, ours / other)
        result_rows.append(row)
    return [*result_rows, _tokens(pattern, repomix_output)]


def _tokens(pattern: str, peer_output: str) -> Row:
    process = subprocess.run(
        [INTERLOCK, "view", "skeleton", "--no-cache", "--json", pattern], capture_output=True, text=True, check=True
    )
    totals = json.loads(process.stdout)["totals"]
    counted = re.search(r"Total Tokens:\s*([\d,]+)", peer_output)
    if counted is None:
        raise Unavailable("repomix tells no number of tokens")
    other = int(counted[1].replace(",", ""))
    row = Row(GROUP, "tokens of django's skeletons", f"{totals['tokens_after']:,} of {totals['tokens_before']:,}")
    row.peer, row.ratio = f"repomix --compress: {other:,}", times(totals["tokens_after"] / other)
    row.note = f"ours {totals['tokens']}; theirs with its list of files and its headings"
    if totals["tokens"] == "counted":
        row.reach = f"≤ {TOKENS}×"
        row.value, row.ok = at_most(TOKENS, totals["tokens_after"] / other)
    return row


# ── downloads ────────────────────────────────────────────────────────────────────────────


def _npm() -> str:
    place = RESULTS / "corpora" / "repomix"
    program = place / "node_modules" / ".bin" / "repomix"
    if not program.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise Unavailable("npm is not installed")
        say(f"  fetching {REPOMIX}")
        place.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [npm, "install", "--silent", "--no-save", "--no-package-lock", "--prefix", str(place), REPOMIX],
            capture_output=True,
            text=True,
            check=False,
        )
        if not program.exists():
            raise Unavailable((done.stderr.strip().splitlines() or ["npm fetched nothing"])[-1])
    return str(program)

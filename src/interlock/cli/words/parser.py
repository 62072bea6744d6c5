"""The words of the command line. Only argparse here: handlers are named, not imported."""

import argparse
import sys
from typing import Any, NoReturn

from interlock.cli.words.harness_words import driving_words
from interlock.cli.words.model_words import add_models
from interlock.cli.words.talk_words import add_talks
from interlock.cli.words.test_words import history_words
from interlock.providers.names import PROVIDERS

# We speak one language: to look for others in a dozen folders, for every word, is half of the time that parsing takes.
setattr(argparse, "_", str)  # noqa: B010  it has no public name
_FORMAT = argparse.RawDescriptionHelpFormatter
_TOP = """\
Interlock: coding with AI agents that a person can trust.

Tickets run in parallel in worktrees of their own; nothing runs before it is approved, nothing counts
as done before its gate passes, and one journal holds everything.
"""
_EXAMPLES = """\
examples:
  interlock run --tickets plan.json        run a graph of tickets, asking before each script
  interlock run --resume                   go on with everything unfinished
  interlock approvals list                 what waits for you
  interlock approvals answer A-3 approve   answer it, whether or not a workbench runs
  interlock tracks land demo               merge a finished track into your branch
  interlock journal verify                 is the record whole?

exit codes: 0 done, 1 error, 2 usage, 3 blocked, aborted or gate failed, 4 approval needed, 5 budget, 130 interrupted
"""


class _Parser(argparse.ArgumentParser):
    """What is wrong is also told as JSON to whoever asked for that."""

    wants_json = False

    def error(self, message: str) -> NoReturn:
        if _Parser.wants_json:
            import json

            sys.stdout.write(json.dumps({"error": message, "kind": "Usage"}) + "\n")
        super().error(message)


def parse(words: list[str]) -> argparse.Namespace:
    _Parser.wants_json = "--json" in words or _says_json(words)
    parser = build()
    args = parser.parse_args(words or ["gui"])
    if not hasattr(args, "handler"):
        chosen: argparse.ArgumentParser = getattr(args, "parser", parser)
        chosen.error("what should be done? See --help.")
    return args


def _says_json(words: list[str]) -> bool:
    """In one of the other ways of `interlock test …`."""
    ways = ("--format", "--output")
    joined = any(f"{way}=json" in words for way in ways)
    return joined or any(word in ways and words[at + 1 : at + 2] == ["json"] for at, word in enumerate(words))


def build() -> argparse.ArgumentParser:
    parser = _Parser("interlock", description=_TOP, epilog=_EXAMPLES, formatter_class=_FORMAT)
    parser.add_argument(
        "-V",
        "--version",
        action="store_const",
        const="inspect.basics:version",
        dest="handler",
        default=argparse.SUPPRESS,
    )
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    _init(commands)
    _run(commands)
    _talking(commands)
    _serving(commands)
    _tracks(commands)
    _tickets(commands)
    _workers(commands)
    _approvals(commands)
    _policy(commands)
    add_models(commands, _command, _group, PROVIDERS)
    _journal(commands)
    _testing(commands)
    _others(commands)
    return parser


def _command(
    group: Any, name: str, handler: str, text: str, example: str = "", *, json: bool = True
) -> argparse.ArgumentParser:
    epilog = f"examples:\n{example}" if example else None
    made: argparse.ArgumentParser = group.add_parser(
        name, help=text, description=text[0].upper() + text[1:] + ".", epilog=epilog, formatter_class=_FORMAT
    )
    made.set_defaults(handler=handler)
    made.add_argument("-C", "--project", metavar="DIR", help="the project's folder (default: found from here upwards)")
    if json:
        made.add_argument("--json", action="store_true", help="print JSON")
    return made


def _group(commands: Any, name: str, text: str) -> Any:
    made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    made.set_defaults(parser=made)
    return made.add_subparsers(metavar="COMMAND", title="commands")


def _init(commands: Any) -> None:
    _command(commands, "init", "inspect.basics:init", "make this folder a project (asks nothing; git ignores it)")


def _running(made: argparse.ArgumentParser) -> None:
    made.add_argument("--workers", type=int, metavar="N", help="attempts at once (default: settings, 4)")
    _asking(made)


def _asking(made: argparse.ArgumentParser) -> None:
    made.add_argument("--approve", choices=["all"], help="answer every approval but gates: for tests and demos only")
    _model(made)


def _model(made: argparse.ArgumentParser) -> None:
    made.add_argument("--provider", choices=PROVIDERS, metavar="P", help=f"whom to ask: {', '.join(PROVIDERS)}")
    made.add_argument("--model", metavar="M", help="the provider's model, for all tiers (default: settings)")
    made.add_argument("--script", metavar="FILE", help="with --provider scripted: the rules it answers by")
    made.add_argument("--max-tool-rounds", type=_rounds, metavar="N", help="rounds of tools per request")


def _rounds(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= 1000:
        raise argparse.ArgumentTypeError(f"a whole number from 1 to 1000, not {text!r}")
    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"a number of seconds, not {text!r}")
    return number


def _run(commands: Any) -> None:
    made = _command(
        commands,
        "run",
        "work.run:run",
        "run tickets until they are done, blocked, or wait for you",
        "  interlock run 'Round money half up everywhere'\n"
        "  interlock run --tickets plan.json\n  interlock run --tickets plan.json --approve all --land\n"
        "  interlock run --resume",
    )
    made.add_argument("epic", nargs="?", metavar="EPIC", help="a goal in words: it is planned, and the plan proposed")
    made.add_argument("--tickets", metavar="FILE", help="a JSON file: an array of tickets, or a track; - is stdin")
    made.add_argument("--resume", action="store_true", help="go on with everything unfinished")
    made.add_argument("--land", action="store_true", help="land the track when it is done (asks)")
    _running(made)
    made = _command(commands, "resume", "work.run:resume", "go on with a track, or with everything unfinished")
    made.add_argument("track", nargs="?", metavar="TRACK")
    made.add_argument("--land", action="store_true", help="land the track when it is done (asks)")
    _running(made)


def _talking(commands: Any) -> None:
    made = _command(
        commands,
        "do",
        "work.do:do",
        "run one command: prompts, worked on in worktrees of their own, with gates",
        "  interlock do '>>review src/money.py'      the prompt in prompts/review.md\n"
        "  interlock do 'Rename total to sum in src/money.py' --land\n"
        "  interlock do '>>plan the cache --> >>build :: verify:\"pytest -q\" max:3'",
    )
    made.add_argument(
        "command", metavar="COMMAND", help=">>NAME words, NAME being a file in prompts/; or plain words; see also parse"
    )
    made.add_argument("--land", action="store_true", help="land its work when it is done (asks)")
    _asking(made)
    made = _command(
        commands,
        "parse",
        "inspect.parse:parse",
        "what a command of the grammar means, as JSON; nothing runs",
        """  interlock parse '>>fix src/money.py :: verify:"pytest -q" :fast'\n"""
        """  interlock parse '%lean >>plan --> >>build :: "reads well" * 2'""",
    )
    made.add_argument("command", metavar="COMMAND", help="[%%modifier] [@framework] [#style] >>prompt args [:: gate] …")
    made = _command(
        commands,
        "chat",
        "work.chat:chat",
        "talk with a model about the project",
        "  interlock chat 'Where is rounding decided?'\n  interlock chat --in D-1 'And who calls it?'",
    )
    made.add_argument("text", nargs="?", metavar="TEXT", help="what you say; - is stdin; none: go on with --in")
    made.add_argument("--in", dest="discussion", metavar="D", help="go on with this discussion (default: a new one)")
    _asking(made)
    add_talks(commands, _command, _group)


def _serving(commands: Any) -> None:
    made = _command(
        commands,
        "serve",
        "serve.serve:serve",
        "the workbench without a window, driven over HTTP",
        "  interlock serve\n  interlock serve --provider scripted --script rules.json --test-policy",
    )
    made.add_argument(
        "--port", type=_port, default=8999, metavar="P", help="taken: the next up to 9010 (default: 8999)"
    )
    made.add_argument("--test-policy", action="store_true", help="the drive token may answer approvals: tests only")
    made.add_argument("--auto-queue", action="store_true", help="ready tickets start by themselves")
    made.add_argument("--workers", type=int, metavar="N", help="attempts at once (default: settings, 4)")
    _model(made)
    made = _command(
        commands,
        "gui",
        "serve.gui:gui",
        "the desktop window (also: interlock alone)",
        "  interlock gui\n  interlock gui --backend null --enable-test-hooks --test-policy",
        json=False,
    )
    made.add_argument(
        "--backend",
        choices=["desktop", "null", "egl"],
        default="desktop",
        help="null: no pixels, for tests; egl: pixels without a display (default: desktop)",
    )
    made.add_argument("--theme", choices=["dark", "light"], default="dark", help="colours (default: dark)")
    made.add_argument("--enable-test-hooks", action="store_true", help="serve the HTTP API beside the window")
    made.add_argument(
        "--port", type=_port, default=8999, metavar="P", help="of the HTTP API (default: 8999 or the next)"
    )
    made.add_argument(
        "--enable-test-harness", action="store_true", help="serve the gRPC harness that drives the window"
    )
    made.add_argument(
        "--test-harness-port",
        type=_port,
        default=50052,
        metavar="P",
        help="taken: the next up to ten more (default: 50052)",
    )
    made.add_argument(
        "--test-policy", action="store_true", help="the drive token and the harness may answer approvals: tests only"
    )
    made.add_argument("--auto-queue", action="store_true", help="ready tickets start by themselves")
    made.add_argument("--workers", type=int, metavar="N", help="attempts at once (default: settings, 4)")
    made.add_argument("--screenshot", metavar="FILE", help="draw --frames frames, write the last as a PNG, and end")
    made.add_argument("--frames", type=int, default=30, metavar="N", help="for --screenshot (default: 30)")
    _model(made)
    made = _command(
        commands,
        "ask-hook",
        "serve.ask_hook:ask_hook",
        "a before-tool hook for other agents: a person decides in Interlock",
        "  in the agent's settings, as the command of its PreToolUse or BeforeTool hook:\n"
        "    interlock ask-hook --agent claude",
        json=False,
    )
    made.add_argument(
        "--agent",
        choices=["auto", "claude", "codex", "gemini"],
        default="auto",
        help="whose JSON (default: as it looks)",
    )
    made.add_argument("--deadline", type=_seconds, metavar="S", help="no answer by then is a no (default: it waits)")


def _port(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"a port from 0 (any) to 65535, not {text!r}")
    return number


def _tracks(commands: Any) -> None:
    group = _group(commands, "tracks", "tracks: list, show, import, edit, accept, reject, pause, resume, abort, land")
    _command(group, "list", "work.tracks:list_", "all tracks with their progress")
    for name, text in {
        "show": "one track with its tickets",
        "pause": "let running attempts finish and start no more",
        "resume": "let a paused track go on",
        "abort": "kill its workers and cancel what is not done",
        "land": "merge a done track into your branch (asks, showing the diff)",
    }.items():
        made = _command(group, name, f"work.tracks:{name}", text)
        made.add_argument("track", metavar="TRACK")
        if name == "abort":
            made.add_argument("--message", "-m", default="", metavar="WHY")
        if name == "land":
            made.add_argument("--approve", choices=["all"], help="answer the approval too: for tests and demos only")
    made = _command(
        group,
        "accept",
        "work.tracks:accept",
        "accept the tracks proposed for an epic: their tickets are planned and the first starts",
        "  interlock tracks accept\n  interlock tracks accept E-2 --edit tracks.json",
    )
    made.add_argument("epic", nargs="?", metavar="EPIC", help="E-1 (default: the one that waits)")
    made.add_argument("--edit", metavar="FILE", help="a JSON list of tracks to plan instead; - is stdin")
    made = _command(group, "reject", "work.tracks:reject", "reject the tracks proposed for an epic")
    made.add_argument("epic", nargs="?", metavar="EPIC", help="E-1 (default: the one that waits)")
    made.add_argument("--message", "-m", default="", metavar="WHY")
    made = _command(group, "edit", "work.tracks:edit", "change a track's title or description")
    made.add_argument("track", metavar="TRACK")
    made.add_argument("--title", metavar="TEXT")
    made.add_argument("--description", metavar="TEXT")
    made = _command(group, "import", "work.tracks:import_", "store tickets from a file without running them")
    made.add_argument("file", metavar="FILE")
    made.add_argument("--into", metavar="TRACK", help="add the tickets to this track")


def _tickets(commands: Any) -> None:
    group = _group(commands, "tickets", "tickets: list, show, edit, retry, skip, block, cancel, move")
    made = _command(
        group, "list", "work.tickets:list_", "tickets, in order", "  interlock tickets list demo --status blocked"
    )
    made.add_argument("track", nargs="?", metavar="TRACK")
    made.add_argument("--status", choices=["todo", "in_progress", "completed", "blocked", "cancelled"])
    made.add_argument("--limit", type=int, default=0, metavar="N", help="at most N (default: all)")
    made.add_argument("--offset", type=int, default=0, metavar="N", help="after the first N")
    for name, text in {
        "show": "one ticket, with its attempts and gates",
        "retry": "let a blocked ticket try again",
        "skip": "count it as completed, unverified; dependants may start",
        "block": "stop it, with a reason",
        "cancel": "give it up; dependants stay todo",
    }.items():
        made = _command(group, name, f"work.tickets:{name}", text, f"  interlock tickets {name} demo/T-001")
        made.add_argument(
            "ticket", nargs=None if name == "show" else "+", metavar="TICKET", help="TRACK/TICKET or TICKET"
        )
        if name == "block":
            made.add_argument("--message", "-m", default="", metavar="WHY")
    made = _command(
        group,
        "edit",
        "work.tickets:edit",
        "change a ticket that has not started",
        "  interlock tickets edit T-001 --set priority=high\n  interlock tickets edit T-001 --set script='make test'",
    )
    made.add_argument("ticket", metavar="TICKET", help="TRACK/TICKET or TICKET")
    made.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="VALUE is text, or JSON")
    made.add_argument("--file", metavar="FILE", help="a JSON object with the keys to change")
    made = _command(group, "move", "work.tickets:move", "put a ticket at another place of its track's order")
    made.add_argument("ticket", metavar="TICKET", help="TRACK/TICKET or TICKET")
    made.add_argument("position", type=int, metavar="POSITION", help="from 1")


def _workers(commands: Any) -> None:
    group = _group(commands, "workers", "attempts under way: list, kill")
    _command(group, "list", "work.tickets:workers", "attempts under way and what they do")
    made = _command(group, "kill", "work.tickets:kill", "kill a worker and everything it started")
    made.add_argument("ticket", nargs="+", metavar="TICKET", help="TRACK/TICKET or TICKET")


def _approvals(commands: Any) -> None:
    group = _group(commands, "approvals", "what waits for you: list, show, answer")
    made = _command(group, "list", "work.approvals:list_", "approvals, oldest first")
    made.add_argument("--state", choices=["pending", "answered", "withdrawn", "all"], default="pending")
    made.add_argument("--limit", type=int, default=0, metavar="N", help="at most N (default: all)")
    made.add_argument("--offset", type=int, default=0, metavar="N", help="after the first N")
    made = _command(group, "show", "work.approvals:show", "everything about one approval")
    made.add_argument("id", metavar="ID")
    made = _command(
        group,
        "answer",
        "work.approvals:answer",
        "answer one approval",
        "  interlock approvals answer A-1 approve\n  interlock approvals answer A-1 approve --edit fixed.sh\n"
        "  interlock approvals answer A-2 reject --message 'not on this branch'\n"
        "  interlock approvals answer A-3 retry",
    )
    made.add_argument("id", metavar="ID")
    made.add_argument("decision", choices=["approve", "reject", "abort", "retry", "skip"])
    made.add_argument("--edit", metavar="FILE", help="approve this text instead; - is stdin")
    made.add_argument("--edit-context", metavar="FILE", help="show the worker this context instead (a start)")
    made.add_argument("--hunks", metavar="1,3", help="approve only these hunks (file edits)")
    made.add_argument("--always", action="store_true", help="and allow exactly this command from now on (a rule)")
    made.add_argument("--message", "-m", default="", metavar="M")


def _policy(commands: Any) -> None:
    group = _group(commands, "policy", "what may run without asking: check, list, test")
    made = _command(
        group,
        "check",
        "inspect.policy:check",
        "what the rules say to a shell command; nothing runs",
        "  interlock policy check -- 'git log --oneline | head'\n  interlock policy check --json -- 'rm -rf /'",
    )
    made.add_argument("command", metavar="CMD", help="one argument, as a shell would get it")
    made.add_argument("--cwd", metavar="DIR", help="the folder it would run in (default: the project's)")
    _command(group, "list", "inspect.policy:list_", "all rules: yours, the project's, those that are shipped")
    _command(group, "test", "inspect.policy:test", "whether the examples of all rules hold; exit 1 if not")


def _journal(commands: Any) -> None:
    group = _group(commands, "journal", "the record of everything: show, verify, export, archive, replay")
    made = _command(group, "show", "records.journal:show", "events, oldest first")
    made.add_argument("--after", type=int, default=0, metavar="N", help="only events after version N")
    made.add_argument("--last", type=int, default=0, metavar="N", help="only the last N events")
    made.add_argument("--follow", "-f", action="store_true", help="go on as they happen")
    made = _command(group, "verify", "records.journal:verify", "find altered, removed or reordered rows")
    made.add_argument("--rebuild-head", action="store_true", help="accept the rows that are there as all there is")
    made = _command(group, "export", "records.journal:export", "the whole journal as JSON lines", json=False)
    made.add_argument("file", nargs="?", metavar="FILE")
    made = _command(group, "archive", "records.journal:archive", "a copy in one file that can be kept and verified")
    made.add_argument("file", nargs="?", metavar="FILE")
    made = _command(group, "replay", "records.journal:replay", "the state as it was after a version")
    made.add_argument("--to", type=int, metavar="N", help="the version (default: the last)")


def _testing(commands: Any) -> None:
    group = _group(commands, "test", "drive the window, and what tests came to")
    driving_words(group, _command)
    history_words(group, _command)


def _others(commands: Any) -> None:
    made = _command(
        commands,
        "verify",
        "work.verify:verify",
        "run one shell command as a gate in this folder, in the sandbox",
        "  interlock verify 'pytest -q'\n  interlock verify 'make test' --timeout 60 --json",
    )
    made.add_argument("command", metavar="COMMAND", help="what sh -c runs; this folder is writable, its .git is not")
    made.add_argument("--timeout", type=_seconds, metavar="S", help="1 to 600 seconds (default: settings, 300)")
    made = _command(
        commands,
        "view",
        "inspect.view:view",
        "files as an agent should see them: without bodies, summed up, or outlined",
        "  interlock view skeleton src/app.py\n  interlock view outline src tests\n"
        "  interlock view summary 'docs/**/*.md' --json",
    )
    made.add_argument(
        "kind",
        choices=["skeleton", "curated", "summary", "outline"],
        metavar="KIND",
        help="skeleton, curated, summary or outline",
    )
    made.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder (without what git ignores), a pattern")
    made.add_argument("--no-cache", action="store_true", help="make every view anew and store none")
    made = _command(
        commands,
        "context",
        "inspect.context:context",
        "what a worker would be sent: every block, with its tokens",
        "  interlock context T-001\n  interlock context --files src/app.py src/db.py --json",
    )
    made.add_argument("ticket", nargs="?", metavar="TICKET", help="TRACK/TICKET or TICKET")
    made.add_argument("--files", nargs="+", metavar="F", help="no ticket: these files, as a worker would see them")
    made = _command(commands, "status", "records.status:status_", "where things stand, in one look")
    made.add_argument("track", nargs="?", metavar="TRACK", help="(default: the one that runs)")
    _command(commands, "doctor", "inspect.basics:doctor", "what this machine can do, and what the sandbox promises")
    made = _command(
        commands,
        "usage",
        "records.usage:usage",
        "tokens and money by tier, epic, track or ticket; or which block broke a cached prefix",
        "  interlock usage --by ticket\n  interlock usage cache",
    )
    made.add_argument("what", nargs="?", choices=["cache"], metavar="cache", help="what was paid again, and why")
    made.add_argument("--by", choices=["tier", "epic", "track", "ticket"], default="tier")
    made = _command(commands, "trust", "inspect.trust:trust", "let what came with this project count, after reading it")
    made.add_argument("--show", action="store_true", help="only show what is new, changed or trusted")
    made.add_argument("--yes", action="store_true", help="do not ask")
    made = _command(commands, "demo", "demo.demo:demo", "a sample repository, worked on from start to end")
    made.add_argument("--dir", metavar="D", help="where the sample repository goes (default: a temporary folder)")
    made = commands.add_parser("completion", help="shell completion", description="Shell completion.")
    made.add_argument("shell", choices=["bash", "zsh", "fish"])
    made.set_defaults(handler="terminal.completion:completion")

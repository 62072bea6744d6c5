"""Arguments of the commands that read the record: `journal …`, `status` and `usage`; also `demo` and `completion`."""

from argparse import ArgumentParser

from interlock.cli.words.commands import Commands, add_autonomy_option, add_command, add_group


def add_journal(commands: Commands) -> None:
    group = add_group(
        commands,
        "journal",
        "the append-only record: show, verify, export, archive, replay",
        "interlock journal show --last 20",
        "interlock journal verify",
    )
    _add_show(group)
    verify = add_command(
        group,
        "verify",
        "records.journal:verify",
        "find altered, removed or reordered rows",
        "interlock journal verify",
        "interlock journal verify --file journal.jsonl.gz",
    )
    verify.add_argument(
        "--rebuild-head", action="store_true", help="accept the rows found as complete and store their head again"
    )
    _add_file(verify)
    export = add_command(
        group,
        "export",
        "records.journal:export",
        "write the whole journal as JSON lines",
        "interlock journal export journal.jsonl",
        json=False,
    )
    export.add_argument("file", nargs="?", metavar="FILE", help="(default: stdout)")
    archive = add_command(
        group,
        "archive",
        "records.journal:archive",
        "write a verified, compressed copy of the journal",
        "interlock journal archive journal.jsonl.gz",
    )
    archive.add_argument("file", nargs="?", metavar="FILE", help="(default: journal-ROWS.jsonl.gz)")
    replay = add_command(
        group,
        "replay",
        "records.journal:replay",
        "print the state after a version",
        "interlock journal replay --to 120",
    )
    _add_file(replay)
    replay.add_argument("--to", type=int, metavar="N", help="the version (default: the last)")


def _add_file(command: ArgumentParser) -> None:
    command.add_argument("--file", metavar="FILE", help="read an exported or archived journal instead of the project's")


def _add_show(group: Commands) -> None:
    command = add_command(
        group,
        "show",
        "records.journal:show",
        "print events, oldest first",
        "interlock journal show --last 20",
        "interlock journal show --follow --json",
    )
    _add_file(command)
    command.add_argument("--after", type=int, default=0, metavar="N", help="only events after version N")
    command.add_argument("--last", type=int, default=0, metavar="N", help="only the last N events")
    command.add_argument("--follow", "-f", action="store_true", help="keep printing new events")


def add_status(commands: Commands) -> None:
    command = add_command(
        commands,
        "status",
        "records.status:status_",
        "print a short overview: track, running tickets, approvals, cost",
        "interlock status",
        "interlock status demo --json",
    )
    command.add_argument("track", nargs="?", metavar="TRACK", help="(default: the running track)")


def add_usage(commands: Commands) -> None:
    command = add_command(
        commands,
        "usage",
        "records.usage:usage",
        "print tokens and cost by tier, epic, track or ticket; or the broken cache prefixes",
        "interlock usage --by ticket",
        "interlock usage cache",
    )
    command.add_argument(
        "report", nargs="?", choices=["cache"], metavar="cache", help="requests that broke a cached prefix, and why"
    )
    command.add_argument("--by", choices=["tier", "epic", "track", "ticket"], default="tier")


def add_demo(commands: Commands) -> None:
    command = add_command(
        commands,
        "demo",
        "demo.demo:demo",
        "run a sample repository from start to end, without a key and without network",
        "interlock demo",
        "interlock demo --dir /tmp/shop",
    )
    command.add_argument("--dir", metavar="D", help="the sample repository's folder (default: a temporary one)")
    add_autonomy_option(command)


def add_completion(commands: Commands) -> None:
    command = add_command(
        commands,
        "completion",
        "terminal.completion:completion",
        "print a shell completion script",
        "interlock completion bash",
        "interlock completion fish",
        json=False,
        project=False,
    )
    command.add_argument("shell", choices=["bash", "zsh", "fish"])

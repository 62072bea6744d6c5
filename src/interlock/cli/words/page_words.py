"""Arguments of `interlock open`, `sessions` and `tunnel`."""

from interlock.cli.words.commands import Commands, add_command, add_group, port


def add_open(commands: Commands) -> None:
    command = add_command(
        commands,
        "open",
        "serve.page:open_page",
        "open the page of a running workbench in a browser, by a link that works once",
        "interlock open                  # to look and to drive",
        "interlock open --approve        # to answer approvals as well",
        "interlock open --approve --qr   # for the camera of a phone",
    )
    command.add_argument("--approve", action="store_true", help="the browser may answer approvals")
    command.add_argument("--print", action="store_true", help="print the link and start no browser")
    command.add_argument("--qr", action="store_true", help="print the link as a QR code too, and start no browser")


def add_sessions(commands: Commands) -> None:
    group = add_group(
        commands,
        "sessions",
        "browsers that may use the page",
        "interlock sessions list",
        "interlock sessions revoke --all",
    )
    add_command(
        group, "list", "serve.page:list_sessions", "sessions that have not ended", "interlock sessions list --json"
    )
    revoke = add_command(
        group,
        "revoke",
        "serve.page:revoke_sessions",
        "end a session of the page at once",
        "interlock sessions revoke 1f2e3d4c5b6a",
        "interlock sessions revoke --all   # unused links end too",
    )
    revoke.add_argument("id", nargs="?", metavar="ID", help="the session")
    revoke.add_argument("--all", action="store_true", help="all sessions, and all unused links")


def add_tunnel(commands: Commands) -> None:
    command = add_command(
        commands,
        "tunnel",
        "serve.tunnel:tunnel",
        "reach the page of another machine by SSH: print the command, or run it",
        "interlock tunnel build.example.org",
        "interlock tunnel ann@build.example.org --run",
        project=False,
        json=False,
    )
    command.add_argument("host", metavar="HOST", help="where the workbench runs: NAME, or USER@NAME")
    command.add_argument(
        "--port", type=port, default=8999, metavar="P", help="of the workbench; the same here (default: 8999)"
    )
    command.add_argument("--run", action="store_true", help="run ssh until Ctrl-C")

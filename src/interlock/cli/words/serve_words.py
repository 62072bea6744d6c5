"""Arguments of `interlock serve`, `gui`, `open`, `sessions`, `tunnel`, `acp`, `ask-hook` and `hooks`."""

import argparse

from interlock.cli.words.commands import (
    Commands,
    add_autonomy_option,
    add_command,
    add_group,
    add_model_options,
    add_workers_option,
    port,
    seconds,
)


def add_serve(commands: Commands) -> None:
    command = add_command(
        commands,
        "serve",
        "serve.serve:serve",
        "run the workbench without a window and serve its HTTP API",
        "interlock serve",
        "interlock serve --page                # and then: interlock open --approve",
        "interlock serve --provider scripted --script rules.json --test-policy",
    )
    command.add_argument(
        "--port", type=port, default=8999, metavar="P", help="the next free port up to 9010 if taken (default: 8999)"
    )
    _add_page_option(command)
    command.add_argument(
        "--public-url", metavar="URL", help="https://NAME of a reverse proxy in front of the page, which it accepts too"
    )
    command.add_argument("--test-policy", action="store_true", help="the drive token may answer approvals: tests only")
    _add_conductor_options(command)
    add_model_options(command)


def add_gui(commands: Commands) -> None:
    command = add_command(
        commands,
        "gui",
        "serve.gui:gui",
        "open the desktop window (the same as 'interlock' alone)",
        "interlock gui",
        "interlock gui --backend null --enable-test-hooks --test-policy",
        "interlock gui --backend egl --screenshot window.png",
        json=False,
    )
    command.add_argument(
        "--backend",
        choices=["desktop", "null", "egl"],
        default="desktop",
        help="null: no pixels, for tests; egl: pixels without a display (default: desktop)",
    )
    command.add_argument("--theme", choices=["dark", "light"], default="dark", help="colours (default: dark)")
    _add_page_option(command)
    _add_test_options(command)
    _add_conductor_options(command)
    command.add_argument("--screenshot", metavar="FILE", help="draw --frames frames, save the last as a PNG, then exit")
    command.add_argument("--frames", type=int, default=30, metavar="N", help="for --screenshot (default: 30)")
    add_model_options(command)


def add_tui(commands: Commands) -> None:
    command = add_command(
        commands,
        "tui",
        "serve.tui.start:tui",
        "open the workbench in this terminal (the same as 'interlock' alone without a display)",
        "interlock tui",
        "interlock tui --plain    # lines instead of a screen: for a screen reader",
        json=False,
    )
    command.add_argument("--plain", action="store_true", help="print lines of what changes, and ask by line")
    _add_conductor_options(command)
    add_model_options(command)


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


def add_acp(commands: Commands) -> None:
    command = add_command(
        commands,
        "acp",
        "serve.acp:acp",
        "be the agent of an editor: the Agent Client Protocol on stdin and stdout",
        "interlock acp                     # the command that an editor starts",
        "interlock acp --provider gemini",
        json=False,
    )
    add_model_options(command)


def add_mcp(commands: Commands) -> None:
    command = add_command(
        commands,
        "mcp",
        "serve.mcp:mcp",
        "serve this project's tools to other agents and editors (Model Context Protocol)",
        "interlock mcp                      # on stdin and stdout, for an MCP client",
        "interlock mcp --http --port 9011   # its token: .interlock/run/mcp.json",
        json=False,
    )
    command.add_argument("--http", action="store_true", help="streamable HTTP on 127.0.0.1 instead of standard input")
    command.add_argument("--port", type=port, metavar="P", help="of --http; 0 is any free one (default: 9011)")
    add_model_options(command)


def add_mcp_servers(commands: Commands) -> None:
    group = add_group(
        commands,
        "mcp-servers",
        "MCP servers whose tools workers and discussions may use",
        "interlock mcp-servers list",
        "interlock mcp-servers tools time",
    )
    add_command(group, "list", "outside.mcp_servers:list_", "all servers and their state", "interlock mcp-servers list")
    trial = add_command(
        group,
        "test",
        "outside.mcp_servers:test",
        "start a server in the sandbox and see whether it works",
        "interlock mcp-servers test time",
    )
    shown = add_command(
        group,
        "tools",
        "outside.mcp_servers:tools",
        "show what a server says about its tools, and accept exactly that",
        "interlock mcp-servers tools time",
        "interlock mcp-servers tools time --accept   # without a question",
    )
    shown.add_argument("--accept", action="store_true", help="accept the tools as they are now, without a question")
    for command in (trial, shown):
        command.add_argument("name", metavar="NAME", help="the server's name")


def add_ask_hook(commands: Commands) -> None:
    command = add_command(
        commands,
        "ask-hook",
        "serve.ask_hook:ask_hook",
        "a before-tool hook for other agents: a person decides in Interlock",
        "interlock ask-hook --agent claude  # the command of the agent's hook",
        json=False,
    )
    command.add_argument(
        "--agent",
        choices=["auto", "claude", "codex", "gemini"],
        default="auto",
        help="the format of the hook's JSON (default: detected)",
    )
    command.add_argument(
        "--deadline", type=seconds, metavar="S", help="no answer within S seconds denies the tool (default: wait)"
    )
    command.add_argument(
        "--skip-reads", action="store_true", help="no opinion on tools of the agent that change nothing"
    )


def add_hooks(commands: Commands) -> None:
    group = add_group(
        commands,
        "hooks",
        "have the tool calls of Claude Code, Codex and Gemini CLI approved here",
        "interlock hooks install claude",
        "interlock hooks test codex",
        "interlock hooks list",
    )
    install = add_command(
        group,
        "install",
        "serve.hooks:install",
        "write the hook into the agent's settings, after showing the change",
        "interlock hooks install claude                # in this project's own settings",
        "interlock hooks install codex --user --yes    # for every project, unasked",
        "interlock hooks install gemini --undo",
        project=False,
    )
    _add_agent(install)
    install.add_argument(
        "-C",
        "--project",
        nargs="?",
        metavar="DIR",
        help="only in this project (the default): this folder, the nearest above it, or DIR",
    )
    install.add_argument("--user", action="store_true", help="in your own settings, for every project")
    install.add_argument("--yes", action="store_true", help="write without asking")
    install.add_argument("--undo", action="store_true", help="take out exactly what was written")
    _add_agent(
        add_command(
            group,
            "test",
            "serve.hooks:test",
            "run the agent against a scripted vendor, and see that a denied call does not run",
            "interlock hooks test claude",
        )
    )
    add_command(group, "list", "serve.hooks:list_", "where the hook is installed", "interlock hooks list --json")


def _add_agent(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "agent", choices=["claude", "codex", "gemini"], metavar="AGENT", help="claude, codex or gemini"
    )


def _add_page_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--page", action="store_true", help="serve the page for browsers; interlock open opens it")


def _add_conductor_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--auto-queue", action="store_true", help="start ready tickets without a click")
    add_workers_option(command)
    add_autonomy_option(command)


def _add_test_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--enable-test-hooks", action="store_true", help="serve the HTTP API beside the window")
    command.add_argument(
        "--port", type=port, default=8999, metavar="P", help="of the HTTP API (default: 8999 or the next free one)"
    )
    command.add_argument(
        "--enable-test-harness", action="store_true", help="serve the gRPC harness that drives the window"
    )
    command.add_argument(
        "--test-harness-port",
        type=port,
        default=50052,
        metavar="P",
        help="one of the next ten if taken (default: 50052)",
    )
    command.add_argument(
        "--test-policy", action="store_true", help="the drive token and the harness may answer approvals: tests only"
    )

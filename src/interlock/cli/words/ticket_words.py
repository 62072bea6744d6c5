"""Arguments of `interlock tickets …` and `interlock workers …`."""

import argparse

from interlock.cli.words.commands import (
    TICKET,
    Commands,
    add_command,
    add_group,
    add_message_option,
    add_page_options,
)


def add_tickets(commands: Commands) -> None:
    group = add_group(
        commands,
        "tickets",
        "tickets: list, show, edit, retry, skip, block, cancel, move",
        "interlock tickets list demo --status blocked",
        "interlock tickets retry demo/T-001",
    )
    _add_list(group)
    show = add_command(
        group,
        "show",
        "work.tickets:show",
        "show one ticket with its attempts and gates",
        "interlock tickets show demo/T-001",
        "interlock tickets show demo/T-001 --output",
    )
    show.add_argument("ticket", metavar="TICKET", help=TICKET)
    show.add_argument("--output", action="store_true", help="print all output of its gates in the latest attempt")
    _add_changes_of_status(group)
    _add_edit(group)
    _add_move(group)


def add_workers(commands: Commands) -> None:
    group = add_group(commands, "workers", "running attempts: list, kill", "interlock workers list")
    add_command(
        group, "list", "work.tickets:workers", "list the running attempts and their activity", "interlock workers list"
    )
    kill = add_command(
        group,
        "kill",
        "work.tickets:kill",
        "kill a worker and every process it started",
        "interlock workers kill demo/T-001",
    )
    _add_ticket_names(kill)


def _add_list(group: Commands) -> None:
    command = add_command(
        group,
        "list",
        "work.tickets:list_",
        "list tickets in the order of their tracks",
        "interlock tickets list demo --status blocked",
    )
    command.add_argument("track", nargs="?", metavar="TRACK", help="only this track (default: all)")
    statuses = ["todo", "in_progress", "completed", "blocked", "cancelled"]
    command.add_argument("--status", choices=statuses, metavar="S", help=f"only these: {', '.join(statuses)}")
    add_page_options(command)


def _add_changes_of_status(group: Commands) -> None:
    summaries = {
        "retry": "let a blocked ticket try again",
        "skip": "count a ticket as completed, but unverified; its dependants may start",
        "block": "stop a ticket",
        "cancel": "cancel a ticket; its dependants stay todo",
    }
    for name, summary in summaries.items():
        command = add_command(
            group, name, f"work.tickets:{name}", summary, f"interlock tickets {name} demo/T-001 demo/T-002"
        )
        _add_ticket_names(command)
        if name == "block":
            add_message_option(command)


def _add_edit(group: Commands) -> None:
    command = add_command(
        group,
        "edit",
        "work.tickets:edit",
        "change a ticket that has not started",
        "interlock tickets edit T-001 --set priority=high",
        "interlock tickets edit T-001 --set script='make test'",
    )
    command.add_argument("ticket", metavar="TICKET", help=TICKET)
    command.add_argument(
        "--set", dest="changes", action="append", default=[], metavar="KEY=VALUE", help="VALUE is text, or JSON"
    )
    command.add_argument("--file", metavar="FILE", help="a JSON object with the keys to change")


def _add_move(group: Commands) -> None:
    command = add_command(
        group,
        "move",
        "work.tickets:move",
        "move a ticket to another position of its track's order",
        "interlock tickets move T-003 1",
    )
    command.add_argument("ticket", metavar="TICKET", help=TICKET)
    command.add_argument("position", type=int, metavar="POSITION", help="counted from 1")


def _add_ticket_names(command: argparse.ArgumentParser) -> None:
    command.add_argument("tickets", nargs="+", metavar="TICKET", help=TICKET)

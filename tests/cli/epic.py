"""An epic that becomes a track of twelve tickets, and a scripted model for all of them.

No rule counts its uses: the model's answer depends only on the last message. So it is the same in every process,
however often the process before it was killed.
"""

import json
from typing import Any

from tests.cli.project import Project

EPIC = "Make everything right"
TRACK = "all"
PRICE = {"input": 10, "output": 100}  # dollars per million tokens: a call of 10 and 1 costs $0.0002
USAGE = {"input": 10, "output": 1}

TRACKS = [{"id": TRACK, "title": "All of it", "description": "Twelve small things, a.txt among them"}]


def ticket(name: str, *depends_on: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "description": f"Do {name}", "depends_on": list(depends_on), **more}


TICKETS = [
    ticket("left", target_file="a.txt", verify=["grep -q left a.txt"]),
    ticket("right", target_file="a.txt", verify=["grep -q right a.txt"]),
    ticket("p1"),
    ticket("p2", verify=["test -s p2.txt"]),
    ticket("p3", "p1"),
    ticket("g1", verify=[{"command": "grep -q fixed g1.txt", "max_attempts": 3}]),
    ticket("g2", "p2", verify=[{"command": "grep -q fixed g2.txt", "max_attempts": 3}]),
    ticket("s1", verify=["grep -q made s1.txt"]),
    ticket("s2", "p1", "p2", verify=["test -s p1.txt && grep -q made s2.txt"]),
    ticket("q1", "p1", assigned_to="tier4-qa"),
    ticket("e1", "left", "right", verify=["grep -q left a.txt && grep -q right a.txt"]),
    ticket("e2", "g1", "g2", "s1", "s2", "p3", verify=["cat g1.txt g2.txt s1.txt s2.txt p3.txt"]),
]
COMMITTED = [name for planned in TICKETS if (name := planned["id"]) != "q1"]
"""The tickets that leave a commit: an analysis changes nothing."""


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def rule(match: str, *calls: dict[str, Any], reply: str = "", **more: Any) -> dict[str, Any]:
    return {"match": match, "reply": reply, "tool_calls": list(calls), "usage": USAGE, **more}


def fence(value: object) -> str:
    return f"So:\n```json\n{json.dumps(value)}\n```"


def _same_line(name: str, other: str) -> list[dict[str, Any]]:
    """Read the file and change the line, with or without the other ticket's change in it."""
    return [
        rule(f"# Ticket {name}", call("read_file", path="a.txt"), ticket=name),
        rule("Changed a.txt", reply=f"{name} is done", ticket=name),
        rule(
            f"two {other}\n",
            call("edit_file", path="a.txt", old_string=f"two {other}\n", new_string=f"two {other} {name}\n"),
            ticket=name,
        ),
        rule("two\n", call("edit_file", path="a.txt", old_string="two\n", new_string=f"two {name}\n"), ticket=name),
    ]


def _plain(name: str) -> list[dict[str, Any]]:
    return [
        rule(
            f"# Ticket {name}",
            call("read_file", path="a.txt"),
            call("write_file", path=f"{name}.txt", content=f"{name}\n"),
            ticket=name,
        ),
        rule("Created", call("run_shell", script=f"echo more >> {name}.txt"), ticket=name, delay_s=0.03),
        rule("exit code: 0", reply=f"{name} is done", ticket=name, delay_s=0.02),
    ]


def _bounced(name: str) -> list[dict[str, Any]]:
    return [
        rule(f"# Ticket {name}", call("write_file", path=f"{name}.txt", content="half\n"), ticket=name),
        rule("Verification FAILED", call("run_shell", script=f"sleep 0.05; echo fixed > {name}.txt"), ticket=name),
        rule("Created", reply="I think so", ticket=name, delay_s=0.02),
        rule("exit code: 0", reply="Fixed.", ticket=name),
    ]


def _script(name: str) -> list[dict[str, Any]]:
    return [
        rule(f"# Ticket {name}", call("run_shell", script=f"sleep 0.05; echo made > {name}.txt"), ticket=name),
        rule("exit code: 0", reply=f"{name} is done", ticket=name, delay_s=0.05),
    ]


RULES: list[dict[str, Any]] = [
    rule("PATH: Epic Initialization", reply=fence(TRACKS), tier="Tier 1", delay_s=0.1),
    rule("PATH: Sprint Planning", reply=fence(TICKETS), tier="Tier 2", delay_s=0.1),
    *_same_line("left", "right"),
    *_same_line("right", "left"),
    *(rule for name in ("p1", "p2", "p3", "e1", "e2") for rule in _plain(name)),
    *(rule for name in ("g1", "g2") for rule in _bounced(name)),
    *(rule for name in ("s1", "s2") for rule in _script(name)),
    rule("# Ticket q1", call("list_directory", path="."), ticket="q1"),
    rule("a.txt", reply="It is all there.", ticket="q1"),
]


def scripted(project: Project, rules: object = None) -> list[str]:
    """The options that choose the scripted model, with these rules and a price."""
    file = project.tickets("rules.json", {"price": PRICE, "rules": RULES if rules is None else rules})
    return ["--provider", "scripted", "--script", file]

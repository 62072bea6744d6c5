"""`interlock run EPIC`: planning, proposal, acceptance, work; and wrong input."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlock.ports.model import Message
from tests.cli.epic import COMMITTED, EPIC, RULES, TRACK, call, fence, rule, scripted
from tests.cli.project import CommandResult, Project

FIRST = "PATH: Epic Initialization"
SPRINT = "PATH: Sprint Planning"
TRACKS = [{"id": "one", "title": "First", "description": "about a.txt"}, {"id": "two", "title": "Second"}]
TICKETS = [{"id": "T-2", "depends_on": ["T-1"]}, {"id": "T-1", "description": "Begin", "assigned_to": "tier4-qa"}]
PLANNED: list[dict[str, Any]] = [
    rule(FIRST, reply=fence(TRACKS)),
    rule(SPRINT, reply=fence(TICKETS)),
    rule("# Ticket T-2", call("write_file", path="new.txt", content="new\n"), reply="I write it."),
    rule("", reply="done"),
]


def proposed(project: Project, epic: str = "Go") -> list[str]:
    model = scripted(project, PLANNED)
    result = project.run("run", epic, *model)
    assert result.code == 4, result
    return model


# ── the usual ways ───────────────────────────────────────────────────────────────────────


def test_an_epic_is_proposed_edited_accepted_and_worked_on(project: Project) -> None:
    model = proposed(project)
    waiting = project.run("approvals", "list", "--json").json
    assert [(a["kind"], [t["id"] for t in a["payload"]["tracks"]]) for a in waiting] == [("tracks", ["one", "two"])]
    assert [(t["id"], t["status"]) for t in project.run("tracks", "list", "--json").json] == [
        ("one", "proposed"),
        ("two", "proposed"),
    ]
    edited = project.tickets("edited.json", [{"id": "only", "title": "Just this", "description": "nothing else"}])
    accepted = project.run("tracks", "accept", "--edit", edited, "--json")
    assert accepted.json == {"epic": "E-1", "status": "accepted", "tracks": ["only"]}
    result = project.run("resume", "--json", *model)
    assert (result.code, result.json["exit_code"]) == (4, 4), result
    assert [a["kind"] for a in result.json["pending_approvals"]] == ["spawn"]
    assert result.json["epics"] == [{"id": "E-1", "text": "Go", "status": "accepted", "reason": ""}]
    for number, answered in enumerate(("A-2", "A-3", "A-4")):
        assert project.run("approvals", "answer", answered, "approve").code == 0
        result = project.run("resume", *model)
        assert result.code == (0 if number == 2 else 4), result
    assert project.branch_tickets("only") == ["T-2"], "an analysis leaves no commit"
    assert "track only: done, 2 of 2 done" in result.out
    used = {tier: usage["input"] for tier, usage in project.run("usage", "--json").json.items()}
    assert used == {"Tier 1": 10, "Tier 2": 10, "Tier 3": 30}
    project.check_whole()


def test_a_rejected_proposal_ends_with_3_and_leaves_no_track(project: Project) -> None:
    model = proposed(project)
    assert project.run("tracks", "reject", "--message", "too much").code == 0
    assert project.run("tracks", "list", "--json").json == []
    assert "nothing is unfinished" in project.run("resume", *model).out
    again = project.run("tracks", "reject", "--json")
    assert (again.code, "wait for an answer" in again.json["error"]) == (1, True)


def test_the_tracks_of_an_epic_are_done_one_after_the_other(project: Project) -> None:
    result = project.run("run", "Go", "--approve", "all", "--json", *scripted(project, PLANNED))
    assert result.code == 0, result
    assert [(t["id"], t["status"]) for t in result.json["tracks"]] == [("one", "done"), ("two", "done")]
    started = [row["event"]["track"] for row in project.journal() if row["event"]["type"] == "track_started"]
    assert started == ["one", "two"]
    project.check_whole()


def test_planning_that_fails_ends_with_3_and_a_track_can_be_planned_again(project: Project) -> None:
    result = project.run("run", "Go", "--json", *scripted(project, [rule(FIRST, reply="I would rather not")]))
    assert (result.code, result.json["exit_code"], result.json["epics"][0]["status"]) == (3, 3, "failed")
    assert "even after one correction" in result.json["epics"][0]["reason"]
    lost = scripted(project, [PLANNED[0], rule(SPRINT, reply="no"), rule("", reply="done")])
    result = project.run("run", "Go", "--approve", "all", *lost)
    assert result.code == 3, result
    assert "'interlock resume one' tries again" in result.out
    result = project.run("resume", "one", "--approve", "all", *scripted(project, PLANNED))
    assert result.code == 0, result


def test_without_a_model_an_epic_says_what_to_do(project: Project) -> None:
    result = project.run("run", "Go")
    assert (result.code, "no model is configured to plan with" in result.out) == (3, True), result


# ── money ────────────────────────────────────────────────────────────────────────────────


def limit(project: Project, where: str, key: str, dollars: float) -> None:
    text = f"[budgets]\n{key} = {dollars}\n"
    if where == "project":
        project.write("interlock.toml", text)
        return
    folder = Path(project.env["XDG_CONFIG_HOME"]) / "interlock"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(text)


@pytest.mark.parametrize("where", ["user", "project"])
@pytest.mark.parametrize(
    ("key", "dollars", "names"),
    [
        ("tier1_usd", 0.0001, "tier 'Tier 1'"),
        ("epic_usd", 0.0005, "epic 'E-1'"),
        ("track_usd", 0.0003, "track 'one'"),
        ("ticket_usd", 0.0003, "ticket 'one/T-2'"),
    ],
)
def test_money_that_runs_out_ends_with_5_and_the_figures(
    project: Project, where: str, key: str, dollars: float, names: str
) -> None:
    """Each call costs $0.0002."""
    limit(project, where, key, dollars)
    model = scripted(project, PLANNED)
    result = project.run("run", "Go", "--approve", "all", "--json", *model)
    assert result.code == 5, result
    shown = json.dumps(result.json)
    assert f"over budget: {names} may spend" in shown
    spent = sum(usage["cost_usd"] for usage in project.run("usage", "--json").json.values())
    assert spent <= {"tier1_usd": 0, "epic_usd": 0.0005}.get(key, 1)
    project.check_whole()


def test_a_project_cannot_raise_what_the_user_allows(project: Project) -> None:
    limit(project, "user", "tier1_usd", 0.0001)
    limit(project, "project", "tier1_usd", 9)
    assert project.run("run", "Go", *scripted(project, PLANNED)).code == 5


# ── the same line twice ──────────────────────────────────────────────────────────────────


def same_line(name: str, other: str) -> list[dict[str, Any]]:
    """Learns of the other ticket's change only from the conflict."""
    pattern = rf"/(?s)# Ticket {name}.*conflicts with what was merged meanwhile.*two {other}/"
    mended = call("edit_file", path="a.txt", old_string=f"two {other}\n", new_string=f"two {other} {name}\n")
    edited = call("edit_file", path="a.txt", old_string="two\n", new_string=f"two {name}\n")
    return [
        rule(pattern, mended, ticket=name),
        rule(f"# Ticket {name}", edited, ticket=name, delay_s=0.5),
        rule("Changed a.txt", reply=f"{name} is done", ticket=name),
    ]


def test_of_two_workers_on_one_line_the_second_gets_the_conflict_and_both_end_merged(project: Project) -> None:
    tickets = [
        {"id": name, "description": f"Add {name}", "target_file": "a.txt", "verify": [f'verify:"grep -q {name} a.txt"']}
        for name in ("left", "right")
    ]
    model = scripted(project, [*same_line("left", "right"), *same_line("right", "left")])
    result = project.run("run", "--tickets", project.tickets("plan.json", tickets), "--approve", "all", *model)
    assert result.code == 0, result
    rows = [row["event"] for row in project.journal()]
    (returned,) = [event for event in rows if event["type"] == "attempt_returned"]
    second = returned["ticket"]
    (started,) = [e for e in rows if e["type"] == "session_started" and (e["ticket"], e["attempt"]) == (second, 2)]
    request = message(project, started["message"]).text
    first = {"left": "right", "right": "left"}[second]
    assert "<<<<<<<" in request
    assert f"two {first}" in request
    assert project.git("show", "interlock/plan:a.txt").splitlines() == ["one", f"two {first} {second}", "three"]
    assert project.branch_tickets("plan") == [first, second]
    project.git("checkout", "-q", "interlock/plan")
    text = (project.root / "a.txt").read_text()
    assert ("left" in text, "right" in text) == (True, True), "the final tree passes both gates"
    project.check_whole()


def test_an_epic_of_twelve_workers_with_conflicts_and_bounces_in_one_go(project: Project) -> None:
    result = project.run("run", EPIC, "--approve", "all", *scripted(project))
    assert result.code == 0, result
    assert sorted(project.branch_tickets(TRACK)) == sorted(COMMITTED)
    rows = [row["event"] for row in project.journal()]
    failed = {e["ticket"] for e in rows if e["type"] == "gate_finished" and e["result"]["status"] == "failed"}
    assert {"g1", "g2"} <= failed
    assert len(RULES) > len(COMMITTED)
    project.check_whole()


def message(project: Project, blob: dict[str, Any]) -> Message:
    text = (project.root / ".interlock" / "blobs" / blob["sha256"]).read_bytes()
    return msgspec.json.decode(text, type=Message)


# ── wrong input ──────────────────────────────────────────────────────────────────────────

NOT_TEXT = os.fsdecode(b"caf\xe9 \xff\xfe")
LONGEST_ARGUMENT = 131_071  # bytes of one argument on Linux, without its NUL


def error_of(result: CommandResult) -> str:
    """With --json a refusal is JSON on stdout, and one sentence on stderr."""
    assert (result.code, "Traceback" in result.err) == (1, False), result
    return result.json["error"]


@pytest.mark.parametrize("epic", ["", "   ", "\n\t"])
def test_an_empty_epic_is_refused(project: Project, epic: str) -> None:
    assert "the text of an epic is empty" in error_of(project.run("run", epic, "--json", *scripted(project, PLANNED)))
    assert project.run("tracks", "list", "--json").json == []


def test_an_epic_too_long_is_refused_and_one_that_is_no_text_is_shown_as_such(project: Project) -> None:
    model = scripted(project, PLANNED)
    result = project.run("run", "x" * LONGEST_ARGUMENT, "--json", *model)
    assert "an epic has at most 100,000 characters, this one 131,071" in error_of(result)
    result = project.run("run", NOT_TEXT, "--json", *model)
    assert (result.code, result.json["epics"][0]["text"]) == (4, "caf\ufffd \ufffd\ufffd")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the edited text is empty"),
        (b"nonsense", "not JSON"),
        (b"{}", "expected a JSON list of tracks"),
        (b"[]", "the list of tracks is empty"),
        (b"[1]", "not an object"),
        (b'[{"title": "no id"}]', "malformed track id"),
        (b'[{"id": "../x"}]', "malformed track id '../x'"),
        (b'[{"id": "a"}, {"id": "a"}]', "duplicate track id 'a'"),
        (b'[{"id": "a", "title": 7}]', "'title' must be a text"),
        (b'[{"id": "a", "title": "x\\u0000y"}]', "no file can hold"),
        (b"\xff\xfe[]", "cannot be read"),
        (b"\0", "not JSON"),
        (b"[" * 1_000_000, "not JSON"),
        (b'[{"id": "a", "description": "' + b"x" * 1_000_000 + b'"}]', "at most 100,000 characters"),
    ],
)
def test_an_edit_that_is_no_list_of_tracks_is_refused_and_the_proposal_still_waits(
    project: Project, content: bytes, sentence: str
) -> None:
    proposed(project)
    file = project.home / "edited.json"
    file.write_bytes(content)
    assert sentence in error_of(project.run("tracks", "accept", "--edit", str(file), "--json"))
    assert [a["kind"] for a in project.run("approvals", "list", "--json").json] == ["tracks"]


def test_an_edit_that_is_not_there_is_refused(project: Project) -> None:
    proposed(project)
    assert "nope.json cannot be read" in error_of(project.run("tracks", "accept", "--edit", "nope.json", "--json"))


def test_a_proposal_is_accepted_once_and_of_several_one_must_be_named(project: Project) -> None:
    proposed(project)
    proposed(project, "Further")
    words = error_of(project.run("tracks", "accept", "--json"))
    assert "several proposals wait: name one of E-1, E-2" in words
    assert project.run("tracks", "accept", "E-2", "--json").json["tracks"] == ["one", "two"]
    assert "no proposed tracks of epic E-2 wait" in error_of(project.run("tracks", "accept", "E-2", "--json"))
    assert "no proposed tracks of epic E-9 wait" in error_of(project.run("tracks", "accept", "E-9", "--json"))
    assert project.run("tracks", "accept", "--json").json["tracks"] == ["one-2", "two-2"], "ids in use get a number"
    assert "no proposed tracks wait" in error_of(project.run("tracks", "accept", "--json"))

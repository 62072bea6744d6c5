"""Commands of an editor: /plan, /status, /run, /land, /approvals; plans and modes."""

import asyncio
from typing import Any

import acp
import pytest
from acp.schema import PermissionOption, ToolCallUpdate

from interlock.editor.slash_names import parted
from tests.cli.epic import call, fence, rule, ticket
from tests.cli.project import Project
from tests.editor.editing import answer, editing

TRACKS = [{"id": "small", "title": "Small things", "description": "Two files"}]
TICKETS = [ticket("t1", verify=["test -s t1.txt"]), ticket("t2", "t1", verify=["test -s t2.txt"])]
RULES: list[dict[str, Any]] = [
    rule("PATH: Epic Initialization", reply=fence(TRACKS), tier="Tier 1"),
    rule("PATH: Sprint Planning", reply=fence(TICKETS), tier="Tier 2"),
    rule("# Ticket t1", call("write_file", path="t1.txt", content="t1\n"), ticket="t1"),
    rule("# Ticket t2", call("write_file", path="t2.txt", content="t2\n"), ticket="t2"),
    rule("Created", reply="It is done."),
    rule("", reply="Hello."),
]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/plan Make it fast", ("plan", "Make it fast")),
        ("  /status ", ("status", "")),
        ("/plan\nMake it\nfast", ("plan", "Make it\nfast")),
        ("/etc/hosts is broken", None),
        ("/planning", None),
        ("plan /plan", None),
        ("", None),
    ],
)
def test_a_command_is_the_first_word_alone(text: str, command: tuple[str, str] | None) -> None:
    assert parted(text) == command


def test_an_epic_is_planned_run_and_landed_with_every_question_in_the_editor(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES) as window:
            editor = window.editor
            assert await window.prompt("/plan Make two files") == "end_turn"
            kinds = [call.title.split(": ", 1)[1] for call, _ in editor.asked if call.title]
            assert kinds[0] == "epic E-1 as 1 track"
            assert "Track small: done, 2 of 2 done." in editor.text
            plan = editor.of("plan")[-1]["entries"]
            assert [(one["content"], one["status"]) for one in plan] == [
                ("Small things [small: done]", "completed"),
                ("t1: Do t1", "completed"),
                ("t2: Do t2", "completed"),
            ]
            seen = {
                (one["content"].split(":")[0], one["status"]) for plan in editor.of("plan") for one in plan["entries"]
            }
            assert {("t1", "in_progress"), ("t2", "pending")} <= seen
            assert not (project.root / "t1.txt").exists(), "the user's files are not touched before the landing"
            before = len(editor.asked)
            assert await window.prompt("/land small") == "end_turn"
            ((asked, options),) = editor.asked[before:]
            assert [one.name for one in options] == ["Land it", "Reject"]
            assert {one.path for one in asked.content or [] if one.type == "diff"} == {
                str(project.root / name) for name in ("t1.txt", "t2.txt")
            }
            assert "small is landed on main" in editor.text
            own = [one for one in editor.of("tool_call") if one["toolCallId"].startswith("approval/")]
            ended = {one["toolCallId"] for one in editor.of("tool_call_update") if one["status"] == "completed"}
            assert {one["toolCallId"] for one in own} <= ended, "no question stays open in the editor"

    asyncio.run(run())
    assert (project.root / "t2.txt").read_text() == "t2\n"


def test_rejected_tracks_end_the_command_and_start_nothing(project: Project) -> None:
    async def no(tool: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
        return "reject"

    async def run() -> None:
        async with editing(project, RULES, no) as window:
            assert await window.prompt("/plan Make two files") == "end_turn"
            assert "Epic E-1 is dropped" in window.editor.text

    asyncio.run(run())
    assert project.run("tracks", "list", "--json").json == []


def test_a_failed_gate_offers_retry_skip_and_abort(project: Project) -> None:
    rules = [
        rule("PATH: Epic Initialization", reply=fence(TRACKS), tier="Tier 1"),
        rule("PATH: Sprint Planning", reply=fence([ticket("t1", verify=[{"command": "false", "max_attempts": 1}])])),
        rule("# Ticket t1", call("write_file", path="t1.txt", content="t1\n"), ticket="t1"),
        rule("", reply="I think so."),
    ]
    gates: list[list[str]] = []

    async def skip(tool: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
        names = [one.option_id for one in options]
        if "skip" not in names:
            return names[0]
        gates.append(names)
        return "skip"

    async def run() -> None:
        async with editing(project, rules, skip) as window:
            assert await window.prompt("/plan Make a file") == "end_turn"
            assert "1 unverified (t1)" in window.editor.text

    asyncio.run(run())
    assert gates[-1] == ["retry", "skip", "abort"]


def test_cancelling_a_run_pauses_its_track_and_a_later_run_continues_it(project: Project) -> None:
    async def run() -> None:
        held = asyncio.Event()

        async def accept_only(tool: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
            if "epic" in (tool.title or "") or held.is_set():
                return options[0].option_id
            await held.wait()
            return None

        async with editing(project, RULES, accept_only) as window:
            planning = asyncio.create_task(window.prompt("/plan Make two files"))
            await window.editor.until(lambda: len(window.editor.asked) == 2)
            await window.agent.cancel(window.session)
            held.set()
            assert await planning == "cancelled"
            assert "Paused: small" in window.editor.text
            assert await window.prompt("/run") == "end_turn"
            assert "Track small is paused; /run small continues it." in window.editor.text
            assert await window.prompt("/run small") == "end_turn"
            assert "Track small: done" in window.editor.text

    asyncio.run(run())


def test_wrong_arguments_are_errors_with_the_right_form(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES) as window:
            for text, words in (
                ("/plan", "write the goal"),
                ("/land", "name the track"),
                ("/land nothing", "nothing"),
                ("/run nothing", "nothing"),
            ):
                with pytest.raises(acp.RequestError, match=words):
                    await window.prompt(text)
            assert await window.prompt("/run") == "end_turn"
            assert "Nothing is unfinished." in window.editor.text

    asyncio.run(run())


def test_status_names_tracks_and_approvals(project: Project) -> None:
    file = project.tickets(
        "t.json", [{"id": "T-1", "description": "x", "assigned_to": "shell", "script": "echo x > y.txt"}]
    )
    project.run("run", "--tickets", file)

    async def run() -> None:
        async with editing(project, RULES) as window:
            await window.prompt("/status")
            assert "1 approval pending; /approvals asks about them:" in window.editor.text
            assert "A-1 (approve|reject|abort): run the script of T-1" in window.editor.text
            assert await window.prompt("/approvals") == "end_turn"
            ((asked, _),) = window.editor.asked
            assert asked.title == "A-1: run the script of T-1"

    asyncio.run(run())
    assert project.run("approvals", "list", "--json").json == []


def test_modes_are_the_levels_of_autonomy(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES) as window:
            other = await window.agent.new_session(cwd=str(project.root))
            assert next((one.id, one.description) for one in other.modes.available_modes) == (
                "ask",
                "every change asks before it runs",
            )
            with pytest.raises(acp.RequestError, match="there is no mode 'yolo'"):
                await window.agent.set_session_mode(window.session, "yolo")
            if project.run("doctor", "--json").json["sandbox"]["detail"] != "bubblewrap":
                with pytest.raises(acp.RequestError, match="every change asks"):
                    await window.agent.set_session_mode(window.session, "review")
                return
            await window.agent.set_session_mode(window.session, "review")
            await window.editor.until(lambda: len(window.editor.of("current_mode_update")) == 2)
            assert {one["currentModeId"] for one in window.editor.of("current_mode_update")} == {"review"}
            assert (await window.agent.new_session(cwd=str(project.root))).modes.current_mode_id == "review"

    asyncio.run(run())
    assert project.run("autonomy", "--json").json["chosen"] in ("review", "ask")


def test_an_approval_of_other_work_is_not_offered_without_a_command(project: Project) -> None:
    file = project.tickets(
        "t.json", [{"id": "T-1", "description": "x", "assigned_to": "shell", "script": "echo x > y.txt"}]
    )
    project.run("run", "--tickets", file)

    async def run() -> None:
        async with editing(project, RULES) as window:
            assert await window.prompt("hi") == "end_turn"
            assert window.editor.asked == []

    asyncio.run(run())
    answer(project, "A-1", "reject")

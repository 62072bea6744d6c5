"""Tool calls of an MCP client: rules, approvals, cancellation, and what a person sees of them."""

import asyncio
import json
import os
import signal

import pytest
from mcp.shared.exceptions import MCPError

from tests.cli.project import Project
from tests.cli.serving import serving
from tests.mcp_server.mcp_client import connected, run


def test_a_reading_tool_answers_at_once_and_is_recorded_with_its_client(project: Project) -> None:
    async def work() -> None:
        async with connected(project) as client:
            assert await client.call("read_file", path="a.txt") == ("one\ntwo\nthree\n", False)
        log = (await client.interlock("journal", "show", "--json")).out
        assert '"actor":"program:mcp"' in log
        shown = await client.interlock("discussions", "list", "--json")
        assert [(row["title"], row["turns"]) for row in shown.json] == [("MCP client mcp", 1)]

    run(work)


@pytest.mark.parametrize(
    ("tool", "args", "says"),
    [
        ("read_file", {}, "needs the argument 'path'"),
        ("read_file", {"pth": "a.txt"}, "did you mean 'path'?"),
        ("read_file", {"path": "../../etc/passwd"}, "ACCESS DENIED"),
        ("edit_file", {"path": "a.txt", "old_string": "nothing", "new_string": "x"}, "a.txt"),
        ("wait_for", {"what": "planet", "id": "x"}, "wait_for"),
        ("wait_for", {"what": "track", "id": "none"}, "no track 'none'"),
        ("add_tickets", {"tickets": [{"id": "T-1", "description": "x"}]}, "there is no track yet"),
    ],
)
def test_bad_arguments_are_answered_with_a_sentence(project: Project, tool: str, args: object, says: str) -> None:
    async def work() -> None:
        async with connected(project) as client:
            text, failed = await client.call(tool, **dict(args))  # pyright: ignore[reportCallIssue, reportArgumentType]
            assert failed
            assert says in text
            assert await client.approvals() == []

    run(work)


def test_an_unknown_tool_is_an_error_of_the_protocol(project: Project) -> None:
    async def work() -> None:
        async with connected(project) as client:
            with pytest.raises(MCPError, match="Unknown tool: rm_rf"):
                await client.session.call_tool("rm_rf", {})

    run(work)


def test_a_change_waits_for_a_person_while_others_read(project: Project) -> None:
    async def work() -> None:
        async with connected(project) as client:
            call = client.start("write_file", path="b.txt", content="new\n")
            approval = await client.pending()
            assert (approval["kind"], approval["title"]) == ("tool", "D-1: Create b.txt")
            assert (await client.call("read_file", path="a.txt"))[1] is False, "reading goes on meanwhile"
            assert not (project.root / "b.txt").exists()
            await client.answer("approve")
            assert await call == ("Created b.txt: 1 line added, 0 removed.", False)
            assert (project.root / "b.txt").read_text() == "new\n"
            assert any(approval["id"] in message for message in client.progress)
        undone = await client.interlock("undo", "--yes")
        assert undone.code == 0, undone
        assert not (project.root / "b.txt").exists()

    run(work)


def test_a_rejected_change_does_not_run_and_the_client_reads_why(project: Project) -> None:
    async def work() -> None:
        async with connected(project) as client:
            call = client.start("run_shell", script="touch made")
            await client.answer("reject", "--message", "not today")
            assert await call == ("REJECTED by the human: not today. It did not run.", True)
            assert not (project.root / "made").exists()

    run(work)


def test_an_edited_change_runs_as_edited_and_the_client_is_told(project: Project) -> None:
    async def work() -> None:
        edit = project.write("edit.json", json.dumps({"path": "b.txt", "content": "edited\n"}))
        async with connected(project) as client:
            call = client.start("write_file", path="b.txt", content="new\n")
            await client.answer("approve", "--edit", str(edit))
            text, failed = await call
            assert not failed
            assert "The human changed the arguments" in text
            assert (project.root / "b.txt").read_text() == "edited\n"

    run(work)


def test_a_cancelled_call_withdraws_its_question(project: Project) -> None:
    async def work() -> None:
        async with connected(project) as client:
            call = client.start("write_file", path="b.txt", content="new\n")
            await client.pending()
            call.cancel()
            await client.none_pending()
            [approval] = await client.approvals("withdrawn")
            assert approval["state"] == "withdrawn"
            assert (await client.call("read_file", path="a.txt"))[1] is False, "the session goes on"
        assert not (project.root / "b.txt").exists()

    run(work)


def test_a_client_that_disconnects_withdraws_its_question(project: Project) -> None:
    async def work() -> None:
        with serving(project):
            async with connected(project) as client:
                call = client.start("write_file", path="b.txt", content="new\n")
                await client.pending()
            call.cancel()
            async with connected(project) as other:
                await other.none_pending()
        assert not (project.root / "b.txt").exists()

    run(work)


def test_a_killed_mcp_process_withdraws_its_question(project: Project) -> None:
    async def work() -> None:
        with serving(project) as bench:
            async with connected(project) as other:
                async with connected(project) as client:
                    call = client.start("write_file", path="b.txt", content="new\n")
                    approval = await other.pending()
                    os.kill(_mcp_process(bench.process.pid, project), signal.SIGKILL)
                    await other.none_pending()
                    call.cancel()
                late = await other.interlock("approvals", "answer", approval["id"], "approve")
                assert late.code != 0, "nothing is left to approve"
        assert not (project.root / "b.txt").exists()

    run(work)


def test_a_killed_holder_never_runs_the_call_of_a_client_that_is_gone(project: Project) -> None:
    async def work() -> None:
        async with connected(project) as client:
            call = client.start("write_file", path="b.txt", content="new\n")
            await client.pending()
            os.kill(_holder(project), signal.SIGKILL)
            call.cancel()
        async with connected(project) as other:
            assert await other.approvals() == []
            [gone] = await other.approvals("withdrawn")
            assert "is gone" in json.dumps(gone)
        assert not (project.root / "b.txt").exists()

    run(work)


def test_the_server_works_through_the_process_that_holds_the_project(project: Project) -> None:
    async def work() -> None:
        with serving(project) as bench:
            async with connected(project) as client:
                call = client.start("write_file", path="b.txt", content="new\n")
                approval = await client.pending()
                await asyncio.to_thread(bench.client(approve=True).answer, approval["id"], "approve")
                assert (await call)[1] is False
        assert (project.root / "b.txt").read_text() == "new\n"

    run(work)


def test_two_calls_at_once_ask_twice_and_neither_waits_for_the_other(project: Project) -> None:
    async def work() -> None:
        async with connected(project) as client:
            calls = [client.start("write_file", path=name, content="x\n") for name in ("b.txt", "c.txt")]
            pending = await client.pending_ones(2)
            assert len({approval["discussion"] for approval in pending}) == 2
            for approval in reversed(pending):
                await client.interlock("approvals", "answer", approval["id"], "approve")
            assert [failed for _, failed in await asyncio.gather(*calls)] == [False, False]

    run(work)


def _holder(project: Project) -> int:
    from interlock.journal.lock import holder_pid

    pid = holder_pid(project.root / ".interlock" / "lock")
    assert pid is not None
    return pid


def _mcp_process(serve_pid: int, project: Project) -> int:
    """The newest `interlock mcp` process of this project."""
    from tests.processes.tree import running

    pids = [pid for pid in running(b"mcp") if os.path.realpath(f"/proc/{pid}/cwd") == str(project.root)]
    return max(pid for pid in pids if pid not in (serve_pid, os.getpid()))

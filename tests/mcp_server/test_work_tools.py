"""Orchestration, resources and prompts over MCP."""

import json
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from tests.cli.project import Project, shell
from tests.mcp_server.mcp_client import connected, run

TRACK = {"id": "demo", "title": "Demo", "tickets": [shell("T-1", "true")]}
RULES = [
    {
        "match": "Epic Initialization",
        "reply": '```json\n[{"id": "one", "title": "One", "description": "d"}]\n```',
    }
]


async def text_of(client: Any, uri: str) -> str:
    result = await client.session.read_resource(uri)
    return result.contents[0].text


def imported(project: Project, **changes: Any) -> None:
    assert project.run("tracks", "import", project.tickets("t.json", {**TRACK, **changes})).code == 0


def test_tools_say_whether_they_only_read(project: Project) -> None:
    async def work() -> None:
        async with connected(project) as client:
            tools = {tool.name: tool for tool in (await client.session.list_tools()).tools}
            hints = {name: tool.annotations and tool.annotations.read_only_hint for name, tool in tools.items()}
            assert (hints["read_file"], hints["write_file"], hints["run_shell"]) == (True, False, False)
            assert (hints["status"], hints["approvals"], hints["plan_epic"]) == (True, True, False)
            assert not [name for name in tools if "answer" in name], "an MCP client cannot answer an approval"

    run(work)


def test_a_goal_is_planned_and_waits_for_a_person(project: Project) -> None:
    async def work() -> None:
        script = project.tickets("rules.json", RULES)
        async with connected(project, "--provider", "scripted", "--script", script) as client:
            text, failed = await client.call("plan_epic", goal="Make it better")
            assert not failed, text
            epic = json.loads(text)["epic"]
            waited = json.loads((await client.call("wait_for", what="epic", id=epic, deadline_s=50))[0])
            assert waited == {"what": "epic", "id": epic, "state": "proposed", "reached": True}
            assert (await client.pending())["kind"] == "tracks"

    run(work)


def test_tickets_are_added_to_the_only_track(project: Project) -> None:
    async def work() -> None:
        imported(project)
        async with connected(project) as client:
            text, failed = await client.call("add_tickets", tickets=[shell("T-2", "true", "T-1")])
            assert (json.loads(text), failed) == ({"track": "demo", "added": ["T-2"]}, False)
            text, failed = await client.call("add_tickets", track="demo", tickets=[shell("T-3", "true", "T-9")])
            assert failed
            assert "T-9" in text
            tickets = json.loads(await text_of(client, "interlock://tracks/demo"))["tickets"]
            assert [ticket["id"] for ticket in tickets] == ["T-1", "T-2"]

    run(work)


def test_among_several_tracks_the_user_of_the_client_is_asked(project: Project) -> None:
    async def work() -> None:
        imported(project)
        imported(project, id="other")
        asked: list[str] = []

        async def choose(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
            asked.append(params.message)
            return types.ElicitResult(action="accept", content={"choice": "other"})

        async with connected(project, elicitation_callback=choose) as client:
            text, failed = await client.call("add_tickets", tickets=[shell("T-2", "true")])
            assert (json.loads(text), failed) == ({"track": "other", "added": ["T-2"]}, False)
        async with connected(project) as client:
            text, failed = await client.call("add_tickets", tickets=[shell("T-3", "true")])
            assert (text, failed) == ("name the track: demo, other", True), "this client cannot ask"
        assert asked == ["Which track do the tickets belong to?"]

    run(work)


def test_waiting_ends_at_its_deadline(project: Project) -> None:
    async def work() -> None:
        imported(project)
        async with connected(project) as client:
            waited = json.loads((await client.call("wait_for", what="ticket", id="T-1", deadline_s=0.1))[0])
            assert (waited["reached"], waited["id"]) == (False, "T-1")

    run(work)


def test_waiting_ends_when_the_approval_is_answered(project: Project) -> None:
    async def work() -> None:
        async with connected(project) as client:
            call = client.start("write_file", path="b.txt", content="x\n")
            approval = (await client.pending())["id"]
            waiting = client.start("wait_for", what="approval", id=approval)
            await client.answer("reject")
            assert json.loads((await waiting)[0])["state"] == "answered"
            assert (await call)[1]

    run(work)


def test_resources_show_status_tracks_journal_and_code_views(project: Project) -> None:
    async def work() -> None:
        imported(project)
        project.write("m.py", "def f(x):\n    return x + 1\n")
        async with connected(project) as client:
            uris = {resource.uri for resource in (await client.session.list_resources()).resources}
            assert uris >= {"interlock://status", "interlock://journal", "interlock://tracks/demo"}
            assert json.loads(await text_of(client, "interlock://tracks"))[0]["id"] == "demo"
            assert "mma_status" in json.loads(await text_of(client, "interlock://status"))
            assert json.loads(await text_of(client, "interlock://approvals")) == []
            assert "system" in await text_of(client, "interlock://journal")
            assert await text_of(client, "interlock://journal/999999") == ""
            assert await text_of(client, "interlock://view/skeleton/m.py") == "def f(x):\n    ...\n"
            templates = (await client.session.list_resource_templates()).resource_templates
            assert "interlock://view/{kind}/{+path}" in [template.uri_template for template in templates]

    run(work)


@pytest.mark.parametrize(
    "uri",
    [
        "interlock://nothing",
        "interlock://tracks/none",
        "interlock://journal/-1",
        "interlock://view/skeleton/../../etc/passwd",
        "interlock://view/skeleton/.env",
        "interlock://view/magic/a.txt",
        "file:///etc/passwd",
    ],
)
def test_a_resource_that_may_not_be_shown_is_an_error(project: Project, uri: str) -> None:
    async def work() -> None:
        project.write(".env", "TOKEN=abcdefgh12345678\n")
        async with connected(project) as client:
            with pytest.raises(MCPError):
                await client.session.read_resource(uri)

    run(work)


def test_variables_of_templates_can_be_completed(project: Project) -> None:
    async def work() -> None:
        imported(project)
        async with connected(project) as client:
            reference = types.ResourceTemplateReference(type="ref/resource", uri="interlock://tracks/{track}")
            result = await client.session.complete(reference, {"name": "track", "value": "de"})
            assert result.completion.values == ["demo"]

    run(work)


def test_prompts_are_those_of_the_library_that_are_trusted(project: Project) -> None:
    async def work() -> None:
        project.write("prompts/review.md", "Review {{args}} with care.\n")
        async with connected(project) as client:
            assert (await client.session.list_prompts()).prompts == []
            with pytest.raises(MCPError, match="interlock trust"):
                await client.session.get_prompt("review", {})
        assert project.run("trust", "--yes").code == 0
        async with connected(project) as client:
            assert [prompt.name for prompt in (await client.session.list_prompts()).prompts] == ["review"]
            result = await client.session.get_prompt("review", {"args": "a.txt"})
            assert getattr(result.messages[0].content, "text", "") == "Review a.txt with care."

    run(work)

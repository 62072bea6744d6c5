"""The eight stages of an epic with the harness alone: clicks, texts and reading the window."""

from pathlib import Path

from tests.cli.project import Project
from tests.simulation.live import MOCK
from tests.simulation.stages import TEXT_REPLY
from tests.uitest.program import driven
from tests.uitest.wire_client import Client, Message

APPROVALS = ("btn_approve_spawn@", "btn_approve_mma_step@", "btn_approve_tool@", "btn_gate_skip@")
"""The last one because the mock changes no file."""


def succeeded(answer: Message) -> Message:
    assert answer.number(1) == 1, answer.text(2)
    return answer


def widgets(client: Client) -> dict[str, Message]:
    reply = client.call("DiscoverWidgets")
    return {widget.text(2): widget for window in reply.messages(1) for widget in window.messages(4)}


def approve_until(client: Client, condition: str) -> None:
    """Approve everything in the inbox except tracks, until the condition holds."""
    for _ in range(200):
        if client.wait(condition, 100).number(1):
            return
        for name in widgets(client):
            if name.startswith(APPROVALS):
                client.click(name)  # it may be answered already
    raise AssertionError(f"{condition} never came: {sorted(widgets(client))}")


def test_the_eight_stages_by_clicks_alone(tmp_path: Path) -> None:
    with driven(Project(tmp_path)) as window:
        client = window.client
        # 1: provider and mock, saved
        succeeded(client.click("window:Provider"))
        succeeded(client.type("current_provider", "gemini_cli"))
        succeeded(client.type("gcli_path", MOCK))
        succeeded(client.click("btn_project_save"))
        # 2: the goal
        succeeded(client.click("window:Dashboard"))
        succeeded(client.type("input:Goal", "Simulate the whole way"))
        succeeded(client.click("button:Plan it"))
        # 3: proposed
        approve_until(client, "exists:btn_mma_accept_tracks")
        proposed = {name: each.text(8) for name, each in widgets(client).items() if "dashboard.proposed@" in name}
        assert list(proposed.values()) == ["Mock Goal 1", "Mock Goal 2"]
        tracks = [name.partition("@")[2] for name in proposed]
        # 4: accepted
        succeeded(client.click("btn_mma_accept_tracks"))
        # 5: listed
        approve_until(client, f"exists:btn_mma_load_track@{tracks[0]}")
        # 6: loaded
        succeeded(client.click(f"btn_mma_load_track@{tracks[0]}"))
        succeeded(client.wait("exists:graph.ticket@mock-ticket-2"))
        # 7: it runs, until it is done
        approve_until(client, f"text_contains:btn_mma_load_track@{tracks[0]}:done 2/2")
        # 8: the output of a worker
        succeeded(client.wait("text_contains:topbar.state:"))
        stream = next(name for name in widgets(client) if name.startswith("streams.choose@Tier 3"))
        succeeded(client.click(stream))
        succeeded(client.wait(f"text_contains:streams.text:{TEXT_REPLY[:40]}"))
        assert window.process.poll() is None
    journal = window.project.journal()
    by = {each["actor"] for each in journal if each["event"]["type"] == "approval_answered"}
    assert {actor.partition(":")[0] for actor in by - {"policy:approved-step"}} == {"test"}
    window.project.check_whole()

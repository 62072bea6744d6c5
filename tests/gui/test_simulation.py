"""The eight stages through `ApiHookClient` alone, against the window (SPEC S2, H8)."""

import shlex
import sys
from pathlib import Path
from typing import Any

from interlock.client import ApiHookClient
from tests.cli.project import Project
from tests.gui.program import window

MOCK = shlex.join([sys.executable, str(Path(__file__).parents[1] / "mock_gemini_cli.py")])
ANSWERS = {
    "spawn": "btn_approve_spawn",
    "step": "btn_approve_mma_step",
    "tool": "btn_approve_tool",
    "script": "btn_approve_script",
}


def approving(client: ApiHookClient, wanted: Any) -> dict[str, Any]:
    """Say yes to what comes until the status is as wanted."""

    def look() -> bool:
        status = client.get_mma_status()
        for each in status["pending_approvals"]:
            if each["kind"] in ANSWERS:
                client.click(ANSWERS[each["kind"]], each["id"])
        return bool(wanted(client.get_mma_status()))

    assert look() or client.wait_until(look, 60), client.get_mma_status()
    return client.get_mma_status()


def test_the_eight_stages_pass_against_the_window(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with window(project, "--test-policy", "--auto-queue") as gui:
        client = gui.client
        client.reset_session()
        client.set_value("current_provider", "gemini_cli")
        client.set_value("gcli_path", MOCK)
        client.click("btn_project_save")
        client.set_value("mma_epic_input", "Make it better")
        client.click("btn_mma_plan_epic")
        status = approving(client, lambda found: found["proposed_tracks"])
        assert [row["id"] for row in status["proposed_tracks"]] == ["mock-track-1", "mock-track-2"]
        client.click("btn_mma_accept_tracks")
        status = approving(client, lambda found: found["tracks"] and found["tracks"][0]["progress"]["total"])
        assert "Mock Goal 1" in status["tracks"][0]["title"]
        client.click("btn_mma_load_track", "mock-track-1")
        status = approving(client, lambda found: found["active_track"] == "mock-track-1" and found["active_tickets"])
        assert [row["id"] for row in status["active_tickets"]] == ["mock-ticket-1", "mock-ticket-2"]
        status = approving(client, lambda found: found["mma_status"] == "done")
        spoken = [text for key, text in status["mma_streams"].items() if key.startswith("Tier 3")]
        assert any("SUCCESS: Mock Tier 3 worker implemented the change." in text for text in spoken)
        health, figures = client.get_gui_health(), client.get_performance()
        assert (health["status"], health["window"], health["panels"]) == ("ok", True, {})
        assert all(isinstance(value, float) for value in figures.values())
        for tab in client.get_gui_state()["tabs"]:
            client.select_tab(tab)
        client.shutdown()
        assert gui.end() == 0
    project.check_whole()

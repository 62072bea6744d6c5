"""The eight stages from an epic to a worker's text, through the client only."""

import time
from typing import Any

from interlock.client import ApiHookClient
from tests.simulation.live import MOCK
from tests.simulation.verification_logger import VerificationLogger

TEXT_REPLY = "SUCCESS: Mock Tier 3 worker implemented the change. [MOCK OUTPUT]"
PATIENCE_S = 60

ANSWERS = {
    "spawn": "btn_approve_spawn",
    "step": "btn_approve_mma_step",
    "tool": "btn_approve_tool",
    "script": "btn_approve_script",
    "gate": "btn_gate_skip",  # the mock changes no file
}


class Stages:
    """Track names are read back: a name of an earlier round gets a number."""

    def __init__(self, client: ApiHookClient, log: VerificationLogger) -> None:
        self.client = client
        self.log = log
        self.track = ""
        self.took = 0.0

    def run(self, goal: str = "Simulate the whole way") -> None:
        begun = time.monotonic()
        self.set_up()
        self.plan(goal)
        proposed = self.proposed()
        self.accept()
        self.listed(proposed)
        self.load()
        self.works()
        self.streams()
        self.took = time.monotonic() - begun

    def set_up(self) -> None:
        """1: provider and mock are chosen, the project is saved."""
        before = self.client.get_value("current_provider")
        self.client.set_value("current_provider", "gemini_cli")
        self.client.set_value("gcli_path", MOCK)
        self.client.click("btn_project_save")
        self.log.log_state("current_provider", before, self.client.get_value("current_provider"))
        assert self.client.get_value("gcli_path") == MOCK

    def plan(self, goal: str) -> None:
        """2: the epic is entered and planned."""
        self.client.set_value("mma_epic_input", goal)
        epic = self.client.click("btn_mma_plan_epic")["epic"]
        self.log.log_state("epic", None, epic)

    def proposed(self) -> list[str]:
        """3: tracks are proposed; gates on the way are approved."""
        self._until("proposed_tracks", lambda status: bool(status["proposed_tracks"]))
        rows = self._status()["proposed_tracks"]
        assert [row["title"] for row in rows] == ["Mock Goal 1", "Mock Goal 2"], rows
        self.log.log_state("proposed_tracks", 0, len(rows))
        return [row["id"] for row in rows]

    def accept(self) -> None:
        """4: the tracks are accepted."""
        answered = self.client.click("btn_mma_accept_tracks")
        assert (answered["decision"], answered["by"]) == ("approve", "test:api")
        self.log.log_state("tracks approval", "pending", answered["decision"])

    def listed(self, proposed: list[str]) -> None:
        """5: they are listed as tracks, with their tickets planned."""
        self.track = proposed[0]

        def planned(status: dict[str, Any]) -> bool:
            rows = {row["id"]: row["progress"]["total"] for row in status["tracks"]}
            return all(rows.get(name, 0) == 2 for name in proposed)

        self._until("tracks", planned)
        self.log.log_state("track", None, self.track)

    def load(self) -> None:
        """6: the first track is loaded, and its tickets are shown."""
        self.client.click("btn_mma_load_track", self.track)
        status = self._status()
        assert status["active_track"] == self.track
        assert [ticket["id"] for ticket in status["active_tickets"]] == ["mock-ticket-1", "mock-ticket-2"]
        assert status["active_tickets"][1]["depends_on"] == ["mock-ticket-1"]
        self.log.log_state("active_tickets", 0, len(status["active_tickets"]))

    def works(self) -> None:
        """7: the track runs until it is done."""
        before = self._status()["mma_status"]
        assert before in ("running", "done"), before
        self._until("mma_status", lambda status: status["mma_status"] == "done")
        status = self._status()
        assert [ticket["status"] for ticket in status["active_tickets"]] == ["completed"] * 2
        self.log.log_state("mma_status", before, status["mma_status"])

    def streams(self) -> None:
        """8: the workers' texts can be read."""
        streams = self._status()["mma_streams"]
        texts = {key: text for key, text in streams.items() if key.startswith("Tier 3")}
        assert texts, list(streams)
        assert all(TEXT_REPLY in text for text in texts.values()), texts
        self.log.log_state("Tier 3 streams", 0, len(texts))

    def _status(self) -> dict[str, Any]:
        return self.client.get_mma_status()

    def _until(self, what: str, true: Any) -> None:
        def looked() -> bool:
            status = self._status()
            self._answer(status)
            return bool(true(status))

        assert self.client.wait_until(looked, PATIENCE_S), f"{what} did not happen: {self._status()}"

    def _answer(self, status: dict[str, Any]) -> None:
        """Approves every request, except the tracks themselves."""
        for asked in status["pending_approvals"]:
            if (button := ANSWERS.get(asked["kind"])) is not None:
                self.client.click(button, asked["id"])

"""`kill -9` while a worker's request is under way: it is asked about, and never repeated silently."""

import json
import signal
import threading

import pytest

from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project
from tests.tools.web.pages import Answer, Request, served

FOUND = json.dumps({"results": [{"title": "T", "url": "https://a.test/", "content": "about"}]}).encode()


@pytest.mark.parametrize("decision", ["retry", "skip"])
def test_a_request_that_was_cut_off_waits_for_a_person(project: Project, decision: str) -> None:
    model = scripted(
        project,
        [
            rule("# Ticket T", call("web_search", query="x")),
            rule("https://a.test/", reply="BLOCKED: found it"),
            rule("it is unknown whether", reply="BLOCKED: do not know"),
        ],
    )
    asked, ended = threading.Event(), threading.Event()

    def slow(request: Request) -> Answer:
        asked.set()
        ended.wait(60)
        return Answer(FOUND)

    with served() as pages:
        pages.answers["/search"] = slow
        rules = '[[policy]]\nverdict = "allow"\ntool = "web_search"\n'
        project.settings(f'[web_search]\nprovider = "searxng"\naddress = "{pages.url}"\n{rules}')
        tickets = project.tickets("plan.json", [{"id": "T", "description": "search"}])
        process = project.start("run", "--tickets", tickets, "--autonomy", "land", *model)
        try:
            assert asked.wait(60)
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        ended.set()
        assert len(pages.requests) == 1
        resumed = project.run("resume", *model)
        assert (resumed.code, len(pages.requests)) == (4, 1), resumed
        (waiting,) = project.run("approvals", "list", "--json").json
        assert (waiting["kind"], "Search the web" in waiting["payload"]["what"]) == ("unknown", True)
        assert project.run("approvals", "answer", waiting["id"], decision).code == 0
        assert project.run("resume", *model).code == 3
        assert len(pages.requests) == (2 if decision == "retry" else 1)
        ticket = project.run("tickets", "show", "T", "--json").json
        reason = "found it" if decision == "retry" else "do not know"
        assert (ticket["attempts"], ticket["blocked_reason"]) == (1, reason)
    assert project.run("journal", "verify").code == 0

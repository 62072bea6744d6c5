"""`kill -9` of a served workbench with everything pending; the next one continues."""

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from interlock.client import ApiError, ApiHookClient, NotServing
from tests.cli.project import Project, shell
from tests.cli.serving import Serving, finished, hook, script, serving

RULES: list[dict[str, Any]] = [
    {"match": "Slow question", "reply": "A slow answer.", "delay_s": 4},
    {"match": "Make a file", "tool_calls": [{"name": "run_shell", "args": {"script": "echo made >> made.txt"}}]},
    {"tier": "Discussion", "match": "", "reply": "Made it."},
    {
        "ticket": "edits",
        "match": "please edit",
        "tool_calls": [{"name": "edit_file", "args": {"path": "a.txt", "old_string": "two", "new_string": "2"}}],
    },
    {"match": "", "reply": "It is done."},
]
GATE = {"command": "cat g.txt >&2; test -f never.txt", "max_attempts": 1}
TICKETS = [
    shell("steps", "echo s >> s.txt", step_mode=True),
    {"id": "spawns", "description": "think of something"},
    {"id": "edits", "description": "please edit a.txt", "target_file": "a.txt"},
    shell("gated", "echo g >> g.txt", verify=[GATE]),
]
HOOK = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push"}}

WAITING = {
    ("step", "steps"),
    ("spawn", "spawns"),
    ("tool", "edits"),
    ("gate", "gated"),
    ("ask", ""),
    ("script", ""),
}
"""Every kind of approval, with its ticket; the last belongs to a discussion."""


def waiting(client: ApiHookClient) -> set[tuple[str, str]]:
    return {(approval["kind"], approval["ticket"] or "") for approval in client.list_approvals()}


def wait_for_every_kind(bench: Serving) -> str:
    """Answer approvals until one of each kind is pending; returns the discussion whose model still streams."""
    client, person = bench.client(), bench.client(approve=True)
    assert bench.project.run("tracks", "import", bench.project.tickets("plan.json", TICKETS)).code == 0
    client.click("btn_mma_start_track", "plan")
    start_discussion(client, "Make a file")

    def all_pending() -> bool:
        for approval in client.list_approvals():
            kind, ticket = approval["kind"], approval["ticket"] or ""
            if ticket and (kind, ticket) not in WAITING:
                person.answer(approval["id"], "approve")
        return waiting(client) == WAITING

    assert client.wait_until(all_pending, 90), waiting(client)
    return start_discussion(client, "Slow question")


def start_discussion(client: ApiHookClient, words: str) -> str:
    client.click("btn_new_discussion")
    client.set_value("ai_input", words)
    return client.click("btn_gen_send")["discussion"]


class Follower:
    """Follows the event stream across all restarts of the server."""

    def __init__(self, client: ApiHookClient) -> None:
        self.ids: list[int] = []
        self.streams = 0
        self._client = client
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        while not self._over.is_set():
            with suppress(NotServing):
                for frame in self._client.events(after=self.ids[-1] if self.ids else 0):
                    self.streams += not self.ids
                    if frame.id is not None:
                        self.ids.append(frame.id)
            self._over.wait(0.1)

    def check_events(self) -> None:
        """Until the server ends: every event once, in order."""
        self._over.set()
        self._thread.join(60)
        assert not self._thread.is_alive()
        assert self.ids == list(range(1, len(self.ids) + 1))


def test_everything_that_waits_is_still_there_and_can_be_answered_either_way(project: Project) -> None:
    words = (*script(project, *RULES), "--auto-queue")
    with serving(project, *words) as first:
        asker = hook(project, HOOK)
        slow = wait_for_every_kind(first)
        client = first.client()
        follower = Follower(first.client())
        assert client.wait_until(lambda: client.get_indicator_state("thinking")["thinking"], 60)
        before = {a["id"]: (a["kind"], a["ticket"], a["payload"], a["digest"]) for a in client.list_approvals()}
        first.kill()
    with serving(project, *words) as second:
        client, person = second.client(), second.client(approve=True)
        after = {a["id"]: (a["kind"], a["ticket"], a["payload"], a["digest"]) for a in client.list_approvals()}
        assert after == before
        by_kind = {a["kind"]: a["id"] for a in client.list_approvals()}
        assert client.get_approval(by_kind["tool"])["payload"]["hunks"] == 1
        for kind, decision in (("step", "approve"), ("tool", "approve"), ("ask", "approve")):
            result = project.run("approvals", "answer", by_kind[kind], decision)
            assert result.code == 0, result
        person.answer(by_kind["spawn"], "approve")
        person.answer(by_kind["gate"], "skip")
        person.answer(by_kind["script"], "approve")
        code, answer, _ = finished(asker)
        assert (code, answer["hookSpecificOutput"]["permissionDecision"]) == (0, "allow")

        def done() -> bool:
            for approval in client.list_approvals():  # the worker that changed no file
                assert (approval["kind"], approval["ticket"]) == ("gate", "spawns"), approval
                person.answer(approval["id"], "skip")
            return client.get_mma_status()["tracks"][0]["status"] == "done"

        assert client.wait_until(done, 90), client.get_mma_status()
        assert client.wait_until(lambda: quiet(client), 60)
        assert texts_of(client, slow) == ["Slow question", "A slow answer."]
        (discussion,) = (name for name in discussions(client) if texts_of(client, name)[0] == "Make a file")
        assert texts_of(client, discussion)[-1] == "Made it."
        second.process.terminate()
        second.ended()
        follower.check_events()
    check_once(project, len(follower.ids))
    assert project.git("show", "interlock/plan:a.txt") == "one\n2\nthree"
    assert [project.git("show", f"interlock/plan:{name}") for name in ("s.txt", "g.txt")] == ["s", "g"]
    assert (project.root / "made.txt").read_text() == "made\n"


def discussions(client: ApiHookClient) -> dict[str, str]:
    """The approvals that were used, with their states."""
    return {each["id"]: each["state"] for each in client._get("/api/discussions")["discussions"] if each["turns"]}


def quiet(client: ApiHookClient) -> bool:
    return set(discussions(client).values()) == {"quiet"}


def texts_of(client: ApiHookClient, name: str) -> list[str]:
    return [message["text"] for message in client._get(f"/api/discussions/{name}")["messages"]]


def check_once(project: Project, events: int) -> None:
    """Nothing is lost and nothing happened twice, according to the journal."""
    rows = project.journal()
    assert [row["event"]["type"] for row in rows[events:]] == ["conductor_stopped"], "after the last stream has ended"
    counts = Counter(row["event"]["type"] for row in rows)
    assert counts["ticket_completed"] == len(TICKETS)
    answered = Counter(row["event"]["approval"] for row in rows if row["event"]["type"] == "approval_answered")
    assert set(answered.values()) == {1}
    assert counts["approval_withdrawn"] == 0
    assert sorted(project.branch_tickets("plan")) == ["edits", "gated", "steps"], (
        "one commit each; spawns changed nothing"
    )
    project.check_whole()


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(3))
def test_killed_again_and_again_while_people_answer(project: Project, seed: int) -> None:
    """Ten kills at random times, with answers over HTTP and in a terminal, and a client that keeps asking."""
    chance = random.Random(seed)
    words = (*script(project, *RULES), "--auto-queue")
    with serving(project, *words) as bench:
        assert project.run("tracks", "import", project.tickets("plan.json", TICKETS)).code == 0
        client = bench.client()
        follower = Follower(bench.client())
        client.click("btn_mma_start_track", "plan")
        start_discussion(client, "Make a file")
        start_discussion(client, "Slow question")
        asker = hook(project, HOOK)
        assert client.wait_until(lambda: ("ask", "") in waiting(client), 60)
        bench.kill()
    for _ in range(10):
        with serving(project, *words) as bench, ThreadPoolExecutor(1) as pool:
            answering = pool.submit(some_answers, bench, chance.randint(0, 4), chance)
            threading.Event().wait(chance.uniform(0, 1.5))
            bench.kill()
            answering.result(60)
    with serving(project, *words) as bench:
        client = bench.client()

        def done() -> bool:
            some_answers(bench, 100, chance)
            return client.get_mma_status()["tracks"][0]["status"] == "done" and quiet(client)

        assert client.wait_until(done, 120), client.get_mma_status()
        code, answer, _ = finished(asker)
        assert (code, answer["hookSpecificOutput"]["permissionDecision"]) == (0, "allow")
        bench.process.terminate()
        bench.ended()
        follower.check_events()
    check_once(project, len(follower.ids))
    assert [project.git("show", f"interlock/plan:{name}") for name in ("s.txt", "g.txt")] == ["s", "g"]
    assert (project.root / "made.txt").read_text() == "made\n"


def some_answers(bench: Serving, count: int, chance: random.Random) -> None:
    """Over HTTP or in a terminal; the workbench may be killed meanwhile."""
    with suppress(ApiError):
        person = bench.client(approve=True)
        for approval in person.list_approvals()[:count]:
            decision: Any = "skip" if approval["kind"] == "gate" else "approve"
            assert approval["kind"] != "unknown", approval
            if chance.random() < 0.5:
                person.answer(approval["id"], decision)
            else:
                result = bench.project.run("approvals", "answer", approval["id"], decision)
                assert result.code == 0 or "already" in result.err or "in use" in result.err, result

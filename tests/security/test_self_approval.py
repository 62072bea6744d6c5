"""An agent cannot answer its own approvals: from inside a sandbox no token, no socket and no API is reachable.

Each attempt first runs outside the sandbox, where it succeeds.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from interlock.client import ApiHookClient, Server
from tests.cli.project import Project, shell
from tests.cli.serving import PYTHON, Serving, script, serving
from tests.security.attack import ATTEMPTS

HERE = Path(__file__).parent
OURS = HERE.parents[1] / "src" / "interlock"
WAYS = ("socket", "http", "program")
ATTACK = "python3 attack.py > outcome.json"

RULES: list[dict[str, Any]] = [
    {"match": "Attack", "tool_calls": [{"name": "run_shell", "args": {"script": ATTACK}}]},
    {"match": "", "reply": "I could do nothing."},
]


class Siege:
    """A served project with pending approvals, and all the information an attacker could have."""

    def __init__(self, bench: Serving, pool: ThreadPoolExecutor, level: str) -> None:
        self.bench = bench
        self.client = bench.client()
        assert bench.announced["sandbox"] == level
        self.person = bench.client(approve=True)
        self._pool = pool
        self._asked = 0
        project = bench.project
        shutil.copytree(OURS, project.root / "vendored" / "interlock", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(HERE / "attack.py", project.root / "attack.py")

    def ask(self) -> str:
        """Requests an approval; returns its id when it is pending."""
        address = json.loads(self.bench.files[1].read_text())
        self._asked += 1
        number = self._asked
        asking = ApiHookClient(server=Server(address["host"], address["port"], address["token"]))
        self._pool.submit(lambda: asking.ask("Bash", {"number": number}))
        assert self.client.wait_until(lambda: bool(self._waiting(number)), 60)
        return self._waiting(number)[0]

    def _waiting(self, number: int) -> list[str]:
        wanted = json.dumps({"number": number})
        return [a["id"] for a in self.client.list_approvals() if a["payload"].get("arguments") == wanted]

    def wishes(self) -> dict[str, str]:
        """Writes and commits attack.json; returns the approvals that the attacker wants to answer."""
        project, targets = self.bench.project, {way: self.ask() for way in WAYS}
        run = self.bench.api_file.parent
        wishes = {
            "files": [str(file) for file in self.bench.files],
            "socket": str(run / "control.sock"),
            "journal": str(run.parent / "journal.db"),
            "port": self.bench.port,
            "approve_token": json.loads(self.bench.files[2].read_text())["token"],
            "pid": self.bench.process.pid,
            "project": str(project.root),
            "python": PYTHON,
            "env": {name: project.env[name] for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")},
            "targets": targets,
        }
        project.write("attack.json", json.dumps(wishes))
        project.write("outcome.json", "")  # with Landlock no file can be created beside the hidden folder
        project.git("add", "-A")
        project.git("commit", "-q", "-m", "the attack")
        return targets

    def approve_all(self, but: dict[str, str]) -> None:
        """A person approves everything except the attacker's targets."""
        for approval in self.client.list_approvals():
            if approval["id"] not in but.values():
                self.person.answer(approval["id"], "approve")

    def check_refused(self, output: str, targets: dict[str, str], seen: tuple[str, ...] = ()) -> None:
        assert reported(output) == {"worked": list(seen), "program runs": True}
        for way, approval in targets.items():
            assert self.person.get_approval(approval)["state"] == "pending", way


def reported(output: str) -> Any:
    return json.loads(next(line for line in output.splitlines() if '"program runs"' in line))


@pytest.fixture
def siege(project: Project, request: pytest.FixtureRequest) -> Iterator[Siege]:
    with ThreadPoolExecutor(8) as pool, serving(project, *script(project, *RULES)) as bench:
        try:
            yield Siege(bench, pool, request.node.callspec.params["project"])
        finally:
            bench.client().reset_session()  # withdraws the pending approvals, so that no thread waits


@pytest.fixture(params=["bubblewrap", "landlock"])
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    """A project with Interlock on the PATH, and so visible in its sandbox."""
    new_project = Project(tmp_path)
    new_project.settings(f"sandbox = {request.param!r}\n")
    new_project.env["PATH"] = f"{Path(PYTHON).parent}:{new_project.env['PATH']}"
    return new_project


def test_outside_every_attempt_works(siege: Siege) -> None:
    """Without this the other tests would prove nothing."""
    targets = siege.wishes()
    project = siege.bench.project
    done = subprocess.run(
        [sys.executable, "attack.py"], cwd=project.root, env=project.env, capture_output=True, text=True, check=True
    )
    assert reported(done.stdout) == {"worked": list(ATTEMPTS), "program runs": True}, done.stderr
    answers = {way: siege.person.get_approval(approval)["answer"] for way, approval in targets.items()}
    assert {way: answer["decision"] for way, answer in answers.items()} == dict.fromkeys(WAYS, "approve")


def test_a_shell_ticket_and_its_gate_can_do_nothing(siege: Siege) -> None:
    targets = siege.wishes()
    project, client = siege.bench.project, siege.client
    file = project.tickets("plan.json", [shell("attacks", ATTACK, verify=[{"command": "python3 attack.py"}])])
    assert project.run("tracks", "import", file).code == 0
    client.click("btn_mma_start_track", "plan")

    def done() -> bool:
        siege.approve_all(targets)
        return client.get_mma_status()["tracks"][0]["status"] in ("done", "blocked")

    assert client.wait_until(done, 90)
    siege.check_refused(project.git("show", "interlock/plan:outcome.json"), targets)
    results = [row["event"]["result"] for row in project.journal() if "result" in row["event"]]
    (passed,) = (result for result in results if isinstance(result, dict) and "program runs" in str(result))
    siege.check_refused(passed["stdout"], targets)


def test_a_workers_own_script_can_do_nothing(siege: Siege) -> None:
    targets = siege.wishes()
    project, client = siege.bench.project, siege.client
    file = project.tickets("plan.json", [{"id": "attacks", "description": "Attack"}])
    assert project.run("tracks", "import", file).code == 0
    client.click("btn_mma_start_track", "plan")

    def done() -> bool:
        siege.approve_all(targets)
        return client.get_mma_status()["tracks"][0]["status"] in ("done", "blocked")

    assert client.wait_until(done, 90)
    siege.check_refused(project.git("show", "interlock/plan:outcome.json"), targets)


def test_a_discussions_script_in_the_project_itself_can_do_nothing(siege: Siege) -> None:
    targets = siege.wishes()
    client = siege.client
    client.set_value("ai_input", "Attack")
    client.click("btn_gen_send")

    def done() -> bool:
        siege.approve_all(targets)
        return client.get_value("ai_response") != ""

    assert client.wait_until(done, 90), client.get_value("ai_error")
    # Landlock grants a folder with its contents: the names of Interlock's files are readable, their contents are not.
    seen = ("run folder",) if siege.bench.announced["sandbox"] == "landlock" else ()
    siege.check_refused((siege.bench.project.root / "outcome.json").read_text(), targets, seen)

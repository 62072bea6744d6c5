"""Half an hour with the real program under load: clicks, HTTP clients, a streaming model. Its memory does not grow.

`make soak`; shorter or longer: INTERLOCK_SOAK_S=360.
"""

import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest
from msgspec import Struct

from interlock.client import ApiError, ApiHookClient
from tests.cli.project import Project, shell
from tests.uitest.program import DrivenWindow, driven
from tests.uitest.wire_client import Client

DURATION_S = float(os.environ.get("INTERLOCK_SOAK_S", "1800"))
WARM_S = min(600.0, DURATION_S * 2 / 3)  # until then caches fill: streams, facts, recent records, 60 tracks
SAMPLES = 60
GROWS_MB = 16.0  # for tracks, tickets and answers that must stay, and for the allocator
RULES = [
    {"match": "", "reply": "What is asked is answered at length. " * 150, "usage": {"input": 900, "output": 1_300}},
]
PANELS = ("Timeline", "Tests", "Usage", "Diagnostics", "Tickets", "Streams", "Discussion", "Provider", "Dashboard")


class Size(Struct, frozen=True):
    at_s: float
    rss_mb: float
    own_mb: float  # private memory, resident or swapped; mapped files do not count
    threads: int
    files: int
    children: int


def size_of(pid: int, at_s: float) -> Size:
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    tasks = Path(f"/proc/{pid}/task")
    return Size(
        round(at_s, 1),
        _mb(status, "VmRSS"),
        _mb(status, "RssAnon") + _mb(status, "VmSwap"),
        int(status["Threads"]),
        len(os.listdir(f"/proc/{pid}/fd")),
        sum(len((task / "children").read_text().split()) for task in tasks.iterdir()),
    )


def _mb(status: dict[str, str], name: str) -> float:
    return int(status[name].split()[0]) / 1_000


class Use:
    """All loads run until the end; their errors are collected."""

    def __init__(self, window: DrivenWindow) -> None:
        self.window = window
        self.project = window.project
        self.over = threading.Event()
        self.wrong: list[str] = []
        self.done = {"clicks": 0, "chats": 0, "asks": 0, "tracks": 0, "events": 0}
        self._file = self.project.root / ".interlock" / "run" / "api.json"

    def http(self) -> ApiHookClient:
        return ApiHookClient(self._file, timeout_s=60)

    def repeat(self, act: Callable[[int], None], pause_s: float) -> None:
        for number in count(1):
            if self.over.wait(pause_s):
                return
            try:
                act(number)
            except Exception as error:  # noqa: BLE001  the test reports it at the end
                if not self.over.is_set():
                    self.wrong.append(f"{act.__name__} {number}: {type(error).__name__}: {error}")
                    if len(self.wrong) > 20:
                        return

    def clicking(self, client: Client) -> Callable[[int], None]:
        def look_and_answer(number: int) -> None:
            for target in (f"window:{PANELS[number % len(PANELS)]}", "streams.follow", "graph.fit"):
                client.click(target)
            client.type("mma_epic_input", f"Goal {number}: {'word ' * 10}")
            client.check("exists:inbox.count")
            for widget in client.call("DiscoverWidgets").messages(1):
                for each in widget.messages(4):
                    if each.text(2).startswith("btn_approve_"):
                        client.click(each.text(2))
            self.done["clicks"] += 6

        return look_and_answer

    def chat(self, number: int) -> None:
        client = self.http()
        if number % 5 == 0:
            client.click("btn_new_discussion")
        client.set_value("ai_input", f"Question {number}")
        client.click("btn_gen_send")
        assert client.wait_until(lambda: not client.get_indicator_state("thinking")["thinking"], 60)
        self.done["chats"] += 1

    def ask(self, number: int) -> None:
        answer = self.http().ask("deploy", {"number": number, "why": "word " * 100}, deadline_s=60)
        assert answer, answer
        self.done["asks"] += 1

    def track(self, number: int) -> None:
        file = self.project.tickets("track.json", {
            "id": f"track-{number}",
            "title": f"Track {number}",
            "description": "",
            "tickets": [shell("T-1", "seq 1 2000"), shell("T-2", "echo two > b.txt", "T-1")],
        })  # fmt: skip
        result = self.project.run("tracks", "import", file)
        assert result.code == 0, result
        client = self.http()
        client.click("btn_mma_load_track", f"track-{number}")
        client.click("btn_mma_start_track", f"track-{number}")
        self.done["tracks"] += 1

    def follow(self, number: int) -> None:
        """A client that connects and disconnects."""
        try:
            for _ in self.http().events(0 if number % 3 == 0 else None, deadline=time.monotonic() + 5):
                self.done["events"] += 1
        except (TimeoutError, ApiError):
            pass


@pytest.mark.soak
@pytest.mark.timeout(DURATION_S + 300)
def test_the_memory_does_not_grow(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.settings("[tests]\nkeep = 300\n")
    rules = project.home / "rules.json"
    rules.write_text(json.dumps(RULES))
    words = ("--enable-test-hooks", "--port", "0", "--provider", "scripted", "--script", str(rules))
    sizes: list[Size] = []
    with driven(project, *words) as window:
        use = Use(window)
        assert use.http().wait_for_server(60)
        began = time.monotonic()
        with ThreadPoolExecutor(8) as pool, Client(window.file) as other:
            try:
                for act, pause_s in (
                    (use.clicking(window.client), 0.2),
                    (use.clicking(other), 0.4),
                    (use.chat, 1.0),
                    (use.ask, 1.0),
                    (use.track, 10.0),
                    (use.follow, 0.1),
                    (use.follow, 0.1),
                ):
                    pool.submit(use.repeat, act, pause_s)
                while (now := time.monotonic() - began) < DURATION_S and len(use.wrong) < 20:
                    ended = window.process.poll()
                    assert ended is None, f"it ended by itself after {now:.0f} s, {ended}: {window.output[-30:]}"
                    sizes.append(size_of(window.process.pid, now))
                    print(f"[SIZE] {sizes[-1]} {use.done} {use.wrong[-1:]}", flush=True)
                    use.over.wait(DURATION_S / SAMPLES)
            finally:
                use.over.set()
        sizes.append(size_of(window.process.pid, time.monotonic() - began))
        print(f"[DONE] {use.done}")
        use.http().shutdown()
        assert window.process.wait(20) == 0
    assert use.wrong == []
    assert all(use.done.values()), use.done
    warm = [each for each in sizes if each.at_s >= WARM_S]
    third = max(1, len(warm) // 3)
    early, late = warm[:third], warm[-third:]
    assert _middle(late, "own_mb") - _middle(early, "own_mb") < GROWS_MB, sizes
    assert _middle(late, "threads") - _middle(early, "threads") <= 2, sizes
    assert _middle(late, "files") - _middle(early, "files") <= 8, sizes
    assert _middle(late, "children") - _middle(early, "children") <= 2, sizes


def _middle(sizes: list[Size], what: str) -> float:
    values = sorted(getattr(each, what) for each in sizes)
    return float(values[len(values) // 2])

# ruff: noqa: ASYNC240  the story is the only running coroutine
"""The private socket: for people of this user only, and no request is carried out after its sender gave up."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

from interlock.api.control import ControlServer
from interlock.domain.messages.commands.track_commands import AddTrack
from interlock.journal.memory import MemoryJournal
from interlock.wire import to_plain
from tests.engine.bench.test_workbench import bench


class Front:
    """The functions of a front that the requests of this test use, with a real workbench."""

    def __init__(self, workbench: Any) -> None:
        self._workbench = workbench
        self.submit = workbench.submit

    @property
    def state(self) -> Any:
        return self._workbench.state


async def _ask(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    reader, writer = await asyncio.open_unix_connection(str(path))
    writer.write(json.dumps(request).encode() + b"\n")
    await writer.drain()
    answer = json.loads(await reader.readline())
    writer.close()
    await writer.wait_closed()
    return answer


def _run(path: Path, *requests: dict[str, Any]) -> tuple[list[dict[str, Any]], int, int]:
    """The answers, the number of tracks afterwards, and the permissions of the socket."""

    async def story() -> tuple[list[dict[str, Any]], int, int]:
        work = bench(MemoryJournal())
        server = ControlServer(Front(work), path, lambda: None)  # type: ignore[arg-type]
        await server.start()
        answers = [await _ask(path, request) for request in requests]
        mode = path.stat().st_mode & 0o777
        await server.stop()
        tracks = len(work.state.tracks)
        await work.close()
        return answers, tracks, mode

    return asyncio.run(story())


ADD = {"do": "submit", "actor": "human:ada", "command": to_plain(AddTrack("t", "T", "", ()))}


def test_only_its_owner_can_connect(tmp_path: Path) -> None:
    assert _run(tmp_path / "control.sock", {"do": "ping"})[2] == 0o600


def test_only_a_person_submits(tmp_path: Path) -> None:
    for actor in ("worker:T/1", "system", "policy:x", "human:a\nb"):
        answers, tracks, _ = _run(tmp_path / "control.sock", {**ADD, "actor": actor})
        assert (answers[0]["kind"], tracks) == ("Rejected", 0)


def test_a_request_that_is_read_too_late_is_not_carried_out(tmp_path: Path) -> None:
    late, soon = {**ADD, "until": time.monotonic() - 1}, {**ADD, "until": time.monotonic() + 60}
    answers, tracks, _ = _run(tmp_path / "control.sock", late)
    assert ("read too late" in answers[0]["error"], tracks) == (True, 0)
    answers, tracks, _ = _run(tmp_path / "control.sock", soon)
    assert tracks == 1


def test_a_repeated_request_gets_the_first_answer(tmp_path: Path) -> None:
    named = {**ADD, "id": "0123456789abcdef"}
    answers, tracks, _ = _run(tmp_path / "control.sock", named, named)
    assert answers[0] == answers[1]
    assert tracks == 1

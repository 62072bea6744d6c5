"""Old test executions are forgotten and their screenshots removed; the journal keeps everything."""

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.assembly.project import Project, remove_artifacts
from interlock.assembly.settings.settings import HistorySettings, Settings
from interlock.domain.messages.commands.test_history_commands import RecordTests
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.messages.events.test_history_events import TestExecuted, TestsForgotten
from interlock.engine.bench.load_state import load_state
from interlock.engine.bench.workbench import Workbench
from interlock.engine.effects.test_retention import Retention
from interlock.errors import JournalUnwritable
from interlock.journal.memory import MemoryJournal
from interlock.wire import encode_state
from tests.domain.runs import ran
from tests.engine.world import FakeIds


class Clock:
    def __init__(self) -> None:
        self.day = 1

    def now(self) -> str:
        return f"2026-03-{self.day:02d}T00:00:00.000000Z"


class Scene:
    """A workbench that keeps five executions for ten days."""

    def __init__(self, keep: int = 5, journal: MemoryJournal | None = None) -> None:
        self.journal = journal or MemoryJournal()
        self.clock = Clock()
        self.work = Workbench(self.journal, self.clock, FakeIds(), load_state(self.journal))
        self.removed: list[str] = []
        self.retention = Retention(self.work, self.clock, keep, 10, self.removed.extend)
        self.work.on_durable(self.retention.react)

    async def record(self, *numbers: int) -> None:
        await self.work.submit(SYSTEM, RecordTests(tuple(ran(n, screenshot_path=f"{n}.png") for n in numbers)))
        await self.retention.close()

    def kept(self) -> list[int]:
        return [int(each.execution.test_id[-4:]) for _, each in sorted(self.work.state.tests.kept.items())]


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def test_more_than_are_kept_push_out_the_oldest_and_their_pictures() -> None:
    async def story() -> None:
        scene = Scene()
        await scene.record(1, 2, 3, 4, 5)
        assert scene.kept() == [1, 2, 3, 4, 5]
        await scene.record(6, 7)
        assert scene.kept() == [3, 4, 5, 6, 7]
        await scene.record(*range(8, 20))
        assert scene.kept() == [15, 16, 17, 18, 19]
        assert scene.removed == [f"{n}.png" for n in range(1, 15)]
        events = [record.event for record in scene.journal.read()]
        assert sum(isinstance(event, TestExecuted) for event in events) == 19
        assert [event.through for event in events if isinstance(event, TestsForgotten)] == [2, 14]
        assert encode_state(load_state(scene.journal)) == encode_state(scene.work.state)
        await scene.work.close()

    run(story())


def test_a_large_history_is_not_trimmed_at_every_step() -> None:
    async def story() -> None:
        scene = Scene(keep=200)
        await scene.record(*range(1, 203))
        assert len(scene.kept()) == 202
        await scene.record(203)
        assert scene.kept() == list(range(4, 204))
        await scene.work.close()

    run(story())


def test_old_executions_are_removed_with_the_next_test_or_the_next_start() -> None:
    async def story() -> None:
        scene = Scene()
        await scene.record(1)
        scene.clock.day = 11
        await scene.record(2)
        assert scene.kept() == [1, 2]
        scene.clock.day = 12
        await scene.record(3)
        assert scene.kept() == [2, 3]
        await scene.work.close()
        later = Scene(journal=scene.journal)
        later.clock.day = 31
        await later.retention.start()
        await later.retention.close()
        assert (later.kept(), later.removed) == ([], ["2.png", "3.png"])
        await later.work.close()

    run(story())


def test_a_journal_that_cannot_be_written_does_not_raise_in_retention() -> None:
    class Full(MemoryJournal):
        full = False

        def append(self, records: Any) -> None:
            if self.full:
                raise JournalUnwritable("the disk is full")
            super().append(records)

    async def story() -> None:
        journal = Full()
        first = Scene(keep=5, journal=journal)
        await first.record(1, 2, 3)
        await first.work.close()
        journal.full = True
        second = Scene(keep=1, journal=journal)
        await second.retention.start()
        await second.retention.close()
        assert second.kept() == [1, 2, 3]
        await second.work.close()

    run(story())


def test_only_files_of_the_artifacts_folder_are_removed(tmp_path: Path) -> None:
    project = Project(tmp_path, replace(Settings(), tests=HistorySettings(keep_days=1)), tmp_path / "state")
    remove_artifacts(project, ("a.png",))
    folder = tmp_path / ".interlock" / "artifacts"
    (folder / "deep").mkdir(parents=True)
    for name in ("a.png", "b.png", "keep.png", "deep/old.png"):
        (folder / name).write_text("")
    users_file = tmp_path / "mine.png"
    users_file.write_text("")
    (folder / "link.png").symlink_to(users_file)
    os.utime(folder / "deep" / "old.png", (1, 1))
    named = (
        ".interlock/artifacts/a.png",
        str(folder / "b.png"),
        "mine.png",
        str(users_file),
        ".interlock/artifacts/../../mine.png",
        str(folder / "link.png"),
        ".interlock/artifacts/none.png",
        ".interlock/artifacts/deep",
        "x" * 5_000,
    )
    remove_artifacts(project, named)
    assert users_file.exists()
    assert sorted(path.name for path in folder.rglob("*")) == ["deep", "keep.png", "link.png"]

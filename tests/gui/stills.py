"""The window in states that never change: the same journal, clock and figures on every machine, so that pixels can be
compared.

`story.jsonl` is the journal of the run that the pictures of the documentation come from, with a line after each version
that one of them shows. To write the pictures in `goldens` anew, after a change that is meant:
`python -m tests.gui.stills`.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from immutables import Map
from msgspec.structs import replace
from PIL import Image

from interlock.desk.times import moment
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Counts, Track
from interlock.domain.step import replay
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Blocked, Completed, Stage, Ticket, TicketSpec, Todo, Working
from interlock.gui.data.figures import Figures
from interlock.journal.upcast import read_event
from tests.gui.bench import Bench, windowed

STORY = Path(__file__).parent / "story.jsonl"
GOLDENS = Path(__file__).parent / "goldens"
AFTER_S = 42  # seconds from the last event to the drawn time
SETTLE = 8  # frames until docks, scrolling and fonts are stable


class StillFigures(Figures):
    """Fixed performance figures."""

    def end(self) -> None:
        self.count += 1
        self.fps, self.frame_time_ms, self.input_lag_ms, self.cpu = 60.0, 2.0, 9.0, 12.0


def story(mark: str) -> tuple[Recorded, ...]:
    """The records up to the time of a picture."""
    records: list[Recorded] = []
    for line in STORY.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "mark" in row:
            if row["mark"] == mark:
                return tuple(records)
            continue
        event = read_event(row["schema"], json.dumps(row["event"]).encode())
        records.append(Recorded(row["version"], row["at"], row["actor"], row["cause"], event))
    raise LookupError(mark)


def thousand() -> State:
    """Twenty-five layers of forty tickets, a few layers done."""
    layers, wide, at = 25, 40, "2026-01-01T10:00:00.000000Z"
    tickets: list[Ticket] = []
    for layer in range(layers):
        for row in range(wide):
            spec = TicketSpec(
                id=f"T-{layer * wide + row:04d}",
                description=f"Part {row + 1} of layer {layer + 1}",
                verify=(Gate("true"),),
                depends_on=tuple(
                    f"T-{(layer - 1) * wide + each:04d}" for each in dict.fromkeys((row, (row * 7 + 3) % wide))
                )
                if layer
                else (),
            )
            stage: Stage = Completed() if layer < 6 else Working() if layer == 6 and row < 4 else Todo()
            if layer == 6 and row == 9:
                stage = Blocked("the gate failed five times")
            tickets.append(Ticket(track="thousand", spec=spec, created_at=at, started_at=at, stage=stage))
    track = Track(
        id="thousand",
        title="A thousand tickets",
        description="",
        status="running",
        created_at=at,
        updated_at=at,
        order=tuple(each.id for each in tickets),
        tickets=Map({each.id: each for each in tickets}),
        counts=Counts(755, 4, 240, 1, 0),
    )
    return replace(
        State(),
        version=1_212,
        tracks=Map({"thousand": track}),
        track_order=("thousand",),
        running=("thousand",),
    )


def _panel(bench: Bench, name: str) -> Any:
    return next(each for each in bench.window.panels if each.name == name)


def _asked(bench: Bench, ticket: str) -> None:
    approval = next(each for each in bench.state.pending_approvals() if each.ticket == ticket and each.kind != "spawn")
    _panel(bench, "Inbox")._chosen = approval.id


def _landing(bench: Bench) -> None:
    async def look() -> None:
        bench.desk.change(track="ledger")

    bench.engine.call(look())
    _panel(bench, "Inbox")._chosen = next(each.id for each in bench.state.pending_approvals() if each.kind == "merge")
    bench.show("usage")


def _failing(bench: Bench) -> None:
    def fail(*_: object) -> None:
        raise ValueError("this mistake was planted for the picture")

    _panel(bench, "Streams").draw = fail
    bench.window.send.note("the journal cannot be written: no space left on device")


SCENES: dict[str, tuple[str, Callable[[Bench], None] | None]] = {
    "first-run": ("first-run", None),
    "running": ("running", lambda bench: _asked(bench, "T-011")),
    "approval-with-diff": ("running", lambda bench: _asked(bench, "T-009")),
    "blocked": ("blocked", lambda bench: setattr(_panel(bench, "Tickets"), "_chosen", "T-008")),
    "done": ("done", _landing),
    "error": ("blocked", _failing),
    "thousand-tickets": ("", None),
}
"""By name: the progress of the story, and the steps that prepare the view."""


@contextmanager
def in_utc() -> Generator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


@contextmanager
def still(name: str, **more: Any) -> Generator[Bench]:
    """The scene, drawn until it is stable."""
    mark, prepare = SCENES[name]
    records = story(mark) if mark else ()
    state = replay(records) if mark else thousand()
    end = moment(records[-1].at if records else "2026-01-01T10:00:00.000000Z") + AFTER_S
    with (
        in_utc(),
        windowed(state, now=lambda: end, figures=StillFigures(), careful=name != "error", **more) as bench,
    ):
        bench.window.feed.records(records)
        bench.draw(2)
        if prepare is not None:
            prepare(bench)
        bench.draw(SETTLE)
        yield bench


def photograph(bench: Bench, file: Path) -> Path:
    taken = bench.window.picture(file)
    bench.draw(1)
    taken.result()
    return file


def main() -> None:
    names = sys.argv[1:] or list(SCENES)
    for name in names:
        with tempfile.TemporaryDirectory() as folder, still(name, backend="egl") as bench:
            file = photograph(bench, Path(folder) / "new.png")
            with Image.open(file) as picture:  # 256 colours are enough for the comparison, and a third of the size
                picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE).save(
                    GOLDENS / f"{name}.png", optimize=True
                )
        print(f"  {name}.png")


if __name__ == "__main__":
    main()

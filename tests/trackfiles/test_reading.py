"""Reading the tracks of a folder without a journal, including hostile files."""

import os
import tomllib
from pathlib import Path

import pytest

from interlock.domain.messages.commands.ticket_commands import CancelTicket, SkipTicket
from interlock.trackfiles.reading import FiledTicket, FiledTrack, read_tracks
from interlock.views.board import TrackProgress, TrackRow, track_row
from tests.domain.given import AT
from tests.trackfiles.project import DIR, Desk

TOML = '[[tasks]]\nid = "a"\nstatus = "completed"\n[[tasks]]\nid = "b"\ndepends_on = ["a"]\n'
JSON = f'{{"id": "t", "title": "Title", "status": "running", "created_at": "{AT}"}}'
PLAN = "# Plan\n- [x] a\n- [X] b\n  - [ ] c\n* [ ] d\ntext - [x] no\n"


def row(progress: tuple[int, int], todo: int = 0, title: str = "t", status: str = "unknown", at: str = "") -> TrackRow:
    return TrackRow("t", title, status, TrackProgress(*progress), todo, 0, 0, 0, False, at, "")


def files(desk: Desk, track: str = "t", /, **texts: str | bytes) -> Path:
    folder = desk.tracks / track
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        file = folder / {"toml": "state.toml", "json": "metadata.json", "plan": "plan.md"}[name]
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def read(desk: Desk) -> tuple[FiledTrack, ...]:
    return read_tracks(desk.root, DIR)


def test_written_files_read_back_equal_to_the_journal(desk: Desk) -> None:
    desk.add("b", "one", "two", "three")
    desk.add("a", "one")
    desk.bench.send(SkipTicket("b", "one"))
    desk.bench.send(CancelTicket("b", "two"))
    desk.write()
    tracks = read(desk)
    assert [track.row for track in tracks] == [track_row(desk.bench.track(name)) for name in ("a", "b")]
    assert tracks[0].tickets == (FiledTicket("one", "", "todo", ()),)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"toml": TOML, "json": JSON, "plan": PLAN}, row((1, 2), 1, "Title", "running", AT)),
        ({"toml": TOML}, row((1, 2), 1)),
        ({"toml": "tasks = []"}, row((0, 0))),
        ({"json": JSON, "plan": PLAN}, row((2, 4), 2, "Title", "running", AT)),
        ({"toml": "[[tasks", "json": JSON}, row((0, 0), 0, "Title", "running", AT)),
        ({"toml": "tasks = 3", "json": "{", "plan": PLAN}, row((2, 4), 2)),
        ({"toml": "[[tasks]]\nid = 7", "json": "[]", "plan": PLAN}, row((2, 4), 2)),
        ({"toml": "[[tasks]]\nname = 'x'", "json": '{"id": 7}', "plan": PLAN}, row((2, 4), 2)),
        ({"toml": b"\xff", "json": b"\xff", "plan": b"\xff\n- [x] \xff\n"}, row((1, 1))),
        ({"json": '{"id": "../up", "title": "\\ud800", "status": ["x"]}'}, row((0, 0), 0, "?")),
    ],
)
def test_values_missing_in_one_file_are_read_from_the_next(
    desk: Desk, texts: dict[str, str | bytes], expected: TrackRow
) -> None:
    files(desk, **texts)
    assert [track.row for track in read(desk)] == [expected]


def test_an_empty_folder_is_no_track_and_neither_is_a_file(desk: Desk) -> None:
    assert read(desk) == ()
    files(desk, "nothing")
    files(desk, "broken", toml="[", json="{", plan="no boxes")
    files(desk, "not an id", json=JSON)
    (desk.tracks / "file").write_text("x")
    assert read(desk) == ()


HOSTILE = {
    "deep arrays": "tasks = " + "[" * 100_000,
    "deep tables": "tasks = " + "{a=" * 100_000,
    "a dotted key": "a" + ".a" * 1_000_000 + " = 1",
    "a dotted key with spaces": "a" + " . a" * 1_000_000 + " = 1",
    "a dotted key of long parts": "a" + f".{'a' * 200}" * 70_000 + " = 1",
    "quoted parts": "a" + '."b.c"' * 1_000_000 + " = 1",
    "a dotted header": "[a" + ".a" * 1_000_000 + "]",
    "a key after a comment with quotes": "# '''\na" + ".a" * 1_000_000 + " = 1\n# '''",
    "a key in an inline table": "x = {a" + ".a" * 1_000_000 + " = 1}",
    "a number": "tasks = " + "9" * 2_000_000,
    "quotes without end": '"""\\' * 1_000_000,
    "escaped quotes": "x = '" + '"\\' * 1_000_000,
    "dates of a year without end": "tasks = [1979-05-27T07:32:00Z" * 10_000,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_toml_takes_no_time_and_the_next_file_counts(desk: Desk, name: str) -> None:
    files(desk, toml=HOSTILE[name], plan=PLAN)
    assert [track.row for track in read(desk)] == [row((2, 4), 2)]


def test_texts_with_many_dots_are_no_long_keys(desk: Desk) -> None:
    text = f"""[[tasks]]\nid = "a"\ndescription = '{"." * 500}'\nstatus = "{"a." * 200}"\n"""
    assert tomllib.loads(text)
    files(desk, toml=text)
    assert read(desk)[0].tickets == (FiledTicket("a", "." * 500, "a." * 200, ()),)


def test_deep_json_is_broken_json(desk: Desk) -> None:
    files(desk, json="[" * 1_000_000, plan=PLAN)
    assert [track.row for track in read(desk)] == [row((2, 4), 2)]


def test_huge_files_are_not_read(desk: Desk) -> None:
    folder = files(desk, plan=PLAN)
    for name in ("state.toml", "metadata.json"):
        with open(folder / name, "wb") as file:
            file.truncate(2**40)
    assert [track.row for track in read(desk)] == [row((2, 4), 2)]


def test_pipes_links_and_devices_are_not_opened(desk: Desk) -> None:
    folder = files(desk, plan=PLAN)
    os.mkfifo(folder / "state.toml")
    (folder / "metadata.json").symlink_to("metadata.json")
    (desk.outside / "metadata.json").write_text(JSON)
    (desk.tracks / "away").symlink_to(desk.outside)
    (desk.tracks / "round").symlink_to("round")
    assert [track.row for track in read(desk)] == [row((2, 4), 2)]
    os.rename(desk.tracks, desk.outside / "tracks")
    desk.tracks.symlink_to(desk.outside / "tracks")
    assert read(desk) == (), "no link leads out of the project"

"""Writing track files: only changed files, no file of a person, no path outside the project."""

import os
import subprocess
from pathlib import Path

import pytest

from interlock.domain.messages.commands.ticket_commands import SkipTicket
from interlock.domain.messages.commands.track_commands import EditTrack
from interlock.trackfiles import folders
from interlock.trackfiles.writing import TrackWriter
from tests.domain.given import LATER
from tests.trackfiles.project import NAMES, Desk


def ages(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_every_track_has_its_folder_and_a_project_without_tracks_has_none(desk: Desk) -> None:
    assert desk.write() == []
    assert not (desk.root / "conductor").exists()
    desk.add("a", "one", "two")
    desk.add("b", "one")
    assert desk.write() == []
    assert (desk.names("a"), desk.names("b")) == (NAMES, NAMES)


def test_unchanged_files_are_not_written_again(desk: Desk) -> None:
    desk.add("a", "one")
    desk.add("b", "one")
    desk.write()
    a, b = ages(desk.tracks / "a"), ages(desk.tracks / "b")
    desk.reopened()
    assert desk.write() == []
    assert (ages(desk.tracks / "a"), ages(desk.tracks / "b")) == (a, b)
    desk.bench.send(EditTrack("a", None, "Another reason."), at=LATER)
    assert desk.write() == []
    now = ages(desk.tracks / "a")
    assert {name for name in NAMES if now[name] != a[name]} == {"metadata.json"}
    assert ages(desk.tracks / "b") == b


def test_a_change_replaces_the_old_text_and_leaves_the_spec_to_its_human(desk: Desk) -> None:
    desk.add("a", "one")
    desk.write()
    spec = desk.tracks / "a" / "spec.md"
    assert spec.read_text() == "# Track a\n\nWhy.\n"
    spec.write_text("Mine.\n")
    desk.bench.send(EditTrack("a", "A better name", None), at=LATER)
    desk.bench.send(SkipTicket("a", "one"), at=LATER)
    assert desk.write() == []
    assert "# A better name\n" in desk.plan("a")
    assert "- [x] one" in desk.plan("a")
    assert spec.read_text() == "Mine.\n"
    assert desk.names("a") == NAMES


def test_a_spec_is_made_once_also_when_it_is_removed_or_was_there_before(desk: Desk) -> None:
    (desk.tracks / "b").mkdir(parents=True)
    (desk.tracks / "b" / "spec.md").write_text("There first.\n")
    desk.add("a", "one")
    desk.add("b", "one")
    desk.write()
    assert (desk.tracks / "b" / "spec.md").read_text() == "There first.\n"
    (desk.tracks / "a" / "spec.md").unlink()
    desk.bench.send(SkipTicket("a", "one"), at=LATER)
    desk.write()
    assert not (desk.tracks / "a" / "spec.md").exists()


def test_a_damaged_or_removed_file_is_restored_with_the_next_change(desk: Desk) -> None:
    desk.add("a", "one", "two")
    desk.write()
    right = desk.plan("a")
    (desk.tracks / "a" / "plan.md").write_text(right.replace("- [ ] one", "- [x] one"))
    (desk.tracks / "a" / "state.toml").unlink()
    desk.bench.send(SkipTicket("a", "two"), at=LATER)
    assert desk.write() == []
    assert "- [ ] one\n- [x] two" in desk.plan("a")
    assert desk.names("a") == NAMES


@pytest.mark.parametrize("lost", ["plan.md", "state.toml", "metadata.json"])
def test_a_process_killed_between_two_files_is_made_good_by_the_next(desk: Desk, lost: str) -> None:
    desk.add("a", "one")
    desk.write()
    (desk.tracks / "a" / lost).unlink()
    (desk.tracks / "a" / f".{lost}.new").write_text("half of it")
    desk.reopened()
    assert desk.write() == []
    assert desk.names("a") == NAMES


def test_files_that_interlock_did_not_write_are_left_alone_with_a_warning(desk: Desk) -> None:
    folder = desk.tracks / "a"
    folder.mkdir(parents=True)
    (folder / "plan.md").write_text("- [ ] my own plan\n")
    (folder / "metadata.json").write_text('{"track_id": "a"}')
    desk.add("a", "one")
    kept = "not written by Interlock, so it is not changed"
    assert desk.write() == [
        f"track files are not written: conductor/tracks/a/{name}: {kept}" for name in ("plan.md", "metadata.json")
    ]
    assert desk.plan("a") == "- [ ] my own plan\n"
    assert (folder / "metadata.json").read_text() == '{"track_id": "a"}'
    assert (folder / "state.toml").exists()


@pytest.mark.parametrize("place", ["conductor", "conductor/tracks", "conductor/tracks/a"])
@pytest.mark.parametrize("kind", ["file", "link", "dangling"])
def test_a_file_or_a_link_where_a_folder_should_be_stops_the_files_and_nothing_else(
    desk: Desk, place: str, kind: str
) -> None:
    spot = desk.root / place
    spot.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "file":
            spot.write_text("x")
        case "link":
            spot.symlink_to(desk.outside)
        case _:
            spot.symlink_to(desk.outside / "not there")
    desk.add("a", "one")
    messages = desk.write()
    assert len(messages) == 1
    assert messages[0].startswith("track files are not written: conductor/tracks")
    assert messages[0].endswith(": not a folder; links are not followed")
    assert list(desk.outside.iterdir()) == []
    spot.unlink()
    assert desk.write() == [], "it is written as soon as possible"
    assert desk.names("a") == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_link_where_a_file_should_be_is_never_followed(desk: Desk, name: str) -> None:
    target = desk.outside / "precious"
    target.write_text("")
    folder = desk.tracks / "a"
    folder.mkdir(parents=True)
    (folder / name).symlink_to(target)
    (folder / f".{name}.new").symlink_to(target)
    desk.add("a", "one")
    messages = desk.write()
    assert (target.read_text(), (folder / name).is_symlink()) == ("", True)
    assert len(messages) == (0 if name == "spec.md" else 1), messages
    assert {*desk.names("a")} >= {*NAMES} - ({"spec.md"} if name == "metadata.json" else set())


def test_pipes_and_folders_in_the_place_of_files_neither_block_nor_break(desk: Desk) -> None:
    folder = desk.tracks / "a"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "plan.md")
    (folder / "state.toml").mkdir()
    (folder / ".metadata.json.new").mkdir()
    desk.add("a", "one")
    assert [words.split(": ")[1] for words in desk.write()] == [
        f"conductor/tracks/a/{name}" for name in ("state.toml", "plan.md", "metadata.json")
    ]


def test_a_file_system_without_hard_links_gets_its_spec_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError("Operation not permitted")

    monkeypatch.setattr(folders.os, "link", no_links)
    desk.add("a", "one")
    assert desk.write() == []
    assert desk.names("a") == NAMES


def test_a_missing_project_folder_is_reported(desk: Desk) -> None:
    desk.add("a", "one")
    writer = TrackWriter(desk.root / "gone", ".")
    assert writer.write(desk.bench.state) == ["track files are not written: .: No such file or directory"]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.parametrize(
    ("options", "reason"), [("size=16k", "No space left on device"), ("ro", "Read-only file system")]
)
def test_a_full_or_read_only_disk_is_reported_and_recovered_later(desk: Desk, options: str, reason: str) -> None:
    desk.tracks.mkdir(parents=True)
    if subprocess.run(("mount", "-t", "tmpfs", "-o", options, "tmpfs", desk.tracks), check=False).returncode:
        pytest.skip("mounting is not possible here")
    try:
        desk.add("a", *(f"ticket-{number}" for number in range(1_000)))
        messages = desk.write()
        assert messages
        assert all(words.endswith(reason) for words in messages), messages
        assert not list(desk.tracks.glob("a/*.new"))
        assert not list(desk.tracks.glob("a/metadata.json")), "no file is marked as current"
        subprocess.run(("mount", "-o", "remount,rw,size=1m", desk.tracks), check=True)
        assert desk.write() == []
        assert desk.names("a") == NAMES
    finally:
        subprocess.run(("umount", desk.tracks), check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_permission_is_reported(desk: Desk) -> None:
    desk.add("a", "one")
    desk.root.chmod(0o500)
    try:
        assert desk.write() == ["track files are not written: conductor/tracks: Permission denied"]
    finally:
        desk.root.chmod(0o700)

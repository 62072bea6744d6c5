"""`.interlock` counts only if this user's Interlock made it in this place."""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.identity.making import make_folder
from interlock.identity.standing import FOLDER, Standing, is_still_own, read_identity, standing_of, twin_file

NOW = "2026-01-01T00:00:00Z"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def made(root: Path, state: Path) -> str:
    return make_folder(root, state, NOW)


def git(root: Path, *words: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    names = ("-c", "user.name=Ann", "-c", "user.email=ann@localhost", "-c", "init.defaultBranch=main")
    subprocess.run(("git", *names, *words), cwd=root, env=env, check=True, capture_output=True)


def test_a_folder_without_interlock_is_no_project_yet(root: Path, state: Path) -> None:
    assert standing_of(root, state) == Standing("none", str(root))
    (root / FOLDER).mkdir()
    assert standing_of(root, state).kind == "none", "an empty folder holds nothing that could count"


def test_a_folder_that_was_made_here_counts(root: Path, state: Path) -> None:
    name = made(root, state)
    assert standing_of(root, state) == Standing("own", str(root), "", name, str(root))
    twin = json.loads(twin_file(state, name).read_text())
    status = (root / FOLDER).stat()
    assert twin == {
        "id": name,
        "place": str(root),
        "device": status.st_dev,
        "inode": status.st_ino,
        "made_at": NOW,
    }
    assert [oct(path.stat().st_mode & 0o777) for path in (twin_file(state, name), root / FOLDER / "identity")] == [
        "0o600",
        "0o600",
    ]
    assert is_still_own(root, name)


def test_a_place_that_is_reached_through_a_link_is_the_same_place(root: Path, state: Path, tmp_path: Path) -> None:
    made(root, state)
    (tmp_path / "link").symlink_to(root)
    assert standing_of(tmp_path / "link", state).kind == "own"


def test_a_taken_name_is_not_replaced_and_nothing_is_left(root: Path, state: Path) -> None:
    (root / FOLDER).mkdir()
    (root / FOLDER / "journal.db").write_text("x")
    with pytest.raises(FileExistsError):
        made(root, state)
    assert [path.name for path in root.iterdir()] == [FOLDER]
    assert list((state / "projects").iterdir()) == []


def test_a_folder_without_identity_or_twin_does_not_count(root: Path, state: Path) -> None:
    name = made(root, state)
    twin_file(state, name).unlink()
    unknown = standing_of(root, state)
    assert (unknown.kind, unknown.counts) == ("foreign", False)
    assert "'interlock adopt'" in unknown.sentence
    (root / FOLDER / "identity").unlink()
    assert standing_of(root, state).kind == "foreign"


@pytest.mark.parametrize("content", ["", "../../x", "A" * 32, "0" * 31, "0" * 33, "\0" * 32, "0" * 32 + "\nmore"])
def test_an_identity_is_exactly_one_id(root: Path, state: Path, content: str) -> None:
    made(root, state)
    (root / FOLDER / "identity").write_text(content)
    assert standing_of(root, state).kind == "foreign"
    assert read_identity(root / FOLDER) == ""


@pytest.mark.parametrize("twin", ["", "[]", "{}", '{"id": "x", "place": "/"}', "[" * 100_000, '{"id": ID, "place": 1}'])
def test_a_damaged_twin_is_no_twin(root: Path, state: Path, twin: str) -> None:
    name = made(root, state)
    twin_file(state, name).write_text(twin.replace("ID", f'"{name}"'))
    assert standing_of(root, state).kind == "foreign"


def test_a_copy_and_a_moved_folder_are_recognised(root: Path, state: Path, tmp_path: Path) -> None:
    name = made(root, state)
    copy = Path(shutil.copytree(root, tmp_path / "copy"))
    assert (standing_of(copy, state).kind, standing_of(copy, state).place) == ("copied", str(root))
    assert f"a copy of {root}" in standing_of(copy, state).sentence
    shutil.rmtree(root)
    moved = standing_of(copy, state)
    assert (moved.kind, moved.place, moved.id) == ("moved", str(root), name)
    assert "'interlock adopt' continues it here" in moved.sentence


def link_instead(root: Path) -> None:
    (root / FOLDER).rename(root / "real")
    (root / FOLDER).symlink_to(root / "real")


def dangling_link(root: Path) -> None:
    shutil.rmtree(root / FOLDER)
    (root / FOLDER).symlink_to("/nowhere/at/all")


def file_instead(root: Path) -> None:
    shutil.rmtree(root / FOLDER)
    (root / FOLDER).write_text("x")


def link_at(name: str) -> Callable[[Path], None]:
    def make(root: Path) -> None:
        path = root / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(root)

    return make


def fifo(root: Path) -> None:
    os.mkfifo(root / FOLDER / "journal.db")


def socket_in_blobs(root: Path) -> None:
    (root / FOLDER / "blobs").mkdir()
    here = os.open(root / FOLDER / "blobs", os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{here}/s")
    os.close(here)


def hard_link(root: Path) -> None:
    (root / "mine").write_text("mine")
    os.link(root / "mine", root / FOLDER / "journal.head")


def open_to_all(root: Path) -> None:
    (root / FOLDER).chmod(0o777)


def open_inside(root: Path) -> None:
    (root / FOLDER).chmod(0o755)
    (root / FOLDER / "journal.db").write_text("")
    (root / FOLDER / "journal.db").chmod(0o666)


def nested(root: Path) -> None:
    (root / FOLDER / "/".join("abcdefghijklmnop")).mkdir(parents=True)


def tracked(root: Path) -> None:
    (root / FOLDER / ".gitignore").unlink()
    git(root, "init", "-q")
    git(root, "add", "-A")


UNSAFE: dict[str, tuple[Callable[[Path], None], str]] = {
    "the folder is a link": (link_instead, "it is a link to"),
    "the folder is a link to nothing": (dangling_link, "it is a link to /nowhere"),
    "the folder is a file": (file_instead, "it is not a folder"),
    "the journal is a link": (link_at("journal.db"), ".interlock/journal.db is a link"),
    "the logs are a link": (link_at("logs"), ".interlock/logs is a link"),
    "the sessions are a link": (link_at("logs/sessions"), ".interlock/logs/sessions is a link"),
    "the scripts are a link": (link_at("scripts/generated"), ".interlock/scripts/generated is a link"),
    "the artifacts are a link": (link_at("artifacts"), ".interlock/artifacts is a link"),
    "a blob is a link": (link_at("blobs/" + "0" * 64), "is a link"),
    "the exclude file is a link": (link_at("private.git/info/exclude"), "private.git/info/exclude is a link"),
    "the objects are a link": (link_at("private.git/objects/ab"), "private.git/objects/ab is a link"),
    "the run folder is a link": (link_at("run"), ".interlock/run is a link"),
    "the lock is a link": (link_at("lock"), ".interlock/lock is a link"),
    "the landing is a link": (link_at("landing"), ".interlock/landing is a link"),
    "a folder of the landing is a link": (link_at("landing/token"), ".interlock/landing/token is a link"),
    "a folder of the rollback is a link": (link_at("rollback/token"), ".interlock/rollback/token is a link"),
    "the journal is a FIFO": (fifo, "neither a file nor a folder"),
    "a blob is a socket": (socket_in_blobs, "neither a file nor a folder"),
    "the head has a second name": (hard_link, "a hard link"),
    "others can write the folder": (open_to_all, "other users can write .interlock (mode 777)"),
    "others can write the journal": (open_inside, "other users can write .interlock/journal.db"),
    "folders are nested too deeply": (nested, "nested too deeply"),
    "git tracks it": (tracked, "git tracks .interlock/"),
}


@pytest.mark.parametrize("case", UNSAFE)
def test_an_own_folder_that_is_unsafe_does_not_count(root: Path, state: Path, case: str) -> None:
    made(root, state)
    make, found = UNSAFE[case]
    make(root)
    standing = standing_of(root, state)
    assert (standing.kind, found in standing.found) == ("unsafe", True), standing


def test_modes_inside_a_folder_that_others_cannot_enter_do_not_matter(root: Path, state: Path) -> None:
    made(root, state)
    (root / FOLDER / "logs").mkdir()
    (root / FOLDER / "logs").chmod(0o775)
    assert standing_of(root, state).kind == "own"


@pytest.mark.parametrize("folder", ["landing", "rollback"])
def test_files_that_a_killed_landing_left_may_be_links_or_lie_deep(root: Path, state: Path, folder: str) -> None:
    made(root, state)
    link_at(f"{folder}/token/new/link")(root)
    (root / FOLDER / folder / "token" / "new" / "/".join("abcdefghijklmnop")).mkdir(parents=True)
    assert standing_of(root, state).kind == "own"


def test_files_of_another_user_do_not_count(root: Path, state: Path) -> None:
    made(root, state)
    (root / FOLDER / "journal.db").write_text("")
    try:
        os.chown(root / FOLDER / "journal.db", 12345, 12345)
    except PermissionError:
        pytest.skip("only a capable root can give files away")
    assert standing_of(root, state).found == ".interlock/journal.db belongs to another user"
    os.chown(root / FOLDER, 12345, 12345)
    assert standing_of(root, state).found == ".interlock belongs to another user"


def test_a_name_that_is_no_text_is_reported_as_text(root: Path, state: Path) -> None:
    made(root, state)
    os.symlink("x", os.fsencode(root / FOLDER) + b"/\xff\x1b[31m")
    assert standing_of(root, state).sentence.encode()


def test_ten_thousand_blobs_are_checked_quickly(root: Path, state: Path) -> None:
    """Counts system calls by their effect: only the types of the entries are read, no file is opened."""
    made(root, state)
    blobs = root / FOLDER / "blobs"
    blobs.mkdir()
    for number in range(10_000):
        os.close(os.open(blobs / f"{number:064x}", os.O_CREAT | os.O_WRONLY, 0o600))
    times: list[float] = []
    for _ in range(5):
        begun = time.process_time()
        assert standing_of(root, state).kind == "own"
        times.append(time.process_time() - begun)
    assert min(times) < 0.2, times  # about 0.01 on a quiet machine; the limit only finds a stat per blob

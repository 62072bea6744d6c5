"""No spelling of a path and no concurrent change leads a tool out of its folder or to a refused name.

All tests run with openat2 and with its fallback, the walk.
"""

import contextlib
import errno
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from interlock.domain.checks.closed_names import ClosedNames
from interlock.errors import ToolFailure
from interlock.tools.files import files, paths
from interlock.tools.files.beneath import Opener, best_opener, by_openat2, by_walking
from interlock.tools.files.paths import Root
from interlock.tools.files.walking import Walk
from interlock.tools.reads import searching
from tests.tools.desk import Desk

OPENERS: dict[str, Opener] = {"openat2": by_openat2, "walking": by_walking}
SECRET = b"outside"


class Scene:
    """A worktree with files, and a secret file outside."""

    def __init__(self, folder: Path, opener: Opener) -> None:
        self.opener = opener
        self.outside = folder / "outside"
        self.inside = folder / "worktree"
        for place, text in ((self.outside, SECRET), (self.inside / "sub", b"inside")):
            place.mkdir(parents=True)
            (place / "file").write_bytes(text)
        (self.inside / "top").write_bytes(b"top")

    def read(self, path: str) -> bytes:
        with Root(str(self.inside), ClosedNames(), self.opener) as root:
            return files.read(root, path).data

    def write(self, path: str, data: bytes = b"written") -> None:
        with Root(str(self.inside), ClosedNames(), self.opener) as root:
            files.write(root, path, data)

    def denied(self, path: str) -> None:
        """Checks that reading and writing are denied."""
        for attempt in (self.read, self.write):
            with pytest.raises(ToolFailure, match=r"^ACCESS DENIED: "):
                attempt(path)
        self.is_unharmed()

    def is_unharmed(self) -> None:
        assert {file.name: file.read_bytes() for file in self.outside.iterdir()} == {"file": SECRET}


@pytest.fixture(params=OPENERS)
def opener(request: pytest.FixtureRequest) -> Opener:
    if request.param == "openat2" and best_opener() is not by_openat2:
        pytest.skip("this kernel has no openat2")
    return OPENERS[request.param]


@pytest.fixture
def scene(tmp_path: Path, opener: Opener) -> Scene:
    return Scene(tmp_path, opener)


@pytest.fixture
def desk(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(paths, "_opener", scene.opener)
    return Desk(scene.inside)


# ── spelling ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../outside/file",
        "sub/../../outside/file",
        "sub/../../worktree/../outside/file",
        "./.././outside/file",
        "missing/../../outside/file",
        "sub//..//..//outside//file",
        "/etc/passwd",
        "//etc/passwd",
        "/",
        "/proc/self/cwd/top",
        "/proc/self/root/etc/passwd",
        "/dev/stdin",
        "top\0.txt",
        "\0",
        "\ud800",
    ],
)
def test_a_path_that_leads_out_is_denied(scene: Scene, path: str) -> None:
    scene.denied(path)


def test_an_absolute_path_into_the_folder_is_the_same_as_a_relative_one(scene: Scene) -> None:
    assert scene.read(f"{scene.inside}/sub/file") == b"inside"
    assert scene.read(f"/{scene.inside}//sub/./file") == b"inside"


@pytest.mark.parametrize("rest", ["../outside/file", "sub/../../outside/file", "/../outside/file"])
def test_an_absolute_path_through_the_folder_and_out_again_is_denied(scene: Scene, rest: str) -> None:
    scene.denied(f"{scene.inside}/{rest}")
    scene.denied(f"{scene.inside}-not/file")


def test_detours_inside_are_fine(scene: Scene) -> None:
    assert scene.read("./sub/.././sub//file") == b"inside"


@pytest.mark.parametrize("path", ["", " ", "sub/", "sub", ".", "top/", "top/file", "missing", "x" * 300, "a/" * 150])
def test_a_path_that_names_no_file_is_refused_in_a_sentence(scene: Scene, path: str) -> None:
    with pytest.raises(ToolFailure, match=r"\.$"):
        scene.read(path)


@pytest.mark.parametrize("path", ["", " ", "sub/", "sub", ".", "top/", "top/file", "x" * 300, "a/" * 300 + "b"])
def test_a_path_where_no_file_can_be_is_not_written(scene: Scene, path: str) -> None:
    with pytest.raises(ToolFailure, match=r"\.$"):
        scene.write(path)
    assert sorted(os.listdir(scene.inside)) == ["sub", "top"]


def test_a_folder_that_is_gone_is_a_failure_of_the_tool(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match="worktree cannot be opened"):
        Root(str(tmp_path / "gone"), ClosedNames())


def test_the_walk_takes_names_only(scene: Scene) -> None:
    fd = os.open(scene.inside, os.O_PATH)
    try:
        for names in (("..",), ("sub", "..", ".."), ("sub/file",), ("",)):
            with pytest.raises(OSError) as raised:
                by_walking(fd, names, os.O_RDONLY)
            assert raised.value.errno == errno.EXDEV
    finally:
        os.close(fd)


@given(st.lists(st.sampled_from(["..", ".", "", "sub", "file", "out", "in", "top", "worktree", "/"]), max_size=8))
@example(["out", "..", "file"])
def test_no_spelling_reads_what_is_outside(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    for opener in OPENERS.values():
        scene = Scene(tmp_path_factory.mktemp("scene"), opener)
        (scene.inside / "out").symlink_to("../outside")
        (scene.inside / "in").symlink_to("sub")
        for path in ("/".join(parts), f"{scene.inside}/{'/'.join(parts)}"):
            try:
                assert scene.read(path) in (b"inside", b"top")
            except ToolFailure:
                continue


# ── links ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "target",
    ["../outside/file", "sub/../../outside/file", "/etc/passwd", "/proc/self/root/etc/passwd", "/proc/self/environ"],
)
def test_a_link_to_a_file_outside_is_denied(scene: Scene, target: str) -> None:
    (scene.inside / "link").symlink_to(target)
    scene.denied("link")


@pytest.mark.parametrize("target", ["../outside", "..", "/", "/proc/self/cwd", "sub/../../outside"])
def test_a_link_to_a_folder_outside_is_denied(scene: Scene, target: str) -> None:
    (scene.inside / "link").symlink_to(target)
    scene.denied("link/file")
    scene.denied("link/sub/new")


def test_a_link_to_a_link_outside_is_denied(scene: Scene) -> None:
    (scene.inside / "first").symlink_to("sub/second")
    (scene.inside / "sub" / "second").symlink_to("../../outside/file")
    scene.denied("first")


def test_links_that_stay_inside_are_followed(scene: Scene) -> None:
    (scene.inside / "link").symlink_to("sub/back")
    (scene.inside / "sub" / "back").symlink_to("../sub/file")
    (scene.inside / "absolute").symlink_to(scene.inside / "sub")
    assert [scene.read("link"), scene.read("absolute/file")] == [b"inside", b"inside"]
    scene.write("link")
    assert (scene.inside / "sub" / "file").read_bytes() == b"written"
    assert (scene.inside / "link").is_symlink()


def test_links_in_a_circle_are_denied(scene: Scene) -> None:
    (scene.inside / "a").symlink_to("b")
    (scene.inside / "b").symlink_to("a")
    (scene.inside / "self").symlink_to("self/self")
    scene.denied("a")
    scene.denied("self")


def test_writing_through_a_link_to_nothing_makes_the_file_only_inside(scene: Scene) -> None:
    (scene.inside / "in").symlink_to("sub/new")
    (scene.inside / "out").symlink_to("../outside/new")
    scene.write("in")
    assert (scene.inside / "sub" / "new").read_bytes() == b"written"
    scene.denied("out")


def test_writing_a_file_that_has_another_name_outside_leaves_that_one_alone(scene: Scene) -> None:
    os.link(scene.outside / "file", scene.inside / "hard")
    scene.write("hard")
    assert (scene.inside / "hard").read_bytes() == b"written"
    scene.is_unharmed()


def test_a_link_to_a_refused_name_is_denied(scene: Scene) -> None:
    (scene.inside / ".env").write_bytes(SECRET)
    (scene.inside / ".git").mkdir()
    (scene.inside / ".git" / "config").write_bytes(b"git")
    (scene.inside / "harmless").symlink_to(".env")
    (scene.inside / "folder").symlink_to(".git")
    scene.denied("harmless")
    scene.denied("folder/config")
    assert (scene.inside / ".git" / "config").read_bytes() == b"git"


# ── names ────────────────────────────────────────────────────────────────────────────────

REFUSED = """
    .git .git/config sub/.git/hooks/pre-commit .interlock .interlock/journal.db .interlock-x interlock.toml history.toml
    my_history.toml .env .env.local .envrc sub/.env.production server.pem server.key sub/id_rsa id_rsa.pub
    id_ed25519 id_ecdsa_sk credentials credentials.json .aws/credentials .aws/config .ssh/config .netrc .npmrc .pypirc
    .git-credentials client_secret_1.json service-account.json secrets.yaml keys.p12 store.jks .gnupg/x .kube/config
    .GIT/config .Git .ENV .Env.local HISTORY.TOML Interlock.toml ID_RSA x.PEM .git. .env.\u200b .g\u200dit/config
    \uff0egit/config .docker/config.json gcp-credentials.json
"""


@pytest.mark.parametrize("path", REFUSED.split())
def test_secrets_and_files_of_interlock_are_denied_by_name(scene: Scene, path: str) -> None:
    file = scene.inside / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.is_dir():
        file.write_bytes(SECRET)
    scene.denied(path)


@pytest.mark.parametrize("path", [".env", ".git/config", "sub/.env", "x.key"])
def test_they_are_denied_also_when_they_do_not_exist(scene: Scene, path: str) -> None:
    scene.denied(path)


@pytest.mark.parametrize(
    "path",
    [
        *(".gitignore", ".github/workflows/ci.yml", "environment.py", "src/credentials.py", "credentials/mod.rs"),
        *("keys.py", "history.py", "secrets.py", "monkey.txt", "a.envelope", "docs/interlock.md", "x.key/readme"),
    ],
)
def test_names_that_only_look_alike_are_fine(path: str) -> None:
    assert ClosedNames().refusal(tuple(path.split("/"))) is None


def test_tools_neither_search_nor_find_what_they_may_not_open(desk: Desk) -> None:
    for path in (".env", ".git/config", ".interlock/x", "sub/server.key", "sub/ok"):
        desk.put(path, "needle")
    assert desk.does("grep", pattern="needle") == "sub/ok:1: needle"
    assert desk.does("search_files", pattern="**") == "sub/file\nsub/ok\ntop"
    assert desk.does("list_directory").splitlines() == [
        ".env  6 bytes  [no access]",
        ".git/  [no access]",
        ".interlock/  [no access]",
        "sub/",
        "top  3 bytes",
    ]


@pytest.mark.parametrize("path", ["..", "/etc", "out", "out/..", ".git", ".interlock"])
def test_no_folder_outside_is_listed_or_searched(desk: Desk, path: str) -> None:
    (desk.folder / "out").symlink_to("../outside")
    desk.put(".git/config", "x")
    desk.put(".interlock/config", "x")
    for tool, more in (("list_directory", {}), ("search_files", {"pattern": "*"}), ("grep", {"pattern": "x"})):
        assert desk.refuses(tool, path=path, **more).startswith("ACCESS DENIED: ")


def test_searching_does_not_follow_links(desk: Desk) -> None:
    (desk.folder / "out").symlink_to("../outside")
    (desk.folder / "out-file").symlink_to("../outside/file")
    assert desk.does("grep", pattern="outside") == "No line matches."
    assert desk.does("search_files", pattern="*file") == "out-file\nsub/file"


# ── special files ───────────────────────────────────────────────────────────────────────


def test_pipes_sockets_and_folders_are_refused_at_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(scene.inside / "pipe")
    monkeypatch.chdir(scene.inside)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for path in ("pipe", "socket", "sub"):
            for attempt in (scene.read, scene.write):
                with pytest.raises(ToolFailure, match=r"is (not a plain file|a \w+( \w+)?, not a plain file|a folder)"):
                    attempt(path)


def test_searching_passes_over_pipes(desk: Desk) -> None:
    os.mkfifo(desk.folder / "pipe")
    assert desk.does("grep", pattern="top") == "top:1: top"
    assert desk.does("grep", pattern="top", path="pipe") == "No line matches."


def test_no_more_of_a_huge_file_is_read_than_can_be_held(desk: Desk) -> None:
    with open(desk.put("huge", "first\n"), "r+b") as file:
        file.truncate(1 << 40)  # a sparse terabyte
    assert "binary file of 1,099,511,627,776 bytes" in desk.refuses("read_file", path="huge")
    assert "are not edited" in desk.refuses("edit_file", path="huge", old_string="first", new_string="x")


def test_no_descriptor_is_left_open(scene: Scene) -> None:
    (scene.inside / "link").symlink_to("sub")
    (scene.inside / "out").symlink_to("../outside")
    before = os.listdir("/proc/self/fd")
    for path in ("top", "link/file", "out/file", "missing", "sub", "new/folder/file", "top/x", ".env", "../x", "\0"):
        with contextlib.suppress(ToolFailure):
            scene.read(path)
        with contextlib.suppress(ToolFailure):
            scene.write(path)
        with Root(str(scene.inside), ClosedNames(), scene.opener) as root, contextlib.suppress(ToolFailure):
            list(Walk(root, path))
    assert os.listdir("/proc/self/fd") == before


# ── races ────────────────────────────────────────────────────────────────────────────────

# Swaps a folder with a link to a folder outside, and a file with a link, as fast as possible.
SWAPPER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def exchange(one, other):
    if libc.renameat2(-100, one, -100, other, 2):
        raise OSError(ctypes.get_errno(), "renameat2")
os.chdir(sys.argv[1])
os.symlink("../outside", "folder-link")
os.symlink("../outside/file", "file-link")
while True:
    exchange(b"swapped", b"folder-link")
    exchange(b"file", b"file-link")
    for target in ("sub", "../outside"):
        os.symlink(target, "new")
        os.rename("new", "link")
"""
RACING = ("swapped/file", "swapped/deep/file", "file", "link/file", "link/../swapped/file")


class Race:
    """Reads and writes while the swapper runs, and records the results."""

    def __init__(self, scene: Scene, times: int) -> None:
        (scene.inside / "swapped" / "deep").mkdir(parents=True)
        for path in ("swapped/file", "swapped/deep/file", "file"):
            (scene.inside / path).write_bytes(b"inside")
        (scene.inside / "link").symlink_to("sub")
        (scene.outside / "deep").mkdir()
        (scene.outside / "deep" / "file").write_bytes(SECRET)
        self.read: set[bytes] = set()
        self.done = self.denied = 0
        with subprocess.Popen([sys.executable, "-c", SWAPPER, str(scene.inside)]) as swapper:
            for path in islice(cycle(RACING), times):
                try:
                    self.read.add(scene.read(path))
                    scene.write(path.replace("file", "made"), b"made")
                    self.done += 1
                except ToolFailure as failure:
                    self.denied += str(failure).startswith("ACCESS DENIED")
            assert swapper.poll() is None, "the swapper has ended too early"
            swapper.kill()
        self.outside = sorted(str(path.relative_to(scene.outside)) for path in scene.outside.rglob("*"))

    def was_won(self) -> None:
        assert self.read == {b"inside"}
        assert self.outside == ["deep", "deep/file", "file"]
        assert min(self.done, self.denied) > 50, "nothing was swapped at the right moment"


def test_links_swapped_during_the_call_never_lead_out(scene: Scene) -> None:
    Race(scene, 5_000).was_won()


@pytest.mark.soak
def test_links_swapped_during_the_call_never_lead_out_for_long(scene: Scene) -> None:
    Race(scene, 50_000).was_won()


@pytest.mark.soak
def test_the_race_finds_an_opener_that_looks_first_and_opens_then(tmp_path: Path) -> None:
    def looks_first(folder: int, names: Sequence[str], flags: int) -> int:
        path = f"{os.readlink(f'/proc/self/fd/{folder}')}/{'/'.join(names)}"
        if not os.path.realpath(path).startswith(str(tmp_path / "worktree")):
            raise OSError(errno.EXDEV, "outside")
        return os.open(path, flags)

    assert SECRET in Race(Scene(tmp_path, looks_first), 50_000).read


def test_grep_does_not_follow_a_folder_that_becomes_a_link_after_it_was_chosen(
    desk: Desk, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Swaps the folder between the selection of the files and their opening."""
    choose = searching._candidates

    def and_swap(opened: Root, args: searching.Grep) -> tuple[list[paths.Parts], list[str]]:
        chosen = choose(opened, args)
        os.rename(scene.inside / "sub", scene.inside / "aside")
        (scene.inside / "sub").symlink_to("../outside")
        return chosen

    monkeypatch.setattr(searching, "_candidates", and_swap)
    assert desk.does("grep", pattern="outside|top") == "top:1: top"

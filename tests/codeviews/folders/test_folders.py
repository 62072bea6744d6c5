"""Finding files: compared with git itself, and in folders with pipes, loops and broken links."""

import os
import socket
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.codeviews.folders import read_file
from interlock.codeviews.folders.read_file import LIMIT
from interlock.codeviews.folders.walk import FoundFile, find
from interlock.domain.checks.closed_names import ClosedNames

IGNORES = {
    ".gitignore": "\n".join(
        [
            "# a comment",
            "*.log",
            "!keep.log",
            "/build",
            "out/",
            "docs/**/*.tmp",
            "**/cache",
            "a/**",
            "!a/keep/",
            "\\#odd",
            "\\!odd",
            "trailing   ",
            "space\\ ",
            "[ab]?.x",
            "[!c]1.y",
            "*.[oa]",
            "deep/*/end",
            "/rooted/*.z",
            "mid**dle",
            "[broken",
            "name/",
        ]
    ),
    "sub/.gitignore": "!x.log\n*.txt\n/only\n",
    "sub/inner/.gitignore": "!*.txt\n",
}
FILES = [
    "x.log",
    "keep.log",
    "build/f",
    "sub/build/f",
    "out/f",
    "sub/out",
    "out2/f",
    "docs/a.tmp",
    "docs/d/e/a.tmp",
    "docs2/a.tmp",
    "cache",
    "q/cache/f",
    "a/b/c",
    "a/keep/f",
    "#odd",
    "!odd",
    "trailing",
    "sp",
    "space",
    "ab.x",
    "cb.x",
    "a1.y",
    "c1.y",
    "f.o",
    "f.a",
    "f.oa",
    "deep/1/end/f",
    "deep/1/2/end",
    "rooted/a.z",
    "rooted/b/a.z",
    "mid1dle",
    "midXdle/f",
    "[broken",
    "name",
    "sub/name/f",
    "sub/x.log",
    "sub/y.log",
    "sub/t.txt",
    "sub/only",
    "sub/inner/t.txt",
    "sub/inner/only",
    "sub/inner/deep/t.txt",
    "ok.py",
    "sub/ok.py",
    "ünïcode.py",
]


def build(root: Path) -> None:
    for name, text in IGNORES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name in [*FILES, "space "]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "exclude").write_text("*.y\n")


def wanted_by_git(root: Path, below: str = ".") -> set[str]:
    listed = subprocess.run(
        ["git", "-c", "core.excludesFile=/dev/null", "ls-files", "-z", "--others", "--exclude-standard", "--", below],
        cwd=root,
        capture_output=True,
        check=True,
    )
    return set(filter(None, listed.stdout.decode().split("\0")))


def names(root: Path, below: str = ".") -> set[str]:
    return {os.path.relpath(file.path, root) for file in find([str(root / below)], ClosedNames())}


@pytest.mark.parametrize("below", [".", "sub", "sub/inner", "docs"])
def test_files_that_git_ignores_are_not_found(tmp_path: Path, below: str) -> None:
    build(tmp_path)
    assert names(tmp_path, below) == wanted_by_git(tmp_path, below)


NAMES = ["a", "b", "ab", "a.c", "ä", "[a]", "a b", "!n", "#h", "a\\b", "A", "x]", "-"]
PIECES = [
    "a",
    "b",
    "*",
    "**",
    "***",
    "?",
    "[ab]",
    "[!a]",
    "[a-c]",
    "\\a",
    "\\*",
    "ä",
    "[a",
    "[]a]",
    "[[:alpha:]]",
    "[[:no:]]",
    "[a-]",
    "[\\]]",
    "[z-a]",
    "[\\a-c]",
    "[!-b]",
    "[/]",
    "\\",
    " ",
    "\\ ",
    "[[:upper:]b]",
    "[^[:lower:]]",
    "\x0c",
    ".",
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(
        st.tuples(
            st.sampled_from(["", "", "!", "/", "!/", "#"]),
            st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join), min_size=1, max_size=3),
            st.sampled_from(["", "", "/", "//", " ", "\t"]),
        ),
        max_size=5,
    ),
    mark=st.sampled_from(["", "", "\ufeff"]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_any_pattern_means_what_it_means_to_git(
    tmp_path: Path, lines: list[tuple[str, list[str], str]], mark: str, ending: str
) -> None:
    if not (tmp_path / ".git").exists():
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
        for outer in NAMES:
            (tmp_path / outer / "b").mkdir(parents=True)
            for name in NAMES:
                (tmp_path / outer / "b" / name).write_text("x\n")
    text = mark + "".join(before + "/".join(parts) + after + ending for before, parts, after in lines)
    (tmp_path / ".gitignore").write_bytes(text.encode())
    assert names(tmp_path) == wanted_by_git(tmp_path)


def test_an_ignored_folder_is_shown_when_it_is_named(tmp_path: Path) -> None:
    build(tmp_path)
    assert names(tmp_path, "build") == {"build/f"}


def test_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.py", "b/c.py", "b/d/e.py", "b/f.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    monkeypatch.chdir(tmp_path)

    def matched(pattern: str) -> list[str]:
        return [file.path for file in find([pattern], ClosedNames())]

    assert matched("**/*.py") == ["a.py", "b/c.py", "b/d/e.py"]
    assert matched("*.py") == ["a.py"]
    assert matched("b/*.py") == ["b/c.py"]
    assert matched("b/*") == ["b/c.py", "b/d/e.py", "b/f.txt"]
    assert matched("[ab]*/d") == ["b/d/e.py"]
    assert matched(f"{tmp_path}/b/**/e.py") == [f"{tmp_path}/b/d/e.py"]
    assert list(find(["*.no"], ClosedNames())) == [FoundFile("*.no", "nothing matches it", asked=True)]
    assert [file.path for file in find(["a.py", "a.py", "./a.py", "."], ClosedNames())] == [
        "a.py",
        "./b/c.py",
        "./b/d/e.py",
        "./b/f.txt",
    ]


def test_every_trap_is_named_and_none_is_stepped_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fine.py").write_text("x = 1\n")
    (tmp_path / "binary").write_bytes(b"\x7fELF\0\0")
    (tmp_path / ".env.local").write_text("KEY=1\n")
    (tmp_path / "server.pem").write_text("x\n")
    (tmp_path / "note.txt").write_text("-----BEGIN RSA PRIVATE KEY-----\nx\n")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "around").symlink_to("around")
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "huge.py", "wb") as file:
        file.truncate(LIMIT)
    listener = socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(tmp_path)  # a socket path must be short
    listener.bind("sock")
    listener.close()
    contents = {os.path.basename(entry.path): was_read(entry) for entry in find([str(tmp_path)], ClosedNames())}
    assert contents == {
        "fine.py": b"x = 1\n",
        "binary": "a binary file",
        ".env.local": "it may hold secrets",
        "server.pem": "it may hold secrets",
        "note.txt": "it holds a private key",
        "loop": "a link, not followed",
        "dangling": "a link, not followed",
        "around": "a link, not followed",
        "pipe": "a FIFO, not a file",
        "huge.py": "larger than 50 MB",
        "sock": "a socket, not a file",
    }


def was_read(file: FoundFile) -> bytes | str:
    content, reason = read_file.read(file)
    return reason or content


def test_named_paths_are_opened_with_the_same_checks(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "around").symlink_to("around")
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")

    def read_all(path: str) -> list[bytes | str]:
        return [was_read(file) for file in find([path], ClosedNames())]

    assert read_all(str(tmp_path / "pipe")) == ["a FIFO, not a file"]
    assert read_all(str(tmp_path / "around")) == ["Too many levels of symbolic links"]
    assert read_all(str(tmp_path / "nowhere")) == ["No such file or directory"]
    assert read_all(str(tmp_path / "link")) == [b"x"]
    assert read_all("/dev/zero") == ["a device, not a file"]
    assert read_all("/proc/self/mem") != []
    assert read_all("a\0b") == ["embedded null byte"]


def test_a_file_that_changes_between_finding_and_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x")
    (file,) = find([str(tmp_path)], ClosedNames())
    path.unlink()
    assert was_read(file) == "it is gone"
    os.mkfifo(path)
    assert was_read(file) == "a FIFO, not a file"
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert was_read(file) == "Too many levels of symbolic links"


def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    if os.access(tmp_path / "closed", os.R_OK):
        pytest.skip("this user may read everything")
    assert list(find([str(tmp_path)], ClosedNames())) == [FoundFile(str(tmp_path / "closed"), "Permission denied")]


def test_a_very_deep_folder(tmp_path: Path) -> None:
    path = tmp_path
    for _ in range(300):
        path = path / "d"
    path.mkdir(parents=True)
    (path / "a.py").write_text("x")
    assert len(list(find([str(tmp_path)], ClosedNames()))) == 1

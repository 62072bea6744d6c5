"""list_directory and search_files."""

import time

import pytest

from interlock.tools.files import walking
from tests.tools.desk import Desk


def test_a_folder_is_listed_in_order_with_sizes(desk: Desk) -> None:
    desk.put("b.txt", "x" * 1_234)
    desk.put("a/file", "")
    desk.put(".hidden", "x")
    desk.put("new\nline", "")
    (desk.folder / "link").symlink_to("b.txt")
    assert desk.does("list_directory").splitlines() == [
        ".hidden  1 bytes",
        "a/",
        "b.txt  1,234 bytes",
        "link  [link]",
        '"new\\nline"  0 bytes',
    ]
    assert desk.does("list_directory", path="a") == "file  0 bytes"
    assert desk.does("list_directory", path="a/") == "file  0 bytes"


def test_an_empty_folder_is_reported_as_empty(desk: Desk) -> None:
    assert desk.does("list_directory") == "[. is empty]"
    assert desk.does("list_directory", path=None) == "[. is empty]"


@pytest.mark.parametrize(("path", "message"), [("file", "is not a folder"), ("missing", "There is no 'missing'.")])
def test_only_a_folder_is_listed(desk: Desk, path: str, message: str) -> None:
    desk.put("file", "")
    assert message in desk.refuses("list_directory", path=path)


def test_a_full_folder_is_listed_in_part(desk: Desk) -> None:
    for number in range(1_200):
        desk.put(f"file-{number:04}", "")
    rows = desk.does("list_directory").splitlines()
    assert len(rows) == 1_001
    assert rows[-2:] == ["file-0999  0 bytes", "[… 200 more, not shown]"]
    assert desk.does("search_files", pattern="file-*").splitlines()[-1] == "[… 200 more, not shown]"


def test_long_names_do_not_make_the_text_too_long(desk: Desk) -> None:
    for number in range(400):
        desk.put(f"{number:04}{'x' * 200}", "")
    for text in (desk.does("list_directory"), desk.does("search_files", pattern="*")):
        assert len(text) <= 40_000
        assert " more, not shown]" in text


FILES = ("a.py", "src/b.py", "src/deep/c.py", "src/deep/d.ts", "src/deep/[x].py", "docs/a.md", "src/B.PY")


@pytest.mark.parametrize(
    ("pattern", "listing"),
    [
        ("*.py", "a.py src/b.py src/deep/[x].py src/deep/c.py"),
        ("b.py", "src/b.py"),
        ("src/*.py", "src/b.py"),
        ("./src/*.py", "src/b.py"),
        ("src/**/*.py", "src/b.py src/deep/[x].py src/deep/c.py"),
        ("**/deep/*", "src/deep/[x].py src/deep/c.py src/deep/d.ts"),
        ("**/*.{ts,md}", "docs/a.md src/deep/d.ts"),
        ("{docs,src}/?.*", "docs/a.md src/B.PY src/b.py"),
        ("[ab].py", "a.py src/b.py"),
        ("[[]x].py", "src/deep/[x].py"),
        ("docs/", "docs/a.md"),
        ("/docs/*", "docs/a.md"),
        ("**", "a.py docs/a.md src/B.PY src/b.py src/deep/[x].py src/deep/c.py src/deep/d.ts"),
        ("**/**/**/c.py", "src/deep/c.py"),
    ],
)
def test_files_are_found_by_pattern(desk: Desk, pattern: str, listing: str) -> None:
    for path in FILES:
        desk.put(path, "")
    assert desk.does("search_files", pattern=pattern).split() == listing.split()


def test_patterns_are_relative_to_the_path(desk: Desk) -> None:
    for path in FILES:
        desk.put(path, "")
    assert desk.does("search_files", pattern="deep/*.py", path="src") == "src/deep/[x].py\nsrc/deep/c.py"


def test_a_search_without_matches_is_reported(desk: Desk) -> None:
    assert desk.does("search_files", pattern="*.rs") == "No file fits '*.rs'."


@pytest.mark.parametrize(
    ("pattern", "message"), [("", "1 to 500"), ("x" * 501, "1 to 500"), ("{a,b}" * 7, "more than 100 others")]
)
def test_a_pattern_that_is_too_much_is_refused(desk: Desk, pattern: str, message: str) -> None:
    assert message in desk.refuses("search_files", pattern=pattern)


def test_a_pattern_made_to_be_slow_is_not(desk: Desk) -> None:
    desk.put("/".join(["a" * 50] * 20) + "/" + "a" * 200, "")
    begun = time.monotonic()
    for pattern in ("*a" * 200 + "b", "**/" * 150 + "b", "**/*a*" * 60 + "/b", "[" * 400):
        assert desk.does("search_files", pattern=pattern).startswith("No file fits")
    assert time.monotonic() - begun < 5


def test_installed_packages_are_searched_only_on_request(desk: Desk) -> None:
    for path in ("a.js", "node_modules/x/a.js", "web/node_modules/a.js", "__pycache__/a.js"):
        desk.put(path, "")
    assert desk.does("search_files", pattern="a.js") == (
        "a.js\n[… not looked into: __pycache__/, node_modules/ (give it as the path to do so)]"
    )
    assert desk.does("search_files", pattern="a.js", path="node_modules") == "node_modules/x/a.js"


def test_a_walk_that_is_too_long_stops_and_says_so(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "MOST_ENTRIES", 10)
    for number in range(20):
        desk.put(f"{number:02}/file", "")
    text = desk.does("search_files", pattern="*")
    assert text.endswith("[… stopped after 10 entries; give a folder further down as the path]")

"""Diffs as shown to people."""

from interlock.views.diffs.hunks import DiffHunk, Line, parse_hunks, side_by_side

GIT = """\
diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,3 +1,3 @@ def one
 keep
--- a/not-a-file
++++ b/neither
 keep
@@ -9 +9,0 @@
-last
\\ No newline at end of file
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-all
"""


def test_a_git_diff_is_read_by_the_counts_of_its_headers() -> None:
    first, second, third = parse_hunks(GIT)
    assert first == DiffHunk(
        1,
        "a.py",
        1,
        "def one",
        (
            Line(" ", "keep", 1, 1),
            Line("-", "-- a/not-a-file", 2, None),
            Line("+", "+++ b/neither", None, 2),
            Line(" ", "keep", 3, 3),
        ),
        added=1,
        removed=1,
    )
    assert (second.path, second.lines) == ("a.py", (Line("-", "last", 9, None),))
    assert (third.number, third.path, third.added, third.removed) == (3, "gone.py", 0, 1)


def test_the_hunks_of_a_tool_name_their_files() -> None:
    hunks = parse_hunks(
        "x y.py [1] @@ -1,1 +1,2 @@\n a\n+b\\u202e\nz.py [2] @@ -0,0 +1,1 @@\n+c\n\\ No newline\n".replace(
            "\\u202e", "\u202e"
        )
    )
    assert [(hunk.path, hunk.number, [line.text for line in hunk.lines]) for hunk in hunks] == [
        ("x y.py", 1, ["a", "b<U+202E>"]),
        ("z.py", 2, ["c"]),
    ]


def test_a_diff_that_was_cut_shows_what_is_there() -> None:
    assert [hunk.lines for hunk in parse_hunks("@@ -1,3 +1,3 @@\n a\n-b")] == [
        (Line(" ", "a", 1, 1), Line("-", "b", 2, None))
    ]
    assert [len(hunk.lines) for hunk in parse_hunks("@@ -1,3 +1,3 @@\n a\n… cut\n b\n")] == [1]
    assert [hunk.lines for hunk in parse_hunks("@@ -1,2 +1,2 @@\n a\n\\ No newline\n\n")] == [
        (Line(" ", "a", 1, 1), Line(" ", "", 2, 2))
    ]
    assert parse_hunks("no diff") == ()


def test_both_sides_stand_beside_each_other() -> None:
    (hunk,) = parse_hunks("@@ -1,5 +1,4 @@\n a\n-b\n-c\n+d\n e\n+f\n-g\n")
    texts = [tuple(line and line.text for line in row) for row in side_by_side(hunk)]
    assert texts == [("a", "a"), ("b", "d"), ("c", None), ("e", "e"), (None, "f"), ("g", None)]


def test_a_line_of_a_diff_hides_nothing_in_an_escape_sequence() -> None:
    (hunk,) = parse_hunks("a.sh [1] @@ -0,0 +1,1 @@\n+echo \x1b]0; rm -rf ~ \x07 done\n")
    assert [line.text for line in hunk.lines] == ["echo <U+001B>]0; rm -rf ~ <U+0007> done"]


WITHOUT_LINES = """\
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/a b/b
similarity index 100%
rename from a
rename to b
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/c b/c
new file mode 100644
--- /dev/null
+++ b/c
@@ -0,0 +1 @@
+c
@@ damaged
diff --git a/odd b/odd
"""


def test_files_without_changed_lines_are_shown_and_numbered_too() -> None:
    assert [(hunk.number, hunk.path, hunk.note, len(hunk.lines)) for hunk in parse_hunks(WITHOUT_LINES)] == [
        (1, "run.sh", "mode was 100644, mode is now 100755", 0),
        (2, "b", "moved from a", 0),
        (3, "logo.png", "binary: a/logo.png and b/logo.png differ", 0),
        (4, "c", "new file, mode 100644", 1),
        (5, "c", "this hunk cannot be read", 0),
        (6, "odd", "no line differs", 0),
    ]


def test_a_diff_without_the_header_of_git_is_read_by_its_file_names() -> None:
    (hunk,) = parse_hunks("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    assert (hunk.path, hunk.added, hunk.removed) == ("x", 1, 1)

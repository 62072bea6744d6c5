"""A diff as numbered parts, and the patch of some of them."""

import pytest

from interlock.domain.review.diff_parts import Section, count_parts, is_cut, patch_of, sections_of

DIFF = """\
diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,2 +1,3 @@ def one
 keep
+more
 keep
@@ -9 +10,0 @@ def two
-gone
@@ -20,0 +21,2 @@
+diff --git a/not b/a-file
+last
\\ No newline at end of file
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/old name b/new name
similarity index 100%
rename from old name
rename to new name
"""


def test_hunks_and_files_without_hunks_are_parts() -> None:
    code, logo, moved = sections_of(DIFF)
    assert [(one.path, list(one.numbers)) for one in (code, logo, moved)] == [
        ("a.py", [1, 2, 3]),
        ("logo.png", [4]),
        ("new name", [5]),
    ]
    assert code.hunks[1] == ("@@ -9 +10,0 @@ def two", "-gone")
    assert logo == Section(4, "logo.png", tuple(DIFF.split("\n")[14:17]), ())
    assert count_parts(DIFF) == 5


def test_a_patch_has_the_chosen_parts_at_their_own_positions() -> None:
    assert patch_of(DIFF, {2, 3}).split("\n")[4:] == [
        "@@ -9,1 +8,0 @@",
        "-gone",
        "@@ -20,0 +20,2 @@",
        "+diff --git a/not b/a-file",
        "+last",
        "\\ No newline at end of file",
        "",
    ]
    assert patch_of(DIFF, {5}) == "".join(f"{line}\n" for line in DIFF.split("\n")[17:21])
    assert patch_of(DIFF, set()) == ""


@pytest.mark.parametrize(
    ("head", "path"),
    [
        ("diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "x"),
        ('diff --git "a/\\303\\251" "b/\\303\\251"\nold mode 100644\nnew mode 100755\n', "\\303\\251"),
        ("diff --git a/x b/x\ncopy from x\ncopy to y\n", "y"),
        ("diff --git odd\n", "odd"),
    ],
)
def test_a_section_knows_its_file(head: str, path: str) -> None:
    (section,) = sections_of(head)
    assert section.path == path


def test_lines_before_the_first_file_are_no_part() -> None:
    assert sections_of("commit 1234\n\n") == ()
    assert len(sections_of(f"commit 1234\n{DIFF}")) == 3


def test_a_hunk_with_a_damaged_header_is_left_out() -> None:
    assert patch_of("diff --git a/x b/x\n@@ damaged\n+x\n", {1}) == "diff --git a/x b/x\n"


@pytest.mark.parametrize(
    ("diff", "cut"),
    [
        (DIFF, False),
        ("", False),
        (f"{DIFF}[… 1,234 more characters]", True),
        ("Too much to show line by line (added, removed, file):\n1\t2\ta\n", True),
    ],
)
def test_a_cut_diff_is_recognised(diff: str, cut: bool) -> None:
    assert is_cut(diff) is cut

"""apply_patch applies the whole patch or changes nothing."""

import pytest

from interlock.errors import ToolFailure
from interlock.tools.files import files
from interlock.tools.files.paths import Root
from tests.tools.desk import Desk

PATCH = """\
diff --git a/one.txt b/one.txt
--- a/one.txt
+++ b/one.txt
@@ -1,3 +1,3 @@
 a
-b
+B
 c
@@ -8,2 +8,3 @@
 h
 i
+j
--- /dev/null
+++ b/new/two.txt
@@ -0,0 +1,2 @@
+first
+second
--- a/old.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-gone
-too
"""
ONE = "a\nb\nc\nd\ne\nf\ng\nh\ni\n"


def test_a_patch_over_several_files_is_one_preview_and_one_change(desk: Desk) -> None:
    one, old = desk.put("one.txt", ONE), desk.put("old.txt", "gone\ntoo\n")
    preview = desk.preview("apply_patch", patch=PATCH)
    assert preview.title == "Change 3 files: one.txt, new/two.txt (new), old.txt (deleted)"
    assert [(hunk.number, hunk.path) for hunk in preview.hunks] == [
        (1, "one.txt"),
        (2, "one.txt"),
        (3, "new/two.txt"),
        (4, "old.txt"),
    ]
    assert one.read_text() == ONE
    assert desk.does("apply_patch", patch=PATCH) == (
        "Changed one.txt: 2 lines added, 1 removed.\nCreated new/two.txt: 2 lines added, 0 removed.\nDeleted old.txt."
    )
    assert one.read_text() == "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\n"
    assert (desk.folder / "new/two.txt").read_text() == "first\nsecond\n"
    assert not old.exists()


def test_only_the_approved_hunks_are_applied(desk: Desk) -> None:
    one, old = desk.put("one.txt", ONE), desk.put("old.txt", "gone\ntoo\n")
    output = desk.does("apply_patch", (2,), patch=PATCH)
    assert output.startswith("Changed one.txt: 1 line added, 0 removed.\nOf the 4 hunks these were NOT applied")
    assert one.read_text() == f"{ONE}j\n"
    assert old.read_text() == "gone\ntoo\n"
    assert not (desk.folder / "new").exists()


def test_if_one_file_does_not_fit_none_is_changed(desk: Desk) -> None:
    one = desk.put("one.txt", ONE)
    desk.put("old.txt", "gone\nother\n")
    assert desk.refuses("apply_patch", patch=PATCH) == (
        "Hunk 1 of old.txt does not fit: at line 2 it expects 'too', the file has 'other'. Nothing was changed."
    )
    assert one.read_text() == ONE
    assert not (desk.folder / "new").exists()


def test_if_one_file_cannot_be_written_the_others_are_put_back(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(root: Root, path: str) -> None:
        if path == "old.txt":
            raise ToolFailure("no")
        really(root, path)

    really = files.remove
    monkeypatch.setattr(files, "remove", full)
    one, old = desk.put("one.txt", ONE), desk.put("old.txt", "gone\ntoo\n")
    assert desk.refuses("apply_patch", patch=PATCH) == "no"
    assert one.read_text() == ONE
    assert not (desk.folder / "new/two.txt").exists()
    assert old.read_text() == "gone\ntoo\n"


def test_lines_may_have_moved_if_only_one_place_fits(desk: Desk) -> None:
    file = desk.put("a", "new\n" * 3 + "x\ny\nz\n")
    desk.does("apply_patch", patch="--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n x\n-y\n+Y\n z\n")
    assert file.read_text() == "new\n" * 3 + "x\nY\nz\n"
    desk.put("b", "x\n\nx\n\nx\n")
    assert desk.refuses("apply_patch", patch="--- b\n+++ b\n@@ -2,1 +2,1 @@\n-x\n+y\n") == (
        "Hunk 1 of b fits at lines 1, 3, 5, but not at line 2 as the patch states. "
        "Give more lines around it. Nothing was changed."
    )


def test_line_endings_and_a_missing_last_newline_stay(desk: Desk) -> None:
    file = desk.put("a", b"x\r\ny\r\nz")
    desk.does("apply_patch", patch="--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n x\n-y\n+Y\n z\n\\ No newline at end of file\n")
    assert file.read_bytes() == b"x\r\nY\r\nz"
    desk.does("apply_patch", patch="--- a/a\n+++ b/a\n@@ -3 +3,2 @@\n z\n\\ No newline at end of file\n+end\n")
    assert file.read_bytes() == b"x\r\nY\r\nz\r\nend\r\n"
    desk.does("apply_patch", patch="--- a\n+++ a\n@@ -4 +4 @@\n-end\n+End\n\\ No newline at end of file\n-- \n2.39.2\n")
    assert file.read_bytes() == b"x\r\nY\r\nz\r\nEnd"


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("", "There is no file in this patch"),
        ("@@ -1 +1 @@\n-a\n+b\n", "Line 1 of the patch is a hunk without --- and +++ lines"),
        ("--- a/one.txt\n+++ b/one.txt\n", "The patch has no hunk for 'one.txt'."),
        ("--- a/one.txt\n+++ b/two.txt\n@@ -1 +1 @@\n-a\n+b\n", "The patch renames 'one.txt' to 'two.txt'"),
        ("rename from x\nrename to y\n", "This patch cannot be applied: it renames a file"),
        ("--- a/one.txt\n+++ b/one.txt\n@@ -1,2 +1,1 @@\n-a\n", "The hunk at line 3 of the patch has fewer lines"),
        ("--- a/one.txt\n+++ b/one.txt\n@@ -1 +1 @@\n-a\n+b\n+c\n", "The hunk at line 3 of the patch has other lines"),
        ("--- /dev/null\n+++ b/one.txt\n@@ -0,0 +1 @@\n+b\n", "The patch makes 'one.txt', which is there already."),
        ("--- a/one.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "The patch deletes one.txt, but some of its lines"),
        ("--- a/no.txt\n+++ b/no.txt\n@@ -1 +1 @@\n-a\n+b\n", "There is no 'no.txt'."),
        ("--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n", "ACCESS DENIED"),
        ('--- "a/x"\n+++ "b/x"\n@@ -1 +1 @@\n-a\n+b\n', 'Write the path "a/x" without quotes.'),
        ("--- /dev/null\n+++ b/.env\n@@ -0,0 +1 @@\n+KEY=1\n", "ACCESS DENIED"),
        ("--- a/one.txt\n+++ b/one.txt\n@@ -1 +1 @@\n-a\n+b\n" * 2, "The patch names one.txt twice"),
    ],
)
def test_a_patch_that_cannot_be_applied_is_refused_with_the_reason(desk: Desk, patch: str, message: str) -> None:
    file = desk.put("one.txt", ONE)
    assert desk.refuses("apply_patch", patch=patch).startswith(message)
    assert file.read_text() == ONE

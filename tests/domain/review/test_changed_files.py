"""The files of a diff under review, risks first, and the text of comments."""

import pytest

from interlock.domain.review.changed_files import files_of
from interlock.domain.review.comments import changes_note, comment_from
from interlock.domain.values.approvals import Comment, ReviewFile
from interlock.errors import BadValue

DIFF = """\
diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,2 +1,3 @@
-old
+new
+newer
 same
diff --git a/package-lock.json b/package-lock.json
index 1..2 100644
--- a/package-lock.json
+++ b/package-lock.json
@@ -1 +1 @@
-1
+2
diff --git a/tests/test_a.py b/tests/test_a.py
deleted file mode 100644
index 1..0
--- a/tests/test_a.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/run.sh b/run.sh
new file mode 100755
index 0..1
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+api_key = "abcdefgh12345678"
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/link b/link
new file mode 120000
@@ -0,0 +1 @@
+/etc
diff --git a/dist/app.js b/dist/app.js
@@ -0,0 +1 @@
+x
diff --git a/sub b/sub
new file mode 160000
@@ -0,0 +1 @@
+Subproject commit 1
"""


def test_files_with_risks_come_first_and_folded_ones_last() -> None:
    assert files_of(DIFF) == (
        ReviewFile("tests/test_a.py", 0, 1, ("existing test", "deleted"), first=3, parts=1),
        ReviewFile("run.sh", 1, 0, ("may contain a secret", "executable"), first=4, parts=1),
        ReviewFile("link", 1, 0, ("symbolic link",), first=6, parts=1),
        ReviewFile("sub", 1, 0, ("submodule",), first=8, parts=1),
        ReviewFile("src/a.py", 2, 1, first=1, parts=1),
        ReviewFile("package-lock.json", 1, 1, ("dependencies",), folded=True, first=2, parts=1),
        ReviewFile("logo.png", 0, 0, ("binary",), folded=True, first=5, parts=1),
        ReviewFile("dist/app.js", 1, 0, (), folded=True, first=7, parts=1),
    )


def test_a_name_that_git_quotes_is_shown_as_git_shows_it() -> None:
    assert files_of('diff --git "a/a\\tb" "b/a\\tb"\n@@ -1 +1 @@\n+x')[0].path == "a\\tb"
    assert files_of("diff --git strange\n")[0].path == "strange"


def test_text_before_the_first_file_is_no_file() -> None:
    assert files_of("nothing here\n") == ()


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        ("src/a.py:12: use a set", Comment("src/a.py", "use a set", 12)),
        ("src/a.py: split this file", Comment("src/a.py", "split this file")),
        ("with space.py:3: x: y", Comment("with space.py", "x: y", 3)),
    ],
)
def test_a_comment_names_its_file_and_line(text: str, comment: Comment) -> None:
    assert comment_from(text) == comment


@pytest.mark.parametrize("text", ["", "no colon", "a.py:12:", ": text"])
def test_a_comment_without_file_or_text_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match="FILE:LINE: TEXT"):
        comment_from(text)


def test_the_note_holds_the_message_and_every_comment() -> None:
    note = changes_note("A-3", "", (Comment("a.py", "x", 2), Comment("b.py", "y")))
    assert note.splitlines()[:4] == ["## Changes requested (A-3)", "", "- `a.py` line 2: x", "- `b.py`: y"]

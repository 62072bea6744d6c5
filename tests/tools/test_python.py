"""The Python tools on files: reading, changing with hunks, searching, all within the worktree."""

from tests.tools.desk import Desk

CODE = '''\
"""A file."""

import os


class Base:
    """The base."""

    limit = 3

    def size(self, deep: bool = False) -> int:
        """How large."""
        return os.stat(".").st_size


class Special(Base):
    def size(self) -> int:
        return self.limit
'''


def test_reading_by_name(desk: Desk) -> None:
    desk.put("src/a.py", CODE)
    path_args = {"path": "src/a.py"}
    assert desk.does("py_get_definition", **path_args, name="Special.size") == (
        "    def size(self) -> int:\n        return self.limit"
    )
    assert desk.does("py_get_signature", **path_args, name="Base.size") == "def size(self, deep: bool = False) -> int:"
    assert desk.does("py_get_var_declaration", **path_args, name="Base.limit") == "limit = 3"
    assert desk.does("py_get_docstring", **path_args) == "A file."
    assert desk.does("py_get_docstring", **path_args, name="Base.size") == "How large."
    assert desk.does("py_get_docstring", **path_args, name="Special") == "[Special has no docstring]"
    assert desk.does("py_get_imports", **path_args) == "3: import os"
    assert desk.does("py_check_syntax", **path_args) == "src/a.py: no syntax errors."
    assert "return" not in desk.does("py_get_skeleton", **path_args)
    assert desk.does("py_get_code_outline", **path_args).splitlines()[0] == "[Class] Base (Lines 6-13)"
    assert desk.does("py_get_class_summary", **path_args, name="Special") == (
        "class Special(Base):  # lines 16-18\n    def size(self) -> int: ...  # line 17"
    )
    assert desk.does("get_file_summary", **path_args).startswith("**Python** — 18 lines\nimports: os\n")


def test_a_file_that_does_not_parse_is_reported(desk: Desk) -> None:
    desk.put("a.py", "def f(:\n")
    assert desk.does("py_check_syntax", path="a.py").startswith("a.py does not parse:\nline 1: ")


def test_only_python_files_inside_the_worktree_are_read(desk: Desk) -> None:
    desk.put("a.txt", "x = 1\n")
    desk.put("run", "#!/usr/bin/env python3\nx = 1\n")
    assert desk.refuses("py_get_imports", path="a.txt") == "a.txt is not a Python file; use read_file."
    assert desk.does("py_get_var_declaration", path="run", name="x") == "x = 1"
    assert desk.refuses("py_get_imports", path="../b.py").startswith("ACCESS DENIED")
    assert desk.refuses("py_update_definition", path="/etc/b.py", name="f", new_definition="x").startswith("ACCESS")
    assert desk.refuses("py_find_usages", name="x", path="..").startswith("ACCESS DENIED")


def test_a_change_is_shown_as_hunks_and_then_made(desk: Desk) -> None:
    file = desk.put("a.py", CODE)
    call = {"path": "a.py", "name": "Special.size", "new_definition": "def size(self) -> int:\n    return 0"}
    preview = desk.preview("py_update_definition", **call)
    assert preview.title == "Edit a.py"
    (hunk,) = preview.hunks
    assert hunk.header == "@@ -15,4 +15,4 @@ def size(self) -> int"
    assert hunk.text.endswith("-        return self.limit\n+        return 0\n")
    assert file.read_text() == CODE
    assert desk.does("py_update_definition", **call) == "Changed a.py: 1 line added, 1 removed."
    assert file.read_text() == CODE.replace("return self.limit", "return 0")


def test_signatures_and_variables_are_set_in_the_encoding_of_the_file(desk: Desk) -> None:
    file = desk.put("a.py", "# é\r\nLIMIT = 'é'\r\ndef f(a): pass\r\n".encode("latin-1"))
    desk.does("py_set_signature", path="a.py", name="f", new_signature="def f(a, b='ü')")
    desk.does("py_set_var_declaration", path="a.py", name="LIMIT", new_declaration="LIMIT: str = 'ä'")
    assert file.read_bytes().decode("latin-1") == "# é\r\nLIMIT: str = 'ä'\r\ndef f(a, b='ü'): pass\r\n"


def test_a_change_that_breaks_the_file_is_refused_before_its_approval(desk: Desk) -> None:
    file = desk.put("a.py", CODE)
    message = desk.refuses("py_update_definition", path="a.py", name="Base.size", new_definition="def size(self):")
    assert message.startswith("Nothing was changed: the file would not parse any more: line 14: expected an")
    assert file.read_text() == CODE


def test_usages_are_found_over_all_files(desk: Desk) -> None:
    desk.put("a.py", CODE)
    desk.put("sub/b.py", "from a import Special\nSpecial().size()  # Special\n'Special'\n")
    desk.put("sub/c.txt", "Special\n")
    assert desk.does("py_find_usages", name="Special") == (
        "a.py:16: [definition] class Special(Base):\n"
        "sub/b.py:1: [import] from a import Special\n"
        "sub/b.py:2: [use] Special().size()  # Special"
    )
    assert desk.does("py_find_usages", name="Base.limit", path="a.py") == ("a.py:9: [definition] limit = 3")
    assert desk.does("py_find_usages", name="nothing") == "'nothing' is not used in the Python files of '.'."


def test_the_hierarchy_of_a_class(desk: Desk) -> None:
    desk.put("a.py", CODE.replace("class Base:", "class Base(abc.ABC):"))
    desk.put("b.py", "import a\nclass Most(a.Special): pass\nclass Loop(Loop): pass\n")
    assert desk.does("py_get_hierarchy", name="Special") == (
        "Special (a.py:16)\n  bases:\n    Base (a.py:6)\n      abc.ABC  [not in these files]\n"
        "  subclasses:\n    Most (b.py:2)"
    )
    assert desk.does("py_get_hierarchy", name="Loop").startswith("Loop (b.py:3)\n  bases:\n    Loop  [not in")
    assert desk.refuses("py_get_hierarchy", name="No") == "There is no class 'No' in the Python files of '.'."


def test_the_tree_of_a_folder(desk: Desk) -> None:
    for path in ("z.txt", "src/a.py", "src/deep/er/b.py", "src/deep/er/c.py", "src/deep/d.py", "node_modules/x.js"):
        desk.put(path, "")
    assert desk.does("get_tree") == (
        "src/\n  a.py\n  deep/\n    d.py\n    er/  (2 files)\nz.txt\n"
        "[… not looked into: node_modules/ (give it as the path to do so)]"
    )
    assert desk.does("get_tree", path="src", depth=1) == "a.py\ndeep/  (3 files)"
    (desk.folder / "empty").mkdir()
    assert desk.does("get_tree", path="empty") == "[there is no file in empty]"

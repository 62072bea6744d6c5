"""Skeletons of single Python constructs: kept and removed parts."""

import pytest

from interlock.codeviews.views.view import view

CASES = {
    "a body on lines of its own": ("def f(a):\n    x = 1\n    return x\ny = 2\n", "def f(a):\n    ...\ny = 2\n"),
    "a body on the header's line": ("def f(): return 1  # why\n", "def f(): ...  # why\n"),
    "several statements on one line": ("def f(): x = 1; return x;\n", "def f(): ...;\n"),
    "a docstring": ('def f():\n    """Doc."""\n    return 1\n', 'def f():\n    """Doc."""\n    ...\n'),
    "a docstring only": ('def f():\n    """Doc."""\n', 'def f():\n    """Doc."""\n'),
    "a docstring on the header's line": ('def f(): "doc"; return 1\n', 'def f(): "doc"; ...\n'),
    "a docstring in parentheses": (
        'def f():\n    ("a"\n     "b")\n    pass\n',
        'def f():\n    ("a"\n     "b")\n    ...\n',
    ),
    "an f-string is no docstring": ('def f():\n    f"x"\n    pass\n', "def f():\n    ...\n"),
    "bytes are no docstring": ('def f():\n    b"x"\n    pass\n', "def f():\n    ...\n"),
    "a raw docstring": ('def f():\n    r"""\\d"""\n    pass\n', 'def f():\n    r"""\\d"""\n    ...\n'),
    "a tuple is no docstring": ("def f():\n    'a',\n    return 1\n", "def f():\n    ...\n"),
    "comments around the body": (
        "def f():  # one\n    # two\n\n    x = 1  # three\n    # four\n\n# five\n",
        "def f():  # one\n    ...\n\n# five\n",
    ),
    "comments between docstring and body": (
        'def f():\n    "doc"  # one\n\n    # two\n    return 1\n',
        'def f():\n    "doc"  # one\n    ...\n',
    ),
    "a comment before the docstring": (
        'def f():\n    # one\n    "doc"\n    return 1\n',
        'def f():\n    # one\n    "doc"\n    ...\n',
    ),
    "nested definitions vanish": (
        "def f():\n    def g(): pass\n    class C: pass\n    return g\n",
        "def f():\n    ...\n",
    ),
    "methods of nested classes": (
        "class A:\n    class B:\n        async def f(self): return 1\n    x = lambda: 2\n",
        "class A:\n    class B:\n        async def f(self): ...\n    x = lambda: 2\n",
    ),
    "decorators": ("@a.b(c)\n@d\ndef f():\n    return 1\n", "@a.b(c)\n@d\ndef f():\n    ...\n"),
    "a header of several lines": ("def f(\n    a,  # :\n) -> dict[str, int]:\n    return {}\n", None),
    "a type parameter": ("def f[T: int](x: T) -> T:\n    return x\n", "def f[T: int](x: T) -> T:\n    ...\n"),
    "a continued line": ("def f(): \\\n    return 1\n", "def f(): \\\n    ...\n"),
    "a header with a continuation": ("def f() \\\n        -> int:\n    return 1\n", None),
    "a body that is dots": ("def f(): ...  # said\n", "def f(): ...  # said\n"),
    "dots and more": ("def f():\n    ...\n    return 1\n", "def f():\n    ...\n"),
    "tabs": ("class A:\n\tdef f(self):\n\t\treturn 1\n", "class A:\n\tdef f(self):\n\t\t...\n"),
    "no line at the end": ("def f():\n    return 1", "def f():\n    ..."),
    "a form feed": (
        "def f():\n    return 1\n\x0c\ndef g():\n    return 2\n",
        "def f():\n    ...\n\x0c\ndef g():\n    ...\n",
    ),
    "Unicode": ("def größe(π):\n    'ü'\n    return π\n", "def größe(π):\n    'ü'\n    ...\n"),
    "carriage returns": ("def f():\r\n    'd'\r\n    return 1  # x\r\n", "def f():\r\n    'd'\r\n    ...\r\n"),
    "an old Mac's line endings": ("def f():\r    return 1\r", "def f():\r    return 1\r"),
    "conditions": (
        "if TYPE_CHECKING:\n    def f(): pass\nelif x:\n    def g(): pass\nelse:\n    def h(): pass\n",
        "if TYPE_CHECKING:\n    def f(): ...\nelif x:\n    def g(): ...\nelse:\n    def h(): ...\n",
    ),
    "a colon in a default": ("def f(a={1: 2}, b=lambda: 3): return a[1:2]\n", "def f(a={1: 2}, b=lambda: 3): ...\n"),
    "nothing": ("", ""),
    "only a comment": ("# x", "# x"),
}


@pytest.mark.parametrize("name", CASES)
def test_bodies_are_replaced(name: str) -> None:
    source, expected = CASES[name]
    if expected is None:
        header, _, _ = source.rpartition("\n    ")
        expected = f"{header}\n    ...\n"
    assert view("skeleton", source.encode(), "python").decode() == expected


KEPT = {
    "plain": "@core_logic\ndef f():\n    return 1\n",
    "dotted": "@a.b.core_logic\n@other\ndef f():\n    return 1\n",
    "called": "@core_logic('x')\ndef f():\n    return 1\n",
    "a comment": "def f():\n    x = 1\n    if x:\n        # see [HOT] here\n        return 1\n",
    "a comment on the header": "def f():  # [HOT]\n    return 1\n",
    "a comment in a nested function": "def f():\n    def g():\n        return 1  # [HOT]\n    return g\n",
}
NOT_KEPT = {
    "a string": "def f():\n    return '# [HOT]'\n",
    "a docstring": "def f():\n    '''# [HOT]'''\n    return 1\n",
    "a longer name": "@my_core_logic\ndef f():\n    return 1\n",
    "a name that goes on": "@core_logic.x\ndef f():\n    return 1\n",
    "a comment before": "# [HOT]\ndef f():\n    return 1\n",
    "a comment after": "def f():\n    return 1\n# [HOT]\n",
    "small letters": "def f():\n    return 1  # [hot]\n",
    "another decorator's argument": "@register(core_logic)\ndef f():\n    return 1\n",
}


@pytest.mark.parametrize("name", KEPT)
def test_curated_keeps_marked_bodies(name: str) -> None:
    source = KEPT[name].encode()
    assert view("curated", source, "python") == source
    assert view("skeleton", source, "python") != source


@pytest.mark.parametrize("name", NOT_KEPT)
def test_curated_keeps_no_others(name: str) -> None:
    source = NOT_KEPT[name].encode()
    assert view("curated", source, "python") == view("skeleton", source, "python") != source


def test_a_function_with_an_error_in_it_stays_and_the_others_go() -> None:
    broken = "def bad():\n    x = = 1\n    return x\n\n\n"
    fine = "x = 1\n\n\ndef {}():\n    return 1\n\n\ny = 2\n\n\n"
    expected = fine.format("a").replace("return 1", "...") + broken + fine.format("b").replace("return 1", "...")
    source = fine.format("a") + broken + fine.format("b")
    assert view("skeleton", source.encode(), "python").decode() == expected


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    x = (1,\n    return 2\ndef g():\n    return 3\n",
        "def f():\n    '''never ends\n    return 2\ndef g():\n    return 3\n",
        "def f(:\n    return 2\n",
        "class A\n    def f(self):\n        return 1\n",
        "def f():\n        return 1\n    y = 2\n  z = 3\n",
        "def f():\nreturn 1\n",
        "    return 1\ndef f(): pass)\n",
    ],
)
def test_an_unparsable_part_is_not_cut_in_the_middle(source: str) -> None:
    shown = view("skeleton", source.encode(), "python").decode()
    for line in source.splitlines():
        assert line in shown or "return 3" in line or "return 1" in line, shown

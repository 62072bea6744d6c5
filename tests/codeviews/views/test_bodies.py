"""Removed bodies in languages other than Python, by small cases."""

import pytest

from interlock.codeviews.syntax.trees import parse
from interlock.codeviews.views.view import view

CASES = [
    ("typescript", "enum E { A = (() => { return 1; })(), B }\n", "enum E { A = (() => { /* ... */ })(), B }\n"),
    (
        "rust",
        "enum E { A = { const fn f() -> isize { 1 } f() } }\n",
        "enum E { A = { const fn f() -> isize { /* ... */ } f() } }\n",
    ),
    (
        "rust",
        "struct S { a: [u8; { const fn f() -> usize { 1 } f() }] }\n",
        "struct S { a: [u8; { const fn f() -> usize { /* ... */ } f() }] }\n",
    ),
    (
        "php",
        "<?php class A { public int $x { get { return 1; } set(int $v) => go(\n$v); } public $y { get => 1; } }\n",
        "<?php class A { public int $x { get { /* ... */ } set(int $v) { /* ... */ } } public $y { get => 1; } }\n",
    ),
    ("csharp", "class A { int P => 1 +\n2; }\n", "class A { int P { get { /* ... */ } } }\n"),
    ("csharp", "class A { int this[int i] => a[\ni]; }\n", "class A { int this[int i] { get { /* ... */ } } }\n"),
    ("csharp", "class A { int P => 1; F f = x => x; }\n", "class A { int P => 1; F f = x => x; }\n"),
    (
        "csharp",
        "class A { F f = x => x +\n1; F g = a => b => 1 +\n2; }\n",
        "class A { F f = x => { /* ... */ }; F g = a => b => { /* ... */ }; }\n",
    ),
    ("csharp", "class A { int M() => B(x => { return 1; }); }\n", "class A { int M() => B(x => { /* ... */ }); }\n"),
    ("java", "class A { F f = x -> x +\n1; F g = a -> b; }\n", "class A { F f = x -> { /* ... */ }; F g = a -> b; }\n"),
]


@pytest.mark.parametrize(("language", "source", "shown"), CASES)
def test_the_body_of_every_function_goes(language: str, source: str, shown: str) -> None:
    result = view("skeleton", source.encode(), language)
    assert result.decode() == shown
    tree = parse(result, language)
    assert tree is not None
    assert not tree.root_node.has_error
    assert view("skeleton", result, language) == result


def test_a_marked_property_keeps_its_expression() -> None:
    source = b"class A { [core_logic] int P => 1 +\n2; int Q => 3 +\n4; }\n"
    assert (
        view("curated", source, "csharp") == b"class A { [core_logic] int P => 1 +\n2; int Q { get { /* ... */ } } }\n"
    )

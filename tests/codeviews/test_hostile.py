"""Hostile inputs: each takes bounded time, is cut correctly and raises nothing."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.codeviews.syntax import trees
from interlock.codeviews.syntax.detect import CODE
from interlock.codeviews.syntax.trees import errors, parse, table
from interlock.codeviews.views.skeleton import find_cuts
from interlock.codeviews.views.view import KINDS, view

GOLDEN = Path(__file__).parent / "golden"
PIECES = [
    b"(",
    b")",
    b"{",
    b"}",
    b"def f",
    b"():",
    b"\n",
    b"    ",
    b"return 1",
    b"'",
    b'"""',
    b"# [HOT]",
    b"class A",
    b";",
    b"function f",
    b"=>",
    b"end",
    b"<<EOF\n",
    b"#if X\n",
    b"#endif\n",
    b"\xff",
    b"\r\n",
    b"//",
    b"/*",
    b"*/",
    b"\\",
]


@pytest.mark.parametrize("language", sorted(CODE))
@settings(max_examples=150, deadline=None)
@given(parts=st.lists(st.sampled_from(PIECES), max_size=40))
def test_whatever_comes_the_skeleton_has_no_more_errors(language: str, parts: list[bytes]) -> None:
    source = b"".join(parts)
    before = parse(source, language)
    assert before is not None
    for kind in ("skeleton", "curated"):
        after = parse(view(kind, source, language), language)
        assert after is not None
        assert errors(after.root_node) <= errors(before.root_node)


@pytest.mark.parametrize("language", sorted(CODE))
@settings(max_examples=60, deadline=None)
@given(parts=st.lists(st.sampled_from(PIECES), max_size=40))
def test_a_source_without_a_sign_of_a_function_has_no_body_to_replace(language: str, parts: list[bytes]) -> None:
    """Such a source need not be parsed."""
    source = b"".join(part for part in parts if not any(sign in part for sign in table(language).signs))
    tree = parse(source, language)
    assert tree is not None
    assert any(sign in source for sign in table(language).signs) or find_cuts(source, tree.root_node, language) == []


@pytest.mark.parametrize("language", sorted(CODE))
@pytest.mark.parametrize("kind", KINDS)
def test_noise_raises_nothing(language: str, kind: str) -> None:
    for source in (b"", b"\xff\xfe\xfd" * 50, b"\xef\xbb\xbf", b"(" * 3000, b"\n" * 3000, b"a" * 3000, b"}" * 100):
        view(kind, source, language)  # pyright: ignore[reportArgumentType]


def test_a_source_that_takes_too_long_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "PATIENCE_S", 0.2)
    source = b'"' * 100_000  # over a minute with this grammar
    begun = time.monotonic()
    assert view("skeleton", source, "javascript") == source
    assert view("outline", source, "javascript") == b""
    assert time.monotonic() - begun < 30


def test_threads_may_make_views_at_once() -> None:
    """Another thread may run while a parser reads the next piece of a source."""
    sources = [b"def f%d(a):\n    return a\n" % number * 5_000 for number in range(8)]
    expected = [view("skeleton", source, "python") for source in sources]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda source: view("skeleton", source, "python"), sources)) == expected


def test_how_busy_the_machine_is_changes_no_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight threads share the interpreter: wall-clock time is eight times the CPU time."""
    source = b"def f(a):\n    return a\n" * 20_000
    begun = time.thread_time()
    expected = view("skeleton", source, "python")
    assert expected != source
    monkeypatch.setattr(trees, "PATIENCE_S", 3 * (time.thread_time() - begun))
    monkeypatch.setattr(trees, "BYTES_PER_S", 1e12)
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: view("skeleton", source, "python"), range(8))) == {expected}


def test_deep_nesting() -> None:
    source = b"".join(b" " * depth + b"if a:\n" for depth in range(300)) + b" " * 300 + b"def f(): return 1\n"
    assert view("skeleton", source, "python") == source.replace(b"return 1", b"...")
    source = b"x = " + b"{a: " * 2_000 + b"() => { x }" + b"}" * 2_000
    assert view("skeleton", source, "javascript") == source.replace(b"{ x }", b"{ /* ... */ }")


WRONG = {
    "bash": b"odd() { cat <<EOF; }\ntext\nEOF\n",
    "ruby": b"def a; puts <<A; end\ntext end\nA\n",
    "c": b"int f(void) {\n#if A\n  a();\n}\n#else\n  b();\n}\n#endif\n",
    "cpp": b"class EXPORT A : public B {\n  int f() { return 1; }\n};\n",
}


@pytest.mark.parametrize("language", WRONG)
def test_text_that_only_looks_like_a_body_stays(language: str) -> None:
    shown = view("skeleton", WRONG[language], language)
    kept = WRONG[language].replace(b"{ return 1; }", b"{ /* ... */ }")
    assert shown in (WRONG[language], kept)


SHIFTS = {
    "ruby": (b"def add(x)\n  @list << x\nend\n", b"def add(x)\n  # ...\nend\n"),
    "bash": (b'f() { cat <<< "$1"; }\n', b"f() {\n  : # ...\n}\n"),
}


@pytest.mark.parametrize("language", SHIFTS)
def test_a_body_with_a_shift_that_looks_like_a_heredoc_is_removed(language: str) -> None:
    source, expected = SHIFTS[language]
    assert view("skeleton", source, language) == expected


def test_a_type_in_a_file_that_does_not_parse_is_no_function() -> None:
    source = (
        b'declare function f(): Promise<{\n    a: (import("x").H & {\n        m: M;\n        c?: boolean;\n    })[];\n'
        b"    handle: (p: string, l?: string[]) => {\n        locale: string;\n        path: string;\n    };\n"
        b"    b: B;\n}>;\n"
    )
    assert view("skeleton", source, "typescript") == source


def test_a_missing_brace_does_not_cost_the_rest_of_the_file() -> None:
    source = b"void a() { x(); }\nvoid b() { if (y) { z(); }\nvoid c() { w(); }\nint last;\n"
    shown = view("skeleton", source, "c")
    assert b"int last;" in shown
    assert b"void c()" in shown
    assert b"z();" in shown


@pytest.mark.parametrize("language", sorted(CODE))
def test_with_any_one_bracket_missing_nothing_outside_bodies_is_lost(language: str) -> None:
    source = (GOLDEN / f"{language}.source").read_bytes()
    lines = source.split(b"\n")
    outside = lines_outside_bodies(source, language)
    for at in [at for at, byte in enumerate(source) if byte in b"(){}[]"]:
        without = source[:at] + source[at + 1 :]
        tree = parse(without, language)
        assert tree is not None
        if tree.root_node.has_error:
            rest = iter(view("skeleton", without, language).split(b"\n"))
            touched = lines[source.count(b"\n", 0, at)]
            lost = [line for line in outside if line != touched and line not in rest]
            assert lost == [], f"without byte {at}, {source[at : at + 1]!r}"


def lines_outside_bodies(source: bytes, language: str) -> list[bytes]:
    tree = parse(source, language)
    assert tree is not None
    cuts = find_cuts(source, tree.root_node, language)
    lines: list[bytes] = []
    start = 0
    for line in source.split(b"\n"):
        end = start + len(line)
        if line.strip() and not any(cut.start < end and cut.end > start for cut in cuts):
            lines.append(line)
        start = end + 1
    return lines


def test_a_large_character_after_a_brace_does_not_crash_the_scanner_of_bash() -> None:
    source = "{\U000fcc50{\nf() { echo \U0001f642; }\n".encode() * 50
    for kind in KINDS:
        assert view(kind, source, "bash")

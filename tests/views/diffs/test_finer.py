"""Changed words, moved blocks and changes of blanks only."""

from hypothesis import given
from hypothesis import strategies as st

from interlock.views.diffs.finer import changed_words, moved_lines, partners, without_blanks
from interlock.views.diffs.hunks import DiffHunk, Line, parse_hunks


def _diff(path: str, *hunks: tuple[str, ...]) -> str:
    lines = [f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}"]
    at = 1
    for hunk in hunks:
        old, new = (sum(line[0] in (" ", mark) for line in hunk) for mark in "-+")
        lines += [f"@@ -{at},{old} +{at},{new} @@", *hunk]
        at += 100
    return "\n".join(lines) + "\n"


def _marked(text: str, spans: tuple[tuple[int, int], ...]) -> list[str]:
    return [text[start:end] for start, end in spans]


def test_only_the_changed_words_are_marked() -> None:
    old, new = "total = price + tax", "total = price + vat(price)"
    before, after = changed_words(old, new)
    assert (_marked(old, before), _marked(new, after)) == (["tax"], ["vat(price)"])


def test_lines_with_little_in_common_have_no_marked_words() -> None:
    assert changed_words("return None", "for user in everyone:") == ((), ())
    assert changed_words("same", "same") == ((), ())
    assert changed_words("a" * 1_001, "b") == ((), ())


@given(st.text(max_size=40), st.text(max_size=40))
def test_without_the_marked_words_both_lines_are_equal(old: str, new: str) -> None:
    before, after = changed_words(old, new)
    if before or after:
        rest = [_left(old, before), _left(new, after)]
        assert rest[0] == rest[1]


def _left(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    return "".join(character for at, character in enumerate(text) if not any(start <= at < end for start, end in spans))


def test_changed_lines_know_their_partners() -> None:
    (hunk,) = parse_hunks(_diff("a", ("-one", "-two", "+eins", " same")))
    assert {at: line.text for at, line in partners(hunk).items()} == {0: "eins", 2: "one"}


BLOCK = ("def total(prices):", "    return sum(prices)", "", "def mean(prices):")


def test_a_moved_block_says_where_it_went_and_came_from() -> None:
    removed = tuple(f"-{line}" for line in BLOCK)
    added = tuple(f"+    {line}" if line else "+" for line in BLOCK)
    hunks = parse_hunks(_diff("a.py", (*removed, " x")) + _diff("b.py", (" y",), ("+first", *added, "+last")))
    moves = moved_lines(hunks)
    assert moves[1, 0] == "moved to b.py:102"
    assert moves[3, 1] == "moved from a.py:1"
    assert sorted(moves) == [(1, 0), (1, 1), (1, 2), (1, 3), (3, 1), (3, 2), (3, 3), (3, 4)]


def test_short_blocks_and_brackets_are_no_move() -> None:
    assert moved_lines(parse_hunks(_diff("a", ("-one", "-two", " x", "+one", "+two")))) == {}
    assert moved_lines(parse_hunks(_diff("a", ("-}", "-}", "-}", "-}", " x", "+}", "+}", "+}", "+}")))) == {}


def test_moves_are_not_looked_for_in_a_huge_diff() -> None:
    lines = tuple(Line("-", "a long line that moves", at, None) for at in range(50_001))
    assert moved_lines([DiffHunk(1, "a", 1, "", lines, 0, len(lines))]) == {}


def test_the_longest_of_several_blocks_counts() -> None:
    body = ("alpha beta gamma", "delta epsilon", "zeta eta theta", "iota kappa")
    short = tuple(f"+{line}" for line in body[:3])
    whole = tuple(f"+{line}" for line in body)
    hunks = parse_hunks(_diff("a", tuple(f"-{line}" for line in body), (*short, " x"), (*whole, " y")))
    assert {key[0] for key in moved_lines(hunks)} == {1, 3}


def test_changes_of_blanks_are_shown_as_unchanged() -> None:
    (hunk,) = parse_hunks(_diff("a", (" x", "-if a:", "-  b()", "-c", "+if  a:", "+    b()", "+d", "+", " y")))
    shown = without_blanks(hunk)
    assert [(line.mark, line.text) for line in shown.lines] == [
        (" ", "x"),
        (" ", "if  a:"),
        (" ", "    b()"),
        ("-", "c"),
        ("+", "d"),
        (" ", "y"),
    ]
    assert (shown.added, shown.removed) == (1, 1)


def test_lines_that_only_one_side_has_stay_in_order() -> None:
    (hunk,) = parse_hunks(_diff("a", ("-a", "-b", "+c", "+d", "+e")))
    assert [line.mark for line in without_blanks(hunk).lines] == ["-", "-", "+", "+", "+"]


def test_a_block_in_the_middle_of_a_hunk_moves_too() -> None:
    block = tuple(f"-{line}" for line in BLOCK)
    hunks = parse_hunks(_diff("a.py", (" before", *block, " after", "+", *(f"+{line}" for line in BLOCK), " end")))
    assert len(moved_lines(hunks)) == 8


def test_a_block_ends_where_the_lines_differ() -> None:
    body = ("alpha beta gamma", "delta epsilon", "zeta eta theta", "only here")
    other = (*body[:3], "only there")
    hunks = parse_hunks(_diff("a", tuple(f"-{line}" for line in body), tuple(f"+{line}" for line in other)))
    assert sorted(moved_lines(hunks)) == [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]

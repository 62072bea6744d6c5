from fnmatch import fnmatchcase

from hypothesis import example, given
from hypothesis import strategies as st

from interlock.domain.checks.name_patterns import NamePatterns

NAMES = st.text("ab.", max_size=6)
PATTERNS = st.lists(st.text("ab.*?", max_size=6) | st.sampled_from(["[ab]*", "*[!a]", "a[.]b"]), max_size=4)


@given(PATTERNS, NAMES)
@example(["*"], "")
@example(["*a", "b*", "a.b", "a*b"], "a.b")
@example(["**"], "a")
@example([], "a")
def test_a_name_matches_if_it_matches_one_of_the_patterns(patterns: list[str], name: str) -> None:
    assert NamePatterns(patterns).match(name) == any(fnmatchcase(name, pattern) for pattern in patterns)

"""Skeletons of real files in every language: a sample here, whole packages in `make soak`."""

from pathlib import Path

import pytest

from benchmarks.corpora import CORPORA, sources
from benchmarks.samples import Unavailable
from interlock.codeviews.syntax.detect import CODE, language_of
from interlock.codeviews.views.skeleton import skeleton
from tests.codeviews.faithful import faults

SLICE = sorted(path for path in (Path(__file__).parent / "slice").iterdir() if path.suffix != ".md")
WHOLE = [(name, language) for name, corpus in CORPORA.items() for language in corpus.languages]


@pytest.mark.parametrize("path", SLICE, ids=lambda path: path.name)
def test_a_file_of_each_language(path: Path) -> None:
    source = path.read_bytes()
    language = language_of(path.name, source)
    assert faults(source, language) == []
    assert len(skeleton(source, language)) < 0.9 * len(source)


def test_the_slice_has_every_language() -> None:
    assert {language_of(path.name, path.read_bytes()) for path in SLICE} == set(CODE) - {"python"}


@pytest.mark.soak
@pytest.mark.parametrize(("name", "language"), WHOLE, ids=lambda word: word)
def test_a_whole_package(name: str, language: str) -> None:
    try:
        files = sources(name, language)
    except Unavailable as why:
        pytest.skip(str(why))
    assert files
    wrong = {str(path): problems for path in files if (problems := faults(path.read_bytes(), language))}
    assert wrong == {}

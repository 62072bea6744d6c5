"""The view of one file: read, made, counted, kept."""

from typing import NamedTuple

from interlock.codeviews.folders.cache import Cache, digest_of, key_of
from interlock.codeviews.folders.packs import Entry
from interlock.codeviews.folders.read_file import read
from interlock.codeviews.folders.walk import FoundFile
from interlock.codeviews.syntax.detect import language_of, suffix_of
from interlock.codeviews.views import tokens
from interlock.codeviews.views.view import Kind, view


class Viewed(NamedTuple):
    path: str
    language: str
    view: bytes
    before: int  # tokens
    after: int
    digest: bytes = b""  # of the source, for those who take notes of it
    fresh: bool = False  # it was made just now
    quiet: bool = False  # nobody was writing the source


class Skipped(NamedTuple):
    path: str
    reason: str
    asked: bool
    quiet: bool = False


def make(kind: Kind, found: FoundFile, cache: Cache | None, *, leases: bool = False) -> Viewed | Skipped:
    """From the cache, if the content is known there."""
    source, reason, quiet = read(found, leases=leases)
    if reason:
        return Skipped(found.path, reason, found.asked, quiet)
    language = language_of(found.path, source)
    title = title_of_file(found.path, language)
    if cache is None:
        return Viewed(found.path, language, *_entry(kind, source, language, title))
    digest = digest_of(source)
    entry = cache.get(key_of(kind, digest, language, title, tokens.method()))
    if entry is not None:
        return Viewed(found.path, language, *entry, digest, quiet=quiet)
    return Viewed(found.path, language, *_entry(kind, source, language, title), digest, fresh=True, quiet=quiet)


def _entry(kind: Kind, source: bytes, language: str, title: str | None) -> Entry:
    made = view(kind, source, language, title)
    before = tokens.count(source, language)
    return Entry(made, before, before if made == source else tokens.count(made, language))


def title_of_file(path: str, language: str) -> str | None:
    """What a summary calls a file of no known language: CSS for a.css."""
    suffix = suffix_of(path)
    return suffix.upper() if language == "text" and suffix.isalnum() and len(suffix) <= 8 else None

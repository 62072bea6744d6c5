"""The view of one file: read, made, counted, kept."""

from typing import NamedTuple

from interlock.codeviews import tokens
from interlock.codeviews.cache import Cache, Entry, key_of
from interlock.codeviews.detect import language_of, suffix_of
from interlock.codeviews.reading import read
from interlock.codeviews.view import Kind, view
from interlock.codeviews.walk import Found


class Viewed(NamedTuple):
    path: str
    language: str
    view: bytes
    before: int  # tokens
    after: int


class Skipped(NamedTuple):
    path: str
    reason: str
    asked: bool


def make(kind: Kind, found: Found, cache: Cache | None) -> Viewed | Skipped:
    """Read anew: what was looked at may be in another process."""
    source = read(found)
    if isinstance(source, str):
        return Skipped(found.path, source, found.asked)
    language = language_of(found.path, source)
    title = title_of_file(found.path, language)
    made = view(kind, source, language, title)
    before = tokens.count(source, language)
    after = before if made is source or made == source else tokens.count(made, language)
    entry = Entry(made, before, after)
    if cache is not None:
        cache.put(key_of(kind, source, language, title, tokens.method()), entry)
    return Viewed(found.path, language, *entry)


def title_of_file(path: str, language: str) -> str | None:
    """What a summary calls a file of no known language: CSS for a.css."""
    suffix = suffix_of(path)
    return suffix.upper() if language == "text" and suffix.isalnum() and len(suffix) <= 8 else None

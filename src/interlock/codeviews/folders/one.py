"""The view of one file: read it, make the view, count its tokens."""

import hashlib
from typing import NamedTuple

from interlock.codeviews.folders.pack import View
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


class Skipped(NamedTuple):
    path: str
    reason: str
    asked: bool


class Task(NamedTuple):
    """A file whose view is to be made, unless its content has this digest."""

    found: FoundFile
    known_digest: bytes = b""


class Made(NamedTuple):
    """The result for a file. Without `view` and `skipped` its content is the one with the known digest."""

    digest: bytes
    language: str = ""
    view: View | None = None
    skipped: str = ""


def make(kind: Kind, file: FoundFile, known_digest: bytes = b"") -> Made:
    """Make the view of a file, unless its content still has the known digest."""
    source, reason = read(file)
    if reason:
        return Made(b"", skipped=reason)
    digest = hashlib.blake2b(source, digest_size=20).digest()
    if digest == known_digest:
        return Made(digest)
    language = language_of(file.path, source)
    content = view(kind, source, language, title_of_file(file.path, language))
    before = tokens.count(source, language)
    after = before if content == source else tokens.count(content, language)
    return Made(digest, language, View(content, before, after))


def title_of_file(path: str, language: str) -> str | None:
    """The name that a summary gives a file of an unknown language: CSS for a.css."""
    suffix = suffix_of(path)
    return suffix.upper() if language == "text" and suffix.isalnum() and len(suffix) <= 8 else None

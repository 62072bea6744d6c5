"""Secrets that are known by their place: in an address, in a header, beside a key's public half."""

import re
from collections.abc import Iterator

from interlock.assembly.secrets.detectors.detector import Span, hits
from interlock.assembly.secrets.detectors.named_values import looks_random

_USERINFO = re.compile(r"://(?P<secret>[^/\s:@\"'<>`]{0,100}:[^/\s@\"'<>`]{1,300})(?=@)")
_TOKEN_AS_USER = re.compile(r"://(?P<secret>[A-Za-z0-9_-]{20,200})(?=@)")
_HEADER = re.compile(
    r"(?i)authorization[\"']?\s{0,3}[:=]\s{0,3}[\"'\\]{0,2}(?:bearer|basic|token|digest|bot|apikey|ssws)\s{1,3}"
    r"(?P<secret>[^\s\"'\\,<{$][^\s\"'\\,]{2,4000})"
)
_BEARER = re.compile(r"(?i)bearer\s{1,3}(?P<secret>[A-Za-z0-9._~+/=-]{20,4000})")
_AWS = re.compile(r"(?P<secret>[A-Za-z0-9/+]{40,})=?")
_AWS_LENGTH = 40
_HEROKU = re.compile(r"(?i)heroku[^\n]{0,60}?(?P<secret>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


def place_spans(text: str, small: str) -> Iterator[Span]:
    """`small` is the text in small letters."""
    if "://" in text:
        yield from _found(_USERINFO, text)
        yield from (span for span in _found(_TOKEN_AS_USER, text) if looks_random(text[slice(*span)]))
    yield from _at(_HEADER, "authorization", text, small)
    yield from (span for span in _at(_BEARER, "bearer ", text, small) if looks_random(text[slice(*span)]))
    yield from _at(_HEROKU, "heroku", text, small)
    if "aws" in small or "accesskey" in small or "akia" in small:
        yield from (span for span in _found(_AWS, text) if _is_mixed(text[slice(*span)]))


def _at(pattern: re.Pattern[str], cue: str, text: str, small: str) -> Iterator[Span]:
    for at in hits(small, cue):
        if match := pattern.match(text, at):
            yield match.span("secret")


def _found(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    for match in pattern.finditer(text):
        yield match.span("secret")


def _is_mixed(value: str) -> bool:
    if len(value) != _AWS_LENGTH:
        return False
    kinds = (any(c.isupper() for c in value), any(c.islower() for c in value), any(c.isdigit() for c in value))
    return all(kinds) and looks_random(value)

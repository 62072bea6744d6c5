"""Fingerprints of gate failures. They ignore parts that differ between runs: times, paths, addresses."""

import re
from collections.abc import Sequence
from hashlib import sha256

from interlock.domain.values.gates import GateResult

CUT = "[… "
"""The beginning of the line that says how much of a stream was cut off: no part of the failure."""

LINES = 25  # the last lines of each stream, because its beginning may be cut off

_NOISE = tuple(
    (re.compile(pattern), word)
    for pattern, word in (
        (r"\x1b\[[0-9;?]*[ -/]*[@-~]", ""),
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([.,]\d+)?( ?(Z|[+-]\d\d:?\d\d))?", "<time>"),
        (r"\b\d\d?:\d\d:\d\d([.,]\d+)?\b", "<time>"),
        (r"\b\d+([.,]\d+)? ?(ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?)\b", "<duration>"),
        (r"\b0x[0-9a-fA-F]+\b", "<address>"),
        (r"\b[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", "<id>"),
        (r"(?i)\b(pid|process|thread|port|seed)([ =:#]+)\d+", r"\1\2<number>"),
        (r"(?<![\w.\]>-])(?:/[^\s/:'\"`()<>,;]+)+/", "<folder>/"),
        (r"[ \t]+", " "),
    )
)


def normalised(text: str) -> str:
    for pattern, word in _NOISE:
        text = pattern.sub(word, text)
    return text


def fingerprint(result: GateResult) -> str:
    """Equal for two failures with the same status, exit code and normalised last lines."""
    ends = [_last_lines(result.stdout), _last_lines(result.stderr)]
    text = "\0".join([result.status, str(result.exit_code), *ends])
    return sha256(text.encode(errors="replace")).hexdigest()[:16]


def is_stuck(results: Sequence[GateResult], after: int) -> bool:
    """Whether the last `after` failures have the same fingerprint; 0 means never."""
    if not after or len(results) < after:
        return False
    return len({fingerprint(result) for result in results[-after:]}) == 1


def _last_lines(text: str) -> str:
    lines = [line.rstrip() for line in text.strip().splitlines() if not line.startswith(CUT)]
    return normalised("\n".join(lines[-LINES:]))

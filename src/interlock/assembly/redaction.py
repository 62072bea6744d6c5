"""Removes secrets from text before it is stored or shown."""

import re
from collections.abc import Callable, Mapping

HIDDEN = "[redacted]"

_SHAPES = re.compile(
    r"""-----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
      | \bsk-[A-Za-z0-9_-]{16,}
      | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,} | \bglpat-[A-Za-z0-9_-]{20,}
      | \bAKIA[0-9A-Z]{16}\b | \bAIza[0-9A-Za-z_-]{35} | \bxox[abprs]-[A-Za-z0-9-]{10,} | \bnpm_[A-Za-z0-9]{36}
      | \beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+
      | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)
      | (?i:(?<=authorization:\ bearer\ )|(?<=authorization:\ basic\ ))\S+
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMES = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST = 8

Redact = Callable[[str], str]


Hide = Callable[[str], str]
"""What stands for a secret."""


def redactor(environ: Mapping[str, str], hide: Hide = lambda _: HIDDEN) -> Redact:
    """Hides texts in the form of a secret, and the values of variables with a secret's name."""
    values = sorted(
        {value for name, value in environ.items() if _NAMES.search(name) and len(value) >= _SHORTEST},
        key=len,
        reverse=True,
    )
    known = re.compile("|".join(map(re.escape, values))) if values else None

    def redact(text: str) -> str:
        if known is not None:
            text = known.sub(lambda match: hide(match[0]), text)
        return _SHAPES.sub(lambda match: hide(match[0]), text)

    return redact


def redacted_bytes(redact: Redact, content: bytes) -> bytes:
    """Redacts bytes; bytes that are not UTF-8 stay unchanged."""
    return redact(content.decode(errors="surrogateescape")).encode(errors="surrogateescape")

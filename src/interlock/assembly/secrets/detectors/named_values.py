"""Secrets without a form of their own: the value after a name such as `password`, `api_key` or `DATABASE_URL`.

Code is full of such names (`token = next(tokens)`), so the value must look like a secret, not like code.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Iterator

from interlock.assembly.secrets.detectors.detector import Span, hits

# In small letters. The value follows the rest of the name.
_CUES = (
    *("pass", "pwd", "secret", "token", "key", "credential", "dsn", "_pat", "connection", "_url", "_uri", "auth"),
    *("webhook", "cookie", "sessionid"),
)
_PASSWORD = re.compile(r"passw|passphrase|_pass$|^pass$|pwd|_pass_", re.IGNORECASE)
_LOCATION = re.compile(r"(?:url|uri|webhook)$", re.IGNORECASE)
_VALUE = re.compile(
    r"""[\w-]{0,40}["'\]]{0,2}\\?["']?(?P<gap>[ \t]{0,4})(?P<sign>=>|:=|=|:|>)[ \t]{0,4}
        (?P<value>\\?"(?:[^"\\\n]|\\(?!").){3,200}\\?"|'(?:[^'\\\n]|\\.){3,200}'|`[^`\n]{3,200}`
          | [^\s"'`<>(){}\[\]|,&]{3,200})(?P<after>[^\n]?)""",
    re.VERBOSE,
)
_OPTION = re.compile(r"[\w-]{0,20}(?:=|[ \t]{1,3})(?P<value>['\"]?[^\s'\"<>$|;&-][^\s'\"<>|;&]{3,200}['\"]?)")
_PLACEHOLDER_START = "<{$%*.#[("
_PLACEHOLDERS = (
    *(
        "${",
        "{{",
        "$(",
        "%(",
        "[redacted]",
        "...",
        "…",
        "example",
        "placeholder",
        "your-",
        "your_",
        "your ",
        "changeme",
    ),
    *("change-me", "change_me", "dummy", "xxxx", "***", "insert", "replace"),
)
_WORDS = re.compile(
    r"(?i)(?:none|null|nil|true|false|undefined|string|str|int|bool|bytes|any|object|required|optional|password|secret"
    r"|token|key|todo|test|unset|empty|redacted|hidden|env|prompt|self|this|process|os)\b"
)
_FIELD = re.compile(r"\{[A-Za-z_.]*\}")
_CODE = re.compile(r"[A-Za-z_][\w.]*[(\[]|[a-z_]\w*(?:\.[A-Za-z_]\w*)+|.*::|[A-Za-z_]+")
_FOLLOWED = re.compile(r"[\w-]{0,60}[\"'\]\\]{0,3}(?:[ \t]{0,4}[=:>]|[ \t]{1,3}[\w'\"])")
_LONGEST_NAME = 60
_LONG = 16
_NAME_LETTERS = string.ascii_letters + string.digits + "_.$-"
_CALLS = ("(", "[", "{")
_QUOTES = "\"'`"


def named_value_spans(text: str, small: str) -> Iterator[Span]:
    """`small` is the text in small letters."""
    seen = -1
    for at in sorted({hit for cue in _CUES if cue in small for hit in hits(small, cue)}):
        if at < seen or not _FOLLOWED.match(text, at):
            continue
        for span in _value_at(text, at):
            seen = span[1]
            yield span


def small_letters(text: str) -> str:
    """Small letters at the same places: some letters become two."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


def _value_at(text: str, at: int) -> Iterator[Span]:
    before = text[max(0, at - _LONGEST_NAME) : at]
    start = at - len(before) + len(before.rstrip(_NAME_LETTERS))
    if text.startswith("-", start):  # --password hunter2
        match = _OPTION.match(text, at)
        if match and _is_option_value(match["value"].strip(_QUOTES)):
            yield _inner(match)
            return
    match = _VALUE.match(text, at)
    if match is None:
        return
    name = text[start : match.start("gap")].strip("\"'\\] ")
    value = match["value"].strip("\\").strip(_QUOTES)
    quoted = match["value"].lstrip("\\")[:1] in _QUOTES
    if not quoted and match["after"] in _CALLS:
        return
    if match["sign"] == ">" and not text[match.end("value") :].startswith("</"):
        return
    line = text[max(0, start - _LONGEST_NAME) : start].rpartition("\n")[2].strip()
    if _is_secret(name, value, _Form(quoted, match["gap"], match["sign"], line)):
        yield _inner(match)


def _inner(match: re.Match[str]) -> Span:
    start, end = match.span("value")
    text = match["value"]
    lead = len(text) - len(text.lstrip("\\" + _QUOTES))
    trail = len(text) - len(text.rstrip("\\" + _QUOTES)) if lead else 0
    if not lead:
        trail = len(text) - len(text.rstrip(",;"))
    return start + lead, end - trail


class _Form:
    """How a value is written: in quotes, or as in a file of settings."""

    def __init__(self, quoted: bool, gap: str, sign: str, line: str) -> None:
        self.quoted = quoted
        settings = (
            not line
            or line in ("export", "-", "set", "ENV", "-D", "-e", "env", "const", "let", "var")
            or line.endswith(";")
        )
        self.settings = not quoted and settings
        self.close = not gap and sign == "="
        self.sign = sign


def _is_secret(name: str, value: str, form: _Form) -> bool:
    value = value.rstrip(",;")
    if len(value) < 4 or _is_placeholder(value) or value.lower() in name.lower():
        return False
    if _LOCATION.search(name) and not re.search(r"(?i)pass|secret|token|key|dsn", name):
        return "webhook" in name.lower() and "/" in value and looks_random(value.rsplit("/", 1)[-1])
    if _PASSWORD.search(name):
        return _is_password(value, form)
    if not form.quoted and (not form.settings or _CODE.fullmatch(value)):
        certain = form.close or (len(value) >= _LONG and not _CODE.fullmatch(value))
        return certain and looks_random(value)
    return looks_random(value)


def _is_placeholder(value: str) -> bool:
    small = value.lower()
    if value[0] in _PLACEHOLDER_START or any(word in small for word in _PLACEHOLDERS):
        return True
    return bool(_WORDS.match(value) or _FIELD.search(value))


def _is_password(value: str, form: _Form) -> bool:
    varied = any(c.isdigit() for c in value) or bool(re.search(r"[^\w\s./:-]", value))
    if form.quoted or form.sign == ">":
        return varied and " " not in value
    if not (form.settings or form.close):
        return form.sign == ":" and any(c.isdigit() for c in value) and not re.search(r"[.(:/]", value)
    if _CODE.fullmatch(value) or "(" in value:
        return form.close and form.settings and not re.search(r"[.(\[]", value)
    return varied or form.close


def _is_option_value(value: str) -> bool:
    return not _is_placeholder(value) and any(c.isdigit() for c in value) and "/" not in value[:1]


def looks_random(value: str) -> bool:
    """Letters and digits, and many different ones: not words, not a path, not a number."""
    if len(value) < 8 or " " in value or value.count("/") > 3 or value.startswith(("/", "./", "http")):
        return False
    if not any(c.isdigit() for c in value) or not any(c.isalpha() for c in value):
        return False
    if re.search(r"[(){}<>\[\]|\\]", value) or re.fullmatch(r"[a-z_-]+\d{0,2}(?:[-_.:/][a-z_]+\d{0,2})*", value):
        return False
    size = len(value)
    entropy = -sum(n / size * math.log2(n / size) for n in Counter(value).values())
    return entropy >= (3.0 if size >= 16 else 2.6)

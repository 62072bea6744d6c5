"""The fields of the desk by name. HTTP clients use the names, and the window uses them as widget keys."""

from difflib import get_close_matches
from typing import Any, Literal

from msgspec import Struct

from interlock.errors import BadValue, NotAllowed, NotFound

LONGEST = 400_000  # characters of a text


class Field(Struct, frozen=True):
    name: str
    about: str
    kind: Literal["text", "line"] = "text"
    written: bool = True  # clients may set it; otherwise it is read-only
    place: bool = False  # names a program or a folder


_TABLE = (
    Field("current_provider", "the provider's name; takes effect immediately", "line"),
    Field(
        "current_model",
        "the model of tiers without their own; empty means the provider's default; takes effect immediately",
        "line",
    ),
    Field("gcli_path", "the command line of the gemini_cli provider; it is not run by a shell", "line", place=True),
    Field(
        "files_base_dir", "the folder that a discussion is about, relative to the project's root", "line", place=True
    ),
    Field("mma_epic_input", "a goal in words, for btn_mma_plan_epic"),
    Field("ai_input", "the message that btn_gen_send sends"),
    Field("ai_status", "the status of the last request", "line", written=False),
    Field("ai_response", "the latest answer in a discussion", written=False),
    Field("ai_error", "why the last turn failed", written=False),
    Field("active_discussion", "the selected discussion, or empty", "line", written=False),
    Field("active_track", "the selected track, or empty", "line", written=False),
    Field("active_tab", "the selected panel", "line", written=False),
    Field("project_root", "the project's folder", "line", written=False),
    Field("sandbox", "the sandbox level of commands", "line", written=False),
)

FIELDS = {field.name: field for field in _TABLE}

TABS = (
    "dashboard",
    "inbox",
    "rules",
    "graph",
    "streams",
    "message",
    "response",
    "discussion",
    "provider",
    "usage",
    "timeline",
    "tests",
    "diagnostics",
)

INDICATORS = {
    "thinking": "a model is being asked",
    "working": "a worker is running",
    "waiting": "an approval waits for a person",
    "conducting": "ready tickets can start",
    "test_policy": "the drive token may answer approvals: tests only",
}


def find(name: str, known: Any, what: str) -> None:
    """Raises NotFound with the most similar names."""
    if name not in known:
        near = get_close_matches(name, list(known), n=3, cutoff=0.4)
        names = " or ".join(repr(each) for each in near)
        raise NotFound(f"no {what} {name!r}{f'; did you mean {names}?' if near else ''}")


def check(name: str, value: Any, *, places: bool) -> str:
    """Checks a value for a field; raises NotFound, NotAllowed or BadValue."""
    find(name, FIELDS, "field")
    field = FIELDS[name]
    if not field.written:
        raise NotAllowed(f"{name} is read-only: it shows {field.about}")
    if field.place and not places:
        raise NotAllowed(
            f"{name} names a program or a folder: over HTTP it can be set only if the workbench runs with --test-policy"
        )
    if not isinstance(value, str):
        raise BadValue(f"{name} must be a text, not {_kind(value)}")
    if len(value) > LONGEST:
        raise BadValue(f"{name} has {len(value):,} characters; at most {LONGEST:,} are allowed")
    if field.kind == "line" and not (value.isprintable() or not value):
        raise BadValue(f"{name} must be one line of printable text")
    return value


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), "nothing")  # pyright: ignore[reportUnknownArgumentType]  any JSON

"""What can be read and written at the desk, by name (SPEC H4). The names are also the keys of the window's widgets."""

from difflib import get_close_matches
from typing import Any, Literal

from msgspec import Struct

from interlock.errors import BadValue, NotAllowed, NotFound

LONGEST = 400_000  # characters of a text


class Field(Struct, frozen=True):
    name: str
    about: str
    kind: Literal["text", "line"] = "text"
    written: bool = True  # by whoever drives; otherwise it only shows something
    place: bool = False  # says which program starts or which folder is meant


_TABLE = (
    Field("current_provider", "who is asked: the provider's name; counts at once", "line"),
    Field("current_model", "the model where no tier has its own; empty: the provider's; counts at once", "line"),
    Field("gcli_path", "the command line of the gemini_cli provider; no shell reads it", "line", place=True),
    Field("files_base_dir", "the folder that a discussion is about, from the project's root", "line", place=True),
    Field("mma_epic_input", "a goal in words, for btn_mma_plan_epic"),
    Field("ai_input", "what btn_gen_send says in the discussion"),
    Field("ai_status", "what the model asked last is doing", "line", written=False),
    Field("ai_response", "the latest answer in a discussion", written=False),
    Field("ai_error", "why the last turn ended without one", written=False),
    Field("active_discussion", "the discussion in view, or empty", "line", written=False),
    Field("active_track", "the track in view, or empty", "line", written=False),
    Field("active_tab", "the panel in front", "line", written=False),
    Field("project_root", "the project's folder", "line", written=False),
    Field("sandbox", "what commands run in", "line", written=False),
)

FIELDS = {field.name: field for field in _TABLE}

TABS = (
    "dashboard",
    "inbox",
    "graph",
    "streams",
    "message",
    "response",
    "discussion",
    "files",
    "provider",
    "gates",
    "usage",
    "timeline",
    "tests",
    "diagnostics",
)

INDICATORS = {
    "thinking": "a model is being asked",
    "working": "a worker is at work",
    "waiting": "an approval waits for a person",
    "conducting": "ready tickets may start",
    "test_policy": "the drive token may answer approvals: tests only",
}


def find(name: str, known: Any, what: str) -> None:
    """Raises NotFound, naming what comes near."""
    if name not in known:
        near = get_close_matches(name, list(known), n=3, cutoff=0.4)
        names = " or ".join(repr(each) for each in near)
        raise NotFound(f"no {what} {name!r}{f'; did you mean {names}?' if near else ''}")


def check(name: str, value: Any, *, places: bool) -> str:
    """The value as it may be written; raises what is wrong with it."""
    find(name, FIELDS, "field")
    field = FIELDS[name]
    if not field.written:
        raise NotAllowed(f"{name} shows {field.about}; it cannot be set")
    if field.place and not places:
        raise NotAllowed(
            f"{name} says what runs and where: over HTTP it is set only on a workbench started with --test-policy"
        )
    if not isinstance(value, str):
        raise BadValue(f"{name} is a text, not {_kind(value)}")
    if len(value) > LONGEST:
        raise BadValue(f"{name} has {len(value):,} characters; {LONGEST:,} are the most")
    if field.kind == "line" and not (value.isprintable() or not value):
        raise BadValue(f"{name} is one line of printable text")
    return value


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), "nothing")  # pyright: ignore[reportUnknownArgumentType]  any JSON

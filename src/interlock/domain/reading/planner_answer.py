"""Reads tracks and tickets from a planner's answer: finds the JSON, checks its shape, and reports errors.

Models wrap JSON in prose and fences and use similar words for a key; both are accepted. Anything else raises Rejected,
and its message goes back to the model once.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from interlock.domain.checks.dag import Dag
from interlock.domain.reading.ticket_data import AUTHOR_FIELDS
from interlock.domain.reading.tickets_from_data import spec_from_dict
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.ids import check_id
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected

MOST_ANSWER = 4_000_000
_STARTS = 1_000  # positions of a long text at which an array is tried

_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_SIMILAR_KEYS = {
    "goal": "description",
    "title": "description",
    "summary": "description",
    "dependencies": "depends_on",
    "context": "context_requirements",
    "context_files": "context_requirements",
    "file": "target_file",
    "gates": "verify",
    "verification": "verify",
}
_PLANNED_ROLES = ("tier3-worker", "tier4-qa")

Table = dict[str, Any]


def plans_from_answer(answer: str) -> tuple[TrackPlan, ...]:
    """The tracks that a planner proposes."""
    return _plans(_tables(answer, "tracks"))


def tickets_from_answer(answer: str) -> tuple[TicketSpec, ...]:
    """The tickets a planner wrote, checked as a whole and put into dependency order."""
    specs = tuple(_ticket(table, number) for number, table in enumerate(_tables(answer, "tickets"), 1))
    dag = Dag([spec.id for spec in specs], (spec.depends_on for spec in specs))
    by_id = {spec.id: spec for spec in specs}
    return tuple(by_id[name] for name in dag.topological_order())


def plans_from_json(text: str) -> tuple[TrackPlan, ...]:
    """Tracks as a person edited them: a list of objects with id, title and description."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Rejected(f"the edited tracks are not JSON: {error}") from None
    return _plans(_listed(data, "tracks"))


def _plans(tables: list[Table]) -> tuple[TrackPlan, ...]:
    plans: list[TrackPlan] = []
    for number, table in enumerate(tables, 1):
        name = table.get("id")
        check_id(name, "track")
        title = _text(table, number, "title", "goal", "name")
        description = _text(table, number, "description", "brief", "summary", "goal")
        criteria = table.get("acceptance_criteria")
        if isinstance(criteria, list) and criteria:
            lines = "\n".join(f"- {item}" for item in cast("list[object]", criteria))
            description = f"{description}\n\nAcceptance criteria:\n{lines}".strip()
        plans.append(TrackPlan(str(name), title or str(name), description))
    if len({plan.id for plan in plans}) < len(plans):
        repeated = next(plan.id for plan in plans if sum(other.id == plan.id for other in plans) > 1)
        raise Rejected(f"duplicate track id {repeated!r}")
    return tuple(plans)


def _text(table: Table, number: int, *keys: str) -> str:
    for key in keys:
        value = table.get(key)
        if value is None or value == "":
            continue
        if not isinstance(value, str):
            raise Rejected(f"track {number} of the list: {key!r} must be a text")
        if "\0" in value or not _is_unicode(value):
            raise Rejected(f"track {number} of the list: {key!r} holds a character that no file can hold")
        return value.strip()
    return ""


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _ticket(table: Table, number: int) -> TicketSpec:
    """A planned ticket. Unknown keys are ignored; a similar word counts if the right key is missing."""
    fields: Table = {}
    for key, value in table.items():
        right = key if key in AUTHOR_FIELDS or key == "id" else _SIMILAR_KEYS.get(key)
        if right is None or value is None or (right != key and right in table):
            continue
        fields.setdefault(right, _as_list(right, value))
    spec = spec_from_dict(fields, f"ticket {number} of the list")
    check_id(spec.id, "ticket")
    if spec.assigned_to not in _PLANNED_ROLES or spec.script:
        raise Rejected(f"ticket {spec.id!r}: a planner assigns to {' or '.join(_PLANNED_ROLES)}, not to a script")
    if any(gate.network for gate in spec.verify):
        raise Rejected(f"ticket {spec.id!r}: a planner's gates have no network")
    if any(gate.env for gate in spec.verify):  # nobody is shown them before they run
        raise Rejected(f"ticket {spec.id!r}: a planner's gates set no variables; write them into the command")
    return spec


def _as_list(key: str, value: object) -> object:
    """A single text becomes a list of one; a gate that is not written as a clause becomes a command."""
    if key in ("depends_on", "verify", "context_requirements") and isinstance(value, str):
        value = [value]
    if key != "verify" or not isinstance(value, list):
        return value
    items = cast("list[object]", value)
    return [{"command": i} if isinstance(i, str) and not i.lstrip().startswith("verify:") else i for i in items]


# ── JSON in prose ────────────────────────────────────────────────────────────────────────


def _tables(answer: str, what: str) -> list[Table]:
    """The list in a ```json fence, in another fence, or elsewhere in the text."""
    if len(answer) > MOST_ANSWER:
        raise Rejected(f"the answer has {len(answer):,} characters; that is too long for a plan")
    fault: str | None = None
    for candidate in _candidates(answer):
        try:
            return _listed(json.loads(candidate), what)
        except (ValueError, RecursionError) as error:
            fault = fault or f"the JSON in it cannot be read: {error}"
        except Rejected as wrong:
            fault = fault or str(wrong)
    for data in _embedded(answer):
        try:
            return _listed(data, what)
        except Rejected as wrong:
            fault = fault or str(wrong)
    raise Rejected(fault or f"the answer holds no JSON list of {what}")


def _candidates(answer: str) -> Iterator[str]:
    fences = [(match[2].lower(), match[3]) for match in _FENCE.finditer(answer)]
    yield from (body for word, body in fences if word.startswith("json"))
    yield from (body for word, body in fences if not word.startswith("json"))
    if answer.lstrip()[:1] in ("[", "{"):
        yield answer


def _embedded(answer: str) -> Iterator[object]:
    decoder = json.JSONDecoder()
    at = answer.find("[")
    for _ in range(_STARTS):
        if at < 0:
            return
        try:
            data, end = decoder.raw_decode(answer, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if any(isinstance(item, dict) for item in data):
                yield data
        at = answer.find("[", end)


def _listed(data: object, what: str) -> list[Table]:
    """A list of objects, itself or under its name in an object."""
    if isinstance(data, dict):
        data = cast("Table", data).get(what, data)
    if not isinstance(data, list):
        raise Rejected(f"expected a JSON list of {what}")
    items = cast("list[object]", data)
    if not items:
        raise Rejected(f"the list of {what} is empty")
    if not all(isinstance(item, dict) for item in items):
        raise Rejected(f"the list of {what} holds something that is not an object")
    return cast("list[Table]", items)

"""Tickets as plain data: `ticket_to_dict` and its inverse."""

from typing import cast, get_args

from msgspec import to_builtins

from interlock.domain.reading.field_readers import (
    FieldError,
    Plain,
    Read,
    assignee,
    describe_value,
    gates,
    one_of,
    or_null,
    read_fields,
    struct_value,
    text,
    texts,
    true_or_false,
    whole_number,
)
from interlock.domain.values.autonomy import Autonomy
from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import (
    STATUS,
    Blocked,
    Cancelled,
    Completed,
    Grant,
    Priority,
    ReusedGate,
    Stage,
    Status,
    Ticket,
    TicketSpec,
    Todo,
    Working,
)
from interlock.errors import Rejected

AUTHOR_FIELDS: dict[str, Read] = {
    "description": text,
    "assigned_to": assignee,
    "target_file": or_null(text),
    "context_requirements": texts,
    "depends_on": texts,
    "step_mode": true_or_false,
    "verify": gates,
    "script": or_null(text),
    "priority": one_of(get_args(Priority)),
    "model_override": or_null(text),
    "with_answers": true_or_false,
    "returns": true_or_false,
}
"""The fields that an author writes and an edit can change."""

BOOKKEEPING_FIELDS: dict[str, Read] = {
    "track": text,
    "status": one_of(get_args(Status)),
    "blocked_reason": or_null(text),
    "attempts": whole_number(0, 2**53),
    "created_at": text,
    "started_at": or_null(text),
    "finished_at": or_null(text),
    "result": or_null(text),
    "unverified": true_or_false,
    "stage": struct_value(Stage),
    "grant": struct_value(Grant | None),
    "why": or_null(text),
    "resumes": whole_number(0, 2**53),
    "spawn": struct_value(Grant | None),
    "session": struct_value(tuple[Blob, ...]),
    "failures": whole_number(0, 2**53),
    "carried": texts,
    "accepted": texts,
    "packages": text,
    "notes": texts,
    "delivered": whole_number(0, 2**53),
    "unsaved": or_null(text),
    "autonomy": or_null(one_of(get_args(Autonomy))),
    "unseen": texts,
    "reviewed": text,
    "rounds": whole_number(0, 2**53),
    "reused": struct_value(tuple[ReusedGate, ...]),
    "taken": text,
    "used": texts,
    "begun": text,
    "given_up": text,
}
"""The fields that Interlock itself sets."""

_FIELDS: dict[str, Read] = {"id": text, **AUTHOR_FIELDS, **BOOKKEEPING_FIELDS}
_DERIVED_FIELDS = ("status", "blocked_reason")  # they follow from the stage


def ticket_to_dict(ticket: Ticket) -> Plain:
    """The whole ticket as one flat dict. The keys after `unverified` hold values that the others cannot express."""
    spec = ticket.spec
    return {
        "id": spec.id,
        "track": ticket.track,
        "description": spec.description,
        "status": ticket.status,
        "assigned_to": spec.assigned_to,
        "target_file": spec.target_file,
        "context_requirements": list(spec.context_requirements),
        "depends_on": list(spec.depends_on),
        "blocked_reason": ticket.blocked_reason,
        "step_mode": spec.step_mode,
        "verify": [to_builtins(gate) for gate in spec.verify],
        "script": spec.script,
        "priority": spec.priority,
        "model_override": spec.model_override,
        "with_answers": spec.with_answers,
        "returns": spec.returns,
        "attempts": ticket.attempts,
        "created_at": ticket.created_at,
        "started_at": ticket.started_at,
        "finished_at": ticket.finished_at,
        "result": ticket.result,
        "unverified": ticket.unverified,
        "stage": to_builtins(ticket.stage),
        "grant": to_builtins(ticket.grant),
        "why": ticket.why,
        "resumes": ticket.resumes,
        "spawn": to_builtins(ticket.spawn),
        "session": to_builtins(ticket.session),
        "failures": ticket.failures,
        "carried": list(ticket.carried),
        "accepted": list(ticket.accepted),
        "packages": ticket.packages,
        "notes": list(ticket.notes),
        "delivered": ticket.delivered,
        "unsaved": ticket.unsaved,
        "autonomy": ticket.autonomy,
        "unseen": list(ticket.unseen),
        "reviewed": ticket.reviewed,
        "rounds": ticket.rounds,
        "reused": to_builtins(ticket.reused),
        "taken": ticket.taken,
        "used": list(ticket.used),
        "begun": ticket.begun,
        "given_up": ticket.given_up,
    }


def ticket_from_dict(data: object) -> Ticket:
    """The inverse of `ticket_to_dict`. Without `stage` the status determines the stage."""
    try:
        fields = read_fields(data, _FIELDS, required=("id",))
        stage = _stage(fields)
    except FieldError as wrong:
        raise Rejected(f"{ticket_label(data, 'a ticket')}: {wrong}") from None
    spec = TicketSpec(**{key: value for key, value in fields.items() if key not in BOOKKEEPING_FIELDS})
    bookkeeping = {
        key: value for key, value in fields.items() if key in BOOKKEEPING_FIELDS and key not in _DERIVED_FIELDS
    }
    values: Plain = {"track": "", "created_at": "", **bookkeeping, "spec": spec, "stage": stage}
    return Ticket(**values)


def ticket_label(data: object, place: str) -> str:
    """How a message names the ticket that `data` is meant to be."""
    name = cast("dict[object, object]", data).get("id") if isinstance(data, dict) else None
    return f"ticket {describe_value(name)}" if isinstance(name, str) else place


def _stage(fields: Plain) -> Stage:
    status: Status | None = fields.get("status")
    stage: Stage | None = fields.get("stage")
    if stage is None:
        reason = fields.get("blocked_reason") or ""
        implied: dict[Status, Stage] = {
            "todo": Todo(),
            "in_progress": Working(),
            "completed": Completed(),
            "blocked": Blocked(reason),
            "cancelled": Cancelled(reason),
        }
        return implied[status or "todo"]
    if status is not None and STATUS[type(stage)] != status:
        raise FieldError(f"'status' is {status!r}, but its 'stage' means {STATUS[type(stage)]!r}")
    return stage

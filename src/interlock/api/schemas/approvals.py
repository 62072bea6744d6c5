"""JSON shapes of approvals, their answers, and asks of external programs."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count
from interlock.domain.values.approvals import Decision


class ApprovalShape(Struct, frozen=True):
    """An approval with its full payload."""

    id: Annotated[str, Meta(examples=["A-3"])]
    state: Literal["pending", "answered", "withdrawn"]
    title: str
    kind: str
    asker: str
    track: str
    ticket: str | None
    why: str
    payload: dict[str, Any]
    digest: Annotated[str, Meta(description="of exactly what would run")]
    requested_at: str
    deadline: str | None
    discussion: str
    answers: Annotated[list[Decision], Meta(description="the decisions it takes")]
    answer: dict[str, Any] | None


class Approvals(Struct, frozen=True):
    approvals: list[ApprovalShape]
    total: Count
    next_offset: Annotated[int | None, Meta(description="null at the end")]


class Edits(Struct, frozen=True, forbid_unknown_fields=True):
    """Changes made while approving; only the fields that the kind of approval has."""

    script: str | None = None
    arguments: Annotated[dict[str, Any] | str | None, Meta(description="of a tool or an ask")] = None
    prompt: Annotated[str | None, Meta(description="of a worker about to start")] = None
    context: Annotated[str | None, Meta(description="of a worker about to start")] = None
    tracks: Annotated[list[dict[str, Any]] | None, Meta(description="proposed tracks")] = None


class AnswerShape(Struct, frozen=True, forbid_unknown_fields=True):
    decision: Annotated[Decision, Meta(examples=["approve"])]
    edits: Annotated[Edits | str | None, Meta(description="a text alone is the edited script, prompt or arguments")] = (
        None
    )
    hunks: Annotated[list[Annotated[int, Meta(ge=1)]] | None, Meta(description="of a file edit: only these")] = None
    message: Annotated[str, Meta(description="why, for whoever asked", max_length=10_000)] = ""


class AskShape(Struct, frozen=True, forbid_unknown_fields=True):
    tool: Annotated[str, Meta(min_length=1, max_length=200, examples=["run_shell_command"])]
    args: Annotated[dict[str, Any], Meta(examples=[{"command": "git push"}])]
    deadline_s: Annotated[float, Meta(gt=0, le=31_536_000, description="denied when nobody answers so long")] | None = (
        None
    )
    asker: Annotated[str, Meta(max_length=100, description="which program asks", examples=["claude"])] = ""
    cwd: Annotated[str, Meta(max_length=4_096)] = ""
    key: Annotated[
        str, Meta(max_length=100, description="the asker's own name for it: asked again with it, the answer is fetched")
    ] = ""


class AskAnswer(Struct, frozen=True):
    decision: Literal["allow", "deny"]
    args: Annotated[dict[str, Any], Meta(description="as the person left them: these are what may run")]
    message: str
    approval: Annotated[str, Meta(examples=["A-3"])]

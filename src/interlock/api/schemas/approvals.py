"""JSON shapes of approvals, their answers, and asks of external programs."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count
from interlock.domain.values.answer_sets import SetDecision
from interlock.domain.values.approvals import Comment, Decision
from interlock.views.answers.actions import ActionName
from interlock.views.outlook.urgency import Urgency


class ActionShape(Struct, frozen=True):
    """What a person can do with an approval, with the words and the key of every front end."""

    name: ActionName
    label: Annotated[str, Meta(examples=["Approve"])]
    key: Annotated[str, Meta(examples=["a"])]
    decision: Annotated[Decision | None, Meta(description="Null if it only prepares an answer, such as an edit.")]


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
    digest: Annotated[str, Meta(description="The digest of exactly what would run.")]
    requested_at: str
    deadline: str | None
    discussion: str
    again: Annotated[
        dict[str, Any] | None,
        Meta(description="If it is asked again: the earlier approval (of), what changed, and the kept edit."),
    ]
    answers: Annotated[list[Decision], Meta(description="The decisions that this approval accepts.")]
    actions: Annotated[list[ActionShape], Meta(description="The same in the order in which they are shown.")]
    answer: dict[str, Any] | None
    urgency: Annotated[
        Urgency | None, Meta(description="In a list: how much a pending approval holds up, with the reason in words.")
    ] = None


class Approvals(Struct, frozen=True):
    approvals: list[ApprovalShape]
    total: Count
    next_offset: Annotated[int | None, Meta(description="The offset of the next page; null on the last page.")]


class Edits(Struct, frozen=True, forbid_unknown_fields=True):
    """Changes made while approving; only the fields that the kind of approval has."""

    script: str | None = None
    arguments: Annotated[
        dict[str, Any] | str | None, Meta(description="The edited arguments of a tool call or an external request.")
    ] = None
    prompt: Annotated[str | None, Meta(description="The edited prompt of a worker start.")] = None
    context: Annotated[str | None, Meta(description="The edited context of a worker start.")] = None
    tracks: Annotated[list[dict[str, Any]] | None, Meta(description="The edited list of proposed tracks.")] = None


class AlwaysShape(Struct, frozen=True, forbid_unknown_fields=True):
    """Allows the same from now on. The rule must be the one that `GET /api/approvals/{approval}/rule` shows."""

    rule: Annotated[str, Meta(max_length=100_000)]
    everywhere: Annotated[bool, Meta(description="In all projects of the user, not only in this one.")] = False


class RuleShape(Struct, frozen=True):
    rule: Annotated[str, Meta(description="The narrowest policy rule that would allow exactly this, as TOML.")]


class AnswerShape(Struct, frozen=True, forbid_unknown_fields=True):
    decision: Annotated[Decision, Meta(examples=["approve"])]
    edits: Annotated[
        Edits | str | None,
        Meta(description="Edits by field. A plain text replaces the script, the prompt or the arguments."),
    ] = None
    hunks: Annotated[
        list[Annotated[int, Meta(ge=1)]] | None, Meta(description="The numbers of the accepted hunks of a file edit.")
    ] = None
    message: Annotated[
        str, Meta(description="The reason, sent to the program or model that asked.", max_length=10_000)
    ] = ""
    comments: Annotated[
        list[Comment],
        Meta(description="A reviewer's comments on files, or on lines of their new content.", max_length=100),
    ] = []
    always: Annotated[
        AlwaysShape | None,
        Meta(description="With `approve` of an unedited script or tool call: also store this rule."),
    ] = None


class SeenShape(Struct, frozen=True, forbid_unknown_fields=True):
    id: Annotated[str, Meta(min_length=1, max_length=40, examples=["A-3"])]
    digest: Annotated[str, Meta(max_length=64, description="Of the approval as the caller saw it.")]


class ManyAnswersShape(Struct, frozen=True, forbid_unknown_fields=True):
    """One answer to many approvals. Each is answered only if it is still as the caller saw it."""

    approvals: Annotated[list[SeenShape], Meta(min_length=1, max_length=10_000)]
    decision: Annotated[SetDecision, Meta(examples=["approve"])]
    message: Annotated[str, Meta(description="The reason, sent to all that asked.", max_length=10_000)] = ""
    selected: Annotated[
        bool,
        Meta(description="They were chosen by a filter, not one by one: reviews and landings are left out."),
    ] = False


class LeftOutShape(Struct, frozen=True):
    approval: Annotated[str, Meta(examples=["A-4"])]
    digest: str
    why: Annotated[str, Meta(examples=["changed since"])]


class ManyAnswered(Struct, frozen=True):
    root: Annotated[str, Meta(description="The Merkle root over all pairs of id and digest, as the journal holds it.")]
    decision: SetDecision
    by: str
    answered: list[str]
    left_out: list[LeftOutShape]
    sentence: Annotated[str, Meta(examples=["answered 7 of 8; A-4 changed since"])]


class AskShape(Struct, frozen=True, forbid_unknown_fields=True):
    tool: Annotated[str, Meta(min_length=1, max_length=200, examples=["run_shell_command"])]
    args: Annotated[dict[str, Any], Meta(examples=[{"command": "git push"}])]
    deadline_s: (
        Annotated[
            float, Meta(gt=0, le=31_536_000, description="The request is denied if there is no answer after this time.")
        ]
        | None
    ) = None
    asker: Annotated[
        str, Meta(max_length=100, description="The name of the program that asks.", examples=["claude"])
    ] = ""
    cwd: Annotated[str, Meta(max_length=4_096)] = ""
    key: Annotated[
        str,
        Meta(
            max_length=100,
            description="The caller's id of the request. A second call with the same id returns the same answer.",
        ),
    ] = ""


class AskAnswer(Struct, frozen=True):
    decision: Literal["allow", "deny"]
    args: Annotated[dict[str, Any], Meta(description="The arguments as edited by the user. Only these may run.")]
    message: str
    approval: Annotated[str, Meta(examples=["A-3"])]

"""Commands about discussions and their turns."""

from interlock.domain.values.approvals import ScriptPayload, ToolPayload
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Blob
from interlock.domain.values.wire_names import Tagged as _Command


class StartDiscussion(_Command, frozen=True):
    title: str = ""


class StopTurn(_Command, frozen=True):
    """Ends the model's turn now."""

    discussion: str
    reason: str = "stopped"


class Say(_Command, frozen=True):
    """The user's message in a discussion, stored as a blob."""

    discussion: str
    message: Blob
    made_of: Blob


class ReplyInDiscussion(_Command, frozen=True):
    """One answer of the model, which may still ask for tools."""

    discussion: str
    message: Blob
    tier: str
    model: str
    usage: Usage
    call: str


class BeginDiscussionTool(_Command, frozen=True):
    discussion: str
    call: str


class FinishDiscussionTool(_Command, frozen=True):
    discussion: str
    message: Blob
    tool: str
    failed: bool
    by: str
    refused: str = ""


class AskInDiscussion(_Command, frozen=True):
    discussion: str
    payload: ToolPayload | ScriptPayload
    why: str
    again_of: str = ""
    allowed_by: str = ""  # the rule that approves it; the request is made for the record


class EndTurn(_Command, frozen=True):
    discussion: str
    error: str = ""


DiscussionCommand = (
    StartDiscussion
    | StopTurn
    | Say
    | ReplyInDiscussion
    | BeginDiscussionTool
    | FinishDiscussionTool
    | AskInDiscussion
    | EndTurn
)

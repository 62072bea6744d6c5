"""The JSON shapes of the HTTP API, as its description shows them; domain types are used where they fit."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from interlock.domain.messages.commands.command import BulkPart
from interlock.domain.values.approvals import Decision
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Priority, Role

Count = Annotated[int, Meta(ge=0)]
TrackStatus = Literal["proposed", "ready", "running", "paused", "done", "blocked", "aborted"]
TicketStatus = Literal["todo", "in_progress", "completed", "blocked", "cancelled"]


class Problem(Struct, frozen=True):
    """What went wrong, in a sentence."""

    error: Annotated[str, Meta(description="a sentence for a person", examples=["no track 'demo'"])]
    kind: Annotated[str, Meta(description="its class, for programs", examples=["NotFound"])]


class Status(Struct, frozen=True, omit_defaults=True):
    """Without a token only that it is there."""

    status: Literal["ok"]
    version: str = ""
    project: str = ""
    pid: int = 0
    capability: str = ""
    journal: int = 0
    sandbox: str = ""
    test_policy: bool = False


class Done(Struct, frozen=True):
    """It happened."""

    status: Literal["ok"]
    result: dict[str, Any]


class _Action(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action"):
    pass


class SetValue(_Action, frozen=True, tag="set_value"):
    """Write into a field."""

    item: Annotated[str, Meta(examples=["mma_epic_input"])]
    value: Annotated[str, Meta(examples=["Let users export their data"])]


class Click(_Action, frozen=True, tag="click"):
    """Press a button."""

    item: Annotated[str, Meta(examples=["btn_mma_load_track"])]
    user_data: Annotated[str | None, Meta(description="what it is about", examples=["greetings"])] = None
    value: Annotated[str | None, Meta(description="the same")] = None


class SelectListItem(_Action, frozen=True, tag="select_list_item"):
    """Choose a discussion, by its id or title."""

    value: Annotated[str, Meta(examples=["D-1"])]
    item: Literal["discussions", "disc_listbox"] = "discussions"


class SelectTab(_Action, frozen=True, tag="select_tab"):
    """Bring a panel to the front."""

    value: Annotated[str, Meta(examples=["inbox"])]
    item: str = "tabs"


class RefreshFromProject(_Action, frozen=True, tag="refresh_from_project"):
    """Read the project's settings again."""

    item: str = ""
    value: str | None = None


class RefreshApiMetrics(_Action, frozen=True, tag="refresh_api_metrics"):
    """What models have cost so far."""

    item: str = ""
    value: str | None = None


class ClearAsk(_Action, frozen=True, tag="clear_ask"):
    """Withdraw the ask with this id."""

    item: Annotated[str, Meta(examples=["A-3"])]
    value: str | None = None


GuiAction = SetValue | Click | SelectListItem | SelectTab | RefreshFromProject | RefreshApiMetrics | ClearAsk


class Value(Struct, frozen=True):
    field: Annotated[str, Meta(examples=["ai_status"])]
    value: Any


class Named(Struct, frozen=True):
    id: str
    title: str


class GuiState(Struct, frozen=True):
    """What is at the desk."""

    version: Annotated[int, Meta(description="of the journal")]
    fields: dict[str, str]
    buttons: Annotated[dict[str, str], Meta(description="what can be clicked, and what it does")]
    tabs: list[str]
    active_tab: str
    active_discussion: str | None
    active_track: str | None
    discussions: list[Named]
    indicators: dict[str, bool]
    pending_approvals: Count


class Diagnostics(Struct, frozen=True):
    """Of the window; null without one."""

    fps: float | None
    frame_time_ms: float | None
    input_lag_ms: float | None
    cpu: float | None


class Health(Struct, frozen=True):
    status: Literal["ok", "degraded"]
    window: Annotated[bool, Meta(description="whether there is one")]
    panels: Annotated[dict[str, str], Meta(description="panels that do not work, and why")]
    journal: Annotated[str, Meta(description="empty, or why nothing can be recorded")]
    followers: Annotated[Count, Meta(description="clients that follow events")]


class Progress(Struct, frozen=True):
    completed: Count
    total: Count


class TrackLine(Struct, frozen=True):
    id: str
    title: str
    status: TrackStatus
    progress: Progress


class PendingLine(Struct, frozen=True):
    id: Annotated[str, Meta(examples=["A-3"])]
    kind: str
    ticket: str | None


class AskLine(Struct, frozen=True):
    id: str
    tool: str
    args: Any


class MmaStatus(Struct, frozen=True):
    """Where a run stands."""

    mma_status: Annotated[str, Meta(description="the track's in view, or of the one that runs; else idle")]
    active_tier: str
    active_tiers: list[str]
    active_track: str | None
    active_tickets: list[dict[str, Any]]
    tracks: list[TrackLine]
    proposed_tracks: list[TrackLine]
    mma_streams: dict[str, str]
    mma_tier_usage: dict[str, dict[str, float]]
    pending_mma_spawn_approval: bool
    pending_mma_step_approval: bool
    pending_tool_approval: bool
    pending_script_approval: bool
    pending_ask: bool
    pending_tracks: bool
    pending_gate: bool
    pending_merge: bool
    pending_approvals: list[PendingLine]
    ask: AskLine | None


class ApprovalShape(Struct, frozen=True):
    """A question to a person, whole."""

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
    """What is changed while approving; only what the kind of approval has."""

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


class TrackShape(Struct, frozen=True):
    id: str
    title: str
    status: TrackStatus
    progress: Progress
    todo: Count
    in_progress: Count
    blocked: Count
    cancelled: Count
    unlanded: bool
    created_at: str
    updated_at: str


class WholeTrack(TrackShape, frozen=True):
    description: str
    epic: str
    fault: str


class Tracks(Struct, frozen=True):
    tracks: list[TrackShape]
    total: Count
    next_offset: int | None


class NewTrack(Struct, frozen=True, forbid_unknown_fields=True):
    id: Annotated[str, Meta(examples=["greetings"], max_length=64)]
    tickets: Annotated[
        list[dict[str, Any]],
        Meta(
            description="as in a file for `interlock run --tickets`",
            examples=[[{"id": "T-1", "description": "say hello", "assigned_to": "shell", "script": "echo hello"}]],
        ),
    ]
    title: str = ""
    description: str = ""


class TrackEdit(Struct, frozen=True, forbid_unknown_fields=True):
    title: str | None = None
    description: str | None = None


class Reason(Struct, frozen=True, forbid_unknown_fields=True):
    reason: Annotated[str, Meta(max_length=10_000)] = ""


class TicketShape(Struct, frozen=True):
    """A ticket, and what it is at."""

    id: str
    track: str
    description: str
    status: TicketStatus
    assigned_to: Role
    target_file: str | None
    context_requirements: list[str]
    depends_on: list[str]
    blocked_reason: str | None
    step_mode: bool
    verify: list[Gate]
    script: str | None
    priority: Priority
    model_override: str | None
    attempts: Count
    created_at: str | None
    started_at: str | None
    finished_at: str | None
    result: str | None
    unverified: bool
    doing: str


class Tickets(Struct, frozen=True):
    tickets: list[TicketShape]
    total: Count
    next_offset: int | None


class TicketEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What it replaces; anything left out stays."""

    changes: Annotated[dict[str, Any], Meta(examples=[{"priority": "high"}])]


class TicketDeed(Struct, frozen=True, forbid_unknown_fields=True):
    reason: Annotated[str, Meta(max_length=10_000, description="of block and cancel")] = ""
    position: Annotated[int, Meta(ge=0, description="of move: from 0")] | None = None


class MoreTickets(Struct, frozen=True, forbid_unknown_fields=True):
    tickets: Annotated[list[dict[str, Any]], Meta(min_length=1)]


class BulkShape(Struct, frozen=True, forbid_unknown_fields=True):
    commands: Annotated[
        list[BulkPart],
        Meta(min_length=1, examples=[[{"type": "skip_ticket", "track": "greetings", "ticket": "T-1"}]]),
    ]


class WorkerShape(Struct, frozen=True):
    track: str
    ticket: str
    attempt: Count
    doing: str
    since: str


class Workers(Struct, frozen=True):
    workers: list[WorkerShape]
    most: Annotated[Count, Meta(description="how many run at once")]


class WhichTicket(Struct, frozen=True, forbid_unknown_fields=True):
    track: str
    ticket: str


class WhichTrack(Struct, frozen=True, forbid_unknown_fields=True):
    track: str


class NewEpic(Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=400_000, examples=["Let users export their data"])]


class EpicShape(Struct, frozen=True):
    id: str
    text: str
    status: str
    reason: str
    tracks: list[str]


class Epics(Struct, frozen=True):
    epics: list[EpicShape]


class DiscussionShape(Struct, frozen=True):
    id: str
    title: str
    state: Annotated[Literal["quiet", "answering", "waiting"], Meta(description="waiting: for an approval")]
    turns: Count
    error: str
    created_at: str
    updated_at: str


class MessageShape(Struct, frozen=True):
    role: Literal["user", "assistant", "tool"]
    text: str
    calls: list[str]
    reasoning: Annotated[str, Meta(description="what it thought aloud: no part of the answer")] = ""


class WholeDiscussion(DiscussionShape, frozen=True):
    messages: list[MessageShape]


class Discussions(Struct, frozen=True):
    discussions: list[DiscussionShape]
    total: Count
    next_offset: int | None


class NewDiscussion(Struct, frozen=True, forbid_unknown_fields=True):
    title: Annotated[str, Meta(max_length=1_000)] = ""


class Telling(Struct, frozen=True, forbid_unknown_fields=True):
    """To a ticket's worker, or in a discussion: one of the two."""

    text: Annotated[str, Meta(min_length=1, max_length=4_000, examples=["Leave the public names as they are"])]
    track: str = ""
    ticket: str = ""
    discussion: str = ""


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=400_000, examples=["What does this project do?"])]


class EventShape(Struct, frozen=True):
    version: Annotated[int, Meta(ge=1)]
    at: str
    actor: str
    cause: str
    event: dict[str, Any]


class JournalPage(Struct, frozen=True):
    events: list[EventShape]
    head: Annotated[Count, Meta(description="the version of the last one there is")]


class UsageShape(Struct, frozen=True):
    by: str
    usage: dict[str, dict[str, Any]]


class KeptText(Struct, frozen=True):
    sha256: str
    size: Count
    text: str

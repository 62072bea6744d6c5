"""JSON shapes of the page: links, sessions, the inbox, diffs, the overview and the graph."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count
from interlock.domain.values.approvals import Kind
from interlock.views.diffs.hunks import DiffHunk
from interlock.views.outlook.urgency import Urgency

Right = Literal["drive", "approve"]


class NewLink(Struct, frozen=True, forbid_unknown_fields=True):
    approve: Annotated[bool, Meta(description="The session may answer approvals; needs the approve token.")] = False


class LinkShape(Struct, frozen=True):
    """A link that opens the page once."""

    url: Annotated[str, Meta(examples=["http://127.0.0.1:8999/#link=…"])]
    capability: Right
    expires_at: str


class LinkSecret(Struct, frozen=True, forbid_unknown_fields=True):
    link: Annotated[str, Meta(min_length=1, max_length=200, description="The secret after `#link=`.")]


class OpenedSession(Struct, frozen=True):
    """A new session. Its cookie comes in a header that scripts cannot read."""

    id: str
    token: str
    capability: Right
    person: str
    expires_at: str


class SessionShape(Struct, frozen=True):
    id: str
    capability: Right
    made_at: str
    used_at: str
    expires_at: str
    browser: str


class SessionList(Struct, frozen=True):
    sessions: list[SessionShape]


class Revoked(Struct, frozen=True):
    revoked: list[str]


class InboxOne(Struct, frozen=True):
    id: str
    digest: str


class InboxRow(Struct, frozen=True):
    """Pending approvals with equal content; the fields are those of the oldest."""

    id: str
    kind: Kind
    title: str
    asker: str
    track: str
    ticket: str | None
    requested_at: str
    deadline: str | None
    urgency: Urgency
    many: Annotated[bool, Meta(description="Whether equal ones may be answered together.")]
    alike: list[InboxOne]


class InboxShape(Struct, frozen=True):
    rows: list[InboxRow]
    total: Count


class DiffFile(Struct, frozen=True):
    path: str
    name: Annotated[str, Meta(description="The exact path, for comments.")]
    added: Count
    removed: Count
    risks: list[str]
    folded: bool
    hunks: Annotated[
        list[DiffHunk],
        Meta(description="An answer names their numbers. Deceptive characters show as <U+202E>, also in `path`."),
    ]


class DiffShape(Struct, frozen=True):
    files: list[DiffFile]
    choices: Annotated[Count, Meta(description="How many hunks can be accepted one by one.")]
    cut: Annotated[bool, Meta(description="Only the beginning of the diff is here.")]


class Overview(Struct, frozen=True):
    """The state of the workbench in five seconds."""

    project: str
    state: Literal["stopped", "waiting", "running", "idle"]
    waiting: Count
    completed: Count
    verified: Count
    blocked: Count
    total: Count
    workers: list[str]
    spent_usd: float
    cap_usd: Annotated[float | None, Meta(description="The budget of an epic, if there is one.")]
    sandbox: str
    autonomy: str
    test_policy: bool
    version: Count
    broken: str
    provider: str
    model: str
    status: str
    capability: str
    person: str
    session: str
    answers: Annotated[bool, Meta(description="Whether this caller may answer approvals.")]
    why_not: str


class GraphNode(Struct, frozen=True):
    id: str
    column: Count
    row: float


class GraphShape(Struct, frozen=True):
    nodes: list[GraphNode]
    edges: list[list[str]]
    longest: Annotated[list[list[str]], Meta(description="The edges of the longest chain.")]
    rows: Count

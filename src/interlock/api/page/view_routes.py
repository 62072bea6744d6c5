"""`/api/overview`, `/api/inbox`, diffs and graphs: what the page draws, computed by the same views as the window."""

from typing import Annotated, Literal

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, QueryParameter

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.routes.replies import FINDS, READS, Asking, authority_of, raw
from interlock.api.schemas.page import (
    DiffFile,
    DiffShape,
    GraphNode,
    GraphShape,
    InboxOne,
    InboxRow,
    InboxShape,
    Overview,
)
from interlock.desk.desk_json import indicators
from interlock.domain.review.diff_parts import is_cut
from interlock.domain.values.approvals import (
    Approval,
    GatePayload,
    MergePayload,
    ReviewFile,
    ReviewPayload,
    ScriptPayload,
    ToolPayload,
    count_choices,
)
from interlock.errors import NotFound
from interlock.views.answer_sets import fits_many, grouped
from interlock.views.autonomy import project_level
from interlock.views.board import worker_rows
from interlock.views.diffs.hunks import DiffHunk, parse_hunks
from interlock.views.display import exact
from interlock.views.inbox import approval_title, cut_texts, with_whole_texts
from interlock.views.outlook.urgency import most_urgent_first
from interlock.views.ticket_graph import ticket_graph

WhichDiff = Annotated[
    Literal["whole", "since"],
    QueryParameter(description="The whole diff, or what changed since the round before."),
]


def view_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    return [_overview_route(bridge), _inbox_route(bridge), _diff_route(bridge), _graph_route(bridge)]


def _overview_route(bridge: Bridge) -> HTTPRouteHandler:
    @get(
        "/api/overview",
        operation_id="ApiOverviewShow",
        responses=READS,
        summary="Show the state of the workbench at a glance",
        sync_to_thread=False,
    )
    def show_overview(request: Asking) -> Overview:
        """Shows what waits, what is verified, who works, what it has cost, and what the caller may do."""
        state, desk = bridge.front.state, bridge.desk
        broken = bridge.backstage.broken()
        lights = indicators(desk, test_policy=bridge.test_policy)
        by = authority_of(bridge, request)
        tracks = [state.tracks[name] for name in state.track_order]
        completed = sum(track.counts.completed for track in tracks)
        unverified = sum(
            1
            for track in tracks
            for ticket in track.tickets.values()
            if ticket.unverified and ticket.status == "completed"
        )
        busy = lights["working"] or lights["thinking"]
        cap = state.conductor.caps.epic
        values = desk.values()
        return Overview(
            project=desk.fixed.get("project_root", "").rstrip("/").rpartition("/")[2],
            state="stopped" if broken else "running" if busy else "waiting" if state.pending else "idle",
            waiting=len(state.pending),
            completed=completed,
            verified=completed - unverified,
            blocked=sum(track.counts.blocked for track in tracks),
            total=sum(track.total for track in tracks),
            workers=[f"{row.track}/{row.ticket}" for row in worker_rows(state)],
            spent_usd=sum(used.cost for used in state.usage.values()) / 1e6,
            cap_usd=cap / 1e6 if cap else None,
            sandbox=bridge.sandbox,
            autonomy=project_level(state),
            test_policy=bridge.test_policy,
            version=state.version,
            broken=broken,
            provider=values["current_provider"],
            model=values["current_model"],
            status=values["ai_status"],
            capability=request.scope["state"]["capability"],
            person=by.actor.removeprefix("human:"),
            session=by.session,
            answers=by.answers,
            why_not="" if by.answers else by.why_not or "this token may drive but not answer approvals",
        )

    return show_overview


def _inbox_route(bridge: Bridge) -> HTTPRouteHandler:
    @get(
        "/api/inbox",
        operation_id="ApiInboxShow",
        responses=READS,
        summary="List what waits for an answer, equal ones once",
        sync_to_thread=False,
    )
    def show_inbox() -> Response[InboxShape]:
        """Lists all pending approvals without their payloads, what holds up most first."""
        urgent = most_urgent_first(bridge.front.state)
        urgency = {approval.id: one for approval, one in urgent}
        rows = [
            InboxRow(
                id=alike.first.id,
                kind=alike.first.kind,
                title=approval_title(alike.first),
                asker=alike.first.asker,
                track=alike.first.track,
                ticket=alike.first.ticket,
                requested_at=alike.first.requested_at,
                deadline=alike.first.deadline,
                urgency=urgency[alike.first.id],
                many=fits_many(alike.first),
                alike=[InboxOne(one.id, one.digest) for one in alike.approvals],
            )
            for alike in grouped([approval for approval, _ in urgent])
        ]
        return raw(wire.encode(InboxShape(rows, len(urgent))))

    return show_inbox


def _diff_route(bridge: Bridge) -> HTTPRouteHandler:
    @get(
        "/api/approvals/{approval:str}/diff",
        operation_id="ApiApprovalsDiff",
        responses=FINDS,
        summary="Show the diff of an approval as files and hunks",
    )
    async def show_diff(approval: FromPath[str], which: WhichDiff = "whole") -> Response[DiffShape]:
        """Shows files with risks first. The numbers of hunks are those that an answer accepts."""
        shown = bridge.front.state.approval(approval)
        texts: dict[str, str] = {}
        for blob in cut_texts(shown):
            content = await bridge.run_on_engine(bridge.backstage.kept_text(blob.sha256))
            if content is not None:
                texts[blob.sha256] = content.decode(errors="replace")
        return raw(wire.encode(diff_shape(with_whole_texts(shown, texts), which)))

    return show_diff


def _graph_route(bridge: Bridge) -> HTTPRouteHandler:
    @get(
        "/api/tracks/{track:str}/graph",
        operation_id="ApiTracksTrackGraph",
        responses=FINDS,
        summary="Show where the tickets of a track are drawn",
        sync_to_thread=False,
    )
    def show_graph(track: FromPath[str]) -> Response[GraphShape]:
        """Shows layers from left to right: each ticket is after those that it depends on."""
        graph = ticket_graph(bridge.front.state.track(track))
        nodes = [GraphNode(name, column, row) for name, (column, row) in graph.places.items()]
        longest = [list(edge) for edge in graph.edges if edge in graph.longest]
        return raw(wire.encode(GraphShape(nodes, [list(edge) for edge in graph.edges], longest, graph.rows)))

    return show_graph


def diff_shape(approval: Approval, which: Literal["whole", "since"]) -> DiffShape:
    diff, files = _diff_of(approval, which)
    hunks = parse_hunks(diff)
    choices = count_choices(approval.payload) if which == "whole" else 0
    return DiffShape(_by_file(hunks, files), choices, is_cut(diff) if diff.startswith("diff --git ") else False)


def _diff_of(approval: Approval, which: Literal["whole", "since"]) -> tuple[str, tuple[ReviewFile, ...]]:
    match approval.payload, which:
        case ReviewPayload() | MergePayload() as payload, "whole":
            return payload.diff, payload.files or ()
        case ReviewPayload() | MergePayload() as payload, "since" if payload.since:
            return payload.since_diff or "", ()
        case ToolPayload() | GatePayload() as payload, "whole":
            return payload.diff or "", ()
        case ScriptPayload(effect=effect), "whole" if effect:
            return effect.diff, ()
        case _, "since":
            raise NotFound(f"{approval.id} has no earlier round")
        case _:
            return "", ()


def _by_file(hunks: tuple[DiffHunk, ...], files: tuple[ReviewFile, ...]) -> list[DiffFile]:
    """The hunks of each file together; files in the order of the review, others in that of the diff."""
    by_first = {file.first: file for file in files}
    found: list[tuple[DiffHunk, list[DiffHunk]]] = []
    for hunk in hunks:
        if not found or found[-1][0].path != hunk.path or hunk.number in by_first:
            found.append((hunk, []))
        found[-1][1].append(hunk)
    rows = [_file(group, by_first.get(first.number)) for first, group in found]
    order = {file.first: at for at, file in enumerate(files)}
    paired = sorted(
        zip(found, rows, strict=True), key=lambda pair: order.get(pair[0][0].number, len(order) + pair[0][0].number)
    )
    return [row for _, row in paired]


def _file(hunks: list[DiffHunk], known: ReviewFile | None) -> DiffFile:
    return DiffFile(
        exact(known.path) if known else hunks[0].path,
        known.path if known else hunks[0].path,
        sum(hunk.added for hunk in hunks),
        sum(hunk.removed for hunk in hunks),
        list(known.risks) if known else [],
        known.folded if known else False,
        hunks,
    )

"""`/api/approvals`: the inbox over HTTP. Answering requires the approve token."""

import json
from typing import Annotated, Literal

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody, QueryParameter

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.routes.replies import (
    FINDS,
    READS,
    WRITES,
    Asking,
    Limit,
    Offset,
    authority_of,
    next_offset,
    promises,
    raw,
)
from interlock.api.schemas.approvals import (
    AlwaysShape,
    AnswerShape,
    Approvals,
    ApprovalShape,
    Edits,
    ManyAnswered,
    ManyAnswersShape,
    RuleShape,
)
from interlock.desk.answering import answer_together
from interlock.desk.authority import Authority
from interlock.desk.buttons import answer
from interlock.domain.messages.commands.approval_commands import AnswerApproval, AnswerApprovals
from interlock.domain.values.answer_sets import Seen
from interlock.domain.values.approvals import Approval
from interlock.errors import BadValue
from interlock.views.answer_sets import set_sentence
from interlock.views.answers.actions import can_be_always
from interlock.views.inbox import approval_dict, cut_texts, list_approvals, with_whole_texts
from interlock.views.outlook.urgency import Order, ordered_approvals

Which = Literal["pending", "answered", "withdrawn", "all"]


def approval_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    @get(
        "/api/approvals",
        operation_id="ApiApprovalsInbox",
        responses=READS,
        summary="List approvals",
        sync_to_thread=False,
    )
    def show_approvals(
        which: Annotated[
            Which, QueryParameter(name="state", description="The state of the listed approvals.")
        ] = "pending",
        order: Annotated[
            Order, QueryParameter(description="`age`: oldest first; `urgency`: pending ones by what they hold up.")
        ] = "age",
        offset: Offset = 0,
        limit: Limit = 100,
    ) -> Response[Approvals]:
        """Lists approvals in pages, oldest first, each with its full payload."""
        state = bridge.front.state
        found, urgency = ordered_approvals(state, which, order, offset, limit)
        page = [{**approval_dict(approval), "urgency": urgency.get(approval.id)} for approval in found]
        total = len(state.pending) if which == "pending" else len(list_approvals(state, which))
        return raw(
            wire.encode({"approvals": page, "total": total, "next_offset": next_offset(offset, len(page), total)})
        )

    @get(
        "/api/approvals/{approval:str}",
        operation_id="ApiApprovalsOne",
        responses=FINDS,
        summary="Show an approval",
    )
    async def show_approval(approval: FromPath[str]) -> Response[ApprovalShape]:
        """Shows the actor, the reason and exactly what would run, with whole texts (a list cuts them at 4,000)."""
        shown = bridge.front.state.approval(approval)
        texts: dict[str, str] = {}
        for blob in cut_texts(shown):
            content = await bridge.run_on_engine(bridge.backstage.kept_text(blob.sha256))
            if content is not None:
                texts[blob.sha256] = content.decode(errors="replace")
        return raw(wire.encode(approval_dict(with_whole_texts(shown, texts))))

    @get(
        "/api/approvals/{approval:str}/rule",
        operation_id="ApiApprovalsRule",
        responses=FINDS,
        summary="Preview the rule that would always allow this",
    )
    async def show_rule(approval: FromPath[str]) -> Response[RuleShape]:
        """Shows the narrowest rule for a script or a tool call. Nothing is stored."""
        payload = bridge.front.state.approval(approval).payload
        return raw(wire.encode({"rule": await bridge.run_on_engine(bridge.backstage.rule_for(payload))}))

    @post(
        "/api/approvals/{approval:str}",
        operation_id="ApiApprovalsGive",
        status_code=200,
        responses=WRITES,
        summary="Answer an approval",
    )
    async def answer_approval(
        request: Asking, approval: FromPath[str], data: JSONBody[AnswerShape]
    ) -> Response[ApprovalShape]:
        """Records the answer; edited text is what runs.

        Only the first answer counts. Later ones get 409 with the actor of the first.
        """
        by = authority_of(bridge, request)
        by.must_answer()
        asked = bridge.front.state.approval(approval)
        command = _command(asked, data)
        if data.always is None:
            await bridge.run_on_engine(answer(bridge.desk, by, command))
        else:
            by.must_write_rules()
            await bridge.run_on_engine(_answer_always(bridge, by, asked, command, data.always))
        return raw(wire.encode(approval_dict(bridge.front.state.approval(approval))))

    @post(
        "/api/approvals",
        operation_id="ApiApprovalsGiveMany",
        status_code=200,
        responses=promises(409, 413, 415, 422, 503),
        summary="Answer many approvals at once",
    )
    async def answer_many(request: Asking, data: JSONBody[ManyAnswersShape]) -> Response[ManyAnswered]:
        """Binds one answer to the set of what the caller saw, and answers what is still so.

        The reply names what was left out, with the reason. If nothing can be answered, it is 409.
        """
        by = authority_of(bridge, request)
        by.must_answer()
        pairs = tuple(Seen(one.id, one.digest) for one in data.approvals)
        command = AnswerApprovals(pairs, data.decision, data.message, data.selected)
        done = await bridge.run_on_engine(answer_together(bridge.desk, by, command))
        reply = {
            "root": done.root,
            "decision": done.decision,
            "by": by.actor,
            "answered": done.approvals,
            "left_out": done.left_out,
            "sentence": set_sentence(done),
        }
        return raw(wire.encode(reply))

    return [show_approvals, show_approval, show_rule, answer_approval, answer_many]


async def _answer_always(
    bridge: Bridge, by: Authority, asked: Approval, command: AnswerApproval, always: AlwaysShape
) -> None:
    """Answers and stores the rule, if the rule is the one that was shown."""
    whole = command.decision == "approve" and command.edited is None and command.hunks is None
    if not whole or not can_be_always(asked):
        raise BadValue("always is for approving a script or a tool call as it is")
    if await bridge.backstage.rule_for(asked.payload) != always.rule:
        raise BadValue(f"the rule is not the one that /api/approvals/{asked.id}/rule shows; read it again")
    await answer(bridge.desk, by, command)
    await bridge.backstage.keep_rule(always.rule, everywhere=always.everywhere)


def _command(approval: Approval, data: AnswerShape) -> AnswerApproval:
    hunks = None if data.hunks is None else tuple(sorted(set(data.hunks)))
    edited, context = _edited(approval, data.edits)
    return AnswerApproval(approval.id, data.decision, edited, data.message, hunks, context, tuple(data.comments))


def _edited(approval: Approval, edits: Edits | str | None) -> tuple[str | None, str | None]:
    if edits is None or isinstance(edits, str):
        return edits, None
    edited = {name: value for name in Edits.__struct_fields__ if (value := getattr(edits, name)) is not None}
    fitting = {"script": {"script"}, "tool": {"arguments"}, "ask": {"arguments"}, "spawn": {"prompt", "context"}}
    allowed = {"tracks": {"tracks"}, **fitting}.get(approval.kind, set[str]())
    if wrong := sorted(set(edited) - allowed):
        raise BadValue(f"a {approval.kind} approval has no {' or '.join(wrong)} to edit")
    text = next((edited[name] for name in ("script", "arguments", "prompt", "tracks") if name in edited), None)
    if text is not None and not isinstance(text, str):
        text = json.dumps(text, ensure_ascii=False)
    return text, edited.get("context")

"""`/api/policy`: rules from experience over HTTP. Storing and removing a rule requires the approve token."""

from typing import Annotated

from litestar import Response, delete, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody, QueryParameter

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.routes.replies import READS, WRITES, Asking, authority_of, promises, raw
from interlock.api.schemas.policy import AcceptedShape, AcceptShape, KeptRules, KeptRuleShape, SuggestionsShape
from interlock.desk.authority import Authority

Least = Annotated[
    int, QueryParameter(name="min", ge=1, le=1_000_000, description="Questions that a rule must have answered.")
]


def policy_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    @get(
        "/api/policy/suggestions",
        operation_id="ApiPolicySuggestions",
        responses=promises(409, 422),
        summary="Suggest rules from the answers so far",
    )
    async def suggest_rules(least: Least = 3) -> Response[SuggestionsShape]:
        """Proposes narrow rules with their back-test. Nothing is stored."""
        return raw(wire.encode(await bridge.run_on_engine(bridge.backstage.learned.suggestions(least))))

    @post(
        "/api/policy/suggestions",
        operation_id="ApiPolicyAccept",
        status_code=200,
        responses=WRITES,
        summary="Accept a suggested rule",
    )
    async def accept_rule(request: Asking, data: JSONBody[AcceptShape]) -> Response[AcceptedShape]:
        """Stores the rule for this project or everywhere. It must be suggested still, byte for byte."""
        _who_writes_rules(bridge, request)
        work = bridge.backstage.learned.accept(data.rule, everywhere=data.everywhere, least=data.min)
        return raw(wire.encode({"rule": await bridge.run_on_engine(work)}))

    @get("/api/policy/rules", operation_id="ApiPolicyRules", responses=READS, summary="List the user's own rules")
    async def list_rules() -> Response[KeptRules]:
        """Lists the rules of the user's files, with how often each answered and which are stale."""
        return raw(wire.encode({"rules": await bridge.run_on_engine(bridge.backstage.learned.kept())}))

    @delete(
        "/api/policy/rules/{rule:str}",
        operation_id="ApiPolicyForget",
        status_code=200,
        responses=promises(404, 409, 422),
        summary="Forget a rule of the user",
    )
    async def forget_rule(request: Asking, rule: FromPath[str]) -> Response[KeptRuleShape]:
        """Removes the rule with this name or number from the user's file; the reply shows it."""
        _who_writes_rules(bridge, request)
        return raw(wire.encode(await bridge.run_on_engine(bridge.backstage.learned.forget(rule))))

    return [suggest_rules, accept_rule, list_rules, forget_rule]


def _who_writes_rules(bridge: Bridge, request: Asking) -> Authority:
    by = authority_of(bridge, request)
    by.must_answer()  # a rule answers approvals before they come
    by.must_write_rules()
    return by

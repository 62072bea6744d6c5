"""The actions that each kind of approval offers: one table of names, words and keys for all front ends."""

from typing import Literal

from msgspec import Struct

from interlock.domain.values.approvals import ALLOWED, Approval, Decision, Kind, count_choices

ActionName = Literal["approve", "edit", "context", "parts", "always", "changes", "reject", "retry", "skip", "abort"]


class Action(Struct, frozen=True, gc=False):
    """`decision` is None for an action that only prepares an answer: an edit, a choice of parts."""

    name: ActionName
    label: str
    key: str
    decision: Decision | None
    doing: str  # while the answer can still be taken back: "Approving A-3"


_DECISIONS: dict[Decision, Action] = {
    "approve": Action("approve", "Approve", "a", "approve", "Approving"),
    "changes": Action("changes", "Request changes", "c", "changes", "Requesting changes of"),
    "reject": Action("reject", "Reject", "r", "reject", "Rejecting"),
    "retry": Action("retry", "Retry", "t", "retry", "Retrying"),
    "skip": Action("skip", "Skip", "s", "skip", "Skipping"),
    "abort": Action("abort", "Abort track", "x", "abort", "Aborting"),
}
_ABORTS_TICKET = Action("abort", "Abort ticket", "x", "abort", "Aborting")
_ABORTS_TURN = Action("abort", "Abort turn", "x", "abort", "Aborting")
EDIT = Action("edit", "Edit", "e", None, "Editing")
_CONTEXT = Action("context", "Edit context", "o", None, "Editing the context of")
_PARTS = Action("parts", "Choose parts", "p", None, "Choosing parts of")
ALWAYS = Action("always", "Always…", "w", None, "Always allowing")

EDITABLE: frozenset[Kind] = frozenset({"script", "tool", "spawn", "ask", "tracks"})
_REMEMBERED: frozenset[Kind] = frozenset({"script", "tool"})


def decision_action(approval: Approval, decision: Decision) -> Action:
    """The action that gives this decision."""
    if decision != "abort":
        return _DECISIONS[decision]
    if approval.discussion:
        return _ABORTS_TURN
    return _ABORTS_TICKET if approval.kind in ("gate", "unknown") else _DECISIONS["abort"]


def doing(decision: Decision) -> str:
    """The words for an answer that can still be taken back, before the approval's id."""
    return _DECISIONS[decision].doing


def actions_of(approval: Approval) -> tuple[Action, ...]:
    """All actions in the order in which they are shown: what changes the answer follows what gives it."""
    actions: list[Action] = []
    for decision in ALLOWED[approval.kind]:
        actions.append(decision_action(approval, decision))
        if decision == "approve":
            actions += _preparing(approval)
    return tuple(actions)


def can_be_always(approval: Approval) -> bool:
    """Whether a rule can allow the same from now on. Requests of other programs are not decided by rules."""
    return approval.kind in _REMEMBERED


def _preparing(approval: Approval) -> list[Action]:
    actions: list[Action] = []
    if approval.kind in EDITABLE:
        actions.append(EDIT)
    if approval.kind == "spawn":
        actions.append(_CONTEXT)
    if count_choices(approval.payload):
        actions.append(_PARTS)
    if can_be_always(approval):
        actions.append(ALWAYS)
    return actions

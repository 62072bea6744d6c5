"""The user's unsent answer to one approval, and the command that it becomes."""

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.values.approvals import (
    Approval,
    Comment,
    Decision,
    MergePayload,
    ReviewPayload,
    count_choices,
)
from interlock.views.answers.actions import Action


class Draft:
    def __init__(self, approval: Approval) -> None:
        self.whole: Approval = approval  # with the texts that the approval itself holds only the beginning of
        self.fetched = False
        self.edited: str | None = None
        self.context: str | None = None
        self.hunks: set[int] = set(range(1, count_choices(approval.payload) + 1))
        self.comments: tuple[Comment, ...] = ()
        self.message = ""
        self.rule = ""  # the rule that would always allow it, once requested
        self.turned: set[str] = set()  # files that were unfolded, or folded, against their default
        self.whole_change = False  # in a later round: all of it, not only what changed since
        self.version = 0  # counts the changes of what is shown

    def touch(self) -> None:
        self.version += 1


def answer_of(approval: Approval, decision: Decision, draft: Draft) -> AnswerApproval:
    if decision != "approve":
        return AnswerApproval(approval.id, decision, message=draft.message, comments=draft.comments)
    some = draft.edited is None and len(draft.hunks) < count_choices(approval.payload)
    return AnswerApproval(
        approval.id,
        decision,
        draft.edited,
        draft.message,
        hunks=tuple(sorted(draft.hunks)) if some else None,
        edited_context=draft.context,
        comments=draft.comments,
    )


def label_of(action: Action, approval: Approval, draft: Draft) -> str:
    """The words of an action, as the draft stands."""
    hunks = count_choices(approval.payload)
    if action.name == "approve" and (draft.edited is not None or draft.context is not None):
        return "Approve edited"
    if action.name == "approve" and len(draft.hunks) < hunks:
        return f"Approve {len(draft.hunks)} of {hunks}"
    if action.name == "always" and draft.rule:
        return "Approve, always"
    return action.label


def is_possible(action: Action, approval: Approval, draft: Draft) -> bool:
    hunks = count_choices(approval.payload)
    if action.name == "approve":
        return not hunks or bool(draft.hunks)
    if action.name == "always":
        return draft.edited is None and len(draft.hunks) == hunks
    return True


def takes_comments(approval: Approval) -> bool:
    return isinstance(approval.payload, ReviewPayload | MergePayload)

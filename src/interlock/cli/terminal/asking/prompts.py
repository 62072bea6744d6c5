"""Questions in the terminal: an approval with its asker, reason and exact bytes, and one letter for each action."""

import sys
from contextlib import suppress
from typing import assert_never

from interlock.assembly.lasting_rules import keep_rule, lasting_rule
from interlock.assembly.project import Project, kept_text
from interlock.cli.terminal.asking.diff_lines import parts_from
from interlock.cli.terminal.asking.edits import edited_text
from interlock.cli.terminal.asking.payload_lines import describe
from interlock.cli.terminal.asking.together import equal_ones, named
from interlock.cli.terminal.board.modes import forget_typed
from interlock.cli.terminal.board.pager import view_lines
from interlock.cli.terminal.output import paint, say
from interlock.cli.terminal.sessions import Session
from interlock.cli.terminal.signals import read_line
from interlock.domain.messages.commands.approval_commands import AnswerApproval, AnswerApprovals
from interlock.domain.messages.events.approval_events import ApprovalsAnswered
from interlock.domain.review.comments import comment_from
from interlock.domain.values.approvals import Answered, Approval, Comment, Decision, Withdrawn, count_choices
from interlock.errors import BadValue, InterlockError, JournalError, Misconfigured, Rejected
from interlock.views.answer_sets import seen, set_sentence
from interlock.views.answers.actions import Action, actions_of
from interlock.views.answers.edits import editable_context, editable_text
from interlock.views.display import counted, safe
from interlock.views.inbox import cut_texts, with_whole_texts

_ALIASES = {"y": "approve", "n": "reject"}
_MOST_LINES = 400  # of an approval, printed before the question; a pager shows more


class Prompts:
    """One approval at a time. An answer given elsewhere meanwhile ends the prompt."""

    def __init__(self) -> None:
        self.possible = sys.stdin.isatty() and sys.stdout.isatty()

    def ask(self, session: Session, approval: Approval) -> None:
        """Ask until the approval is answered, here or elsewhere. Raises KeyboardInterrupt at end of input."""
        _Question(session, approval).ask()


class _Question:
    def __init__(self, session: Session, approval: Approval) -> None:
        self._session = session
        self._approval = _complete(approval, session.project)
        self._refused: dict[str, str] = {}  # edits that were refused, by action: the next edit begins with them
        self._rule = ""  # that the person wants stored with the answer
        self._everywhere = False

    def ask(self) -> None:
        lines = describe(self._approval)
        for line in lines[:_MOST_LINES]:
            say(line)
        if len(lines) > _MOST_LINES:
            say(paint(f"  … {counted(len(lines) - _MOST_LINES, 'more line')}: v shows all", "waiting"))
        actions = actions_of(self._approval)
        shown: tuple[Approval, ...] = ()
        forget_typed()  # what was typed before this appeared is no answer to it
        while True:
            alike = equal_ones(self._session.state, self._approval)  # more may have come since the last question
            if len(alike) > 1 and alike != shown:
                say(paint(f"  {counted(len(alike), 'equal approval')}: {named(alike)}", "waiting"))
            shown = alike
            letter = _read(_question(actions, len(alike))).strip().lower()[:1]
            if letter == "v":
                _view(lines)
            if letter == "m" and len(alike) > 1 and self._answer_all(alike):
                return
            action = _chosen(letter, actions)
            if action is None:
                continue
            try:
                answer = self._answer(action)
            except InterlockError as error:
                say(paint(safe(str(error)), "waiting"))
                continue
            if answer is not None and self._send(answer, action):
                return

    def _answer(self, action: Action) -> AnswerApproval | None:
        """What the person decides with this action; None if nothing was decided."""
        name = self._approval.id
        match action.name:
            case "edit":
                text = self._edit(action, editable_text(self._approval))
                return None if text is None else AnswerApproval(name, "approve", text)
            case "context":
                text = self._edit(action, editable_context(self._approval))
                return None if text is None else AnswerApproval(name, "approve", edited_context=text)
            case "parts":
                return AnswerApproval(name, "approve", hunks=_chosen_parts(self._approval))
            case "always":
                return AnswerApproval(name, "approve") if self._accepts_rule() else None
            case "approve" | "retry" | "skip" | "abort":
                return AnswerApproval(name, action.name)
            case "reject" | "changes":
                message, comments = _reasons(action.name)
                return AnswerApproval(name, action.name, message=message, comments=comments)
            case _:
                assert_never(action.name)

    def _answer_all(self, alike: tuple[Approval, ...]) -> bool:
        """Whether this approval is answered now. The answer is bound to the set; what has changed since is left out."""
        letter = _read(f"all {len(alike)} at once: [a] Approve, [r] Reject, [n] Not: ").strip().lower()[:1]
        if letter not in ("a", "r"):
            return False
        message = _reasons("reject")[0] if letter == "r" else ""
        answers = AnswerApprovals(seen(alike), "approve" if letter == "a" else "reject", message)
        try:
            receipt = self._session.submit(answers)
        except Rejected as refusal:
            say(paint(safe(str(refusal)), "waiting"))
        else:
            for recorded in receipt.records:
                if isinstance(recorded.event, ApprovalsAnswered):
                    say(safe(set_sentence(recorded.event)))
        return isinstance(self._session.state.approval(self._approval.id).state, Answered | Withdrawn)

    def _edit(self, action: Action, text: str | None) -> str | None:
        if text is None:
            raise Rejected("the whole text cannot be read, so it cannot be edited")
        edited = edited_text(self._approval, text, self._refused.get(action.name))
        if edited is None:
            say("not changed")
        return edited

    def _accepts_rule(self) -> bool:
        """Shows the rule first: it is stored only after the person has seen it."""
        self._rule = ""
        rule = lasting_rule(self._session.project, self._approval.payload)
        say(f"the new rule:\n\n{safe(rule)}")
        where = _read("store it for this [p]roject, [e]verywhere, or [n]ot at all: ").strip().lower()[:1]
        if where not in ("p", "e"):
            return False
        self._rule, self._everywhere = rule, where == "e"
        return True

    def _send(self, answer: AnswerApproval, action: Action) -> bool:
        """Whether the approval is answered now, by this answer or another one."""
        try:
            self._session.submit(answer)
        except Rejected as refusal:
            say(paint(safe(str(refusal)), "waiting"))
            edited = answer.edited if answer.edited is not None else answer.edited_context
            self._refused = {} if edited is None else {action.name: edited}
            return isinstance(self._session.state.approval(answer.approval).state, Answered | Withdrawn)
        if action.name == "always":
            keep_rule(self._session.project, self._rule, everywhere=self._everywhere)
        return True


def _question(actions: tuple[Action, ...], alike: int) -> str:
    together = [f"[m] All {alike} equal"] if alike > 1 else []
    return f"{', '.join([*(f'[{one.key}] {one.label}' for one in actions), *together, '[v] View all'])}: "


def _chosen(letter: str, actions: tuple[Action, ...]) -> Action | None:
    alias = _ALIASES.get(letter)
    return next((one for one in actions if one.key == letter or one.name == alias), None)


def _complete(approval: Approval, project: Project) -> Approval:
    """The approval with whole texts, as far as they can be read: nobody should approve what is not shown."""
    texts: dict[str, str] = {}
    for blob in cut_texts(approval):
        with suppress(JournalError):
            texts[blob.sha256] = kept_text(project, blob.sha256).decode(errors="replace")
    return with_whole_texts(approval, texts)


def _chosen_parts(approval: Approval) -> tuple[int, ...]:
    most = count_choices(approval.payload)
    if not most:
        raise BadValue("parts of this diff cannot be chosen: it is too long to be shown whole")
    typed = _read(f"which parts? numbers of 1 to {most} like 1,3-5, or names of files: ")
    return parts_from(typed, approval.payload)


def _reasons(decision: Decision) -> tuple[str, tuple[Comment, ...]]:
    """The reviewer's words: a message, and comments on lines."""
    if decision == "reject":
        return _read("why? (may be empty): ").strip(), ()
    message = _read("what should change? ").strip()
    comments: list[Comment] = []
    while line := _read("a comment as FILE:LINE: TEXT (empty to send): ").strip():
        try:
            comments.append(comment_from(line))
        except BadValue as error:
            say(paint(safe(str(error)), "waiting"))
    return message, tuple(comments)


def _read(question: str) -> str:
    try:
        return read_line(question)
    except EOFError:
        raise KeyboardInterrupt from None


def _view(lines: list[str]) -> None:
    """All lines in a pager."""
    try:
        view_lines(lines)
    except Misconfigured as error:
        say(paint(safe(str(error)), "waiting"))

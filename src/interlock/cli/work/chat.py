"""`interlock chat` and `interlock discussions …`: discussions with a model about the project."""

import sys
from contextlib import suppress
from typing import Any

from msgspec import json

from interlock.assembly.build import conducting
from interlock.assembly.project import Project, kept_text, read_state
from interlock.cli.arguments import CommandArgs, WorkArgs
from interlock.cli.terminal.asking.prompts import Prompts
from interlock.cli.terminal.board.pager import view_lines
from interlock.cli.terminal.exits import APPROVAL, BUDGET, DONE, ERROR
from interlock.cli.terminal.model_choices import model_of, with_choices
from interlock.cli.terminal.output import paint, say, say_json, table
from interlock.cli.terminal.sessions import Session, open_session, project_of
from interlock.cli.terminal.signals import read_line
from interlock.cli.terminal.talking.choice import talk_display
from interlock.cli.work.goal import Goal
from interlock.cli.work.joining import Staying, check_options
from interlock.cli.work.tracks import read_text
from interlock.domain.messages.commands.discussion_commands import StartDiscussion, StopTurn
from interlock.domain.messages.events.discussion_events import DiscussionStarted
from interlock.domain.values.approvals import ALLOWED, Approval
from interlock.domain.values.discussions import Discussion, Quiet, Thinking, Unsure, Waiting
from interlock.domain.values.gates import Blob
from interlock.engine.agents.chat import check_message
from interlock.errors import InterlockError, Misconfigured, Rejected, Unavailable
from interlock.ports.model import Message
from interlock.views.display import one_line, safe
from interlock.views.inbox import approval_dict


class ChatArgs(WorkArgs, frozen=True):
    text: str | None
    discussion: str | None


class ShowArgs(CommandArgs, frozen=True):
    discussion: str


def chat(args: ChatArgs) -> int:
    project = with_choices(project_of(args), args)
    text = read_text("-") if args.text == "-" else args.text
    talks = text is None and not args.json and Prompts().possible
    if text is None and args.discussion is None and not talks:
        raise Rejected("write a message: interlock chat 'TEXT'; or name a discussion to continue: --in D-1")
    if text is not None:
        check_message(text)  # before a discussion is started for it
    # A question starts no other work: tracks wait for 'resume'.
    conduct = conducting(project, auto_queue=False, approve_all=args.approve_all, workers=None, focus=())
    with open_session(project, conduct, model_of(project, args)) as session:
        check_options(session, args)
        conversation = Conversation(session, project, args)
        code = conversation.talk() if talks else conversation.turn(text)
        Staying(session, Goal(), quiet=args.json).wait()
        return code


class Conversation:
    """The turns of one discussion, which begins with the first message."""

    def __init__(self, session: Session, project: Project, args: ChatArgs) -> None:
        self._session = session
        self._project = project
        self._args = args
        self._name = session.state.discussion(args.discussion).id if args.discussion else ""
        self._log: list[str] = []  # whole texts and outputs

    def turn(self, text: str | None) -> int:
        """One turn; without a text the answer that is under way. Ctrl-C ends it."""
        since = self._session.state.version
        self._name = self._name or _start_discussion(self._session, text)
        if text is not None:
            self._session.say(self._name, text)
        try:
            return follow_turn(self._session, self._project, self._name, since, self._args, self._log)
        except KeyboardInterrupt:
            _stop_turn(self._session, self._name)
            raise

    def talk(self) -> int:
        """Turn by turn, until the person ends it."""
        with suppress(ImportError):  # lines can be edited, and a pasted text is one message
            import readline  # noqa: F401  # pyright: ignore[reportUnusedImport]
        say(paint("Write a message. ? lists the commands, Ctrl-D ends.", "dim"))
        if self._name and not isinstance(self._session.state.discussion(self._name).stage, Quiet):
            self.turn(None)
        while (typed := self._typed()) is not None:
            if not typed or self._command(typed):
                continue
            with suppress(KeyboardInterrupt):  # it ended the turn; at the prompt it ends the command
                try:
                    check_message(typed)
                    self.turn(typed)
                except Rejected as refusal:
                    say(paint(safe(str(refusal)), "bad"))
        if self._name:
            say(paint(f"continue with: interlock chat --in {self._name}", "dim", sys.stderr), sys.stderr)
        return DONE

    def _typed(self) -> str | None:
        try:
            typed = read_line(f"{self._name}> ").strip()
        except EOFError:
            say()
            return None
        return None if typed in ("/quit", "q") else typed

    def _command(self, typed: str) -> bool:
        """Whether this is a command of the conversation; it is done then."""
        if typed in ("?", "/help"):
            for word, does in COMMANDS:
                say(f"  {word:12} {does}")
        elif typed in ("v", "/view"):
            try:
                view_lines([safe(text) for text in self._log], at_end=True)
            except Misconfigured as error:
                say(paint(safe(str(error)), "waiting"))
        elif typed.startswith("/") and typed[1:].isalpha():
            say(f"there is no command {safe(typed)}; ? lists them")
        else:
            return False
        return True


COMMANDS = (
    ("?, /help", "show these commands"),
    ("v, /view", "view all texts and outputs so far, whole, in a pager"),
    ("q, /quit", "end, as Ctrl-D; the discussion can be continued"),
    ("Ctrl-C", "stop the answer"),
)


def list_(args: CommandArgs) -> int:
    discussions = read_state(project_of(args)).discussions_in_order()
    if args.json:
        say_json([_row(discussion) for discussion in discussions])
    elif not discussions:
        say("no discussions yet; 'interlock chat TEXT' starts one")
    else:
        rows = [
            (discussion.id, _row(discussion)["state"], str(discussion.turns), one_line(discussion.title, 60))
            for discussion in discussions
        ]
        table(("ID", "STATE", "TURNS", "TITLE"), rows)
    return DONE


def show(args: ShowArgs) -> int:
    project = project_of(args)
    discussion = read_state(project).discussion(args.discussion)
    messages = [_message(project, blob) for blob in discussion.messages]
    if args.json:
        say_json({**_row(discussion), "messages": [_message_as_dict(message) for message in messages]})
        return DONE
    say(f"{paint(discussion.id, 'bold')}  {safe(discussion.title)}  ({_row(discussion)['state']})")
    for message in messages:
        say()
        say(paint({"user": "you", "assistant": "model", "tool": "tool"}[message.role], "dim"))
        if message.reasoning:
            say(paint(safe(message.reasoning), "dim"))
        say(safe(message.text))
        for call in message.calls:
            say(paint(f"→ {safe(call.name)} {one_line(str(call.args), 100)}", "dim"))
    return DONE


def _message_as_dict(message: Message) -> dict[str, Any]:
    fields = {"role": message.role, "text": message.text, "calls": [call.name for call in message.calls]}
    return {**fields, "reasoning": message.reasoning} if message.reasoning else fields


def _start_discussion(session: Session, text: str | None) -> str:
    receipt = session.submit(StartDiscussion(one_line(text or "", 80)))
    return next(r.event.discussion for r in receipt.records if isinstance(r.event, DiscussionStarted))


def _stop_turn(session: Session, name: str) -> None:
    """Ctrl-C ends the model's turn: otherwise the next process would continue it. An open question stays."""
    if not isinstance(session.state.discussion(name).stage, Thinking):
        return
    with suppress(InterlockError):  # the turn has ended meanwhile, or the workbench is gone
        session.submit(StopTurn(name, "interrupted"))
        say(paint(f"the answer was stopped; continue with: interlock chat --in {name} 'TEXT'", "dim"), sys.stderr)


def follow_turn(session: Session, project: Project, name: str, since: int, args: ChatArgs, log: list[str]) -> int:
    """Follow the discussion until the user's next turn; approvals are asked if there is a terminal."""
    prompts = Prompts()
    display = talk_display(project, name, log, quiet=args.json, plain=args.plain)
    with display:
        end = session.listen(display.take)
        try:
            for records in session.follow(since, works=True):
                display.show(records)
                discussion = session.state.discussion(name)
                if isinstance(discussion.stage, Quiet):
                    break
                if isinstance(discussion.stage, Waiting | Unsure):
                    asked = session.state.approval(discussion.stage.approval)
                    if not prompts.possible or args.json:
                        return _report_waiting(discussion, asked, as_json=args.json)
                    with display.paused():
                        prompts.ask(session, asked)
        finally:
            end()
        discussion = session.state.discussion(name)
        if not isinstance(discussion.stage, Quiet):
            raise Unavailable(f"the workbench has ended before the answer; continue with: interlock chat --in {name}")
        answer = _answer(project, discussion)
        if answer is not None and not args.json and not display.printed_answer:
            display.answer(answer)
    return _report_answer(discussion, answer, display.status(), args)


def _report_waiting(discussion: Discussion, asked: Approval, *, as_json: bool) -> int:
    if as_json:
        say_json({**_row(discussion), "answer": None, "pending_approvals": [approval_dict(asked)]})
    else:
        say(f"{discussion.id} waits for approval {asked.id}:", sys.stderr)
        answer = f"interlock approvals answer {asked.id} {'|'.join(ALLOWED[asked.kind])}"
        say(f"  interlock approvals show {asked.id};  {answer}", sys.stderr)
        say(f"then: interlock chat --in {discussion.id}", sys.stderr)
    return APPROVAL


def _answer(project: Project, discussion: Discussion) -> str | None:
    last = _message(project, discussion.messages[-1]) if discussion.messages else None
    return last.text if last is not None and last.role == "assistant" and not last.calls else None


def _report_answer(discussion: Discussion, answer: str | None, status: str, args: ChatArgs) -> int:
    error = discussion.stage.error if isinstance(discussion.stage, Quiet) else ""
    if args.json:
        say_json({**_row(discussion), "answer": answer, "pending_approvals": []})
    else:
        if error:
            say(paint(f"{discussion.id}: {safe(error)}", "bad", sys.stderr), sys.stderr)
        if status:
            say(paint(status, "dim", sys.stderr), sys.stderr)
        if args.text is not None or not Prompts().possible:  # else the person is asked for the next message
            say(paint(f"continue with: interlock chat --in {discussion.id} 'TEXT'", "dim", sys.stderr), sys.stderr)
    if not error:
        return DONE
    return BUDGET if error.startswith("over budget") else ERROR


def _row(discussion: Discussion) -> dict[str, Any]:
    states = {"Quiet": "your turn", "Thinking": "answering", "Doing": "answering"}
    error = discussion.stage.error if isinstance(discussion.stage, Quiet) else ""
    state = states.get(type(discussion.stage).__name__, "waits for an answer")
    return {
        "id": discussion.id,
        "title": discussion.title,
        "state": state,
        "turns": discussion.turns,
        "error": error or None,
    }


def _message(project: Project, blob: Blob) -> Message:
    return json.decode(kept_text(project, blob.sha256), type=Message)

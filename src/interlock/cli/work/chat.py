"""`interlock chat` and `interlock discussions …`: discussions with a model about the project."""

import sys
from contextlib import suppress
from typing import Any

from msgspec import json

from interlock.assembly.build import conducting
from interlock.assembly.project import Project, kept_text, read_state
from interlock.cli.arguments import CommandArgs, WorkArgs
from interlock.cli.terminal.asking.prompts import Prompts
from interlock.cli.terminal.exits import APPROVAL, BUDGET, DONE, ERROR
from interlock.cli.terminal.model_choices import model_of, with_choices
from interlock.cli.terminal.output import paint, say, say_json, table, terminal_safe
from interlock.cli.terminal.sessions import Session, open_session, project_of
from interlock.cli.work.goal import Goal
from interlock.cli.work.joining import Staying, check_options
from interlock.cli.work.tracks import read_text
from interlock.domain.messages.commands.discussion_commands import StartDiscussion, StopTurn
from interlock.domain.messages.events.discussion_events import DiscussionStarted
from interlock.domain.values.approvals import ALLOWED, Approval
from interlock.domain.values.discussions import Discussion, Quiet, Thinking, Unsure, Waiting
from interlock.domain.values.gates import Blob
from interlock.engine.agents.chat import check_message
from interlock.engine.models.streams import ANSWERING, THINKING
from interlock.errors import InterlockError, Rejected, Unavailable
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
    if text is None and args.discussion is None:
        raise Rejected("write a message: interlock chat 'TEXT'; or name a discussion to continue: --in D-1")
    if text is not None:
        check_message(text)  # before a discussion is started for it
    # A question starts no other work: tracks wait for 'resume'.
    conduct = conducting(project, auto_queue=False, approve_all=args.approve_all, workers=None, focus=())
    with open_session(project, conduct, model_of(project, args)) as session:
        check_options(session, args)
        since = session.state.version
        name = args.discussion or _start_discussion(session, text)
        if text is not None:
            session.say(name, text)
        try:
            code = _follow_turn(session, project, session.state.discussion(name).id, since, as_json=args.json)
        except KeyboardInterrupt:
            _stop_turn(session, name)
            raise
        Staying(session, Goal(), quiet=args.json).wait()
        return code


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


def _follow_turn(session: Session, project: Project, name: str, since: int, *, as_json: bool) -> int:
    """Follow the discussion until the user's next turn; approvals are asked if there is a terminal."""
    prompts = Prompts()
    printer = _StreamPrinter(f"Discussion: {name}", quiet=as_json or not sys.stdout.isatty())
    end = session.listen(printer.take)
    try:
        for _ in session.follow(since, works=True):
            discussion = session.state.discussion(name)
            if isinstance(discussion.stage, Quiet):
                break
            if isinstance(discussion.stage, Waiting | Unsure):
                asked = session.state.approval(discussion.stage.approval)
                if not prompts.possible or as_json:
                    return _report_waiting(discussion, asked, as_json=as_json)
                printer.stop()
                prompts.ask(session, asked)
    finally:
        end()
    printer.stop()
    if not isinstance(session.state.discussion(name).stage, Quiet):
        raise Unavailable(f"the workbench has ended before the answer; continue with: interlock chat --in {name}")
    return _report_answer(project, session.state.discussion(name), printer, as_json=as_json)


class _StreamPrinter:
    """Prints the model's output as it streams, its reasoning dimmed. Called from the engine's thread."""

    def __init__(self, key: str, *, quiet: bool) -> None:
        self._key = key
        self._quiet = quiet
        self._open = False
        self._thinking = False
        self.printed_answer = False

    def take(self, key: str, piece: str) -> None:
        if key == self._key and not self._quiet:
            aside = self._thinking or piece == THINKING
            self._thinking = aside and piece != ANSWERING
            sys.stdout.write(terminal_safe(paint(piece, "dim" if aside else None)))
            sys.stdout.flush()
            self._open = True
            self.printed_answer = self.printed_answer or not aside  # reasoning is no answer

    def stop(self) -> None:
        if self._open:
            say()
            self._open = False


def _report_waiting(discussion: Discussion, asked: Approval, *, as_json: bool) -> int:
    if as_json:
        say_json({**_row(discussion), "answer": None, "pending_approvals": [approval_dict(asked)]})
    else:
        say(f"{discussion.id} waits for approval {asked.id}:", sys.stderr)
        answer = f"interlock approvals answer {asked.id} {'|'.join(ALLOWED[asked.kind])}"
        say(f"  interlock approvals show {asked.id};  {answer}", sys.stderr)
        say(f"then: interlock chat --in {discussion.id}", sys.stderr)
    return APPROVAL


def _report_answer(project: Project, discussion: Discussion, printer: _StreamPrinter, *, as_json: bool) -> int:
    error = discussion.stage.error if isinstance(discussion.stage, Quiet) else ""
    last = _message(project, discussion.messages[-1]) if discussion.messages else None
    answer = last.text if last is not None and last.role == "assistant" and not last.calls else None
    if as_json:
        say_json({**_row(discussion), "answer": answer, "pending_approvals": []})
    elif answer is not None and not printer.printed_answer:
        say(safe(answer))
    if error and not as_json:
        say(paint(f"{discussion.id}: {safe(error)}", "bad", sys.stderr), sys.stderr)
    if not as_json:
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

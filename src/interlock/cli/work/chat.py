"""`interlock chat` and `interlock discussions …`: talking with a model about the project."""

import sys
from typing import Any

from msgspec import json

from interlock.assembly.build import conducting
from interlock.assembly.project import Project, kept_text, read_state
from interlock.cli.arguments import CommandArgs, WorkArgs
from interlock.cli.terminal.exits import APPROVAL, BUDGET, DONE, ERROR
from interlock.cli.terminal.model_choices import model_of, with_choices
from interlock.cli.terminal.output import paint, say, say_json, table
from interlock.cli.terminal.prompts import Prompts
from interlock.cli.terminal.sessions import Session, open_session, project_of
from interlock.cli.work.tracks import read_text
from interlock.domain.messages.commands.discussion_commands import StartDiscussion
from interlock.domain.messages.events.discussion_events import DiscussionStarted
from interlock.domain.values.approvals import ALLOWED, Approval
from interlock.domain.values.discussions import Discussion, Quiet, Unsure, Waiting
from interlock.domain.values.gates import Blob
from interlock.engine.agents.chat import check_words
from interlock.engine.models.streams import ANSWERING, THINKING
from interlock.errors import Rejected, Unavailable
from interlock.ports.model import Message
from interlock.views.display import one_line, safe
from interlock.views.inbox import as_dict


class ChatArgs(WorkArgs, frozen=True):
    text: str | None
    discussion: str | None


class ShowArgs(CommandArgs, frozen=True):
    discussion: str


def chat(args: ChatArgs) -> int:
    project = with_choices(project_of(args), args)
    text = read_text("-") if args.text == "-" else args.text
    if text is None and args.discussion is None:
        raise Rejected("say something: interlock chat 'TEXT'; or name a discussion to go on with: --in D-1")
    if text is not None:
        check_words(text)  # before a discussion is begun for it
    # Nothing else goes on because somebody asks a question: tracks wait for 'resume'.
    conduct = conducting(project, auto_queue=False, approve_all=args.approve_all, workers=None, focus=())
    with open_session(project, conduct, model_of(project, args)) as session:
        since = session.state.version
        name = args.discussion or _started(session, text)
        if text is not None:
            session.say(name, text)
        return _listen(session, project, session.state.discussion(name).id, since, as_json=args.json)


def list_(args: CommandArgs) -> int:
    found = read_state(project_of(args)).discussions_in_order()
    if args.json:
        say_json([_row(each) for each in found])
    elif not found:
        say("no discussions yet; 'interlock chat TEXT' begins one")
    else:
        rows = [(each.id, _row(each)["state"], str(each.turns), one_line(each.title, 60)) for each in found]
        table(("ID", "STATE", "TURNS", "TITLE"), rows)
    return DONE


def show(args: ShowArgs) -> int:
    project = project_of(args)
    found = read_state(project).discussion(args.discussion)
    messages = [_message(project, blob) for blob in found.messages]
    if args.json:
        say_json({**_row(found), "messages": [_said(message) for message in messages]})
        return DONE
    say(f"{paint(found.id, 'bold')}  {safe(found.title)}  ({_row(found)['state']})")
    for message in messages:
        say()
        say(paint({"user": "you", "assistant": "model", "tool": "tool"}[message.role], "dim"))
        if message.reasoning:
            say(paint(safe(message.reasoning), "dim"))
        say(safe(message.text))
        for call in message.calls:
            say(paint(f"→ {safe(call.name)} {one_line(str(call.args), 100)}", "dim"))
    return DONE


def _said(message: Message) -> dict[str, Any]:
    said = {"role": message.role, "text": message.text, "calls": [call.name for call in message.calls]}
    return {**said, "reasoning": message.reasoning} if message.reasoning else said


def _started(session: Session, text: str | None) -> str:
    receipt = session.submit(StartDiscussion(one_line(text or "", 80)))
    return next(r.event.discussion for r in receipt.records if isinstance(r.event, DiscussionStarted))


def _listen(session: Session, project: Project, name: str, since: int, *, as_json: bool) -> int:
    """Until it is the user's turn again; questions are asked where there is a terminal to ask in."""
    prompts = Prompts()
    heard = _Voice(f"Discussion: {name}", quiet=as_json or not sys.stdout.isatty())
    end = session.listen(heard.hear)
    try:
        for _ in session.follow(since):
            found = session.state.discussion(name)
            if isinstance(found.stage, Quiet):
                break
            if isinstance(found.stage, Waiting | Unsure):
                asked = session.state.approval(found.stage.approval)
                if not prompts.possible or as_json:
                    return _waits(found, asked, as_json=as_json)
                heard.stop()
                prompts.ask(session, asked)
    finally:
        end()
    heard.stop()
    if not isinstance(session.state.discussion(name).stage, Quiet):
        raise Unavailable(f"the workbench that was answering has ended; go on with: interlock chat --in {name}")
    return _told(session, project, session.state.discussion(name), heard, as_json=as_json)


class _Voice:
    """Prints what comes as it comes, what is thought aloud dimly. Called from the engine's thread."""

    def __init__(self, key: str, *, quiet: bool) -> None:
        self._key = key
        self._quiet = quiet
        self._open = False
        self._thinking = False
        self.spoke = False

    def hear(self, key: str, piece: str) -> None:
        if key == self._key and not self._quiet:
            aside = self._thinking or piece == THINKING
            self._thinking = aside and piece != ANSWERING
            sys.stdout.write(paint(safe(piece), "dim" if aside else None))
            sys.stdout.flush()
            self._open = True
            self.spoke = self.spoke or not aside  # what is thought aloud is no answer

    def stop(self) -> None:
        if self._open:
            say()
            self._open = False


def _waits(found: Discussion, asked: Approval, *, as_json: bool) -> int:
    if as_json:
        say_json({**_row(found), "answer": None, "pending_approvals": [as_dict(asked)]})
    else:
        say(f"{found.id} waits for approval {asked.id}:", sys.stderr)
        answer = f"interlock approvals answer {asked.id} {'|'.join(ALLOWED[asked.kind])}"
        say(f"  interlock approvals show {asked.id};  {answer}", sys.stderr)
        say(f"then: interlock chat --in {found.id}", sys.stderr)
    return APPROVAL


def _told(session: Session, project: Project, found: Discussion, heard: _Voice, *, as_json: bool) -> int:
    error = found.stage.error if isinstance(found.stage, Quiet) else ""
    last = _message(project, found.messages[-1]) if found.messages else None
    answer = last.text if last is not None and last.role == "assistant" and not last.calls else None
    if as_json:
        say_json({**_row(found), "answer": answer, "pending_approvals": []})
    elif answer is not None and not heard.spoke:
        say(safe(answer))
    if error and not as_json:
        say(paint(f"{found.id}: {safe(error)}", "bad", sys.stderr), sys.stderr)
    if not as_json:
        say(paint(f"go on with: interlock chat --in {found.id} 'TEXT'", "dim", sys.stderr), sys.stderr)
    if not error:
        return DONE
    return BUDGET if error.startswith("over budget") else ERROR


def _row(found: Discussion) -> dict[str, Any]:
    states = {"Quiet": "your turn", "Thinking": "answering", "Doing": "answering"}
    error = found.stage.error if isinstance(found.stage, Quiet) else ""
    state = states.get(type(found.stage).__name__, "waits for an answer")
    return {"id": found.id, "title": found.title, "state": state, "turns": found.turns, "error": error or None}


def _message(project: Project, blob: Blob) -> Message:
    return json.decode(kept_text(project, blob.sha256), type=Message)

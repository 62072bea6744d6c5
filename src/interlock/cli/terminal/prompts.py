"""Prompts in the terminal: an approval with its asker, reason and exact bytes, and then y / n / e / a."""

import os
import sys
import tempfile
from pathlib import Path

import msgspec

from interlock.cli.terminal.output import paint, say
from interlock.cli.terminal.sessions import Session
from interlock.cli.terminal.signals import read_line
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.values.approvals import (
    Answered,
    Approval,
    Decision,
    GatePayload,
    MergePayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    UnknownPayload,
    Withdrawn,
)
from interlock.domain.values.gates import Blob
from interlock.errors import JournalError, Rejected
from interlock.journal.blobs import Blobs
from interlock.sandbox.jobs.foreground import run_editor
from interlock.views.display import counted, exact, safe
from interlock.views.inbox import approval_title, covered_by_step, landing_lines, what_changed
from interlock.wire import pretty

_DECISIONS: dict[str, dict[str, Decision]] = {
    "script": {"y": "approve", "n": "reject", "e": "approve", "a": "abort"},
    "tool": {"y": "approve", "n": "reject", "e": "approve", "a": "abort"},
    "spawn": {"y": "approve", "n": "reject", "e": "approve", "c": "approve", "a": "abort"},
    "step": {"y": "approve", "n": "reject", "a": "abort"},
    "gate": {"r": "retry", "s": "skip", "a": "abort"},
    "merge": {"y": "approve", "n": "reject"},
    "tracks": {"y": "approve", "n": "reject", "e": "approve"},
    "unknown": {"r": "retry", "s": "skip", "a": "abort"},
}
_QUESTIONS = {
    "script": "run it? [y]es / [n]o / [e]dit / [a]bort the track: ",
    "tool": "allow it? [y]es / [n]o / [e]dit the arguments / [a]bort the track: ",
    "spawn": "start it? [y]es / [n]o / [e]dit the prompt / edit the [c]ontext / [a]bort the track: ",
    "step": "start it? [y]es / [n]o / [a]bort the track: ",
    "gate": "[r]etry / [s]kip, unverified / [a]bort the ticket: ",
    "merge": "land it? [y]es / [n]o: ",
    "tracks": "plan these tracks and start the first? [y]es / [n]o / [e]dit: ",
    "unknown": "[r]etry / [s]kip / [a]bort: ",
}


class Prompts:
    """One approval at a time. An answer given elsewhere meanwhile ends the prompt."""

    def __init__(self, blobs: Path = Path()) -> None:
        self._blobs = blobs  # the folder of texts that are too long for an approval
        self.possible = sys.stdin.isatty() and sys.stdout.isatty()

    def ask(self, session: Session, approval: Approval) -> None:
        """Ask until the approval is answered, here or elsewhere. Raises KeyboardInterrupt at end of input."""
        for line in describe(approval):
            say(line)
        decisions = _DECISIONS.get(approval.kind, _DECISIONS["merge"])
        refused: dict[str, str] = {}  # edits that were refused: the next edit begins with them
        while True:
            letter = _read(_QUESTIONS.get(approval.kind, _QUESTIONS["merge"])).strip().lower()[:1]
            if letter not in decisions:
                continue
            edited = self._edit(approval, refused.get("e")) if letter == "e" else None
            context = self._edit_context(approval, refused.get("c")) if letter == "c" else None
            if letter in "ec" and edited is None and context is None:
                say("not changed")
                continue
            message = _read("why? (may be empty): ").strip() if decisions[letter] == "reject" else ""
            try:
                session.submit(AnswerApproval(approval.id, decisions[letter], edited, message, edited_context=context))
            except Rejected as refusal:
                say(paint(safe(str(refusal)), "waiting"))
                refused = {name: text for name, text in (("e", edited), ("c", context)) if text is not None}
                if not isinstance(session.state.approval(approval.id).state, Answered | Withdrawn):
                    continue
            return

    def _edit(self, approval: Approval, refused: str | None) -> str | None:
        """The whole text after editing; None if it is unchanged."""
        match approval.payload:
            case ScriptPayload(script):
                text, suffix = script, "sh"
            case ToolPayload() as payload:
                whole = self._whole(payload.whole_arguments, payload.arguments)
                text, suffix = None if whole is None else _indented(whole), "json"
            case SpawnPayload():
                text, suffix = approval.payload.prompt, "md"
            case TracksPayload():
                text, suffix = pretty(approval.payload.tracks), "json"
            case _:
                return None
        return None if text is None else _edit_text(approval, text, suffix, refused)

    def _edit_context(self, approval: Approval, refused: str | None) -> str | None:
        payload = approval.payload
        if not isinstance(payload, SpawnPayload):
            return None
        text = self._whole(payload.context_blob, payload.context)
        return None if text is None else _edit_text(approval, text, "md", refused)

    def _whole(self, blob: Blob | None, text: str) -> str | None:
        """The whole text, also if the approval holds only its beginning; None, with a message, if it is gone."""
        if blob is None:
            return text
        try:
            return Blobs(self._blobs).get(blob.sha256).decode()
        except (JournalError, UnicodeDecodeError) as error:
            say(paint(f"the whole text cannot be read, so it cannot be edited: {error}", "waiting"))
            return None


def describe(approval: Approval) -> list[str]:
    """Everything about an approval, safe to print."""
    where = f"{approval.track}/{approval.ticket}" if approval.ticket else approval.track or approval.discussion
    where = f" for {where}" if where else ""
    lines = [
        "",
        f"{paint(approval.id, 'bold')}  {paint(title_line(approval), 'waiting')}",
        f"  asked by {_inline(approval.asker)}{where}" + (f": {_inline(approval.why)}" if approval.why else ""),
    ]
    lines += [paint(f"  {_inline(line)}", "waiting") for line in what_changed(approval)]
    payload = approval.payload
    match payload:
        case ScriptPayload():
            lines += _numbered(payload.script)
            network = "on" if payload.network else "off"
            lines.append(f"  in {exact(payload.directory)}   sandbox {payload.sandbox}   network {network}")
            lines += [f"  service {exact(service)}" for service in payload.services or ()]
            lines.append(paint(f"  environment: {' '.join(payload.env_names)}", "dim"))
        case ToolPayload():
            if payload.diff:
                lines += _exact_lines(payload.diff)
            else:
                lines.append(f"  {_inline(payload.tool)} {exact(payload.arguments)}")
            if payload.diff_blob or (payload.arguments_blob and not payload.diff):
                lines.append(f"  … 'interlock approvals show {approval.id}' shows all of it")
            hunks = f"   {counted(payload.hunks, 'hunk')}" if payload.hunks else ""
            lines.append(f"  in {_inline(payload.directory)}{hunks}")
        case SpawnPayload():
            lines += _exact_lines(payload.prompt)
            lines.append(paint("  context:", "dim"))
            lines += _exact_lines(payload.context)
            if payload.context_blob:
                lines.append(f"  … 'interlock approvals show {approval.id}' shows all of it")
        case StepPayload():
            lines.append(f"  {safe(payload.description)}   ({payload.role})")
            if payload.script:
                lines += _numbered(payload.script)
            for gate in payload.gates or ():
                lines += ["  verified by:", *_exact_lines(gate)]
            lines.append(paint(f"  {covered_by_step(payload)}", "dim"))
        case GatePayload():
            lines += [f"  {safe(line)}" for line in payload.message.splitlines()]
            if payload.diff:
                lines += ["", *_exact_lines(payload.diff)]
            if payload.diff_blob:
                lines.append(f"  … 'interlock approvals show {approval.id}' shows all of it")
        case MergePayload():
            lines.append(f"  onto {exact(payload.branch)}: {payload.before[:12]} -> {payload.after[:12]}")
            lines += [paint(f"  {_inline(line)}", tone) for line, tone in landing_lines(payload)]
            lines += _exact_lines(payload.diff)
            if payload.diff_blob:
                lines.append(f"  … 'interlock approvals show {approval.id}' shows all of it")
        case TracksPayload():
            lines += [f"  {safe(line)}" for line in payload.text.splitlines()]
            for plan in payload.tracks:
                lines.append(f"  {paint(safe(plan.id), 'bold')}  {safe(plan.title)}")
                lines += [f"      {safe(line)}" for line in plan.description.splitlines()]
        case UnknownPayload():
            lines.append(f"  {safe(payload.question)}")
    lines.append(paint(f"  digest {approval.digest[:16]}…", "dim"))
    match approval.state:
        case Answered(decision, by, at, message):
            lines.append(f"  answered: {decision} by {safe(by)} at {at}" + (f": {safe(message)}" if message else ""))
        case Withdrawn(why, at):
            lines.append(f"  withdrawn at {at}: {safe(why)}")
        case _:
            pass
    return lines


def title_line(approval: Approval) -> str:
    return safe(approval_title(approval)).split("\n", 1)[0]


def _inline(text: str) -> str:
    """Names from other programs: a line break in a name must not look like a line of this output."""
    return exact(text).replace("\n", "<U+000A>")


def _numbered(script: str) -> list[str]:
    return [f"  {paint(f'{number:3}', 'dim')} {exact(line)}" for number, line in enumerate(_lines(script), 1)]


def _exact_lines(text: str) -> list[str]:
    return [f"  {exact(line)}" for line in _lines(text)]


def _lines(text: str) -> list[str]:
    """Lines as a shell or git splits them: only at line feeds."""
    return text.removesuffix("\n").split("\n") if text else []


def _read(question: str) -> str:
    try:
        return read_line(question)
    except EOFError:
        raise KeyboardInterrupt from None


def _indented(arguments: str) -> str:
    """Arguments as a person can edit them."""
    try:
        return msgspec.json.format(arguments, indent=2)
    except msgspec.MsgspecError:
        return arguments


def _edit_text(approval: Approval, text: str, suffix: str, refused: str | None = None) -> str | None:
    """`refused` is an earlier edit that was not accepted; editing begins with it."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="interlock-edit-") as folder:
        file = Path(folder) / f"{approval.ticket or approval.id}.{suffix}"
        file.write_text(text if refused is None else refused)
        if not run_editor(command, file):
            return None
        edited = file.read_text()
    return edited if edited != text else None

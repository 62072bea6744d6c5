"""Prompts in the terminal: an approval with its asker, reason and exact bytes, and then y / n / e / a."""

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import msgspec

from interlock.cli.terminal.diff_lines import diff_lines, parts_from
from interlock.cli.terminal.output import paint, say, terminal_safe
from interlock.cli.terminal.sessions import Session
from interlock.cli.terminal.signals import read_line
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.review.comments import comment_from
from interlock.domain.values.approvals import (
    Answered,
    Approval,
    Comment,
    Decision,
    GatePayload,
    MergePayload,
    ReviewPayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    UnknownPayload,
    Withdrawn,
    count_choices,
)
from interlock.domain.values.gates import Blob
from interlock.domain.values.runs.effects import ScriptEffect
from interlock.errors import BadValue, JournalError, Misconfigured, Rejected
from interlock.journal.blobs import Blobs
from interlock.sandbox.jobs.foreground import run_editor
from interlock.views.display import counted, exact, safe
from interlock.views.inbox import (
    approval_title,
    covered_by_step,
    cut_texts,
    landing_lines,
    review_lines,
    what_changed,
    with_whole_texts,
)
from interlock.wire import pretty

_DECISIONS: dict[str, dict[str, Decision]] = {
    "script": {"y": "approve", "n": "reject", "e": "approve", "a": "abort"},
    "tool": {"y": "approve", "n": "reject", "e": "approve", "a": "abort"},
    "spawn": {"y": "approve", "n": "reject", "e": "approve", "c": "approve", "a": "abort"},
    "step": {"y": "approve", "n": "reject", "a": "abort"},
    "gate": {"r": "retry", "s": "skip", "a": "abort"},
    "merge": {"y": "approve", "p": "approve", "c": "changes", "n": "reject"},
    "tracks": {"y": "approve", "n": "reject", "e": "approve"},
    "unknown": {"r": "retry", "s": "skip", "a": "abort"},
    "review": {"y": "approve", "p": "approve", "c": "changes", "n": "reject", "a": "abort"},
}
_QUESTIONS = {
    "script": "run it? [y]es / [n]o / [e]dit / [a]bort the track: ",
    "tool": "allow it? [y]es / [n]o / [e]dit the arguments / [a]bort the track: ",
    "spawn": "start it? [y]es / [n]o / [e]dit the prompt / edit the [c]ontext / [a]bort the track: ",
    "step": "start it? [y]es / [n]o / [a]bort the track: ",
    "gate": "[r]etry / [s]kip, unverified / [a]bort the ticket: ",
    "merge": "land it? [y]es / only [p]arts / request [c]hanges / [n]o / [v]iew all: ",
    "tracks": "plan these tracks and start the first? [y]es / [n]o / [e]dit: ",
    "unknown": "[r]etry / [s]kip / [a]bort: ",
    "review": (
        "accept it? [y]es / only [p]arts / request [c]hanges / [n]o, block the ticket / [a]bort the track"
        " / [v]iew all: "
    ),
}


_MOST_LINES = 400  # of an approval, printed before the question; a pager shows more


class Prompts:
    """One approval at a time. An answer given elsewhere meanwhile ends the prompt."""

    def __init__(self, blobs: Path = Path()) -> None:
        self._blobs = blobs  # the folder of texts that are too long for an approval
        self.possible = sys.stdin.isatty() and sys.stdout.isatty()

    def ask(self, session: Session, approval: Approval) -> None:
        """Ask until the approval is answered, here or elsewhere. Raises KeyboardInterrupt at end of input."""
        lines = describe(self._complete(approval))
        for line in lines[:_MOST_LINES]:
            say(line)
        if len(lines) > _MOST_LINES:
            say(paint(f"  … {counted(len(lines) - _MOST_LINES, 'more line')}: v shows all", "waiting"))
        decisions = _DECISIONS.get(approval.kind, _DECISIONS["merge"])
        refused: dict[str, str] = {}  # edits that were refused: the next edit begins with them
        while True:
            letter = _read(_QUESTIONS.get(approval.kind, _QUESTIONS["merge"])).strip().lower()[:1]
            if letter == "v":
                _view(lines)
            if letter not in decisions:
                continue
            edited = self._edit(approval, refused.get("e")) if letter == "e" else None
            edits_context = letter == "c" and approval.kind == "spawn"
            context = self._edit_context(approval, refused.get("c")) if edits_context else None
            if (letter == "e" or edits_context) and edited is None and context is None:
                say("not changed")
                continue
            try:
                hunks = _chosen_parts(approval) if letter == "p" else None
            except BadValue as error:
                say(paint(safe(str(error)), "waiting"))
                continue
            message, comments = _reasons(decisions[letter])
            answer = AnswerApproval(approval.id, decisions[letter], edited, message, hunks, context, comments)
            try:
                session.submit(answer)
            except Rejected as refusal:
                say(paint(safe(str(refusal)), "waiting"))
                refused = {name: text for name, text in (("e", edited), ("c", context)) if text is not None}
                if not isinstance(session.state.approval(approval.id).state, Answered | Withdrawn):
                    continue
            return

    def _complete(self, approval: Approval) -> Approval:
        """The approval with whole texts, as far as they can be read: nobody should approve what is not shown."""
        texts: dict[str, str] = {}
        for blob in cut_texts(approval):
            with suppress(JournalError):
                texts[blob.sha256] = Blobs(self._blobs).get(blob.sha256).decode(errors="replace")
        return with_whole_texts(approval, texts)

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
            lines += _effect_lines(approval.id, payload.effect) if payload.effect else []
        case ToolPayload():
            if payload.diff:
                lines += diff_lines(payload.diff)
            else:
                lines.append(f"  {_inline(payload.tool)} {exact(payload.arguments)}")
            if payload.diff_blob or (payload.arguments_blob and not payload.diff):
                lines.append(f"  … 'interlock approvals show {approval.id}' shows all of it")
            if payload.hosts:
                lines.append(f"  contacts {_inline(', '.join(payload.hosts))}")
            hunks = f"   {counted(payload.hunks, 'hunk')}" if payload.hunks else ""
            lines.append(f"  in {_inline(payload.directory)}{hunks}")
        case SpawnPayload():
            tone = "waiting" if payload.unsupervised else "dim"
            lines += [paint(f"  {_inline(line)}", tone) for line in payload.terms or ()]
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
                lines += ["", *diff_lines(payload.diff, numbered=False)]
            if payload.diff_blob:
                lines.append(f"  … 'interlock approvals show {approval.id}' shows all of it")
        case MergePayload():
            lines.append(f"  onto {exact(payload.branch)}: {payload.before[:12]} -> {payload.after[:12]}")
            lines += [paint(f"  {_inline(line)}", tone) for line, tone in landing_lines(payload)]
            lines += _rounds(payload.since or "", payload.since_diff or "", payload.diff)
            if payload.diff_blob or payload.since_blob:
                lines.append(f"  … 'interlock approvals show {approval.id}' shows all of it")
        case ReviewPayload():
            lines += _review_lines(approval.id, payload)
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


def _effect_lines(name: str, effect: ScriptEffect) -> list[str]:
    """What approving a script would do to the user's files."""
    lines = [paint(f"  {_inline(effect.summary)}", "waiting")]
    if effect.ended:
        lines.append(paint(f"  it ran in a copy of your files: {_inline(effect.ended)}", "dim"))
    lines += [f"    {_inline(line)}" for line in effect.lines]
    lines += diff_lines(effect.diff, numbered=False)
    if effect.diff_blob:
        lines.append(f"  … 'interlock approvals show {name}' shows all of it")
    return lines


def _review_lines(name: str, payload: ReviewPayload) -> list[str]:
    lines = [paint(f"  {_inline(line)}", tone) for line, tone in review_lines(payload)]
    if payload.summary:
        lines += ["  the worker says:", *(f"    {safe(line)}" for line in payload.summary.splitlines())]
    lines += _rounds(payload.since, payload.since_diff, payload.diff)
    if payload.diff_blob or payload.since_blob:
        lines.append(f"  … 'interlock approvals show {name}' shows all of it")
    return lines


def _rounds(since: str, since_diff: str, diff: str) -> list[str]:
    """The diff with the numbers of its parts; in a later round first what changed since."""
    whole = diff_lines(diff)
    if not since:
        return whole
    before = [paint("  changed since the last round:", "bold"), *diff_lines(since_diff, numbered=False)]
    return [*before, paint("  the whole change:", "bold"), *whole]


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
    if decision != "changes":
        return "", ()
    message = _read("what should change? ").strip()
    comments: list[Comment] = []
    while line := _read("a comment as FILE:LINE: TEXT (empty to send): ").strip():
        try:
            comments.append(comment_from(line))
        except BadValue as error:
            say(paint(safe(str(error)), "waiting"))
    return message, tuple(comments)


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


def _view(lines: list[str]) -> None:
    """All lines in a pager."""
    with tempfile.TemporaryDirectory(prefix="interlock-view-") as folder:
        file = Path(folder) / "approval.txt"
        file.write_text("".join(f"{terminal_safe(line)}\n" for line in lines))
        try:
            run_editor(os.environ.get("PAGER") or "less -R", file)
        except Misconfigured as error:
            say(f"{error} (for this, $PAGER)")


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

"""The project of the terminal workbench: implements its port on a session, here or in another process."""

import asyncio
import os
import tempfile
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from interlock.assembly.build import conducting
from interlock.assembly.lasting_rules import keep_rule, lasting_rule
from interlock.assembly.project import Project, kept_text, project_reader
from interlock.assembly.window import branch_of
from interlock.cli.serve.followed_project import FollowedProject, Opened
from interlock.cli.serve.tui.args import TuiArgs
from interlock.cli.terminal.model_choices import model_of, note_unused_settings, with_choices
from interlock.cli.terminal.sessions import LocalSession, RemoteSession, hold_or_connect, project_of
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Payload
from interlock.errors import JournalError, Misconfigured
from interlock.ports.effects import Undone, UndoPlan
from interlock.sandbox.jobs.foreground import run_editor
from interlock.tui.bench import Holder, Notify, Watcher


class TuiBench(FollowedProject):
    """Implements `Bench`."""

    tries_again = True

    def __init__(self, args: TuiArgs, loop: asyncio.AbstractEventLoop) -> None:
        self._args = args
        self._watcher: Watcher | None = None
        project = project_of(args)
        if not project.is_initialised:
            raise Misconfigured(f"{project.root} is no Interlock project yet: run 'interlock init' in it")
        note_unused_settings(project)
        super().__init__(project, loop)

    # ── facts ────────────────────────────────────────────────────────────────────────────

    @property
    def name(self) -> str:
        return self.project.root.name

    @property
    def branch(self) -> str:
        return branch_of(self.project.root)

    @property
    def holder(self) -> Holder:
        match self.session:
            case LocalSession() as local:
                return Holder(True, os.getpid(), local.sandbox_level, local.clients_at_work)
            case RemoteSession() as remote:
                return Holder(False, remote.holder)

    @property
    def hint(self) -> str:
        return self.session.hint if isinstance(self.session, LocalSession) else ""

    @property
    def notify(self) -> Notify:
        return self.project.settings.tui.notify

    # ── texts, rules and undo ────────────────────────────────────────────────────────────

    async def text(self, sha256: str) -> str | None:
        try:
            return (await asyncio.to_thread(kept_text, self.project, sha256)).decode(errors="replace")
        except JournalError:
            return None

    async def history(self, most: int) -> Sequence[Recorded]:
        return await asyncio.to_thread(_latest, self.project, max(0, self.state.version - most), most)

    async def always_rule(self, payload: Payload) -> str:
        return await asyncio.to_thread(lasting_rule, self.project, payload)

    async def keep_rule(self, rule: str, *, everywhere: bool = False) -> None:
        await asyncio.to_thread(keep_rule, self.project, rule, everywhere=everywhere)

    async def undo_plan(self, *, redo: bool) -> UndoPlan:
        return await asyncio.to_thread(lambda: self.session.undo_plan(redo=redo))

    async def undo(self, plan: UndoPlan) -> Undone:
        return await asyncio.to_thread(self.session.undo, plan)

    def edit(self, text: str, suffix: str) -> str | None:
        command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        with tempfile.TemporaryDirectory(prefix="interlock-edit-") as folder:
            file = Path(folder) / f"interlock.{suffix}"
            file.write_text(text)
            if not run_editor(command, file):
                return None
            edited = file.read_text()
        return edited if edited != text else None

    def watch(self, watcher: Watcher) -> None:
        self._watcher = watcher

    # ── what a followed project asks for ─────────────────────────────────────────────────

    def open_session(self) -> Opened:
        args = self._args
        project = with_choices(self.project, args)
        conduct = conducting(
            project, auto_queue=args.auto_queue, approve_all=False, workers=args.workers, autonomy=args.autonomy
        )
        opened = hold_or_connect(project, conduct, model_of(project, args))
        given = {
            "--provider": args.provider,
            "--model": args.model,
            "--agent": args.agent,
            "--workers": args.workers,
            "--auto-queue": args.auto_queue,
            "--autonomy": args.autonomy,
        }
        unused = [name for name, value in given.items() if value]
        if isinstance(opened, RemoteSession) and unused and self._watcher is None:
            opened.close()
            raise Misconfigured(
                f"process {opened.holder} holds this project and works with its own options: leave out"
                f" {', '.join(unused)}, or end that process first"
            )
        return opened

    def heard(self, key: str, text: str) -> None:
        if self._watcher is not None:
            self._watcher.text(key, text)

    def arrived(self, batch: Sequence[Recorded], state: State) -> None:
        if self._watcher is not None:
            self._watcher.records(batch)

    def ended(self, reason: str) -> None:
        if self._watcher is not None:
            self._watcher.ended(reason)

    def reopened(self) -> None:
        if self._watcher is not None:
            self._watcher.reopened()


def _latest(project: Project, after: int, most: int) -> Sequence[Recorded]:
    reader = project_reader(project)
    try:
        return tuple(deque(reader.read(after), maxlen=most))
    finally:
        reader.close()

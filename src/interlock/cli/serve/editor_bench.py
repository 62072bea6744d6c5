"""Projects for the editor's agent: opened here, or reached through the process that holds them."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import json

from interlock.assembly.build import conducting
from interlock.assembly.lasting_rules import keep_rule
from interlock.assembly.locations import find_root
from interlock.assembly.project import Project, believed, kept_text, open_project, project_key, read_state
from interlock.cli.arguments import ModelArgs
from interlock.cli.serve.followed_project import FollowedProject, Opened
from interlock.cli.terminal.model_choices import model_of, with_choices
from interlock.cli.terminal.sessions import RemoteSession, hold_or_connect
from interlock.cli.work.goal import Goal, unfinished
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.values.discussions import Discussion
from interlock.domain.values.gates import Blob
from interlock.editor.bench import Listed, Piece, Watcher
from interlock.engine.models.streams import ANSWERING, THINKING
from interlock.errors import JournalError, Misconfigured
from interlock.ports.model import Message
from interlock.views.display import one_line

T = TypeVar("T")

_STREAM = "Discussion: "
_KEY = 8  # letters of a project's key


class EditorBench(FollowedProject):
    """Implements `Bench` for one project. Made on the agent's loop by `opened`, closed by `close`."""

    def __init__(self, project: Project, args: ModelArgs, loop: asyncio.AbstractEventLoop) -> None:
        self._args = args
        self._watchers: list[Watcher] = []
        self._thinking: set[str] = set()
        super().__init__(project, loop)

    @property
    def key(self) -> str:
        return key_of(self.project)

    async def message(self, blob: Blob) -> Message:
        content = await asyncio.to_thread(kept_text, self.project, blob.sha256)
        return json.decode(content, type=Message)

    def closed(self, path: str) -> str:
        return self.project.names.refusal(tuple(path.strip("/").split("/"))) or ""

    async def keep_rule(self, rule: str) -> None:
        await asyncio.to_thread(keep_rule, self.project, rule)

    def work(self, tracks: Sequence[str] = (), epics: Sequence[str] = ()) -> Goal:
        return Goal(tracks, epics)

    def unfinished(self) -> Goal:
        return unfinished(self.state)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    # ── what a followed project asks for ─────────────────────────────────────────────────

    def open_session(self) -> Opened:
        project = with_choices(self.project, self._args)
        # A question starts no other work; tracks that /plan or /run start run without a question for each ticket.
        conduct = conducting(project, auto_queue=True, approve_all=False, workers=None, focus=())
        opened = hold_or_connect(project, conduct, model_of(project, self._args))
        if isinstance(opened, RemoteSession) and opened.state.conductor.approve_all:
            opened.close()
            raise Misconfigured(
                f"process {opened.holder} holds this project with --approve all: your approvals would be answered"
                " unasked. Wait, or end that process first"
            )
        return opened

    def heard(self, key: str, text: str) -> None:
        if not key.startswith(_STREAM):
            return
        if text == THINKING:
            self._thinking.add(key)
        elif text == ANSWERING:
            self._thinking.discard(key)
        else:
            self.post(self._streamed, Piece(key.removeprefix(_STREAM), text, key in self._thinking))

    def arrived(self, batch: Sequence[Recorded], state: State) -> None:
        for watcher in tuple(self._watchers):
            watcher.records(batch, state)

    def _streamed(self, piece: Piece) -> None:
        for watcher in tuple(self._watchers):
            watcher.piece(piece)

    def ended(self, reason: str) -> None:
        for watcher in tuple(self._watchers):
            watcher.ended(reason)


class EditorProjects:
    """Implements `Projects`. `fixed` is the project of `-C`, whatever folder the editor names."""

    def __init__(self, args: ModelArgs, fixed: Path | None) -> None:
        self._args = args
        self._fixed = fixed
        self._benches: dict[Path, EditorBench] = {}
        self._opening = asyncio.Lock()

    @property
    def opened(self) -> tuple[str, ...]:
        return tuple(str(root) for root in self._benches)

    async def open(self, folder: str) -> EditorBench:
        loop = asyncio.get_running_loop()
        async with self._opening:
            project = await asyncio.to_thread(self._project_of, folder)
            bench = self._benches.get(project.root)
            if bench is None or bench.lost:
                bench = await asyncio.to_thread(EditorBench, project, self._args, loop)
                self._benches[project.root] = bench
                bench.start()
            return bench

    async def discussions(self, folder: str) -> tuple[str, str, list[Listed]]:
        project = await asyncio.to_thread(self._project_of, folder)
        return str(project.root), key_of(project), await asyncio.to_thread(_listed, project)

    def close(self) -> None:
        for bench in self._benches.values():
            bench.close()

    def _project_of(self, folder: str) -> Project:
        if not Path(folder).is_dir():
            raise Misconfigured(f"{folder} is not a folder of this machine")
        root = self._fixed or find_root(Path(folder).resolve())
        project = open_project(root)
        believed(project)
        if not project.is_initialised:
            raise Misconfigured(
                f"{root} is no Interlock project yet: run 'interlock init' in it, then open the session"
            )
        return project


def key_of(project: Project) -> str:
    return project_key(project)[:_KEY]


def _listed(project: Project) -> list[Listed]:
    discussions = [one for one in read_state(project).discussions_in_order() if one.messages]
    discussions.sort(key=lambda one: one.updated_at, reverse=True)
    return [Listed(one.id, _title(project, one), one.updated_at) for one in discussions]


def _title(project: Project, discussion: Discussion) -> str:
    """The first line of the discussion: sessions of editors begin without a title."""
    try:
        first = json.decode(kept_text(project, discussion.messages[0].sha256), type=Message)
    except JournalError:
        return discussion.title
    return one_line(first.text, 80)

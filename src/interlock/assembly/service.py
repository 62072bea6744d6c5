"""A workbench with a desk and an HTTP API: `interlock serve` runs it, and the window shows it.

It uses three threads: the engine's (commands, journal, workers), the API's (HTTP), and the caller's, which waits or
draws.
"""

import asyncio
import ctypes
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from interlock.assembly.build import open_workbench, project_vault
from interlock.assembly.lasting_rules import LearnedRulesOf, keep_rule, lasting_rule
from interlock.assembly.model_choice import AsksAt, ModelMaker, first_provider, make_model
from interlock.assembly.open_workbench import OpenWorkbench
from interlock.assembly.project import Project, open_project, trust_starts
from interlock.assembly.restoring.undoing import Undoing
from interlock.assembly.secrets.redaction import redacted_bytes, redactor
from interlock.assembly.settings.writing import write_keys
from interlock.desk.desk import Desk
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.values.approvals import Payload
from interlock.engine.bench.engine_thread import ENDING_S, EngineThread
from interlock.errors import BadValue, JournalCorrupt, JournalError, Misconfigured
from interlock.identity.standing import approve_file as approve_file_of
from interlock.ports.effects import Undone, UndoPlan, UndoRow
from interlock.ports.model import Message
from interlock.providers.credentials import listed_variables
from interlock.providers.missing import MissingModel
from interlock.providers.names import PROVIDERS

if TYPE_CHECKING:
    from interlock.api.bridge import WindowView
    from interlock.api.live import Live
    from interlock.api.page.page import Page
    from interlock.api.server import ApiServer
    from interlock.api.tokens import Discovery


class ModelSelection(msgspec.Struct, frozen=True):
    """The model that the command line names; empty fields name none."""

    provider: str = ""
    model: str = ""
    script: str = ""


class DeskServices:
    """Implements `Equipment` for the desk and `Backstage` for the API."""

    def __init__(self, project: Project, opened: OpenWorkbench, choice: ModelSelection, asks_at: AsksAt) -> None:
        self._project = project
        self._opened = opened
        self._choice = choice
        self._asks_at = asks_at
        self.learned = LearnedRulesOf(project, lambda: opened.state)

    # ── for the desk ─────────────────────────────────────────────────────────────────────

    def choose_model(self, provider: str, model: str, command_line: str) -> None:
        """Accepts a provider that is not configured yet: its first call reports the missing setting."""
        if provider not in ("", *PROVIDERS):
            raise BadValue(f"there is no provider {provider!r}; known are {', '.join(PROVIDERS)}")
        self._opened.use_model(chosen(self._project, self._choice, provider, model, command_line, self._asks_at))

    def save(self, values: Mapping[str, str]) -> str:
        """Writes only values that differ from the current settings."""
        path, now = self._project.root / "interlock.toml", self.saved()
        keys = {"current_provider": ("provider", "name"), "current_model": ("provider", "model")}
        changed = {key: values[name] for name, key in keys.items() if values[name] != now.get(name, "")}
        write_keys(path, changed)
        trust_starts(self._project, {".".join(key) for key in changed})
        return str(path)

    def saved(self) -> Mapping[str, str]:
        provider = open_project(self._project.root).settings.provider
        values = {"current_provider": provider.name, "current_model": provider.model}
        return {name: value for name, value in values.items() if value is not None}

    def last_answer(self, discussion: str) -> str:
        messages = self._opened.state.discussion(discussion).messages
        if not messages:
            return ""
        message = msgspec.json.decode(self._opened.fetch(messages[-1].sha256), type=Message)
        return message.text if message.role == "assistant" and not message.calls else ""

    def clear_streams(self) -> None:
        self._opened.streams.clear()

    def status(self) -> str:
        return self._opened.activity.ai_status

    def turn_ended(self, discussion: str, *, stopped: bool, error: str) -> None:
        self._opened.activity.ended(f"Discussion: {discussion}", stopped=stopped, error=error)

    def reset_status(self) -> None:
        self._opened.activity.reset()

    # ── for the API ──────────────────────────────────────────────────────────────────────

    async def records(self, after: int) -> Sequence[Recorded]:
        return await self._opened.workbench.since(after)

    async def keep(self, content: bytes) -> str:
        return await self._opened.workbench.keep(redacted_bytes(redactor(os.environ), content))

    async def rule_for(self, payload: Payload) -> str:
        return await asyncio.to_thread(lasting_rule, self._project, payload)

    async def keep_rule(self, rule: str, *, everywhere: bool) -> None:
        await asyncio.to_thread(keep_rule, self._project, rule, everywhere=everywhere)

    def undo_rows(self) -> tuple[UndoRow, ...]:
        return self._undoing.rows()

    async def undo_plan(self, *, redo: bool) -> UndoPlan | None:
        undoing = self._undoing
        return await undoing.plan(redo=redo) if undoing.has_next(redo=redo) else None

    async def undo(self, plan: UndoPlan, *, force: bool) -> Undone:
        return await self._undoing.run(plan, force=force)

    @property
    def _undoing(self) -> Undoing:
        return Undoing(self._project, self._opened.opened_workspaces)

    def reveal(self, text: str) -> str:
        return project_vault(self._project).reveal(text)

    async def kept_text(self, sha256: str) -> bytes | None:
        try:
            return await asyncio.to_thread(self._opened.fetch, sha256)
        except JournalCorrupt:
            raise  # an altered text is an error, not a missing one
        except (OSError, JournalError):
            return None

    def broken(self) -> str:
        return str(self._opened.workbench.broken or "")

    def later(self, seconds: float) -> str:
        moment = datetime.now(UTC) + timedelta(seconds=seconds)
        return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")

    def stop(self) -> None:
        self._opened.stop_asked.set()


def chosen(
    project: Project, choice: ModelSelection, provider: str, model: str, command_line: str, asks_at: AsksAt
) -> ModelMaker:
    """The model that the desk's fields name. If it cannot be made, a model that reports the missing setting."""
    script = choice.script if provider == "scripted" else None
    try:
        if not provider:
            raise Misconfigured(f"no model is chosen: set current_provider, {listed_variables()}, or give --provider")
        line = (command_line or None) if provider == "gemini_cli" else None
        return make_model(project, provider, model or None, line, script, asks_at)
    except Misconfigured as error:
        missing = MissingModel(provider, str(error))
        return lambda sandbox, log: missing


def _return_freed_memory() -> None:
    """Returns freed buffers of 256 KiB and more to the operating system immediately.

    By default glibc raises this threshold with every larger buffer, so a service that sends long texts to many clients
    keeps growing. It also gives threads their own heaps, sixteen on two cores, which fragment separately; under the
    interpreter lock two are enough.
    """
    with suppress(OSError, AttributeError):  # another C library has no mallopt
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, 256 * 1024)
        library.mallopt(_M_ARENA_MAX, 2)


_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


class OpenService:
    """An opened workbench with its desk; `serve_http` adds the HTTP API.

    `start` and `call` run a coroutine on the engine's loop, from any other thread; `call` waits for its result.
    """

    def __init__(
        self,
        engine: EngineThread,
        project: Project,
        workbench: OpenWorkbench,
        services: DeskServices,
        desk: Desk,
        person: str,
        *,
        test_policy: bool,
    ) -> None:
        self.project = project
        self.workbench = workbench
        self.services = services
        self.desk = desk
        self.test_policy = test_policy
        self._engine = engine
        self._person = person
        self._api: ApiServer | None = None
        self._discovery: Discovery | None = None
        self._ask_address: tuple[str, str] | None = None
        self._lock = threading.Lock()  # a window starts HTTP on another thread than the one that ends it
        self._ended = False
        self.start = engine.start
        self.call = engine.call

    @property
    def sandbox_level(self) -> str:
        return self.workbench.sandbox_level

    @property
    def ask_address(self) -> tuple[str, str] | None:
        """The API's address and the ask token for hooks of CLI agents; None before HTTP is served."""
        return self._ask_address

    def serve_http(
        self, port: int, window: "WindowView | None" = None, *, page: bool = False, public: str | None = None
    ) -> int:
        """Starts the API, with the page if wanted; returns its port. `public` is the address of a reverse proxy."""
        from interlock.api.bridge import Bridge
        from interlock.api.server import ApiServer, bind
        from interlock.api.tokens import Discovery, new_tokens

        make_page = self._page_maker(public) if page else None
        listening = bind(port)
        tokens = new_tokens()
        bridge = Bridge(
            self._engine.loop,
            self.workbench,
            self.desk,
            self.services,
            self._person,
            test_policy=self.test_policy,
            sandbox=self.sandbox_level,
            window=window,
        )
        with self._lock:
            if self._ended:
                listening.close()
                raise Misconfigured("the workbench is closing")
            api = ApiServer(bridge, tokens, listening, self.workbench.logs.api.write, make_page)
            # Published first: a client that gets an answer finds the files.
            self._discovery = Discovery(self.project.folder / "run", approve_file(self.project))
            self._discovery.publish("127.0.0.1", api.port, tokens)
            self._ask_address = f"http://127.0.0.1:{api.port}", tokens.ask
            self._api = api
            api.start(self._attach)
        return api.port

    def _page_maker(self, public: str | None) -> "Callable[[], Page]":
        """Makes the page on the API's loop. Raises Misconfigured for an address that cannot be one."""
        from interlock.api.page.page import Page
        from interlock.api.page.public_url import public_url
        from interlock.api.page.sessions import Lifetimes, SessionFile, Sessions

        address = public_url(public) if public is not None else None
        limits = self.project.settings.page
        times = Lifetimes(limits.idle_hours * 3_600, limits.most_hours * 3_600)
        return lambda: Page(Sessions(SessionFile(sessions_file(self.project)), times), address)

    def _attach(self, live: "Live") -> None:
        """Called on the API's loop; subscribes on the engine's loop, so no record is missed in between."""
        workbench, desk = self.workbench, self.desk

        async def listen() -> None:
            live.version = workbench.state.version
            workbench.workbench.on_durable(lambda records, _: live.offer_records(records))
            workbench.streams.listen(live.offer_text)
            workbench.streams.on_clear(live.offer_clear)
            desk.listen(live.offer_desk_event)

        self.call(listen())

    def wait(self) -> None:
        """Waits for a request to end the workbench. An interrupt ends the waiting, not the work."""
        self.call(self.workbench.stop_asked.wait())

    def stop_http(self) -> None:
        """Ends the API; `serve_http` is refused from now on."""
        with self._lock:
            self._ended = True
        if self._discovery is not None:
            self._discovery.remove()
        if self._api is not None:
            self._api.stop()


class Service:
    """`open`, then use the opened service, then `stop`; from a thread that is neither the engine's nor the API's."""

    def __init__(
        self, project: Project, conduct: StartConductor, choice: ModelSelection, person: str, *, test_policy: bool
    ) -> None:
        settings = project.settings.provider
        self._choice = replace(
            choice,
            provider=choice.provider or first_provider(settings.name) or "",
            model=choice.model or settings.model or "",
        )
        self._project = project
        self._conduct = conduct
        self._person = person
        self._test_policy = test_policy
        self._engine = EngineThread()
        self._opening: asyncio.Task[Any] | None = None
        self._workbench: OpenWorkbench | None = None
        self._opened: OpenService | None = None

    def open(self) -> OpenService:
        """Takes the project's lock; raises JournalInUse if another process holds it."""
        _return_freed_memory()
        provider = self._choice.provider
        maker = chosen(self._project, self._choice, provider, self._choice.model, "", self._ask_address)
        if self._choice.script and provider == "scripted":
            make_model(self._project, provider, None, None, self._choice.script)  # reports a wrong script now
        return self._engine.call(self._open(maker))

    async def _open(self, maker: ModelMaker) -> OpenService:
        """Stores the workbench where it is made: an interrupt may come before `open` returns it."""
        self._opening = asyncio.current_task()
        self._workbench = workbench = await open_workbench(self._project, self._conduct, model=maker)
        services = DeskServices(self._project, workbench, self._choice, self._ask_address)
        fixed = {"project_root": str(self._project.root), "sandbox": workbench.sandbox_level}
        start = {"current_provider": self._choice.provider, "current_model": self._choice.model}
        desk = Desk(workbench, services, fixed, start)
        workbench.workbench.on_durable(desk.react)
        workbench.activity.listen(lambda _: desk.change())
        self._opened = OpenService(
            self._engine, self._project, workbench, services, desk, self._person, test_policy=self._test_policy
        )
        return self._opened

    def _ask_address(self) -> tuple[str, str] | None:
        return self._opened.ask_address if self._opened is not None else None

    def stop(self, reason: str = "the workbench was closed") -> None:
        if self._opened is not None:
            self._opened.stop_http()
        self._engine.call(self._close(reason))
        self._engine.stop()

    async def _close(self, reason: str) -> None:
        if self._opening is not None:
            await asyncio.wait({self._opening}, timeout=ENDING_S)
        if self._workbench is not None:
            await self._workbench.close(reason)


def approve_file(project: Project) -> Path:
    return approve_file_of(project.state_dir, project.root)


def sessions_file(project: Project) -> Path:
    """The file with the sessions of the page; outside of every project."""
    beside = approve_file(project)
    return beside.parent.with_name("sessions") / beside.name

"""A workbench with a desk and an HTTP API: what `interlock serve` runs, and what the window shows.

Three threads: the engine's (commands, journal, workers), the API's (HTTP), and whoever called us (who waits, or draws).
"""

import asyncio
import ctypes
import os
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import replace

from interlock.assembly.build import OpenWorkbench, open_workbench
from interlock.assembly.model_choice import KNOWN_PROVIDERS, AsksAt, ModelMaker, first_provider, make_model
from interlock.assembly.project import Project, open_project
from interlock.assembly.redaction import redacted_bytes, redactor
from interlock.assembly.settings.writing import write_keys
from interlock.desk.desk import Desk
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.envelopes import Recorded
from interlock.engine.bench.engine_thread import ENDING_S, EngineThread
from interlock.errors import BadValue, JournalError, Misconfigured
from interlock.ports.model import Message
from interlock.providers.credentials import listed_variables
from interlock.providers.missing import NAMED_PROVIDERS, MissingModel

if TYPE_CHECKING:
    from interlock.api.bridge import WindowView
    from interlock.api.live import Live
    from interlock.api.server import ApiServer
    from interlock.api.tokens import Discovery

T = TypeVar("T")


class ModelSelection(msgspec.Struct, frozen=True):
    """What the command line says about the model; empty where it says nothing."""

    provider: str = ""
    model: str = ""
    script: str = ""


class DeskServices:
    """Plays `Equipment` for the desk and `Backstage` for the API."""

    def __init__(self, project: Project, opened: OpenWorkbench, choice: ModelSelection, asks_at: AsksAt) -> None:
        self._project = project
        self._opened = opened
        self._choice = choice
        self._asks_at = asks_at

    # ── for the desk ─────────────────────────────────────────────────────────────────────

    def choose_model(self, provider: str, model: str, command_line: str) -> None:
        """A provider that cannot be asked yet is taken all the same: its first call says what is missing."""
        if provider not in ("", *NAMED_PROVIDERS):
            known = ", ".join(NAMED_PROVIDERS)
            raise BadValue(f"there is no provider {provider!r}; known are {known}")
        self._opened.use_model(chosen(self._project, self._choice, provider, model, command_line, self._asks_at))

    def save(self, values: Mapping[str, str]) -> str:
        """Only what differs from what the settings already say."""
        path, now = self._project.root / "interlock.toml", self.saved()
        keys = {"current_provider": ("provider", "name"), "current_model": ("provider", "model")}
        write_keys(path, {key: values[name] for name, key in keys.items() if values[name] != now.get(name, "")})
        return str(path)

    def saved(self) -> Mapping[str, str]:
        provider = open_project(self._project.root).settings.provider
        found = {"current_provider": provider.name, "current_model": provider.model}
        return {name: value for name, value in found.items() if value is not None}

    def last_answer(self, discussion: str) -> str:
        found = self._opened.state.discussion(discussion)
        if not found.messages:
            return ""
        message = msgspec.json.decode(self._opened.fetch(found.messages[-1].sha256), type=Message)
        return message.text if message.role == "assistant" and not message.calls else ""

    def clear_streams(self) -> None:
        self._opened.streams.clear()

    def status(self) -> str:
        return self._opened.activity.ai_status

    def reset_status(self) -> None:
        self._opened.activity.reset()

    # ── for the API ──────────────────────────────────────────────────────────────────────

    async def records(self, after: int) -> Sequence[Recorded]:
        return await self._opened.workbench.since(after)

    async def keep(self, content: bytes) -> str:
        return await self._opened.workbench.keep(redacted_bytes(redactor(os.environ), content))

    async def kept_text(self, sha256: str) -> bytes | None:
        try:
            return await asyncio.to_thread(self._opened.fetch, sha256)
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
    """The model that the fields of the desk name; one that says what is missing where it cannot be made."""
    script = choice.script if provider == "scripted" else None
    try:
        if provider not in KNOWN_PROVIDERS:
            raise Misconfigured(
                f"the provider {provider!r} is not built yet; known are {', '.join(KNOWN_PROVIDERS)}"
                if provider
                else f"no model is chosen: set current_provider, {listed_variables()}, or give --provider"
            )
        words = (command_line or None) if provider == "gemini_cli" else None
        return make_model(project, provider, model or None, words, script, asks_at)
    except Misconfigured as error:
        missing = MissingModel(provider, str(error))
        return lambda sandbox, log: missing


def _give_back_memory() -> None:
    """Buffers of a quarter of a megabyte and more are the machine's again as soon as they are free.

    Without a word glibc raises that limit with every larger buffer it sees, and keeps what is freed among smaller
    things: a service that tells long texts to many who come and go would grow for as long as they do. And it gives
    threads heaps of their own, sixteen on two cores, each with holes of its own; Python lets one at a time run anyway.
    """
    with suppress(OSError, AttributeError):  # another C library: it knows what to do, or nothing can be done
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, 256 * 1024)
        library.mallopt(_M_ARENA_MAX, 2)


_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


class Service:
    """`start`, then `wait`, then `stop`; from one thread that is neither the engine's nor the API's."""

    def __init__(
        self, project: Project, conduct: StartConductor, choice: ModelSelection, person: str, *, test_policy: bool
    ) -> None:
        settings = project.settings.provider
        self._choice = replace(
            choice,
            provider=choice.provider or first_provider(settings.name) or "",
            model=choice.model or settings.model or "",
        )
        self.project = project
        self._conduct = conduct
        self._person = person
        self.test_policy = test_policy
        self._engine = EngineThread()
        self._opening: asyncio.Task[Any] | None = None
        self.opened: OpenWorkbench | None = None
        self.desk: Desk | None = None
        self.bench: DeskServices | None = None
        self._api: ApiServer | None = None
        self._discovery: Discovery | None = None
        self._asks: tuple[str, str] | None = None
        self._door = threading.Lock()  # a window starts HTTP on another thread than the one that ends it
        self._ended = False

    def open(self) -> OpenWorkbench:
        """Takes the project; raises JournalInUse where another process has it."""
        _give_back_memory()
        provider = self._choice.provider
        maker = chosen(self.project, self._choice, provider, self._choice.model, "", self._asks_at)
        if self._choice.script and provider == "scripted":
            make_model(self.project, provider, None, None, self._choice.script)  # a wrong script is said at once
        return self._engine.call(self._open(maker))

    async def _open(self, maker: ModelMaker) -> OpenWorkbench:
        """Kept from where it is made: an interrupt could come before anybody else has it."""
        self._opening = asyncio.current_task()
        self.opened = opened = await open_workbench(self.project, self._conduct, model=maker)
        self.bench = DeskServices(self.project, opened, self._choice, self._asks_at)
        self.desk = await self._make_desk(opened, self.bench)
        return opened

    async def _make_desk(self, opened: OpenWorkbench, bench: DeskServices) -> Desk:
        fixed = {"project_root": str(self.project.root), "sandbox": opened.sandbox_level}
        start = {"current_provider": self._choice.provider, "current_model": self._choice.model}
        desk = Desk(opened, bench, fixed, start)
        opened.workbench.on_durable(desk.react)
        opened.activity.listen(lambda _: desk.change())
        return desk

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """On the engine's loop, from any thread; nobody waits for it."""
        return self._engine.start(work)

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        return self._engine.call(work)

    def serve_http(self, port: int, window: "WindowView | None" = None) -> int:
        """Starts the API; the port it got."""
        from interlock.api.bridge import Bridge
        from interlock.api.server import ApiServer, bind
        from interlock.api.tokens import Discovery, new_tokens

        opened, desk, bench = self.opened, self.desk, self.bench
        assert opened is not None
        assert desk is not None
        assert bench is not None
        listening = bind(port)
        tokens = new_tokens()
        bridge = Bridge(
            self._engine.loop,
            opened,
            desk,
            bench,
            self._person,
            test_policy=self.test_policy,
            sandbox=opened.sandbox_level,
            window=window,
        )
        with self._door:
            if self._ended:
                listening.close()
                raise Misconfigured("the workbench is closing")
            api = ApiServer(bridge, tokens, listening, opened.logs.api.write)
            # The files first: whoever gets an answer finds them.
            self._discovery = Discovery(self.project.folder / "run", approve_file(self.project))
            self._discovery.publish("127.0.0.1", api.port, tokens)
            self._asks = f"http://127.0.0.1:{api.port}", tokens.ask
            self._api = api
            api.start(lambda live: self._attach(live, opened, desk))
        return api.port

    def _asks_at(self) -> tuple[str, str] | None:
        """For the hooks of CLI agents, which get no more than this token."""
        return self._asks

    def _attach(self, live: "Live", opened: OpenWorkbench, desk: Desk) -> None:
        """On the API's loop; the engine's does the rest in its own time, and nothing is missed in between."""

        async def listen() -> None:
            live.version = opened.state.version
            opened.workbench.on_durable(lambda records, _: live.offer_records(records))
            opened.streams.listen(live.offer_text)
            opened.streams.on_clear(live.offer_clear)
            desk.listen(live.offer_said)

        self._engine.call(listen())

    def wait(self) -> None:
        """Until somebody asks the workbench to end. An interrupt here ends the waiting, not the work."""
        assert self.opened is not None
        self._engine.call(self.opened.stop_asked.wait())

    def stop(self, reason: str = "the workbench was closed") -> None:
        with self._door:  # whoever is just starting HTTP has started it, or will not
            self._ended = True
        if self._discovery is not None:
            self._discovery.remove()
        if self._api is not None:
            self._api.stop()
        self._engine.call(self._close(reason))
        self._engine.stop()

    async def _close(self, reason: str) -> None:
        if self._opening is not None:
            await asyncio.wait({self._opening}, timeout=ENDING_S)
        if self.opened is not None:
            await self.opened.close(reason)


def approve_file(project: Project) -> Path:
    """Outside any project, one for each."""
    named = sha256(str(project.root.resolve()).encode()).hexdigest()[:16]
    return project.state_dir / "approve" / f"{named}.json"

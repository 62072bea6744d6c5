"""A real server and a real workbench without workers: the journal in memory, HTTP on its own port."""

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from interlock.api.bridge import Bridge, WindowView
from interlock.api.live import Live
from interlock.api.page.page import NewPage
from interlock.api.server import ApiServer, bind
from interlock.api.tokens import Tokens, new_tokens
from interlock.assembly.answer_check import AnswerCheck
from interlock.client import ApiHookClient, Server
from interlock.desk.desk import Desk
from interlock.domain.checks.closed_names import ClosedNames
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import Actor, Recorded
from interlock.domain.state.state import State
from interlock.domain.step import replay
from interlock.domain.values.approvals import Payload, ScriptPayload
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.agents.chat import say_command
from interlock.engine.bench.engine_thread import EngineThread
from interlock.engine.bench.workbench import Workbench
from interlock.engine.blobs import KeptTexts
from interlock.engine.models.streams import Streams
from interlock.errors import BadValue, JournalError, NotFound, Rejected
from interlock.journal.memory import MemoryJournal
from interlock.ports.effects import Undone, UndoPlan, UndoRow
from interlock.ports.front import Following, Receipt
from interlock.views.rules.learned_rules import KeptRule, Suggestion, Suggestions, Withheld

ADA = "human:ada"


class Clock:
    def now(self) -> str:
        return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Ids:
    def __init__(self) -> None:
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"s{self._count}"


class Front:
    """A front like the composition root's, without workspaces."""

    def __init__(self, journal: MemoryJournal) -> None:
        self.journal = journal
        no_sandbox: Any = None  # nothing runs here
        state = replay(journal.read())
        self.workbench = Workbench(journal, Clock(), Ids(), state, check=AnswerCheck(no_sandbox, ClosedNames()))
        self.streams = Streams()
        self.stopped = asyncio.Event()
        self.refuse_to_say = ""

    @property
    def state(self) -> State:
        return self.workbench.state

    async def submit(self, actor: Actor, command: Command, submission: str = "") -> Receipt:
        return await self.workbench.submit(actor, command, submission)

    def follow(self, after: int) -> Following:
        return self.workbench.follow(after)

    def listen(self, listener: Callable[[str, str], None]) -> Callable[[], None]:
        return self.streams.listen(listener)

    async def ask_landing(self, actor: Actor, track: str) -> Receipt:
        raise Rejected(f"track {self.state.track(track).id!r} has nothing to land")

    async def say(self, actor: Actor, discussion: str, text: str, base_dir: str = "") -> Receipt:
        if self.refuse_to_say:
            raise Rejected(self.refuse_to_say)
        texts = KeptTexts(self.workbench.keep, self.journal.get_blob)
        command = await say_command(texts, self.state.discussion(discussion), text, "", "")
        return await self.workbench.submit(actor, command)


class Learned:
    """Implements `LearnedRules` with one suggestion; a kept rule is called by its text."""

    def __init__(self, rules: list[tuple[str, bool]]) -> None:
        self.rules = rules

    async def suggestions(self, least: int) -> Suggestions:
        offered = () if least > 3 else (Suggestion(1, "learned-make", "exactly: make", "make", ("A-1",), "2026"),)
        return Suggestions(offered, (Withheld("rm", "A-2 (rejected)"),), 5, 3, 1, 900)

    async def accept(self, rule: str, *, everywhere: bool, least: int) -> str:
        if rule not in [one.rule for one in (await self.suggestions(least)).offered]:
            raise BadValue("this rule is not suggested any more")
        self.rules.append((rule, everywhere))
        return rule

    async def kept(self) -> tuple[KeptRule, ...]:
        return tuple(
            KeptRule(number, rule, "allow", rule, everywhere, 2, "2026", "", False)
            for number, (rule, everywhere) in enumerate(self.rules, 1)
        )

    async def forget(self, name: str) -> KeptRule:
        for number, rule in enumerate(await self.kept()):
            if rule.name == name:
                del self.rules[number]
                return rule
        raise NotFound(f"you have no rule {name!r}")


class Equipment:
    """Implements `Equipment` for the desk and `Backstage` for the API."""

    def __init__(self, front: Front) -> None:
        self.front = front
        self.chosen: list[tuple[str, str, str]] = []
        self.file: dict[str, str] = {}
        self.desk: Desk | None = None
        self.rules: list[tuple[str, bool]] = []
        self.lasting, self.undone = ["U-1", "U-2"], list[str]()  # lasting changes of the user's files
        self.ended: list[tuple[str, bool, str, str]] = []  # turns, with the answer that the desk had at that moment

    def choose_model(self, provider: str, model: str, command_line: str) -> None:
        if provider == "nobody":
            raise BadValue("there is no provider 'nobody'")
        self.chosen.append((provider, model, command_line))

    def save(self, values: Mapping[str, str]) -> str:
        self.file = {name: values[name] for name in ("current_provider", "current_model")}
        return "interlock.toml"

    def saved(self) -> Mapping[str, str]:
        return self.file

    def last_answer(self, discussion: str) -> str:
        return f"the answer in {discussion}"

    def clear_streams(self) -> None:
        self.front.streams.clear()

    def status(self) -> str:
        return "idle"

    def turn_ended(self, discussion: str, *, stopped: bool, error: str) -> None:
        self.ended.append((discussion, stopped, error, self.desk.view.response if self.desk else ""))

    def reset_status(self) -> None:
        pass

    async def records(self, after: int) -> Sequence[Recorded]:
        return await self.front.workbench.since(after)

    async def keep(self, content: bytes) -> str:
        return await self.front.workbench.keep(content)

    async def rule_for(self, payload: Payload) -> str:
        if not isinstance(payload, ScriptPayload):
            raise Rejected("a rule can always allow a script or a tool, nothing else")
        return f"[[policy]]\nscript = {payload.script!r}\n"

    async def keep_rule(self, rule: str, *, everywhere: bool) -> None:
        self.rules.append((rule, everywhere))

    @property
    def learned(self) -> Learned:
        return Learned(self.rules)

    def reveal(self, text: str) -> str:
        return text.replace("[concealed:0123456789abcdef]", "hunter2")

    async def kept_text(self, sha256: str) -> bytes | None:
        try:
            return self.front.journal.get_blob(sha256)
        except JournalError:
            return None

    def broken(self) -> str:
        return str(self.front.workbench.broken or "")

    def later(self, seconds: float) -> str:
        moment = datetime.now(UTC) + timedelta(seconds=seconds)
        return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")

    def undo_rows(self) -> tuple[UndoRow, ...]:
        states = dict.fromkeys(self.lasting, "done") | dict.fromkeys(self.undone, "undone")
        return tuple(UndoRow(name, "", "a script", state, 1) for name, state in sorted(states.items(), reverse=True))

    async def undo_plan(self, *, redo: bool) -> UndoPlan | None:
        names = self.undone if redo else self.lasting
        return UndoPlan(names[-1], "a script", redo, ("change a.txt",)) if names else None

    async def undo(self, plan: UndoPlan, *, force: bool) -> Undone:
        source, target = (self.undone, self.lasting) if plan.redo else (self.lasting, self.undone)
        target.append(source.pop())
        return Undone(plan.id, plan.what, plan.redo)

    def stop(self) -> None:
        self.front.stopped.set()


class Served:
    def __init__(
        self, engine: EngineThread, front: Front, desk: Desk, api: ApiServer, tokens: Tokens, log: list[Any]
    ) -> None:
        self.engine = engine
        self.front = front
        self.desk = desk
        self.api = api
        self.tokens = tokens
        self.log = log

    @property
    def port(self) -> int:
        return self.api.port

    @property
    def state(self) -> State:
        return self.front.state

    @property
    def live(self) -> Live:
        assert self.api.live is not None
        return self.api.live

    def submit(self, command: Command, actor: str = ADA) -> Receipt:
        return self.engine.call(self.front.submit(actor, command))

    def client(self, token: str | None = None, timeout_s: float = 30) -> ApiHookClient:
        return ApiHookClient(server=Server("127.0.0.1", self.port, token or self.tokens.drive), timeout_s=timeout_s)

    def raw(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        **changed: str | None,
    ) -> tuple[int, dict[str, str], Any]:
        """Sends one raw request. `changed` headers replace the default ones; None removes one."""
        usual = {"Host": f"127.0.0.1:{self.port}", "Authorization": f"Bearer {self.tokens.drive}"}
        if body is not None:
            usual["Content-Type"] = "application/json"
        usual.update(headers or {})
        for name, value in changed.items():
            name = name.replace("_", "-").title()
            if value is None:
                usual.pop(name, None)
            else:
                usual[name] = value
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in usual.items():
            connection.putheader(name, value)
        if body is not None and "Content-Length" not in usual:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        reply_headers = {key.lower(): value for key, value in reply.getheaders()}
        data = json.loads(content) if "json" in reply_headers.get("content-type", "") else content
        return reply.status, reply_headers, data


@contextmanager
def served(
    *,
    test_policy: bool = False,
    sandbox: str = "bubblewrap",
    window: WindowView | None = None,
    new_page: NewPage | None = None,
    journal: MemoryJournal | None = None,
    port: int = 0,
) -> Generator[Served]:
    """`journal` and `port` continue an earlier server, as after a restart."""
    engine = EngineThread()
    log: list[Any] = []

    async def make() -> tuple[Front, Desk, Equipment]:
        front = Front(journal or MemoryJournal())
        equipment = Equipment(front)
        desk = Desk(front, equipment, {"project_root": "/p", "sandbox": sandbox}, {})
        front.workbench.on_durable(desk.react)
        return front, desk, equipment

    front, desk, equipment = engine.call(make())
    tokens = new_tokens()
    bridge = Bridge(engine.loop, front, desk, equipment, ADA, test_policy=test_policy, sandbox=sandbox, window=window)
    api = ApiServer(bridge, tokens, bind(port), lambda **fields: log.append(fields), new_page)

    def attach(live: Live) -> None:
        async def listen() -> None:
            live.version = front.state.version
            front.workbench.on_durable(lambda records, _: live.offer_records(records))
            front.streams.listen(live.offer_text)
            front.streams.on_clear(live.offer_clear)
            desk.listen(live.offer_desk_event)

        engine.call(listen())

    api.start(attach)
    try:
        yield Served(engine, front, desk, api, tokens, log)
    finally:
        api.stop()
        engine.call(front.workbench.close())
        engine.stop()


def ticket(name: str, *needs: str, **more: Any) -> TicketSpec:
    return TicketSpec(id=name, description=f"do {name}", assigned_to="shell", script="true", depends_on=needs, **more)


def asking(bench: Served, *names: str, track: str = "demo") -> None:
    """A track whose tickets all wait for their step approvals."""
    bench.submit(StartConductor(workers=4))
    bench.submit(AddTrack(track, "Demo", "", tuple(ticket(name) for name in names)))
    bench.submit(StartTrack(track))


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    """Polls a condition that no event announces."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "the condition never held"
        threading.Event().wait(0.01)

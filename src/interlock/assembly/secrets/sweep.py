"""Removes the exact texts of secrets as soon as nothing unfinished needs them.

After each durable batch, at closing, and at opening for what a crash left. Costs nothing while no text is stored.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, cast

import msgspec

from interlock.assembly.secrets.vault import MARK, SecretVault, name_of
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.values.discussions import Discussion, Doing, Quiet, Unsure
from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import TERMINAL, Ticket
from interlock.errors import InterlockError
from interlock.ports.model import Message

PAUSE_S = 1.0
"""The shortest time between two sweeps: each examines all unfinished tickets."""

_message = msgspec.json.Decoder(Message)
_SIGN = b"[concealed:"


class SecretSweep:
    def __init__(self, vault: SecretVault, fetch: Callable[[str], bytes]) -> None:
        """`fetch` reads a stored text by its name."""
        self._vault = vault
        self._fetch = fetch
        self._of_messages: dict[str, frozenset[str]] = {}
        self._state = State()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def react(self, _: Sequence[Recorded], state: State) -> None:
        """Called after each durable batch."""
        self._state = state
        self._news.set()
        if self._task is None and self._vault.stores_texts:
            self._task = asyncio.create_task(self._sweep_until_quiet())

    async def close(self, state: State) -> None:
        """Nothing is on its way to the journal any more: only what unfinished work needs stays."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))
        if self._vault.stores_texts:
            await asyncio.to_thread(self.sweep, state, grace=False)

    def sweep(self, state: State, *, grace: bool) -> None:
        """With `grace`, texts stay that were stored a moment ago: their command may not be recorded yet."""
        try:
            needed = self._needed(state)
        except (InterlockError, OSError, msgspec.DecodeError):
            return  # a message that cannot be read may name any text
        self._vault.remove_all_but(needed, grace=grace)

    async def _sweep_until_quiet(self) -> None:
        """Sweeps after the latest batch, and again for texts that were too young."""
        try:
            while self._vault.stores_texts:
                self._news.clear()
                await asyncio.to_thread(self.sweep, self._state, grace=True)
                await asyncio.sleep(PAUSE_S)
                if not self._news.is_set() and not self._vault.has_fresh_texts:
                    return  # the next batch starts again
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._vault.grace_s):
                        await self._news.wait()
        finally:
            self._task = None

    def _needed(self, state: State) -> frozenset[str]:
        """The names of all texts and marks that unfinished work may still use."""
        names: set[str] = set()
        for approval in state.pending_approvals():
            names |= _names_in(approval)
        for track in state.tracks.values():
            for ticket in track.tickets.values():
                if not isinstance(ticket.stage, TERMINAL):
                    names |= self._of_ticket(state, ticket)
        for discussion in state.discussions.values():
            names |= self._of_discussion(state, discussion)
        return frozenset(names)

    def _of_ticket(self, state: State, ticket: Ticket) -> set[str]:
        names = _names_in((ticket.spec, ticket.grant, ticket.spawn))
        grants = (grant.approval for grant in (ticket.grant, ticket.spawn) if grant is not None)
        for approval in (*grants, *ticket.carried, *ticket.used):
            names |= _names_in(state.approvals[approval])
        return names | self._of_session(ticket.session)

    def _of_discussion(self, state: State, discussion: Discussion) -> set[str]:
        """A model may repeat a call of its turn word for word, so the whole turn counts."""
        stage = discussion.stage
        if isinstance(stage, Quiet) and discussion.grant is None:
            return set()
        doing = stage if isinstance(stage, Doing) else stage.was if isinstance(stage, Unsure) else None
        grants = (doing.grant if doing is not None else None, discussion.grant)
        names = self._of_session(discussion.messages)
        for grant in grants:
            if grant is not None:
                names |= _names_in(grant) | _names_in(state.approvals[grant.approval])
        return names

    def _of_session(self, messages: Sequence[Blob]) -> set[str]:
        names: set[str] = set()
        for blob in messages:
            known = self._of_messages.get(blob.sha256)
            if known is None:
                content = self._fetch(blob.sha256)
                calls = _message.decode(content).calls if _SIGN in content else ()
                known = self._of_messages[blob.sha256] = frozenset(_names_in(calls))
            names |= known
        return names


def _names_in(value: Any) -> set[str]:
    """The names of the concealed texts in a value, and of the marks in them."""
    if _SIGN not in msgspec.json.encode(value):
        return set()
    names: set[str] = set()
    for text in _texts_in(msgspec.to_builtins(value)):
        marks = MARK.findall(text)
        if marks:
            names.add(name_of(text))
            names.update(mark[11:-1] for mark in marks)
    return names


def _texts_in(plain: Any) -> Iterator[str]:
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, dict):
        for value in cast("dict[str, Any]", plain).values():
            yield from _texts_in(value)
    elif isinstance(plain, list | tuple):
        for value in cast("list[Any]", plain):
            yield from _texts_in(value)

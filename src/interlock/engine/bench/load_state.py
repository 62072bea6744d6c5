"""Loads the state from a journal: the checkpoint if it is valid, then the rows after it."""

import gc
from collections.abc import Iterator
from typing import Protocol

import msgspec

from interlock import wire
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.step import replay
from interlock.errors import JournalCorrupt
from interlock.ports.journal import Checkpoint, Head


class Readable(Protocol):
    def head(self) -> Head: ...

    def read(self, after: int = 0) -> Iterator[Recorded]: ...

    def load_checkpoint(self) -> Checkpoint | None: ...


def load_state(journal: Readable, *, use_checkpoint: bool = True) -> State:
    """Switches garbage collection off meanwhile: loading makes many objects and no garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        state = _from_checkpoint(journal) if use_checkpoint else State()
        return replay(journal.read(state.version), state)
    except (KeyError, AttributeError, msgspec.MsgspecError) as error:
        raise JournalCorrupt(
            f"the journal's events contradict each other ({error!r}); run 'interlock journal verify' for details"
        ) from error
    finally:
        if collecting:
            gc.enable()


def _from_checkpoint(journal: Readable) -> State:
    checkpoint = journal.load_checkpoint()
    if checkpoint is None:
        return State()
    try:
        return wire.decode_state(checkpoint.body)
    except msgspec.MsgspecError:
        return State()

"""Any value of the domain's types, made from the types themselves."""

from typing import Any, get_args

from hypothesis import strategies as st

from interlock.domain.commands import Command, TicketChanges
from interlock.domain.events import Event
from interlock.domain.gates import Gate
from interlock.domain.tickets import Ticket

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)

st.register_type_strategy(str, TEXT)
st.register_type_strategy(float, FLOATS)
st.register_type_strategy(int, st.integers(-(2**63), 2**63 - 1))

COMMANDS: tuple[Any, ...] = get_args(Command)
EVENTS: tuple[Any, ...] = get_args(Event)


def any_of(kind: Any) -> st.SearchStrategy[Any]:
    return st.from_type(kind)


GATES = any_of(Gate)
CHANGES = any_of(TicketChanges)
TICKETS = any_of(Ticket)

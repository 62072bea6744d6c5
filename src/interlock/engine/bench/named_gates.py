"""Gates by name: a ticket that says `tests` gets the command of the project's tests before it is recorded.

Authors and planners then need not know the command. The journal, the approvals and the gate show the command itself.
"""

from collections.abc import Callable

from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.messages.commands.command import Bulk, Command
from interlock.domain.messages.commands.epic_commands import PlanTickets
from interlock.domain.messages.commands.ticket_commands import EditTicket
from interlock.domain.messages.commands.track_commands import AddTickets, AddTrack
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected

TESTS = "tests"

FindTests = Callable[[], str]
"""The command of the project's tests; empty if nobody has set one."""
_WITH_GATES = frozenset((AddTrack, AddTickets, PlanTickets, EditTicket, Bulk))


def no_tests() -> str:
    return ""


def with_named_gates(command: Command, find: FindTests) -> Command:
    """The command with every gate `tests` written out. Raises Rejected if the project has no such command."""
    if type(command) not in _WITH_GATES:
        return command
    match command:
        case AddTrack() | AddTickets() | PlanTickets():
            tickets = tuple(_spec(ticket, find) for ticket in command.tickets)
            return replace(command, tickets=tickets) if tickets != command.tickets else command
        case EditTicket(changes=changes) if changes.verify is not UNSET:
            return replace(command, changes=replace(changes, verify=_gates(changes.verify, find)))
        case Bulk():
            return replace(command, commands=tuple(with_named_gates(part, find) for part in command.commands))
        case _:
            return command


def _spec(spec: TicketSpec, find: FindTests) -> TicketSpec:
    gates = _gates(spec.verify, find)
    return spec if gates is spec.verify else replace(spec, verify=gates)


def _gates(gates: tuple[Gate, ...], find: FindTests) -> tuple[Gate, ...]:
    if not any(_is_named(gate) for gate in gates):
        return gates
    if not (tests := find()):
        raise Rejected(
            "a gate says 'tests', and this project has no test command yet: run 'interlock try', or set [workspace]"
            " tests in interlock.toml"
        )
    return tuple(replace(gate, command=tests) if _is_named(gate) else gate for gate in gates)


def _is_named(gate: Gate) -> bool:
    return gate.criteria is None and gate.command.strip() == TESTS

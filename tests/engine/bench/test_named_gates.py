"""A gate named `tests` is recorded as the command of the project's tests, whoever wrote the ticket."""

import pytest

from interlock.domain.messages.commands.command import Bulk, Command
from interlock.domain.messages.commands.epic_commands import PlanTickets
from interlock.domain.messages.commands.ticket_commands import EditTicket, SkipTicket, TicketChanges
from interlock.domain.messages.commands.track_commands import AddTickets, AddTrack
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.bench.named_gates import no_tests, with_named_gates
from interlock.errors import Rejected

NAMED = TicketSpec(id="T-1", verify=(Gate("make lint"), Gate(" tests ", preset="fast")))
WRITTEN = TicketSpec(id="T-1", verify=(Gate("make lint"), Gate("pytest -q", preset="fast")))
EDIT = EditTicket("t", "T-1", TicketChanges(verify=NAMED.verify))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (AddTrack("t", "", "", (NAMED,)), AddTrack("t", "", "", (WRITTEN,))),
        (AddTickets("t", (NAMED,)), AddTickets("t", (WRITTEN,))),
        (PlanTickets("t", (NAMED,)), PlanTickets("t", (WRITTEN,))),
        (EDIT, EditTicket("t", "T-1", TicketChanges(verify=WRITTEN.verify))),
        (Bulk((EDIT,)), Bulk((EditTicket("t", "T-1", TicketChanges(verify=WRITTEN.verify)),))),
    ],
)
def test_every_way_to_write_a_ticket_gets_the_command_of_the_project(command: Command, expected: Command) -> None:
    assert with_named_gates(command, lambda: "pytest -q") == expected


@pytest.mark.parametrize(
    "command",
    [
        AddTickets("t", (TicketSpec(id="T-1", verify=(Gate("./tests"), Gate("make tests"))),)),
        AddTickets("t", (TicketSpec(id="T-1", verify=(Gate("tests", criteria="it has tests"),)),)),
        EditTicket("t", "T-1", TicketChanges(script="make")),
        SkipTicket("t", "T-1"),
    ],
)
def test_other_commands_stay_as_they_are_and_nobody_is_asked(command: Command) -> None:
    def never() -> str:
        raise AssertionError

    assert with_named_gates(command, never) is command


def test_without_a_test_command_the_ticket_is_refused_with_the_way_to_get_one() -> None:
    with pytest.raises(Rejected, match="interlock try"):
        with_named_gates(AddTickets("t", (NAMED,)), no_tests)

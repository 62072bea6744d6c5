"""Every command and every event has exactly one topic module that handles it."""

from typing import get_args

from interlock.domain.facts.evolve import FACTS, FACTS_WITH_ACTOR
from interlock.domain.messages.commands.approval_commands import AnswerApprovals
from interlock.domain.messages.commands.command import Bulk, Command
from interlock.domain.messages.events.event import Event
from interlock.domain.rules.decide import RULES, RULES_WITH_ACTOR


def test_every_command_but_those_of_many_parts_is_decided_by_one_rules_module() -> None:
    assert not RULES.keys() & RULES_WITH_ACTOR.keys()
    assert {*RULES, *RULES_WITH_ACTOR, Bulk, AnswerApprovals} == set(get_args(Command))


def test_every_event_is_applied_by_one_facts_module() -> None:
    assert not FACTS.keys() & FACTS_WITH_ACTOR.keys()
    assert {*FACTS, *FACTS_WITH_ACTOR} == set(get_args(Event))

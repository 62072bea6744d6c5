"""The policy without rules: everything asks. Parsed rules come on top of this, never instead."""

from interlock.domain.tickets import TicketSpec
from interlock.ports import PolicyVerdict


class AskAlways:
    def script(self, script: str, ticket: TicketSpec) -> PolicyVerdict:
        return PolicyVerdict("ask", "default", "no rule allows this script")

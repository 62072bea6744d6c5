"""Who a model call is made for."""

from msgspec import Struct

from interlock.domain.values.budgets import Scope


class CallOwner(Struct, frozen=True, gc=False, omit_defaults=True):
    """A worker's attempt, the planning of an epic or of a track, or a discussion; what is empty does not apply."""

    epic: str = ""
    track: str = ""
    ticket: str = ""
    attempt: int = 0
    discussion: str = ""

    def scopes(self, tier: str, epic: str) -> tuple[Scope, ...]:
        """Everything whose budget a call of this party counts against."""
        found = [Scope("tier", tier)]
        if epic:
            found.append(Scope("epic", epic))
        if self.track:
            found.append(Scope("track", self.track))
        if self.ticket:
            found.append(Scope("ticket", f"{self.track}/{self.ticket}"))
        return tuple(found)


class OpenCall(Struct, frozen=True, gc=False):
    """A call under way: what was set aside for it, and where it counts."""

    id: str
    party: CallOwner
    tier: str
    model: str
    at: str

"""Model calls under way and their owners."""

from msgspec import Struct

from interlock.domain.values.budgets import Scope


class CallOwner(Struct, frozen=True, gc=False, omit_defaults=True):
    """A worker's attempt, the planning of an epic or of a track, or a discussion. Empty fields do not apply."""

    epic: str = ""
    track: str = ""
    ticket: str = ""
    attempt: int = 0
    discussion: str = ""

    def scopes(self, tier: str, epic: str) -> tuple[Scope, ...]:
        """The budgets that a call of this owner counts against."""
        scopes = [Scope("tier", tier)]
        if epic:
            scopes.append(Scope("epic", epic))
        if self.track:
            scopes.append(Scope("track", self.track))
        if self.ticket:
            scopes.append(Scope("ticket", f"{self.track}/{self.ticket}"))
        return tuple(scopes)


class OpenCall(Struct, frozen=True, gc=False):
    """A call under way."""

    id: str
    party: CallOwner
    tier: str
    model: str
    at: str

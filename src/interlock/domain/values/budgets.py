"""Budgets: the most a call can cost is reserved before the call and settled when its cost is known.

Money is whole micro-dollars. A reservation that is never settled, because the process died or the answer broke off,
counts as spent.
"""

from collections.abc import Iterable
from typing import Literal

from immutables import Map
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from interlock.errors import OverBudget, Rejected

Micros = int  # millionths of a dollar


class Usage(Struct, frozen=True):
    """Tokens and money that calls have used."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: Micros = 0
    unpriced: int | UnsetType = UNSET  # calls without a known price: they count as 0, and views say so

    @property
    def cost_usd(self) -> float:
        return self.cost / 1_000_000

    @property
    def without_price(self) -> int:
        return 0 if self.unpriced is UNSET else self.unpriced

    def plus(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cost + other.cost,
            self.without_price + other.without_price or UNSET,
        )


class Scope(Struct, frozen=True):
    """The subject of a budget: one epic, track, ticket or tier."""

    kind: Literal["epic", "track", "ticket", "tier"]
    name: str


class Caps(Struct, frozen=True, omit_defaults=True):
    """The most that each epic, each track, each ticket and each tier may spend; None means no limit."""

    epic: Micros | None = None
    track: Micros | None = None
    ticket: Micros | None = None
    tiers: tuple[tuple[str, Micros], ...] = ()

    def of(self, scope: Scope) -> Micros | None:
        match scope.kind:
            case "epic":
                return self.epic
            case "track":
                return self.track
            case "ticket":
                return self.ticket
            case _:
                return dict(self.tiers).get(scope.name)


class Reservation(Struct, frozen=True):
    id: str
    scopes: tuple[Scope, ...]
    amount: Micros


class Ledger(Struct, frozen=True):
    """Spending and reservations by scope. Every method returns a new ledger."""

    used: Map[Scope, Usage] = Map()
    reserved: Map[Scope, Micros] = Map()
    open: Map[str, Reservation] = Map()

    def spent(self, scope: Scope) -> Usage:
        return self.used.get(scope, Usage())

    def committed(self, scope: Scope) -> Micros:
        """Money that is spent, or still reserved."""
        return self.spent(scope).cost + self.reserved.get(scope, 0)

    def check(self, scopes: Iterable[Scope], amount: Micros, caps: Caps) -> None:
        """Raises OverBudget, with the figures, if a scope has less than `amount` left."""
        if amount < 0:
            raise Rejected(f"a reservation cannot be negative: {dollars(amount)}")
        for scope in scopes:
            most = caps.of(scope)
            if most is not None and self.committed(scope) + amount > most:
                raise OverBudget(
                    f"over budget: {scope.kind} {scope.name!r} may spend {dollars(most)},"
                    f" {dollars(self.committed(scope))} is spent or reserved,"
                    f" and the next call may cost {dollars(amount)}"
                )

    def check_unpriced(self, scopes: Iterable[Scope], model: str, caps: Caps) -> None:
        """Raises OverBudget if a scope has a limit: without a price it could not be enforced."""
        for scope in scopes:
            if (most := caps.of(scope)) is not None:
                raise OverBudget(
                    f"over budget: {scope.kind} {scope.name!r} may spend {dollars(most)}, and the cost of the next"
                    f" call is unknown: the model {model!r} has no price; give it one in your settings"
                    f' ([prices."{model}"]), or take the limit away'
                )

    def reserve(self, name: str, scopes: Iterable[Scope], amount: Micros) -> "Ledger":
        """Reserves `amount` in every scope; `check` runs before."""
        reservation = Reservation(name, tuple(dict.fromkeys(scopes)), amount)
        return replace(self, reserved=self._moved(reservation, amount), open=self.open.set(name, reservation))

    def settle(self, name: str, actual: Usage) -> "Ledger":
        """Records the real usage of a finished call and frees the rest of its reservation."""
        reservation = self.open.get(name)
        if reservation is None:
            return self
        used = self.used
        for scope in reservation.scopes:
            used = used.set(scope, self.spent(scope).plus(actual))
        return replace(
            self, used=used, reserved=self._moved(reservation, -reservation.amount), open=self.open.delete(name)
        )

    def lose(self, name: str) -> "Ledger":
        """Closes a call whose cost stays unknown; its reservation stays."""
        return replace(self, open=self.open.delete(name)) if name in self.open else self

    def _moved(self, reservation: Reservation, amount: Micros) -> Map[Scope, Micros]:
        reserved = self.reserved
        for scope in reservation.scopes:
            reserved = reserved.set(scope, reserved.get(scope, 0) + amount)
        return reserved


def dollars(amount: Micros) -> str:
    """Exact, with at least two decimals: 1_500_000 → `$1.50`."""
    whole, rest = divmod(abs(amount), 1_000_000)
    decimals = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if amount < 0 else ''}${whole}.{decimals}"

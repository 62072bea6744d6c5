"""Budgets: money is reserved before a call is made and settled when its cost is known (SPEC P7).

Money is whole micro-dollars. A reservation that is never settled, because the process died or the answer broke off,
goes on counting as spent.
"""

from collections.abc import Iterable
from typing import Literal

from immutables import Map
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from interlock.errors import OverBudget, Rejected

Micros = int  # millionths of a dollar


class Usage(Struct, frozen=True):
    """What calls have used: tokens and money."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: Micros = 0
    unpriced: int | UnsetType = UNSET  # calls whose price nobody knows: they count as 0, and that is said

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
    """What a budget is for: one epic, track, ticket or tier."""

    kind: Literal["epic", "track", "ticket", "tier"]
    name: str


class Caps(Struct, frozen=True, omit_defaults=True):
    """The most that each epic, each track, each ticket and each tier may spend; None: no limit."""

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
    """Who has spent what. Every method gives a new ledger and leaves this one as it was."""

    used: Map[Scope, Usage] = Map()
    reserved: Map[Scope, Micros] = Map()
    open: Map[str, Reservation] = Map()

    def spent(self, scope: Scope) -> Usage:
        return self.used.get(scope, Usage())

    def committed(self, scope: Scope) -> Micros:
        """Spent, or reserved and not known to be otherwise."""
        return self.spent(scope).cost + self.reserved.get(scope, 0)

    def check(self, scopes: Iterable[Scope], amount: Micros, caps: Caps) -> None:
        """Raises OverBudget with the figure that is too small."""
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
        """Raises OverBudget where there is a limit: nobody could say whether it is kept."""
        for scope in scopes:
            if (most := caps.of(scope)) is not None:
                raise OverBudget(
                    f"over budget: {scope.kind} {scope.name!r} may spend {dollars(most)}, and what the next call may"
                    f" cost is not known: the model {model!r} has no price; give it one in your settings"
                    f' ([prices."{model}"]), or take the limit away'
                )

    def reserve(self, name: str, scopes: Iterable[Scope], amount: Micros) -> "Ledger":
        """Set `amount` aside in every scope: `check` has said that it is there."""
        made = Reservation(name, tuple(dict.fromkeys(scopes)), amount)
        return replace(self, reserved=self._moved(made, amount), open=self.open.set(name, made))

    def settle(self, name: str, actual: Usage) -> "Ledger":
        """The call is over: what it really cost is spent, the rest is free again."""
        made = self.open.get(name)
        if made is None:
            return self
        used = self.used
        for scope in made.scopes:
            used = used.set(scope, self.spent(scope).plus(actual))
        return replace(self, used=used, reserved=self._moved(made, -made.amount), open=self.open.delete(name))

    def lose(self, name: str) -> "Ledger":
        """Nobody will ever say what it cost: what was set aside stays set aside."""
        return replace(self, open=self.open.delete(name)) if name in self.open else self

    def _moved(self, made: Reservation, amount: Micros) -> Map[Scope, Micros]:
        reserved = self.reserved
        for scope in made.scopes:
            reserved = reserved.set(scope, reserved.get(scope, 0) + amount)
        return reserved


def dollars(amount: Micros) -> str:
    """Exact, with at least two decimals: 1_500_000 → `$1.50`."""
    whole, rest = divmod(abs(amount), 1_000_000)
    decimals = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if amount < 0 else ''}${whole}.{decimals}"

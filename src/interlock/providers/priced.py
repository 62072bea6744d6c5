"""A provider with its prices: what a call may cost is said before it is made, what it did cost with its answer."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from interlock.domain.values.budgets import Micros, Usage
from interlock.errors import Misconfigured
from interlock.ports.model import Model, ModelRequest, OnText, Reply, close_model, ignore_text
from interlock.providers.catalog import ModelFacts, PriceStep
from interlock.providers.pricing import most_tokens, priced, quote


class Tariff:
    """What is known about a provider's models, with the user's own prices before ours."""

    def __init__(
        self,
        facts: Callable[[str], ModelFacts],
        own: Callable[[str], Sequence[PriceStep]],
        most_out: int,
        today: Callable[[], str],
        *,
        bounded: bool = True,
    ) -> None:
        """`most_out`: tokens that an answer may have; `bounded`: a request costs no more than what we send and get."""
        self._facts = facts
        self._own = own
        self._most_out = most_out
        self._today = today
        self._bounded = bounded

    def steps(self, model: str) -> Sequence[PriceStep]:
        return self._own(model) or self._facts(model).prices

    def most_out(self, model: str) -> int:
        """Tokens that an answer may have: what the settings say, within what the model can give."""
        return min(self._most_out, self._facts(model).output) if self._facts(model).known else self._most_out

    def quote(self, model: str, request: ModelRequest) -> Micros | None:
        found = quote(self.steps(model), most_tokens(request), self.most_out(model), self._today())
        return found if self._bounded or found == 0 else None

    def with_cost(self, model: str, request: ModelRequest, reply: Reply) -> Reply:
        """An answer that does not say what it used counts with the most it can have cost: what was set aside for it."""
        counted = _without_nonsense(reply.usage)
        usage = priced(self.steps(model), counted, self._today())
        if _tells(reply):
            return replace(reply, usage=usage)
        return replace(reply, usage=replace(usage, cost=max(usage.cost, self.quote(model, request) or 0)))

    def ending(self, model: str) -> str:
        return self._facts(model).ending(self._today())


class Priced:
    """Plays `Model` through another that knows nothing of money."""

    def __init__(self, inner: Model, tariff: Tariff, usual: str) -> None:
        """`usual`: the model that is asked where a request names none."""
        self._inner = inner
        self._tariff = tariff
        self.usual = usual

    @property
    def name(self) -> str:
        return self._inner.name

    def quote(self, request: ModelRequest) -> Micros | None:
        return self._tariff.quote(request.model or self.usual, request)

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        model = request.model or self.usual
        try:
            reply = await self._inner.complete(request, on_text, on_reasoning)
            return self._tariff.with_cost(model, request, reply)
        except Misconfigured as error:
            # A vendor's "not found" says little; that the model has come to its end says what to do.
            if ending := self._tariff.ending(model):
                raise Misconfigured(f"{error} ({ending})") from error
            raise

    async def close(self) -> None:
        await close_model(self._inner)


def _tells(reply: Reply) -> bool:
    """Whether its figures can be what was used: nobody is asked, and nobody answers, with no token at all."""
    used, said = reply.usage, reply.message
    figures = (used.input, used.output, used.cache_read, used.cache_write)
    asked = used.input + used.cache_read + used.cache_write
    return min(figures) >= 0 and asked > 0 and (used.output > 0 or not (said.text or said.calls))


def _without_nonsense(used: Usage) -> Usage:
    """Less than nothing would be money back, and room in a budget that is not there."""
    return replace(
        used,
        input=max(used.input, 0),
        output=max(used.output, 0),
        cache_read=max(used.cache_read, 0),
        cache_write=max(used.cache_write, 0),
    )

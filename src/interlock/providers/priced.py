"""A provider with prices: an upper bound before each call, the actual cost with the answer."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from interlock.domain.values.budgets import Micros, Usage
from interlock.errors import Misconfigured
from interlock.ports.model import Model, ModelRequest, OnText, Reply, close_model, fixes_history, ignore_text
from interlock.providers.catalog import ModelFacts, PriceStep
from interlock.providers.pricing import most_tokens, priced, quote


class Tariff:
    """Facts about a provider's models. Prices of the user's settings override ours."""

    def __init__(
        self,
        facts: Callable[[str], ModelFacts],
        own: Callable[[str], Sequence[PriceStep]],
        most_out: int,
        today: Callable[[], str],
        *,
        bounded: bool = True,
    ) -> None:
        """`most_out`: output limit in tokens; `bounded`: a request costs at most its own input and output."""
        self._facts = facts
        self._own = own
        self._most_out = most_out
        self._today = today
        self._bounded = bounded

    def steps(self, model: str) -> Sequence[PriceStep]:
        return self._own(model) or self._facts(model).prices

    def most_out(self, model: str) -> int:
        """The output limit: from the settings, at most the model's own limit."""
        return min(self._most_out, self._facts(model).output) if self._facts(model).known else self._most_out

    def quote(self, model: str, request: ModelRequest) -> Micros | None:
        amount = quote(self.steps(model), most_tokens(request), self.most_out(model), self._today())
        return amount if self._bounded or amount == 0 else None

    def with_cost(self, model: str, request: ModelRequest, reply: Reply) -> Reply:
        """An answer without usage costs its upper bound, the reserved amount."""
        counted = _without_negative_counts(reply.usage)
        usage = priced(self.steps(model), counted, self._today())
        if _has_plausible_usage(reply):
            return replace(reply, usage=usage)
        return replace(reply, usage=replace(usage, cost=max(usage.cost, self.quote(model, request) or 0)))

    def ending(self, model: str) -> str:
        return self._facts(model).ending(self._today())


class Priced:
    """Implements the port `Model` by adding prices to another model."""

    def __init__(self, inner: Model, tariff: Tariff, usual: str) -> None:
        """`usual`: the default model."""
        self._inner = inner
        self._tariff = tariff
        self.usual = usual

    @property
    def name(self) -> str:
        return self._inner.name

    def fixes_history(self, model: str | None) -> bool:
        return fixes_history(self._inner, model or self.usual)

    def quote(self, request: ModelRequest) -> Micros | None:
        return self._tariff.quote(request.model or self.usual, request)

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        model = request.model or self.usual
        try:
            reply = await self._inner.complete(request, on_text, on_reasoning)
            return self._tariff.with_cost(model, request, reply)
        except Misconfigured as error:
            # A vendor's "not found" is vague; the end-of-life date is more useful to the user.
            if ending := self._tariff.ending(model):
                raise Misconfigured(f"{error} ({ending})") from error
            raise

    async def close(self) -> None:
        await close_model(self._inner)


def _has_plausible_usage(reply: Reply) -> bool:
    """True if the figures are plausible: a call uses at least one token in and out."""
    used, message = reply.usage, reply.message
    figures = (used.input, used.output, used.cache_read, used.cache_write)
    asked = used.input + used.cache_read + used.cache_write
    return min(figures) >= 0 and asked > 0 and (used.output > 0 or not (message.text or message.calls))


def _without_negative_counts(used: Usage) -> Usage:
    """Negative counts become 0: they would refund money and enlarge a budget."""
    return replace(
        used,
        input=max(used.input, 0),
        output=max(used.output, 0),
        cache_read=max(used.cache_read, 0),
        cache_write=max(used.cache_write, 0),
    )

"""Providers over HTTP by name: address, environment variables, default model."""

import ssl
import time
from collections.abc import Callable, Mapping

from msgspec import Struct

from interlock.errors import Misconfigured
from interlock.providers.anthropic import request as anthropic
from interlock.providers.anthropic.request import Anthropic
from interlock.providers.gemini import request as gemini
from interlock.providers.gemini.model import GeminiModel
from interlock.providers.http.channel import Bounds, Channel, Endpoint
from interlock.providers.http.http_model import Dialect, HttpModel, LimitsOf, PriceOf, TokenLimits, no_price
from interlock.providers.http.trimming import Count, estimated_tokens
from interlock.providers.openai.request import PRESETS, OpenAiCompatible

ANTHROPIC_MODEL = "claude-sonnet-5-5"
HOSTED = (anthropic.NAME, gemini.NAME, *PRESETS)


class ProviderFacts(Struct, frozen=True):
    """Static facts about a provider."""

    base_url: str
    key_name: str  # empty: no key needed; a second name may follow "or"
    url_name: str  # empty: only settings can change the address
    model: str  # empty: the user must name one


def place_of(provider: str) -> ProviderFacts:
    """Raises Misconfigured for an unknown name."""
    if provider == anthropic.NAME:
        return ProviderFacts(anthropic.BASE_URL, anthropic.KEY_NAME, "ANTHROPIC_BASE_URL", ANTHROPIC_MODEL)
    if provider == gemini.NAME:
        names = f"{gemini.KEY_NAME} or {gemini.OTHER_KEY_NAME}"
        return ProviderFacts(gemini.BASE_URL, names, gemini.URL_NAME, gemini.MODEL)
    preset = PRESETS.get(provider)
    if preset is None:
        raise Misconfigured(f"there is no provider {provider!r} over HTTP; known are {', '.join(HOSTED)}")
    return ProviderFacts(preset.base_url, preset.key_name, preset.url_name, preset.model)


def hosted_model(
    provider: str,
    environ: Mapping[str, str],
    *,
    redact: Callable[[str], str] = str,
    base_url: str = "",
    key: Callable[[], str] | None = None,
    model: str = "",
    headers: tuple[tuple[str, str], ...] = (),
    plain_http: bool = False,
    proxy: str = "",
    trust: ssl.SSLContext | None = None,
    bounds: Bounds | None = None,
    limits: LimitsOf | None = None,
    price: PriceOf = no_price,
    count: Count = estimated_tokens,
    now: Callable[[], float] = time.time,
) -> HttpModel | GeminiModel:
    """Address and key default to the environment. Raises Misconfigured for an address that may not be used; a missing
    key is reported by the first request.
    """
    place = place_of(provider)
    address = base_url or environ.get(place.url_name, "") or place.base_url
    endpoint = Endpoint(
        provider=provider,
        base_url=address,
        key=key or (lambda: _first(environ, place.key_name)),
        key_name=place.key_name,
        headers=headers,
        plain_http=plain_http,
        proxy=proxy,
        trust=trust,
    )
    channel = Channel(endpoint, redact=redact, bounds=bounds)
    asked = model or place.model
    limits = limits or (lambda name: usual_limits(provider, name))
    if provider == gemini.NAME:
        return GeminiModel(channel, model=asked, limits=limits, price=price, count=count, now=now)
    return HttpModel(_dialect(provider), channel, model=asked, limits=limits, price=price, count=count)


def _first(environ: Mapping[str, str], names: str) -> str:
    return next((value for name in names.split(" or ") if (value := environ.get(name, "").strip())), "")


def usual_limits(provider: str, model: str) -> TokenLimits:
    """Limits of unknown models. Newer models of OpenAI reject a temperature."""
    if provider == "openai":
        old = model.startswith(("gpt-3", "gpt-4", "chatgpt"))
        return TokenLimits(context=128_000, temperature=0.0 if old else None)
    if provider == anthropic.NAME:
        return TokenLimits()
    return TokenLimits(context=1_048_576 if provider == gemini.NAME else 128_000)


def _dialect(provider: str) -> Dialect:
    return Anthropic() if provider == anthropic.NAME else OpenAiCompatible(provider, PRESETS[provider])

"""Providers over HTTP by name: address, environment variables, default model."""

import ssl
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from interlock.errors import Misconfigured
from interlock.providers.anthropic import answer_blocks
from interlock.providers.anthropic import request as anthropic
from interlock.providers.anthropic.request import Anthropic
from interlock.providers.catalog import LOCAL, default_model, facts_of
from interlock.providers.gemini import request as gemini
from interlock.providers.gemini.model import GeminiModel
from interlock.providers.http.channel import Bounds, Channel, Endpoint
from interlock.providers.http.http_model import Dialect, HttpModel, LimitsOf, PriceOf, TokenLimits, no_price
from interlock.providers.http.trimming import Count, estimated_tokens
from interlock.providers.openai.context_size import ASKED_BOUNDS, ContextSize
from interlock.providers.openai.request import PRESETS, OpenAiCompatible
from interlock.providers.openai.responses import OpenAi

HOSTED = (answer_blocks.NAME, gemini.NAME, *PRESETS)


class ProviderFacts(Struct, frozen=True):
    """Static facts about a provider."""

    base_url: str
    key_name: str  # empty: no key needed; a second name may follow "or"
    url_name: str  # empty: only settings can change the address
    model: str  # empty: the user must name one


def provider_facts(provider: str, today: str = "") -> ProviderFacts:
    """Raises Misconfigured for an unknown name. `today`: the default model is none that has ended by this day."""
    model = default_model(provider, today)
    if provider == answer_blocks.NAME:
        return ProviderFacts(anthropic.BASE_URL, anthropic.KEY_NAME, "ANTHROPIC_BASE_URL", model)
    if provider == gemini.NAME:
        names = f"{gemini.KEY_NAME} or {gemini.OTHER_KEY_NAME}"
        return ProviderFacts(gemini.BASE_URL, names, gemini.URL_NAME, model)
    preset = PRESETS.get(provider)
    if preset is None:
        raise Misconfigured(f"there is no provider {provider!r} over HTTP; known are {', '.join(HOSTED)}")
    return ProviderFacts(preset.base_url, preset.key_name, preset.url_name, model or preset.model)


class HttpAccess(Struct, frozen=True, kw_only=True):
    """How requests reach a provider. Empty fields mean the provider's default."""

    base_url: str = ""
    key: Callable[[], str] | None = None
    headers: tuple[tuple[str, str], ...] = ()
    plain_http: bool = False
    proxy: str = ""
    trust: ssl.SSLContext | None = None
    bounds: Bounds | None = None
    redact: Callable[[str], str] = str


class ModelUse(Struct, frozen=True, kw_only=True):
    """Which model answers, its token limits, and how its tokens are counted and priced."""

    model: str = ""  # empty: the provider's default model
    limits: LimitsOf | None = None
    ask_context: bool = True  # ask a server of the user for the size of its context
    price: PriceOf = no_price
    count: Count = estimated_tokens
    now: Callable[[], float] = time.time


_DEFAULT_ACCESS, _DEFAULT_USE = HttpAccess(), ModelUse()


def hosted_model(
    provider: str, environ: Mapping[str, str], access: HttpAccess = _DEFAULT_ACCESS, use: ModelUse = _DEFAULT_USE
) -> HttpModel | GeminiModel:
    """Takes the address and the key from the environment if `access` has none.

    Raises Misconfigured for an address that must not be used. The first request reports a missing key.
    """
    facts = provider_facts(provider, datetime.fromtimestamp(use.now(), UTC).date().isoformat())
    endpoint = Endpoint(
        provider=provider,
        base_url=access.base_url or environ.get(facts.url_name, "") or facts.base_url,
        key=access.key or (lambda: _first(environ, facts.key_name)),
        key_name=facts.key_name,
        headers=access.headers,
        plain_http=access.plain_http,
        proxy=access.proxy,
        trust=access.trust,
    )
    channel = Channel(endpoint, redact=access.redact, bounds=access.bounds)
    model = use.model or facts.model
    limits = use.limits or partial(default_limits, provider)
    if provider == gemini.NAME:
        return GeminiModel(channel, model=model, limits=limits, price=use.price, count=use.count, now=use.now)
    dialect = _dialect(provider, own_address=endpoint.base_url != facts.base_url)
    own = provider in LOCAL or (provider in PRESETS and endpoint.base_url != facts.base_url)
    context = _context_size(endpoint, access, dialect) if own and use.ask_context else None
    return HttpModel(dialect, channel, model=model, limits=limits, price=use.price, count=use.count, context=context)


def _context_size(endpoint: Endpoint, access: HttpAccess, dialect: Dialect) -> ContextSize:
    root = endpoint.base_url.strip().rstrip("/").removesuffix("/v1")
    channel = Channel(replace(endpoint, base_url=root), redact=access.redact, bounds=ASKED_BOUNDS)

    def unknown(model: str) -> bool:
        return endpoint.provider in LOCAL or not facts_of(endpoint.provider, model).known

    return ContextSize(channel, dialect.headers, unknown, ollama=endpoint.provider == "ollama")


def _first(environ: Mapping[str, str], names: str) -> str:
    return next((value for name in names.split(" or ") if (value := environ.get(name, "").strip())), "")


def default_limits(provider: str, model: str) -> TokenLimits:
    """Limits of unknown models. Newer models of OpenAI reject a temperature."""
    if provider == "openai":
        old = model.startswith(("gpt-3", "gpt-4", "chatgpt"))
        return TokenLimits(context=128_000, temperature=0.0 if old else None)
    if provider == answer_blocks.NAME:
        return TokenLimits(fixed_history=True)
    return TokenLimits(context=1_048_576 if provider == gemini.NAME else 128_000)


def _dialect(provider: str, *, own_address: bool) -> Dialect:
    if provider == answer_blocks.NAME:
        return Anthropic()
    chat = OpenAiCompatible(provider, PRESETS[provider])
    if provider != "openai":
        return chat

    def needs_responses(model: str) -> bool:
        """A server at another address may know only chat completions; so may an unknown model there."""
        facts = facts_of(provider, model)
        return facts.api == "responses" and (facts.known or not own_address)

    return OpenAi(chat, needs_responses)

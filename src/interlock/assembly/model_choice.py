"""Which model is asked: a provider by its name, put together with what it needs.

A model that is a program of its own needs the sandbox, which a workbench has only when it opens. So `make_model` checks
everything that can be wrong at once and returns a maker; whoever has the sandbox, and a log for calls of CLI agents,
makes the model with it.
"""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from interlock.assembly.project import Project, trusted_agent_command
from interlock.assembly.redaction import redactor
from interlock.domain.values.budgets import Micros, Usage
from interlock.errors import Misconfigured
from interlock.ports.model import Message, Model, ModelRequest, OnText, Reply, close_model, unheard
from interlock.ports.processes import Sandbox
from interlock.providers.catalog import PriceStep, facts_of
from interlock.providers.cli_agent.gemini_cli import CallLog, GeminiCli, Hook, split_command, vendor_env
from interlock.providers.credentials import KEYS, address_of, desktop_keyring, needed_key, provider_of
from interlock.providers.endpoints import HOSTED, HttpAccess, ModelUse, hosted_model, place_of
from interlock.providers.http.http_model import TokenLimits
from interlock.providers.names import PROVIDERS
from interlock.providers.priced import Priced, Tariff
from interlock.providers.pricing import cost
from interlock.providers.scripted import Price, ScriptedModel, ScriptedRule, load_script
from interlock.sandbox.limits.environment import clean_env

_OURSELVES = str(Path(__file__).resolve().parents[2])
"""The folder that Python finds us in: `interlock ask-hook` must be there where an agent's hook runs it, also where we
are installed from a working tree.
"""

AsksAt = Callable[[], tuple[str, str] | None]
"""The address of the HTTP API and the token that may only ask; None where nothing is served."""

ModelMaker = Callable[[Sandbox, CallLog], Model]
"""Makes the model when there is a sandbox. Raises Misconfigured when it cannot work there."""


def make_model(
    project: Project,
    provider: str,
    model: str | None = None,
    command_line: str | None = None,
    script: str | Path | None = None,
    asks_at: AsksAt | None = None,
) -> ModelMaker:
    """Raises Misconfigured with a sentence for everything that is wrong with the choice itself.

    `model` is asked for wherever a request names none. `command_line` is for `gemini_cli`, instead of the settings' one
    (whoever passes it says that the user wants exactly that). `script` is for `scripted`. `asks_at` tells, once there
    is an HTTP API, where a CLI agent's own hook may ask, and the token for that alone.
    """
    if script and provider != "scripted":
        raise Misconfigured("a script goes with the provider 'scripted'")
    if command_line and provider != "gemini_cli":
        raise Misconfigured("a command line goes with the provider 'gemini_cli'")
    match provider:
        case "scripted":
            if not script:
                raise Misconfigured("the provider 'scripted' needs a script: a file with the rules it answers by")
            scripted = load_script(Path(script))
            return lambda sandbox, log: _preferring(scripted, model)
        case "gemini_cli":
            words = trusted_agent_command(project) if command_line is None else command_line
            split_command(words)
            # It makes calls of its own that nobody here sees: only where it costs nothing is there a most.
            tariff = tariff_of(project, provider, bounded=False)
            return lambda sandbox, log: Priced(
                _preferring(_gemini_cli(project, words, sandbox, log, asks_at), model), tariff, model or ""
            )
        case _ if provider in HOSTED:
            hosted = _hosted(project, provider, model)
            return lambda sandbox, log: hosted
        case _:
            raise Misconfigured(f"there is no provider {provider!r}; known are {_listed(PROVIDERS)}")


def scripted_rules(rules: list[dict[str, Any]], price: dict[str, float]) -> ModelMaker:
    """The scripted model by rules of our own, for the demo."""
    made = ScriptedModel(msgspec.convert(rules, list[ScriptedRule]), msgspec.convert(price, Price))
    return lambda sandbox, log: made


def _gemini_cli(project: Project, words: str, sandbox: Sandbox, log: CallLog, asks_at: AsksAt | None) -> Model:
    def hook() -> Hook:
        found = asks_at() if asks_at is not None else None
        if found is None:
            return Hook({}, ())
        return Hook({"INTERLOCK_ASK_URL": found[0], "INTERLOCK_ASK_TOKEN": found[1]}, (_OURSELVES,))

    return GeminiCli(
        words,
        sandbox,
        {**clean_env(os.environ), **vendor_env(os.environ)},
        project.state_dir / "cli_agents" / "gemini",
        timeout_s=project.settings.gemini_cli.timeout_s,
        log=log,
        redact=redactor(os.environ),
        hook=hook,
    )


class _Preferring:
    """A model that is asked under one name where a request has none."""

    def __init__(self, inner: Model, model: str) -> None:
        self._inner = inner
        self._model = model

    @property
    def name(self) -> str:
        return self._inner.name

    def quote(self, request: ModelRequest) -> Micros | None:
        return self._inner.quote(self._named(request))

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = unheard) -> Reply:
        return await self._inner.complete(self._named(request), on_text, on_reasoning)

    def _named(self, request: ModelRequest) -> ModelRequest:
        return replace(request, model=self._model) if request.model is None else request


def _preferring(inner: Model, model: str | None) -> Model:
    return _Preferring(inner, model) if model else inner


def _hosted(project: Project, provider: str, model: str | None) -> Model:
    key = needed_key(provider, os.environ, desktop_keyring) if provider in KEYS else ""
    settings, named = project.settings.provider, msgspec.to_builtins(project.settings.endpoints)
    tariff = tariff_of(project, provider)

    def limits(name: str) -> TokenLimits:
        facts = facts_of(provider, name)
        temperature = settings.temperature if "temperature" in facts.can else None
        return TokenLimits(facts.context, tariff.most_out(name), temperature)

    default = model or place_of(provider).model
    access = HttpAccess(
        base_url=address_of(provider, os.environ, named),
        key=lambda: key,
        plain_http=bool(named[provider.replace(".", "_")]),
        redact=redactor({**os.environ, "API_KEY": key}),
    )
    hosted = hosted_model(provider, os.environ, access, ModelUse(model=default, limits=limits))
    return Priced(hosted, tariff, default)


def tariff_of(project: Project, provider: str, *, bounded: bool = True) -> Tariff:
    """What this provider's models cost, by the user's own word (under the model's name, or the provider's) or ours."""
    prices = project.settings.prices

    def own(model: str) -> tuple[PriceStep, ...]:
        found = prices.get(model) or prices.get(provider)
        return (PriceStep(**msgspec.structs.asdict(found)),) if found else ()

    return Tariff(
        lambda model: facts_of(provider, model),
        own,
        project.settings.provider.max_output_tokens,
        today,
        bounded=bounded,
    )


def saved_by_cache(project: Project, provider: str, model: str, tokens: int) -> Micros | None:
    """What so many tokens would have cost less, read from a cache; None: no price is known."""
    steps = tariff_of(project, provider).steps(model)
    plain, cached = (cost(steps, used, today()) for used in (Usage(input=tokens), Usage(cache_read=tokens)))
    return None if plain is None or cached is None else plain - cached


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def first_provider(configured: str | None) -> str | None:
    """Whom to ask where no option says so: the configured one, else the first with a key; None: nobody."""
    try:
        return provider_of(configured, PROVIDERS, os.environ, desktop_keyring)
    except Misconfigured:
        return None


async def ask_once(project: Project, provider: str, model: str | None) -> Reply:
    """One tiny call, for seeing whether a key and an address work. It is not booked anywhere."""
    if provider not in HOSTED:
        raise Misconfigured(f"{provider!r} is no provider that is asked over HTTP; try it with: interlock chat 'Hello'")
    asked = _hosted(project, provider, model)
    words = Message("user", "Answer with one word: ok")
    try:
        return await asked.complete(ModelRequest("Test", None, None, "", (words,), ()), unheard)
    finally:
        await close_model(asked)


def model_warnings(project: Project, provider: str, model: str | None) -> tuple[str, ...]:
    """What the user should know about the models that the settings name: unknown ones, and those that end."""
    if provider not in HOSTED:
        return ()
    named = (getattr(project.settings.models, field) for field in project.settings.models.__struct_fields__)
    usual = model or place_of(provider).model
    names = dict.fromkeys(name for name in (usual, *named, *project.settings.conductor.escalation) if name)
    return tuple(filter(None, (facts_of(provider, name).warning(today()) for name in names)))


def _listed(names: Sequence[str]) -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} and {last}"

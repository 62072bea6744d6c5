"""Makes a model from the name of its provider and the settings.

A model that is a separate program needs the sandbox, which exists only after the workbench is opened. So `make_model`
checks the choice at once and returns a maker; the workbench calls it with its sandbox and its log of CLI agents.
"""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from interlock.assembly.locations import state_folder
from interlock.assembly.project import Project, trusted_agent_command
from interlock.assembly.secrets.redaction import redactor
from interlock.domain.values.budgets import Micros, Usage
from interlock.errors import Misconfigured
from interlock.ports.model import Message, Model, ModelRequest, OnText, Reply, close_model, fixes_history, ignore_text
from interlock.ports.processes import Sandbox
from interlock.providers.catalog import PriceStep, facts_of
from interlock.providers.cli_agent.gemini_cli import CallLog, GeminiCli, Hook, split_command, vendor_env
from interlock.providers.credentials import KEYS, address_of, desktop_keyring, key_of, needed_key, provider_of
from interlock.providers.endpoints import HOSTED, HttpAccess, ModelUse, hosted_model, provider_facts
from interlock.providers.http.http_model import TokenLimits
from interlock.providers.list_cache import Difference, FetchedList, difference, read_lists, write_lists
from interlock.providers.model_lists import listed_models
from interlock.providers.names import PROVIDERS
from interlock.providers.priced import Priced, Tariff
from interlock.providers.pricing import cost
from interlock.providers.scripted import Price, ScriptedModel, ScriptedRule, load_script
from interlock.sandbox.limits.environment import clean_env

_PACKAGE_FOLDER = str(Path(__file__).resolve().parents[2])
"""The folder of the `interlock` package: an agent's hook in the sandbox runs `interlock ask-hook` from it, also if
Interlock is installed from a working tree.
"""

AsksAt = Callable[[], tuple[str, str] | None]
"""Returns the address of the HTTP API and the ask token; None if no API is served."""

ModelMaker = Callable[[Sandbox, CallLog], Model]
"""Makes the model from a sandbox and a log. Raises Misconfigured if it cannot run in that sandbox."""


def make_model(
    project: Project,
    provider: str,
    model: str | None = None,
    command_line: str | None = None,
    script: str | Path | None = None,
    asks_at: AsksAt | None = None,
) -> ModelMaker:
    """Raises Misconfigured if the choice cannot work.

    `model` is used where a request names none. `command_line` replaces the setting of `gemini_cli`; a caller
    passes it only as the user's own choice. `script` is for `scripted`. `asks_at` returns the address for hooks of CLI
    agents.
    """
    if script and provider != "scripted":
        raise Misconfigured("a script is only for the provider 'scripted'")
    if command_line and provider != "gemini_cli":
        raise Misconfigured("a command line is only for the provider 'gemini_cli'")
    match provider:
        case "scripted":
            if not script:
                raise Misconfigured("the provider 'scripted' needs a script: a file with its rules")
            scripted = load_script(Path(script))
            return lambda sandbox, log: _with_default_model(scripted, model)
        case "gemini_cli":
            line = trusted_agent_command(project) if command_line is None else command_line
            split_command(line)
            # The agent makes calls that Interlock does not see, so its cost has no upper bound unless it is free.
            tariff = tariff_of(project, provider, bounded=False)
            return lambda sandbox, log: Priced(
                _with_default_model(_gemini_cli(project, line, sandbox, log, asks_at), model), tariff, model or ""
            )
        case _ if provider in HOSTED:
            hosted = _hosted(project, provider, model)
            return lambda sandbox, log: hosted
        case _:
            raise Misconfigured(f"there is no provider {provider!r}; known are {_listed(PROVIDERS)}")


def scripted_rules(rules: list[dict[str, Any]], price: dict[str, float]) -> ModelMaker:
    """A scripted model with the given rules, for the demo."""
    scripted = ScriptedModel(msgspec.convert(rules, list[ScriptedRule]), msgspec.convert(price, Price))
    return lambda sandbox, log: scripted


def _gemini_cli(project: Project, command_line: str, sandbox: Sandbox, log: CallLog, asks_at: AsksAt | None) -> Model:
    def hook() -> Hook:
        address = asks_at() if asks_at is not None else None
        if address is None:
            return Hook({}, ())
        return Hook({"INTERLOCK_ASK_URL": address[0], "INTERLOCK_ASK_TOKEN": address[1]}, (_PACKAGE_FOLDER,))

    return GeminiCli(
        command_line,
        sandbox,
        {**clean_env(os.environ), **vendor_env(os.environ)},
        project.state_dir / "cli_agents" / "gemini",
        timeout_s=project.settings.gemini_cli.timeout_s,
        log=log,
        redact=redactor(os.environ),
        hook=hook,
    )


class _Preferring:
    """Adds a model name to requests without one."""

    def __init__(self, inner: Model, model: str) -> None:
        self._inner = inner
        self._model = model

    @property
    def name(self) -> str:
        return self._inner.name

    def fixes_history(self, model: str | None) -> bool:
        return fixes_history(self._inner, model or self._model)

    def quote(self, request: ModelRequest) -> Micros | None:
        return self._inner.quote(self._named(request))

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        return await self._inner.complete(self._named(request), on_text, on_reasoning)

    def _named(self, request: ModelRequest) -> ModelRequest:
        return replace(request, model=self._model) if request.model is None else request


def _with_default_model(inner: Model, model: str | None) -> Model:
    return _Preferring(inner, model) if model else inner


def _hosted(project: Project, provider: str, model: str | None) -> Model:
    access, settings = access_of(project, provider), project.settings.provider
    tariff = tariff_of(project, provider)

    def limits(name: str) -> TokenLimits:
        facts = facts_of(provider, name)
        temperature = settings.temperature if "temperature" in facts.can else None
        context = settings.context_tokens or facts.context
        return TokenLimits(context, tariff.most_out(name), temperature, fixed_history=facts.fixed_history)

    default = model or provider_facts(provider, today()).model
    use = ModelUse(model=default, limits=limits, ask_context=not settings.context_tokens)
    hosted = hosted_model(provider, os.environ, access, use)
    return Priced(hosted, tariff, default)


def access_of(project: Project, provider: str) -> HttpAccess:
    """Address and key of a provider over HTTP. Raises Misconfigured without a key that it needs."""
    key = needed_key(provider, os.environ, desktop_keyring) if provider in KEYS else ""
    named = msgspec.to_builtins(project.settings.endpoints)
    return HttpAccess(
        base_url=address_of(provider, os.environ, named),
        key=lambda: key,
        plain_http=bool(named[provider.replace(".", "_")]),
        redact=redactor({**os.environ, "API_KEY": key}),
    )


def lists_file() -> Path:
    return state_folder() / "models.json"


def vendors_in_use(project: Project) -> tuple[str, ...]:
    """Providers over HTTP with a key, and servers of the user that the settings name."""
    endpoints = msgspec.to_builtins(project.settings.endpoints)

    def is_used(name: str) -> bool:
        if name in KEYS:
            return key_of(name, os.environ, desktop_keyring) is not None
        return name == project.settings.provider.name or bool(endpoints[name.replace(".", "_")])

    return tuple(name for name in HOSTED if is_used(name))


async def refresh_list(project: Project, provider: str) -> tuple[FetchedList, Difference]:
    """Fetches and stores the list of one provider. Changes no setting. Raises Misconfigured and Unavailable."""
    models = await listed_models(provider, access_of(project, provider))
    lists = read_lists(lists_file())
    fetched = FetchedList(datetime.now(UTC).isoformat(timespec="seconds"), models)
    write_lists(lists_file(), {**lists, provider: fetched})
    return fetched, difference(provider, lists.get(provider), models)


def tariff_of(project: Project, provider: str, *, bounded: bool = True) -> Tariff:
    """The prices of a provider's models: the user's (by model or provider name), else the shipped ones."""
    prices = project.settings.prices

    def own(model: str) -> tuple[PriceStep, ...]:
        price = prices.get(model) or prices.get(provider)
        return (PriceStep(**msgspec.structs.asdict(price)),) if price else ()

    return Tariff(
        lambda model: facts_of(provider, model),
        own,
        project.settings.provider.max_output_tokens,
        today,
        bounded=bounded,
    )


def saved_by_cache(project: Project, provider: str, model: str, tokens: int) -> Micros | None:
    """How much less this many tokens cost when read from a cache; None if no price is known."""
    steps = tariff_of(project, provider).steps(model)
    plain, cached = (cost(steps, used, today()) for used in (Usage(input=tokens), Usage(cache_read=tokens)))
    return None if plain is None or cached is None else plain - cached


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def first_provider(configured: str | None) -> str | None:
    """The default provider: the configured one, else the first with a key; None if there is none."""
    try:
        return provider_of(configured, PROVIDERS, os.environ, desktop_keyring)
    except Misconfigured:
        return None


async def ask_once(project: Project, provider: str, model: str | None) -> Reply:
    """Makes one small call to check a key and an address. Its cost is not recorded."""
    if provider not in HOSTED:
        raise Misconfigured(f"{provider!r} is not a provider over HTTP; test it with: interlock chat 'Hello'")
    hosted = _hosted(project, provider, model)
    question = Message("user", "Answer with one word: ok")
    try:
        return await hosted.complete(ModelRequest("Test", None, None, "", (question,), ()), ignore_text)
    finally:
        await close_model(hosted)


def model_warnings(project: Project, provider: str, model: str | None) -> tuple[str, ...]:
    """Warnings about the models in the settings: unknown ones, and those with an end date."""
    if provider not in HOSTED:
        return ()
    named = (getattr(project.settings.models, field) for field in project.settings.models.__struct_fields__)
    default = model or provider_facts(provider, today()).model
    names = dict.fromkeys(name for name in (default, *named, *project.settings.conductor.escalation) if name)
    return tuple(filter(None, (facts_of(provider, name).warning(today()) for name in names)))


def _listed(names: Sequence[str]) -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} and {last}"

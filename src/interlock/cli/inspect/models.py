"""`interlock models …`: the known models with prices, a test call, and keys in the keyring."""

import asyncio
import getpass
import os
import sys
import time
from typing import Any

from interlock.assembly.model_choice import ask_once, first_provider, lists_file, today
from interlock.cli.arguments import CommandArgs
from interlock.cli.inspect.model_lists import as_listed, listed_note, say_ages, unknown_models
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.model_choices import note_unused_settings
from interlock.cli.terminal.output import paint, say, say_json, table
from interlock.cli.terminal.sessions import folder_of
from interlock.domain.values.budgets import dollars
from interlock.errors import Misconfigured
from interlock.providers.catalog import LOCAL, ModelFacts, PriceStep, catalog
from interlock.providers.credentials import KEYS, desktop_keyring, keep_key, key_of, listed_variables
from interlock.providers.list_cache import read_lists
from interlock.providers.pricing import valid_on
from interlock.views.display import safe


class ListArgs(CommandArgs, frozen=True):
    provider: str | None


class CallArgs(CommandArgs, frozen=True):
    provider: str | None
    model: str | None


class KeyArgs(CommandArgs, frozen=True):
    provider: str


def list_(args: ListArgs) -> int:
    chosen = [facts for facts in catalog() if args.provider in (None, facts.provider)]
    lists = {name: one for name, one in read_lists(lists_file()).items() if args.provider in (None, name)}
    chosen += unknown_models(lists)
    keys = {name: key_of(name, os.environ, desktop_keyring) is not None for name in KEYS}
    if args.json:
        say_json([{**_plain(facts, keys), **as_listed(facts, lists)} for facts in chosen])
        return DONE
    if args.provider in LOCAL:
        say(f"{args.provider} serves the models you installed; name one with --model")
    if chosen:
        table(
            ("PROVIDER", "MODEL", "CONTEXT", "OUTPUT", "$ IN", "$ OUT", "$ CACHED", "CAN", ""),
            [(*_row(facts)[:-1], _row(facts)[-1] or listed_note(facts, lists)) for facts in chosen],
        )
        say(paint("dollars per million tokens; a long prompt may cost more (--json has every step)", "dim"))
    say_ages(lists)
    for name, is_set in keys.items():
        if args.provider in (None, name):
            say(f"{name}: {'a key is set' if is_set else 'no key: set ' + ' or '.join(KEYS[name])}")
    return DONE


def test(args: CallArgs) -> int:
    project = folder_of(args)
    note_unused_settings(project)
    provider = args.provider or first_provider(project.settings.provider.name)
    if provider is None:
        raise Misconfigured(f"no provider has a key: set {listed_variables()}, or name a provider")
    begun = time.monotonic()
    reply = asyncio.run(ask_once(project, provider, args.model))
    took, used = round((time.monotonic() - begun) * 1000), reply.usage
    cost = None if used.without_price else used.cost
    if args.json:
        shown = {"input": used.input, "output": used.output, "cost_usd": None if cost is None else cost / 1e6}
        say_json({"provider": provider, "model": reply.model, "latency_ms": took, **shown})
    else:
        price = "cost unknown" if cost is None else dollars(cost)
        say(f"{provider} {safe(reply.model)}: answers after {took} ms; {used.input:,} in, {used.output:,} out, {price}")
        say(paint("the cost of this call is not recorded in any project", "dim"))
    return DONE


def key_set(args: KeyArgs) -> int:
    """Read the key from the terminal or stdin: arguments are visible in the process list."""
    if sys.stdin.isatty():
        key = getpass.getpass(f"key for {args.provider}: ")
    else:
        key = sys.stdin.readline()
    if not key.strip() or not key.strip().isprintable():
        raise Misconfigured("a key is one line of printable text; nothing was stored")
    keep_key(args.provider, key.strip())
    return _done(args, "kept in the keyring")


def key_delete(args: KeyArgs) -> int:
    keep_key(args.provider, None)
    return _done(args, "taken out of the keyring")


def _done(args: KeyArgs, what: str) -> int:
    if args.json:
        say_json({"provider": args.provider, "done": what})
    else:
        say(f"the key for {args.provider} is {what}")
    return DONE


def _now(facts: ModelFacts) -> PriceStep | None:
    return next(iter(valid_on(facts.prices, today())), None)


def _row(facts: ModelFacts) -> tuple[str, ...]:
    price = _now(facts)
    money = ("?", "?", "?") if price is None else tuple(map(_money, (price.input, price.output, price.cache_read)))
    can = ", ".join(word for word in facts.can if word != "temperature")
    limits = f"{facts.context:,}", f"{facts.output:,}"
    return (facts.provider, facts.name, *limits, *money, can, facts.ending(today()).partition("' ")[2])


def _money(dollars_per_million: float | None) -> str:
    return "" if dollars_per_million is None else f"{dollars_per_million:g}"


def _plain(facts: ModelFacts, keys: dict[str, bool]) -> dict[str, Any]:
    return {
        "provider": facts.provider,
        "name": facts.name,
        "aliases": facts.aliases,
        "context": facts.context,
        "output": facts.output,
        "can": facts.can,
        "prices": facts.prices,
        "ends": facts.ends or None,
        "successor": facts.successor or None,
        "warning": facts.ending(today()) or None,
        "key": keys.get(facts.provider, True),
    }

"""`interlock models refresh` fetches the vendors' lists of models; `models list` shows them too."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from interlock.assembly.model_choice import refresh_list, vendors_in_use
from interlock.assembly.project import Project
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE, ERROR
from interlock.cli.terminal.model_choices import note_unused_settings
from interlock.cli.terminal.output import paint, say, say_json
from interlock.cli.terminal.sessions import folder_of
from interlock.errors import InterlockError, Misconfigured
from interlock.providers.catalog import ModelFacts, facts_of
from interlock.providers.credentials import listed_variables
from interlock.providers.list_cache import Difference, FetchedList, age
from interlock.views.display import counted, safe

_MOST_SHOWN = 20
Lists = Mapping[str, FetchedList]


class RefreshArgs(CommandArgs, frozen=True):
    provider: str | None


def refresh(args: RefreshArgs) -> int:
    """Every provider is asked, also after one failed; exit 1 if one failed."""
    project = folder_of(args)
    note_unused_settings(project)
    names = (args.provider,) if args.provider else vendors_in_use(project)
    if not names:
        raise Misconfigured(
            f"no provider is set up: set {listed_variables()}, write the address of a server of yours into [endpoints],"
            " or name one with --provider"
        )
    rows = [_refreshed(project, name, quiet=args.json) for name in names]
    if args.json:
        say_json(rows)
    return ERROR if any(row["error"] for row in rows) else DONE


def _refreshed(project: Project, name: str, *, quiet: bool) -> dict[str, Any]:
    empty: dict[str, Any] = {"provider": name, "at": None, "models": 0, "new": [], "gone": [], "since": None}
    try:
        fetched, changed = asyncio.run(refresh_list(project, name))
    except InterlockError as error:
        if not quiet:
            sentence = str(error) if name in str(error) else f"{name}: {error}"
            say(paint(safe(sentence), "bad", sys.stderr), sys.stderr)
        return {**empty, "error": str(error)}
    if not quiet:
        _say_changes(name, fetched, changed)
    since = "shipped data" if changed.first else "last list"
    about = {"at": fetched.at, "models": len(fetched.models), "new": changed.new, "gone": changed.gone, "since": since}
    return {**empty, **about, "error": None}


def _say_changes(name: str, fetched: FetchedList, changed: Difference) -> None:
    say(f"{name}: {counted(len(fetched.models), 'model')}")
    where = "Interlock's data" if changed.first else "the last list"
    for what, names, note in (("+", changed.new, f"not in {where}"), ("-", changed.gone, f"gone; it was in {where}")):
        for one in names[:_MOST_SHOWN]:
            say(f"  {what} {safe(one)}  ({note})")
        if len(names) > _MOST_SHOWN:
            say(f"  {what} {len(names) - _MOST_SHOWN} more: --json names all")
    if not changed.new and not changed.gone:
        say(paint(f"  the same as {where}", "dim"))


# ── in `models list` ─────────────────────────────────────────────────────────────────────


def unknown_models(lists: Lists) -> list[ModelFacts]:
    """Models of the fetched lists that the shipped data does not have, with the limits of their list."""
    return [
        replace(facts, context=model.context or facts.context, output=model.output or facts.output)
        for provider, fetched in sorted(lists.items())
        for model in fetched.models
        if not (facts := facts_of(provider, model.name)).known
    ]


def as_listed(facts: ModelFacts, lists: Lists) -> dict[str, Any]:
    """Fields for JSON: whether the vendor's list has it, and when that was fetched; null without a list."""
    fetched = lists.get(facts.provider)
    if fetched is None:
        return {"known": facts.known, "listed": None, "listed_at": None}
    return {"known": facts.known, "listed": _is_listed(facts, fetched), "listed_at": fetched.at}


def listed_note(facts: ModelFacts, lists: Lists) -> str:
    fetched = lists.get(facts.provider)
    if not facts.known:
        return "from the vendor's list"
    return "" if fetched is None or _is_listed(facts, fetched) else "not in the vendor's list"


def _is_listed(facts: ModelFacts, fetched: FetchedList) -> bool:
    """Also by a dated edition, as vendors list them."""
    names: Sequence[str] = (facts.name, *facts.aliases)
    return any(model.name in names or facts_of(facts.provider, model.name) == facts for model in fetched.models)


def say_ages(lists: Lists) -> None:
    for provider, fetched in sorted(lists.items()):
        say(f"{provider}: its list was fetched {age(fetched.at)} ('interlock models refresh')")
    if not lists:
        say(paint("no vendor's list was fetched yet: interlock models refresh", "dim"))

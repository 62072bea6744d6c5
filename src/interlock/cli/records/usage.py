"""`interlock usage`: tokens and cost as a table and as bars; `interlock usage cache`: broken cache prefixes."""

import shutil
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal

import msgspec

from interlock.assembly.logs.session_logs import PREFIXES
from interlock.assembly.model_choice import saved_by_cache
from interlock.assembly.project import Project, project_reader, read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import paint, say, say_json, table
from interlock.cli.terminal.sessions import project_of
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.values.budgets import Micros, dollars
from interlock.views.display import counted, one_line, safe
from interlock.views.usage.costs import UsageRow, cost_shown, usage_rows
from interlock.views.usage.prefix import BrokenRequest, SentRequest, broken_requests
from interlock.views.usage.spend import bars, spending
from interlock.wire import to_plain

_EVENTS = 200_000  # the latest events, from which cost over time is computed
_NARROW, _WIDEST = 50, 60  # columns: the least for a plot, the most for a bar
_REQUESTS = 100_000  # the most requests that are searched for broken prefixes


class UsageArgs(CommandArgs, frozen=True):
    report: Literal["cache"] | None
    by: Literal["tier", "epic", "track", "ticket"]


def usage(args: UsageArgs) -> int:
    if args.report == "cache":
        return _cache(args)
    project = project_of(args)
    rows = usage_rows(read_state(project), args.by)
    if args.json:
        say_json({row.name: _as_dict(row) for row in rows})
    elif not rows:
        say("no model was called yet")
    else:
        _table(rows, args.by)
        _plot(rows, project)
    return DONE


def _table(rows: tuple[UsageRow, ...], by: str) -> None:
    table(
        (by.upper(), "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST", "UNKNOWN"),
        [
            (
                safe(row.name),
                *(f"{n:,}" for n in (row.used.input, row.used.output, row.used.cache_read, row.used.cache_write)),
                cost_shown(row.used),
                f"${row.unknown / 1e6:.4f}" if row.unknown else "",
            )
            for row in rows
        ],
    )
    if any(row.unknown for row in rows):
        say(paint("UNKNOWN: reserved for interrupted or running calls; it counts as spent", "dim"))
    if calls := sum(row.used.without_price for row in rows):
        say(
            paint(
                f"cost unknown of {counted(calls, 'call')}: their models have no price; they count as $0 ([prices])",
                "waiting",
            )
        )


def _plot(rows: tuple[UsageRow, ...], project: Project) -> None:
    """Bars, if there is a cost and the terminal is wide enough."""
    room = shutil.get_terminal_size().columns
    costs = [row.used.cost + row.unknown for row in rows]
    if room < _NARROW or not any(costs):
        return
    plain = not "█".encode(sys.stdout.encoding or "ascii", "ignore")
    _bars([(one_line(row.name, 24), cost) for row, cost in zip(rows, costs, strict=True)], room, plain=plain)
    reader = project_reader(project)
    try:
        over_time = spending(_latest(reader.read(max(0, reader.head().version - _EVENTS))))
    finally:
        reader.close()
    if len(over_time.slots) > 1:
        say()
        say(paint(f"by the {over_time.every} (UTC)", "dim"))
        _bars([(slot.name, slot.cost) for slot in over_time.slots], room, plain=plain)


def _latest(records: Iterator[Recorded]) -> Iterator[Recorded]:
    return islice(records, _EVENTS)


def _bars(values: list[tuple[str, Micros]], room: int, *, plain: bool) -> None:
    names = max(len(name) for name, _ in values)
    money = [dollars(cost) for _, cost in values]
    digits = max(map(len, money))
    say()
    drawn = bars([cost for _, cost in values], min(room - names - digits - 4, _WIDEST), plain=plain)
    for (name, _), cost, bar in zip(values, money, drawn, strict=True):
        say(f"{safe(name):{names}}  {cost:>{digits}}  {paint(bar, 'running')}".rstrip())


def _as_dict(row: UsageRow) -> dict[str, Any]:
    return {**to_plain(row.used), "cost_usd": row.used.cost_usd, "unknown_usd": row.unknown / 1e6}


# ── caches ───────────────────────────────────────────────────────────────────────────────


def _cache(args: UsageArgs) -> int:
    project = project_of(args)
    requests = list(islice(_sent(project), _REQUESTS))
    breaks = broken_requests(requests)
    paid = [saved_by_cache(project, row.sent.provider, row.sent.model, row.broken.again) for row in breaks]
    if args.json:
        say_json(
            {"requests": len(requests), "breaks": [_break_as_dict(*pair) for pair in zip(breaks, paid, strict=True)]}
        )
        return DONE
    if not requests:
        say("no request is in the logs yet (.interlock/logs/sessions)")
        return DONE
    if breaks:
        table(
            ("WHEN", "WHO", "BLOCK", "", "TOKENS", "AGAIN", "PAID"),
            [
                (
                    row.sent.ts[:19].replace("T", " "),
                    one_line(row.sent.key, 30),
                    one_line(row.broken.block, 40),
                    row.broken.how,
                    f"{row.broken.tokens:,}",
                    f"{row.broken.again:,}",
                    "unknown" if cost is None else dollars(cost),
                )
                for row, cost in zip(breaks, paid, strict=True)
            ],
        )
        say(
            paint("AGAIN: tokens after the block that were sent before; PAID: what a cache hit would have saved", "dim")
        )
    again = sum(row.broken.again for row in breaks)
    known = [cost for cost in paid if cost is not None]
    total = "" if breaks and not known else f" for {dollars(sum(known))}"
    broke = f"{len(breaks):,} broke their prefix: about {again:,} tokens paid again{total}"
    say(f"{counted(len(requests), 'request')}, {broke}")
    return DONE


def _break_as_dict(cache_break: BrokenRequest, paid: Micros | None) -> dict[str, Any]:
    sent, broken = cache_break.sent, cache_break.broken
    about = {"ts": sent.ts, "key": sent.key, "attempt": sent.attempt, "provider": sent.provider, "model": sent.model}
    return {**about, "call": sent.call, **to_plain(broken), "paid_usd": None if paid is None else paid / 1e6}


def _sent(project: Project) -> Iterator[SentRequest]:
    """Logged requests, oldest first; unreadable lines are skipped, as a log may end anywhere."""
    folders = (project.folder / "logs" / "sessions").glob("*")
    for folder in sorted(folders):
        for file in sorted(folder.glob(f"{PREFIXES}*"), reverse=True):  # rotated files are older, by their number
            with file.open("rb") as lines:
                for line in lines:
                    try:
                        yield msgspec.json.decode(line, type=SentRequest)
                    except msgspec.MsgspecError:
                        continue

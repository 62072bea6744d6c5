"""Views of many files, in order: from the cache where they are, else made, in several processes if that pays."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from interlock.codeviews.folders.cache import Cache, key_of, maker_of
from interlock.codeviews.folders.one import Skipped, Viewed, make, title_of_file
from interlock.codeviews.folders.packs import Entry
from interlock.codeviews.folders.read_file import BY_CONTENT
from interlock.codeviews.folders.seen import Note, State, state_of
from interlock.codeviews.folders.walk import FoundFile, find
from interlock.codeviews.views import tokens
from interlock.codeviews.views.view import Kind

if TYPE_CHECKING:
    from interlock.codeviews.folders.pool import Pool

BATCH = 2_000
"""Files looked at together, at most; fewer if they are enough work for the processes meanwhile."""
CHUNK_BYTES = 200_000
WORTH_A_POOL = 2_000_000
"""Bytes to parse: below, starting processes takes longer than the work."""
WORTH_A_PACK = 50
"""Views made together."""


class _Missing(NamedTuple):
    found: FoundFile
    state: State | None
    size: int


def shown(
    kind: Kind,
    paths: Sequence[str],
    cache: Cache | None,
    workers: int,
    counted: Callable[[Iterator[FoundFile]], Iterator[FoundFile]] = lambda files: files,
) -> Iterator[Viewed | Skipped]:
    """What a person names. A folder of which everything is known is not looked through again."""
    if cache is None or len(paths) != 1 or not os.path.isdir(paths[0]):
        return views(kind, counted(find(paths)), cache, workers)
    from interlock.codeviews.folders.whole import folder_views

    return folder_views(kind, paths[0], cache, lambda files: views(kind, counted(files), cache, workers))


def views(kind: Kind, files: Iterable[FoundFile], cache: Cache | None, workers: int) -> Iterator[Viewed | Skipped]:
    """While processes work on a batch, the next one is looked at and handed out."""
    found = (_look(kind, one, cache) for one in files)
    try:
        with ExitStack() as until_the_end:
            before: Iterator[Viewed | Skipped] = iter(())
            pool: Pool | None = None
            while looked := _batch(found):
                missing = [one for one in looked if isinstance(one, _Missing)]
                if pool is None and workers > 1 and sum(one.size for one in missing) > WORTH_A_POOL:
                    pool = until_the_end.enter_context(_pool(workers))
                if pool is not None and missing and pool.works():
                    made = _by_many(kind, missing, cache, pool)
                else:
                    made = (make(kind, one.found, cache) for one in missing)
                yield from before
                before = _in_order(kind, looked, made, cache, packed=len(missing) > WORTH_A_PACK)
            yield from before
    finally:  # also when nobody wants to see the rest
        if cache is not None:
            cache.save()


def _pool(workers: int) -> "Pool":
    from interlock.codeviews.folders.pool import Pool  # takes a while, and most runs need none

    return Pool(workers)


def _batch(found: Iterator[Viewed | Skipped | _Missing]) -> list[Viewed | Skipped | _Missing]:
    looked: list[Viewed | Skipped | _Missing] = []
    size = 0
    for one in islice(found, BATCH):
        looked.append(one)
        size += one.size if isinstance(one, _Missing) else 0
        if size > WORTH_A_POOL:
            break
    return looked


def _in_order(
    kind: Kind,
    looked: list[Viewed | Skipped | _Missing],
    made: Iterator[Viewed | Skipped],
    cache: Cache | None,
    *,
    packed: bool,
) -> Iterator[Viewed | Skipped]:
    for one in looked:
        if not isinstance(one, _Missing):
            yield one
        elif cache is None:
            yield next(made)._replace(quiet=False)
        else:
            yield _kept(kind, one, next(made), cache, packed=packed)
    if cache is not None and packed:
        cache.packs.flush()


def _kept(kind: Kind, one: _Missing, made: Viewed | Skipped, cache: Cache, *, packed: bool) -> Viewed | Skipped:
    if isinstance(made, Skipped):
        if one.state is not None and made.reason in BY_CONTENT:
            cache.seen.note(made.path, Note(one.state, "", b"", made.reason), quiet=made.quiet)
        return made._replace(quiet=False)
    path, language, view, before, after, digest, fresh, quiet = made
    key = key_of(kind, digest, language, title_of_file(path, language), tokens.method())
    if fresh:
        where = cache.keep(key, Entry(view, before, after), packed=packed)
    else:
        where = cache.packs.find(key)
    if one.state is not None:
        known = cache.seen.recall(path, one.state)
        views = dict(known.views) if known is not None else {}
        if where is not None:
            views[maker_of(kind, tokens.method())] = where
        cache.seen.note(path, Note(one.state, language, digest, views=views), quiet=quiet)
    return Viewed(path, language, view, before, after)


def _by_many(kind: Kind, missing: list[_Missing], cache: Cache | None, pool: "Pool") -> Iterator[Viewed | Skipped]:
    """Handed out here and now, taken in when asked for."""
    folder = str(cache.folder) if cache is not None else None
    chunks: list[list[FoundFile]] = []
    size = CHUNK_BYTES
    for one in missing:
        if size >= CHUNK_BYTES:
            chunks.append([])
            size = 0
        chunks[-1].append(one.found)
        size += one.size
    outcomes = pool.run(kind, folder, chunks)
    return chain.from_iterable(
        made if made is not None else _each_alone(kind, folder, chunk, pool)
        for chunk, made in zip(chunks, outcomes, strict=True)
    )


def _each_alone(kind: Kind, folder: str | None, chunk: list[FoundFile], pool: "Pool") -> Iterator[Viewed | Skipped]:
    """One of these ended the process it was in; which one?"""
    for found in chunk:
        yield pool.run_alone(kind, folder, found) or Skipped(found.path, "the parser crashed on it", found.asked)


def _look(kind: Kind, found: FoundFile, cache: Cache | None) -> Viewed | Skipped | _Missing:
    """Nothing is read here but the cache: what is not known there is read where its view is made."""
    if found.skipped is not None:
        return Skipped(found.path, found.skipped, found.asked)
    state = state_of(found)
    if state is None:  # whatever is wrong with it is told by the one that reads it
        return _Missing(found, None, 0)
    note = cache.seen.recall(found.path, state) if cache is not None else None
    if cache is None or note is None:
        return _Missing(found, state, state.size)
    if note.skipped:
        return Skipped(found.path, note.skipped, found.asked)
    maker = maker_of(kind, tokens.method())
    where = note.views.get(maker)
    entry = cache.packs.read(where) if where is not None else None
    if entry is None:
        key = key_of(kind, note.digest, note.language, title_of_file(found.path, note.language), tokens.method())
        entry = cache.get(key)
        if entry is not None and (lies := cache.packs.find(key)) not in (None, where):
            cache.seen.note(found.path, note._replace(views={**note.views, maker: lies}), quiet=True)
    if entry is None:
        return _Missing(found, state, state.size)
    return Viewed(found.path, note.language, *entry)


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

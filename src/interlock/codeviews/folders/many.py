"""Views of many files, in order: from a pack where the files are unchanged, else made, in processes if that pays."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from interlock.codeviews.folders.cache import Cache
from interlock.codeviews.folders.one import Made, Skipped, Task, Viewed, make
from interlock.codeviews.folders.pack import Pack, PackedFile, SeenFile, see_file
from interlock.codeviews.folders.read_file import BY_CONTENT
from interlock.codeviews.folders.walk import FoundFile, find
from interlock.codeviews.views.view import Kind
from interlock.domain.checks.closed_names import ClosedNames

if TYPE_CHECKING:
    from interlock.codeviews.folders.pool import Pool

BATCH = 2_000
"""Files examined together, at most; fewer if they are enough work for the processes."""
CHUNK_BYTES = 200_000
WORTH_A_POOL = 2_000_000
"""Bytes to parse. Below, starting processes takes longer than the work."""


class _Missing(NamedTuple):
    found: FoundFile
    seen: SeenFile | None
    packed: PackedFile | None  # of an earlier state of the file

    @property
    def size(self) -> int:
        return self.seen.state.size if self.seen is not None else 0

    @property
    def task(self) -> Task:
        return Task(self.found, self.packed.digest if self.packed is not None else b"")


def shown(
    kind: Kind,
    paths: Sequence[str],
    cache: Cache | None,
    names: ClosedNames,
    workers: int,
    counted: Callable[[Iterator[FoundFile]], Iterator[FoundFile]] = lambda files: files,
) -> Iterator[Viewed | Skipped]:
    """Views of files, folders and patterns as a user names them. Single files are made each time: that is quick."""
    if cache is None or all(os.path.isfile(path) for path in paths):
        yield from views(kind, counted(find(paths, names)), None, workers)
        return
    yield from views(kind, counted(find(paths, names)), cache.pack(kind, paths), workers)
    cache.prune()


def views(kind: Kind, files: Iterable[FoundFile], pack: Pack | None, workers: int) -> Iterator[Viewed | Skipped]:
    """While processes work on a batch, the next one is examined and submitted."""
    examined = (_examine(found, pack) for found in files)
    complete = False
    try:
        with ExitStack() as stack:
            before: Iterator[Viewed | Skipped] = iter(())
            pool: Pool | None = None
            while batch := _batch(examined):
                missing = [each for each in batch if isinstance(each, _Missing)]
                if pool is None and workers > 1 and sum(each.size for each in missing) > WORTH_A_POOL:
                    pool = stack.enter_context(_pool(workers))
                if pool is not None and missing and pool.is_usable():
                    made = _make_in_processes(kind, missing, pool)
                else:
                    made = (make(kind, *each.task) for each in missing)
                yield from before
                before = _in_order(kind, batch, made, pack)
            yield from before
        complete = True
    finally:  # also if the caller stops early
        if pack is not None:
            pack.save(complete=complete)


def _pool(workers: int) -> "Pool":
    from interlock.codeviews.folders.pool import Pool  # a slow import that most runs do not need

    return Pool(workers)


def _batch(examined: Iterator[Viewed | Skipped | _Missing]) -> list[Viewed | Skipped | _Missing]:
    batch: list[Viewed | Skipped | _Missing] = []
    size = 0
    for each in islice(examined, BATCH):
        batch.append(each)
        size += each.size if isinstance(each, _Missing) else 0
        if size > WORTH_A_POOL:
            break
    return batch


def _in_order(
    kind: Kind, batch: list[Viewed | Skipped | _Missing], made: Iterator[Made], pack: Pack | None
) -> Iterator[Viewed | Skipped]:
    for each in batch:
        yield _result(kind, each, next(made), pack) if isinstance(each, _Missing) else each


def _result(kind: Kind, missing: _Missing, made: Made, pack: Pack | None) -> Viewed | Skipped:
    found, seen, packed = missing
    if packed is not None and pack is not None and made.view is None and not made.skipped:
        if seen is not None and (view := pack.view(packed)) is not None:
            pack.add(found.path, seen, made.digest, packed.language, view, "")
            return Viewed(found.path, packed.language, *view)
        made = make(kind, found)  # the bytes in the pack are damaged
    if pack is not None and seen is not None and (made.view is not None or made.skipped in BY_CONTENT):
        pack.add(found.path, seen, made.digest, made.language, made.view, made.skipped)
    if made.view is None:
        return Skipped(found.path, made.skipped, found.asked)
    return Viewed(found.path, made.language, *made.view)


def _make_in_processes(kind: Kind, missing: list[_Missing], pool: "Pool") -> Iterator[Made]:
    """Submits all work at once; yields the results on demand."""
    chunks: list[list[Task]] = []
    size = CHUNK_BYTES
    for each in missing:
        if size >= CHUNK_BYTES:
            chunks.append([])
            size = 0
        chunks[-1].append(each.task)
        size += each.size
    outcomes = pool.run(kind, chunks)
    return chain.from_iterable(
        made if made is not None else _make_in_separate_processes(kind, chunk, pool)
        for chunk, made in zip(chunks, outcomes, strict=True)
    )


def _make_in_separate_processes(kind: Kind, chunk: list[Task], pool: "Pool") -> Iterator[Made]:
    """One file of the chunk crashed its process. A separate process for each file identifies it."""
    for task in chunk:
        yield pool.run_alone(kind, task) or Made(b"", skipped="the parser crashed on it")


def _examine(file: FoundFile, pack: Pack | None) -> Viewed | Skipped | _Missing:
    """Reads the pack only. A file that is not current there is read where its view is made."""
    if file.skipped is not None:
        return Skipped(file.path, file.skipped, file.asked)
    seen = see_file(file.path, follow=file.asked)
    if pack is None or seen is None:  # reading the file reports the error
        return _Missing(file, seen, None)
    packed = pack.find(file.path)
    if packed is None or not pack.is_current(packed, seen):
        return _Missing(file, seen, packed if packed is not None and not packed.skipped else None)
    if packed.skipped:
        pack.keep(file.path, packed)
        return Skipped(file.path, packed.skipped, file.asked)
    view = pack.view(packed)
    if view is None:
        return _Missing(file, seen, None)
    pack.keep(file.path, packed)
    return Viewed(file.path, packed.language, *view)


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

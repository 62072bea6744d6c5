"""Writes the tracks of a project as files for people. The files are derived from the state and never delay it."""

import asyncio
import errno
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.trackfiles.folders import exists, folder_in, parts_of, put, put_once, read_start, root_folder
from interlock.views.display import counted
from interlock.views.track_files import (
    METADATA,
    PLAN,
    SPEC,
    STATE,
    is_generated,
    metadata_json,
    plan_md,
    spec_md,
    state_toml,
)

PAUSE_S = 0.25
"""Debounce: changes are collected for this long before they are written."""

REST = 10
"""The pause after a write, as a multiple of its duration: writing uses at most a tenth of a core."""

_MOST_WARNINGS = 5
_TEXTS = {SPEC: spec_md, STATE: state_toml, PLAN: plan_md, METADATA: metadata_json}

Warnings = Sequence[str]


class Timer(Protocol):
    def cancel(self) -> None: ...


class TrackFiles:
    """Writes the latest state in a thread of its own, one write at a time."""

    def __init__(
        self,
        write: Callable[[State], Warnings],
        later: Callable[[float, Callable[[], object]], Timer] | None = None,
    ) -> None:
        self._write = write
        self._loop = asyncio.get_running_loop()
        self._later = later or self._loop.call_later
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trackfiles")
        self._wanted: State | None = None
        self._timer: Timer | None = None
        self._writing: asyncio.Future[Warnings] | None = None
        self._closing = False
        self._warnings: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Failed writes, each listed once."""
        warnings = tuple(self._warnings)
        more = len(warnings) - _MOST_WARNINGS
        if more <= 0:
            return warnings
        return (*warnings[:_MOST_WARNINGS], f"and {counted(more, 'more track')} that could not be written")

    def warn(self, text: str) -> None:
        self._warnings[text] = None

    def show(self, state: State) -> None:
        """Schedules a write of this state. Cheap: called for every durable batch."""
        self._wanted = state
        if self._timer is None and self._writing is None and not self._closing:
            self._timer = self._later(PAUSE_S, self._begin)

    async def close(self, state: State) -> None:
        """Writes this last state before it returns."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await asyncio.wait((self._writing,))
        self._wanted = state
        await asyncio.wait((self._begin(),))
        self._thread.shutdown()

    def _begin(self) -> "asyncio.Future[Warnings]":
        state, self._wanted, self._timer = self._wanted, None, None
        assert state is not None
        began = self._loop.time()
        writing = self._loop.run_in_executor(self._thread, self._write, state)
        writing.add_done_callback(lambda done: self._finished(done, began))
        self._writing = writing
        return writing

    def _finished(self, done: "asyncio.Future[Warnings]", began: float) -> None:
        self._writing = None
        error = done.exception()
        for warning in (f"track files are not written: {error!r}",) if error else done.result():
            self.warn(warning)
        if self._wanted is not None and not self._closing:
            took = self._loop.time() - began
            self._timer = self._later(max(PAUSE_S, REST * took), self._begin)


class TrackWriter:
    """Compares the expected files with the existing ones and writes those that differ."""

    def __init__(self, root: Path, tracks_dir: str) -> None:
        self._root = root
        self._parts = parts_of(tracks_dir)
        self._shown = "/".join(self._parts) or "."
        self._written: dict[str, Track] = {}

    def write(self, state: State) -> list[str]:
        """Returns a sentence for each file that could not be written; never raises OSError."""
        changed = [track for name in state.track_order if (track := state.tracks[name]) is not self._written.get(name)]
        if not changed:
            return []
        warnings: list[str] = []
        try:
            with root_folder(self._root) as root, folder_in(root, self._parts, make=True) as base:
                for track in changed:
                    warnings += self._write_track(base, track)
        except OSError as error:
            warnings.append(_warning(self._shown, error))
        return warnings

    def _write_track(self, base: int, track: Track) -> list[str]:
        place = f"{self._shown}/{track.id}"
        try:
            with folder_in(base, (track.id,), make=True) as folder:
                if self._is_up_to_date(folder, track):
                    self._written[track.id] = track
                    return []
                errors = _write_files(folder, track)
        except OSError as error:
            return [_warning(place, error)]
        if not _unfinished(errors):
            self._written[track.id] = track
        return [_warning(f"{place}/{name}", error) for name, error in errors.items()]

    def _is_up_to_date(self, folder: int, track: Track) -> bool:
        """Whether the files of a track that is seen for the first time are up to date.

        The metadata are written last: if they are right, the rest is right, and a large track need not be rendered.
        """
        if track.id in self._written:
            return False
        metadata = metadata_json(track).encode(errors="replace")
        try:
            right = _existing(folder, METADATA, len(metadata) + 1) == metadata
            return right and all(_existing(folder, name, 1) for name in (PLAN, STATE))
        except OSError:
            return False


def _write_files(folder: int, track: Track) -> dict[str, OSError]:
    """The errors, by file."""
    errors: dict[str, OSError] = {}
    for name in (SPEC, STATE, PLAN, METADATA):
        if name == METADATA and _unfinished(errors):
            break
        try:
            _write_file(folder, name, track)
        except OSError as error:
            errors[name] = error
    return errors


def _unfinished(errors: Mapping[str, OSError]) -> bool:
    """Whether a file must be written again; files that Interlock did not write are left alone."""
    return not all(isinstance(error, FileExistsError) for error in errors.values())


def _write_file(folder: int, name: str, track: Track) -> None:
    content = _TEXTS[name](track).encode(errors="replace")
    if name == SPEC:
        if not exists(folder, METADATA):  # otherwise it existed once, and a person may have removed it
            put_once(folder, SPEC, content)
        return
    existing = _existing(folder, name, len(content) + 1)
    if existing is not None and not is_generated(name, existing, track.id):
        raise FileExistsError(errno.EEXIST, "not written by Interlock, so it is not changed", name)
    if existing != content:
        put(folder, name, content)


def _existing(folder: int, name: str, most: int) -> bytes | None:
    try:
        return read_start(folder, name, most)
    except FileNotFoundError:
        return None


def _warning(place: str, error: OSError) -> str:
    reason = "not a folder; links are not followed" if isinstance(error, NotADirectoryError) else error.strerror
    return f"track files are not written: {place}: {reason or error}"

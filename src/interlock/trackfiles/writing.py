"""The tracks of a project, written for people into its folder. Derived from the state, and never in its way."""

import asyncio
import errno
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.trackfiles.folders import beginning, exists, folder_in, parts_of, put, put_once, root_folder
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
"""Changes gather for this long before they are written."""

REST = 10
"""After a write there is rest for so many times what it took: a large track costs a tenth of a core at most."""

_MOST_SAID = 5
_TEXTS = {SPEC: spec_md, STATE: state_toml, PLAN: plan_md, METADATA: metadata_json}

Complaints = Sequence[str]


class Timer(Protocol):
    def cancel(self) -> None: ...


class TrackFiles:
    """Writes the latest state it was shown, in a thread of its own, one write at a time."""

    def __init__(
        self,
        write: Callable[[State], Complaints],
        later: Callable[[float, Callable[[], object]], Timer] | None = None,
    ) -> None:
        self._write = write
        self._loop = asyncio.get_running_loop()
        self._later = later or self._loop.call_later
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trackfiles")
        self._wanted: State | None = None
        self._timer: Timer | None = None
        self._writing: asyncio.Future[Complaints] | None = None
        self._closing = False
        self._said: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be written, each said once."""
        said = tuple(self._said)
        more = len(said) - _MOST_SAID
        return said if more <= 0 else (*said[:_MOST_SAID], f"and {more} more of tracks that could not be written")

    def warn(self, words: str) -> None:
        self._said[words] = None

    def show(self, state: State) -> None:
        """Cheap: called for every batch of records."""
        self._wanted = state
        if self._timer is None and self._writing is None and not self._closing:
            self._timer = self._later(PAUSE_S, self._begin)

    async def close(self, state: State) -> None:
        """This last state is written when it returns."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await asyncio.wait((self._writing,))
        self._wanted = state
        await asyncio.wait((self._begin(),))
        self._thread.shutdown()

    def _begin(self) -> "asyncio.Future[Complaints]":
        state, self._wanted, self._timer = self._wanted, None, None
        assert state is not None
        began = self._loop.time()
        writing = self._loop.run_in_executor(self._thread, self._write, state)
        writing.add_done_callback(lambda done: self._finished(done, began))
        self._writing = writing
        return writing

    def _finished(self, done: "asyncio.Future[Complaints]", began: float) -> None:
        self._writing = None
        error = done.exception()
        for words in (f"tracks are not written for people: {error!r}",) if error else done.result():
            self.warn(words)
        if self._wanted is not None and not self._closing:
            took = self._loop.time() - began
            self._timer = self._later(max(PAUSE_S, REST * took), self._begin)


class TrackWriter:
    """Compares what is to be with what is there; writes what differs."""

    def __init__(self, root: Path, tracks_dir: str) -> None:
        self._root = root
        self._parts = parts_of(tracks_dir)
        self._shown = "/".join(self._parts) or "."
        self._written: dict[str, Track] = {}

    def write(self, state: State) -> list[str]:
        """Never raises an OSError: gives back in words what could not be written."""
        changed = [track for name in state.track_order if (track := state.tracks[name]) is not self._written.get(name)]
        if not changed:
            return []
        complaints: list[str] = []
        try:
            with root_folder(self._root) as root, folder_in(root, self._parts, make=True) as base:
                for track in changed:
                    complaints += self._write_track(base, track)
        except OSError as error:
            complaints.append(_complaint(self._shown, error))
        return complaints

    def _write_track(self, base: int, track: Track) -> list[str]:
        place = f"{self._shown}/{track.id}"
        try:
            with folder_in(base, (track.id,), make=True) as folder:
                if self._is_right(folder, track):
                    self._written[track.id] = track
                    return []
                wrong = _write_files(folder, track)
        except OSError as error:
            return [_complaint(place, error)]
        if not _unfinished(wrong):
            self._written[track.id] = track
        return [_complaint(f"{place}/{name}", error) for name, error in wrong.items()]

    def _is_right(self, folder: int, track: Track) -> bool:
        """Seen for the first time: the metadata are written last, so where they are right the rest is, and a large
        track need not be made only to be compared.
        """
        if track.id in self._written:
            return False
        metadata = metadata_json(track).encode(errors="replace")
        try:
            right = _there(folder, METADATA, len(metadata) + 1) == metadata
            return right and all(_there(folder, name, 1) for name in (PLAN, STATE))
        except OSError:
            return False


def _write_files(folder: int, track: Track) -> dict[str, OSError]:
    """What went wrong, by file."""
    wrong: dict[str, OSError] = {}
    for name in (SPEC, STATE, PLAN, METADATA):
        if name == METADATA and _unfinished(wrong):
            break
        try:
            _write_file(folder, name, track)
        except OSError as error:
            wrong[name] = error
    return wrong


def _unfinished(wrong: Mapping[str, OSError]) -> bool:
    """Something has to be written again; what stands there and is not ours is simply left."""
    return not all(isinstance(error, FileExistsError) for error in wrong.values())


def _write_file(folder: int, name: str, track: Track) -> None:
    content = _TEXTS[name](track).encode(errors="replace")
    if name == SPEC:
        if not exists(folder, METADATA):  # else it was made once, and a person may have removed it
            put_once(folder, SPEC, content)
        return
    found = _there(folder, name, len(content) + 1)
    if found is not None and not is_generated(name, found, track.id):
        raise FileExistsError(errno.EEXIST, "not written by Interlock, so it is left as it is", name)
    if found != content:
        put(folder, name, content)


def _there(folder: int, name: str, most: int) -> bytes | None:
    try:
        return beginning(folder, name, most)
    except FileNotFoundError:
        return None


def _complaint(place: str, error: OSError) -> str:
    reason = "not a folder; links are not followed" if isinstance(error, NotADirectoryError) else error.strerror
    return f"tracks are not written for people: {place}: {reason or error}"

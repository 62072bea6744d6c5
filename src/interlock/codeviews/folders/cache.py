"""The folder of packs: one pack for each list of arguments and kind of view.

Any number of processes may use it at once: a pack is moved into place whole, and the last writer wins.
"""

import contextlib
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from interlock.codeviews.folders.pack import Pack
from interlock.codeviews.views import tokens
from interlock.codeviews.views.view import VERSION, Kind

KEEP_DAYS = 30
KEEP_BYTES = 2_000_000_000
"""The packs used last are kept up to this size."""


def cache_folder(environ: Mapping[str, str]) -> Path:
    """`$XDG_CACHE_HOME/interlock/views`; a relative XDG_CACHE_HOME counts as unset."""
    base = Path(environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "interlock" / "views"


class Cache:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def pack(self, kind: Kind, paths: Sequence[str]) -> Pack:
        """The pack of these arguments. Its name covers everything else that a view depends on."""
        words = [VERSION, kind, tokens.method(), _parser_versions(), os.getcwd(), *paths]
        name = hashlib.blake2b(os.fsencode("\0".join(words)), digest_size=20).hexdigest()
        return Pack(f"{self.folder}/{name}")

    def prune(self) -> None:
        """At most once a day: remove packs that were not written for a month, and the oldest above the size limit."""
        mark = self.folder / "pruned"
        now = time.time()
        with contextlib.suppress(OSError):
            if mark.exists() and now - mark.stat().st_mtime < 86_400:
                return
            mark.touch()
            for path in self.folder.iterdir():
                if path.is_dir():  # earlier versions stored views in folders
                    shutil.rmtree(path, ignore_errors=True)
            packs = [(path.stat(), path) for path in self.folder.iterdir() if path != mark]
            size = 0
            for status, path in sorted(packs, key=lambda each: each[0].st_mtime, reverse=True):
                size += status.st_size
                if now - status.st_mtime > KEEP_DAYS * 86_400 or size > KEEP_BYTES:
                    path.unlink(missing_ok=True)


@cache
def _parser_versions() -> str:
    return " ".join(f"{package}={version}" for package, version in sorted(installed_parsers().items()))


def installed_parsers() -> dict[str, str]:
    """Versions of the parser and its grammars, from the names of their metadata folders: reading those takes longer."""
    versions: dict[str, str] = {}
    for place in reversed(sys.path):  # the first one is imported
        with contextlib.suppress(OSError):
            for name in os.listdir(place or "."):
                if name.startswith("tree_sitter") and name.endswith((".dist-info", ".egg-info")):
                    package, _, version = name.rpartition(".")[0].partition("-")
                    versions[package] = version
    return versions

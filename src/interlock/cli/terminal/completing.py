"""`interlock --complete KIND …`: the ids that a completion script offers, one on each line.

Silent on every error: a message would appear in the middle of a command that a person types. Imports little, because
it runs while the person waits.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from interlock.identity.standing import FOLDER, standing_of, user_state_folder

_PLAIN = re.compile(r"[A-Za-z0-9._/@:+-]{1,200}")
"""Other text would be split or run by a shell."""
_MOST = 500


def complete(kinds: list[str]) -> int:
    """Prints the ids of these kinds. Always succeeds."""
    try:
        root = _project(Path.cwd())
        names = [name for kind in kinds for name in _names(kind, root) if _PLAIN.fullmatch(name)]
        sys.stdout.write("".join(f"{name}\n" for name in dict.fromkeys(names[:_MOST])))
        sys.stdout.flush()
    except Exception:  # noqa: BLE001  a completion must not print
        pass
    return 0


def _names(kind: str, root: Path | None) -> Iterable[str]:
    if kind == "models":
        file = Path(__file__).parents[2] / "providers" / "models.json"
        return (str(model["name"]) for model in json.loads(file.read_text()))
    if root is None or not standing_of(root, user_state_folder()).counts:
        return ()
    if kind == "checkpoints":
        return _checkpoints(root)
    from interlock.journal.ids import KINDS, ids_of

    return ids_of(root / FOLDER, kind) if kind in KINDS else ()


def _checkpoints(root: Path) -> list[str]:
    digest = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:10]
    names: list[str] = []
    for place in (user_state_folder() / "git").glob(f"*-{digest}"):
        refs = place / "checkpoints" / "refs" / "interlock" / "checkpoints"
        names += [ref.name for ref in refs.iterdir() if not ref.name.endswith(".lock")]
    return sorted(names, key=lambda name: (len(name), name), reverse=True)


def _project(start: Path) -> Path | None:
    return next((folder for folder in (start, *start.parents) if (folder / FOLDER).is_dir()), None)

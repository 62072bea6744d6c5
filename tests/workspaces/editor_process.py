"""An editor that saves files again and again while a landing is under way: PROJECT STATE SEED NAME…

It begins when files are being placed and ends when its stdin ends. It prints what it saved last, by file.
"""

import json
import random
import select
import sys
from pathlib import Path


def _begun(state: Path) -> bool:
    for record in state.glob("git/*/landing.json"):
        try:
            return b'"placing"' in record.read_bytes()
        except OSError:
            return False
    return False


def _save(path: Path, text: str, how: int) -> None:
    if how == 0:
        path.write_text(text)
    elif how == 1:  # as editors do that never leave half a file
        draft = path.with_name(f".{path.name}.swp")
        draft.write_text(text)
        draft.replace(path)
    elif how == 2:  # slowly, through a descriptor that is open for long
        with open(path, "r+", encoding="utf-8") as file:
            file.truncate(0)
            for start in range(0, len(text), 7):
                file.write(text[start : start + 7])
                file.flush()
    else:
        path.unlink(missing_ok=True)
        path.write_text(text)


def main(project: Path, state: Path, seed: int, names: list[str]) -> None:
    rng = random.Random(seed)
    saved: dict[str, str] = {}
    print("ready", flush=True)
    while not _begun(state) and not select.select([sys.stdin], [], [], 0)[0]:
        pass
    number = 0
    while not select.select([sys.stdin], [], [], 0.002)[0]:
        number += 1
        name = rng.choice(names)
        text = f"{saved.get(name, '')}edit {number} of {name}\n"
        _save(project / name, text, rng.randrange(4))
        saved[name] = text
    print(json.dumps(saved))
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])

"""Writes three files with more and more care: `python -m tests.faults.forgetful FOLDER`."""

import os
import sys
from pathlib import Path


def main(folder: Path) -> None:
    for name in ("named", "synced", "written"):
        with open(folder / name, "wb") as file:
            file.write(name.encode())
            file.flush()
            if name != "written":
                os.fsync(file.fileno())
        if name == "named":
            descriptor = os.open(folder, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
    with open(folder / "last", "wb") as file:
        os.fsync(file.fileno())
    os.write(1, b"mark written\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Makes a project's folder in a process of its own, and says when it is made: PROJECT STATE."""

import os
import sys
from pathlib import Path

from interlock.identity.making import make_folder

if __name__ == "__main__":
    made = make_folder(Path(sys.argv[1]), Path(sys.argv[2]), "2026-01-01T00:00:00Z")
    os.write(1, f"mark {made}\n".encode())

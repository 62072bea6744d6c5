"""Makes all attempts: `python main.py WISHES.json`, in a folder that holds this package as `tests/security/escape`."""

import os
import sys

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3)))

from tests.security.escape import files, kernel, processes, projects, table

MODULES = (files, kernel, processes, projects)

if __name__ == "__main__":
    table.main()

"""The table of file names that are not opened for a model, made from the user's settings."""

import os
from pathlib import Path

from interlock.assembly.settings.load import load_settings, user_settings_file
from interlock.assembly.settings.settings import Settings
from interlock.domain.checks.closed_names import ClosedNames


def closed_names(settings: Settings) -> ClosedNames:
    """`[secrets]` is the user's alone: a project's file that has this section is refused."""
    return ClosedNames(settings.secrets.files, settings.secrets.exceptions)


def own_closed_names() -> ClosedNames:
    """For a command without a project."""
    return closed_names(load_settings(user_settings_file(os.environ, Path.home()), Path(os.devnull)))

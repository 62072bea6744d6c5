"""Editing what an approval asks about, in the person's editor."""

import os
import tempfile
from pathlib import Path

from interlock.domain.values.approvals import Approval
from interlock.sandbox.jobs.foreground import run_editor
from interlock.views.answers.edits import suffix_of


def edited_text(approval: Approval, text: str, refused: str | None = None) -> str | None:
    """The text after editing; None if it is unchanged. `refused` is an earlier edit; editing begins with it."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="interlock-edit-") as folder:
        file = Path(folder) / f"{approval.ticket or approval.id}.{suffix_of(approval)}"
        file.write_text(text if refused is None else refused)
        if not run_editor(command, file):
            return None
        edited = file.read_text()
    return edited if edited != text else None

"""Current texts of files, for a comparison with earlier texts."""

from collections.abc import Sequence

from interlock.domain.checks.closed_names import ClosedNames
from interlock.errors import ToolFailure
from interlock.tools.files import files, texts
from interlock.tools.files.paths import Root


def texts_of(folder: str, names: ClosedNames, paths: Sequence[str]) -> dict[str, str | None]:
    """Texts by path; None for a missing file. Unreadable, binary and large files are left out."""
    by_path: dict[str, str | None] = {}
    with Root(folder, names) as root:
        for path in paths:
            try:
                content = files.read_if_exists(root, path)
            except ToolFailure:
                continue
            if content is None:
                by_path[path] = None
            elif content.size == len(content.data) and (text := texts.decode(content.data)) is not None:
                by_path[path] = text.text
    return by_path

"""Files as they are now, for whoever compares them with how they were."""

from collections.abc import Sequence

from interlock.errors import ToolFailure
from interlock.tools.files import files, texts
from interlock.tools.files.paths import Root


def texts_of(folder: str, paths: Sequence[str]) -> dict[str, str | None]:
    """None where there is no file; what may not be read, is no text or too large is left out."""
    found: dict[str, str | None] = {}
    with Root(folder) as root:
        for path in paths:
            try:
                content = files.read_or_nothing(root, path)
            except ToolFailure:
                continue
            if content is None:
                found[path] = None
            elif content.size == len(content.data) and (text := texts.decode(content.data)) is not None:
                found[path] = text.text
    return found

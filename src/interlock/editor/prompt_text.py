"""The content of a prompt as one text: text, links to files, and embedded files."""

from collections.abc import Callable, Sequence
from urllib.parse import unquote, urlsplit

from acp.schema import (
    AudioContentBlock,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from interlock.errors import BadValue

Block = TextContentBlock | ImageContentBlock | AudioContentBlock | ResourceContentBlock | EmbeddedResourceContentBlock

MOST_BLOCKS = 1_000


def prompt_text(blocks: Sequence[Block], root: str, closed: Callable[[str], str]) -> str:
    """Raises BadValue for content that the capabilities do not offer, and for a file that is not shown to a model.

    `closed` gives the reason why a file of that name is not shown.
    """
    if len(blocks) > MOST_BLOCKS:
        raise BadValue(f"a prompt has at most {MOST_BLOCKS:,} parts, this one {len(blocks):,}")
    text, embedded = "", ""
    for block in blocks:
        match block:
            case TextContentBlock(text=piece):
                text += piece
            case ResourceContentBlock(uri=uri):
                text += f"`{_shown(uri, root)}`"
            case EmbeddedResourceContentBlock(resource=TextResourceContents(uri=uri, text=content)):
                if reason := closed(_shown(uri, root)):
                    raise BadValue(f"{_shown(uri, root)} is not sent to a model: it {reason}")
                text += f"`{_shown(uri, root)}`"
                embedded += f"\n\nThe content of `{_shown(uri, root)}`:\n\n{_fenced(content)}"
            case EmbeddedResourceContentBlock():
                raise BadValue("Interlock takes embedded texts, not embedded binary files; name the file instead")
            case ImageContentBlock():
                raise BadValue("Interlock takes no images in a prompt; describe what they show")
            case _:
                raise BadValue("Interlock takes no audio in a prompt; write it as text")
    return text + embedded


def _shown(uri: str, root: str) -> str:
    """A file of the project by its path from the root, as the model's tools take it; other links as they are."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return uri
    path = unquote(parts.path)
    inside = path.removeprefix(f"{root}/")
    lines = f" ({parts.fragment})" if parts.fragment else ""
    return f"{inside}{lines}"


def _fenced(text: str) -> str:
    """The text in a fence that is longer than any fence inside it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip(chr(10))}\n{fence}"

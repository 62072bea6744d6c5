"""A view of one source: from bytes and the name of a language to bytes. Nothing else is looked at."""

from typing import Literal

from interlock.codeviews.syntax.detect import CODE

Kind = Literal["skeleton", "curated", "summary", "outline"]
KINDS: tuple[Kind, ...] = ("skeleton", "curated", "summary", "outline")

VERSION = "5"
"""Of stored views: raise it with every change of what a view says, or of how it is stored."""


def view(kind: Kind, source: bytes, language: str, title: str | None = None) -> bytes:
    """`title` is what a summary calls the language if it is not the usual name."""
    match kind:
        case "skeleton" | "curated":
            if language not in CODE:
                return source
            from interlock.codeviews.views.skeleton import skeleton

            return skeleton(source, language, curated=kind == "curated")
        case "outline" if language in CODE:
            from interlock.codeviews.views.outline import outline

            return outline(source, language).encode()
        case "summary" | "outline":  # without definitions the summary is all there is to tell
            from interlock.codeviews.views.summary import summary

            return summary(source, language, title).encode()

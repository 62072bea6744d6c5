"""A view of one source: a function of its bytes and its language."""

from typing import Literal

from interlock.codeviews.syntax.detect import CODE

Kind = Literal["skeleton", "curated", "summary", "outline"]
KINDS: tuple[Kind, ...] = ("skeleton", "curated", "summary", "outline")

VERSION = "5"
"""The version of cached views. Raise it with every change of a view's content or of the cache format."""


def view(kind: Kind, source: bytes, language: str, title: str | None = None) -> bytes:
    """`title` replaces the display name of the language in a summary."""
    match kind:
        case "skeleton" | "curated":
            if language not in CODE:
                return source
            from interlock.codeviews.views.skeleton import skeleton

            return skeleton(source, language, curated=kind == "curated")
        case "outline" if language in CODE:
            from interlock.codeviews.views.outline import outline

            return outline(source, language).encode()
        case "summary" | "outline":  # an outline without definitions is the summary
            from interlock.codeviews.views.summary import summary

            return summary(source, language, title).encode()

"""Markdown of a model as lines of the terminal. Nothing is hidden: HTML and addresses of links are shown as text."""

import io
import sys
from typing import Any

from interlock.cli.terminal.board.rows import Line, width
from interlock.cli.terminal.output import colour_on
from interlock.views.display import safe

_FENCES = ("```", "~~~")
_MOST = 20_000  # characters that are laid out at once


def markdown_lines(text: str, columns: int) -> list[Line]:
    """Safe to print, each at most `columns` wide."""
    shown = safe(text).strip("\n")
    if not shown.strip():
        return []
    if len(shown) > _MOST:
        return plain_lines(shown, columns)
    from markdown_it import MarkdownIt
    from rich.console import Console
    from rich.markdown import Markdown

    document = Markdown("", code_theme="ansi_dark", hyperlinks=False)
    document.parsed = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).parse(shown)
    coloured = colour_on(sys.stdout)
    console: Any = Console(
        file=io.StringIO(),
        width=max(columns, 10),
        force_terminal=True,
        no_color=not coloured,
        color_system="standard",  # 16 colours
        legacy_windows=False,
        highlight=False,
        emoji=False,
    )
    lines: list[Line] = []
    for segments in console.render_lines(document, pad=False):
        plain = "".join(segment.text for segment in segments).rstrip()
        lines.append(Line((_styled(segments) if coloured else plain, width(plain))))
    shown = [number for number, line in enumerate(lines) if line[1]]
    return lines[shown[0] : shown[-1] + 1] if shown else []


def _styled(segments: Any) -> str:
    """The text of the segments with their styles, in 16 colours. The text itself is safe already."""
    from rich.color import ColorSystem

    return "".join(
        one.style.render(one.text, color_system=ColorSystem.STANDARD) if one.style else one.text for one in segments
    )


def plain_lines(text: str, columns: int) -> list[Line]:
    """The text as it is, in pieces of `columns` characters at most."""
    from rich.cells import chop_cells

    lines: list[Line] = []
    for line in safe(text).replace("\t", "    ").split("\n"):
        lines += [Line((piece, width(piece))) for piece in chop_cells(line, max(columns, 10)) or [""]]
    return lines


def finished(text: str) -> int:
    """How much of a text that still grows is laid out for good: up to the last paragraph, outside code blocks."""
    end = at = 0
    fence = ""
    blank = False
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if blank and not fence and line[:1].strip():
            end = at
        if fence:
            fence = "" if stripped.startswith(fence) else fence
        elif stripped.startswith(_FENCES):
            fence = stripped[:3]
        blank = not stripped
        at += len(line)
    return end

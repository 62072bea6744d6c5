"""Simple Markdown as rows: headings, lists, fences, quotes, emphasis and code. No link is followed, no HTML is read."""

import re

from interlock.tui.lines.rows import EMPTY, TAB, Row, Span, pieces, row, wrapped
from interlock.tui.lines.syntax import coloured
from interlock.views.display import counted, safe

_MOST = 2_000  # lines
_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*([\w+#.-]*)")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,3}[.)])\s+(.*)")
_INLINE = re.compile(r"(`[^`\n]+`|\*\*[^*\n]+\*\*)")
_SUFFIX = {"python": "py", "bash": "sh", "shell": "sh", "rust": "rs", "javascript": "js", "typescript": "ts"}


def prose_rows(text: str, width: int, role: str = "text") -> list[Row]:
    rows: list[Row] = []
    fence, language = "", ""
    block: list[str] = []
    lines = safe(text).strip("\n").split("\n")
    for line in lines[:_MOST]:
        found = _FENCE.match(line)
        if found and (not fence or (found[1].startswith(fence) and line.strip() == found[1])):
            if fence:
                rows += _code(block, language, width)
                fence, block = "", []
            else:
                fence, language = found[1], found[2]
        elif fence:
            block.append(line)
        else:
            rows += _line(line, width, role)
    rows += _code(block, language, width) if fence else []
    if len(lines) > _MOST:
        rows.append(row(Span(f"and {counted(len(lines) - _MOST, 'more line')}", "faint")))
    return rows


def _line(line: str, width: int, role: str) -> list[Row]:
    if not line.strip():
        return [EMPTY]
    if line.startswith("#"):
        return wrapped(line.lstrip("# "), width, "accent", bold=True)
    if line.lstrip().startswith(">"):
        return [
            Row((Span("│ ", "faint"), *part.spans)) for part in wrapped(line.lstrip()[1:].strip(), width - 2, "dim")
        ]
    item = _ITEM.fullmatch(line)
    lead = f"{item[1][:12]}{'•' if item[2] in '-*+' else item[2]} " if item else ""
    parts = wrapped(item[3] if item else line, max(10, width - len(lead)), role)
    return [
        Row((Span(lead if not number else " " * len(lead), "accent"), *_inline(part.spans[0].text, role)))
        for number, part in enumerate(parts)
    ]


def _inline(text: str, role: str) -> list[Span]:
    spans: list[Span] = []
    for part in _INLINE.split(text):
        if part.startswith("`") and len(part) > 2:
            spans.append(Span(part[1:-1], "accent", "code"))
        elif part.startswith("**") and len(part) > 4:
            spans.append(Span(part[2:-2], role, "", bold=True))
        elif part:
            spans.append(Span(part, role))
    return spans


def _code(lines: list[str], language: str, width: int) -> list[Row]:
    name = f"code.{_SUFFIX.get(language.lower(), language.lower() or 'txt')}"
    return [
        Row((Span("  "), *piece), on="code")
        for parts in coloured(name, [line.expandtabs(TAB) for line in lines])
        for piece in pieces([Span(text, role) for text, role in parts], max(10, width - 2))
    ]

"""Simple Markdown: headings, fences and emphasis; everything else is shown unchanged."""

from imgui_bundle import imgui

from interlock.gui.drawing.theme import NORMAL
from interlock.gui.drawing.widgets import Ui
from interlock.views.display import counted, safe

_MOST = 600  # lines


def draw_prose(ui: Ui, text: str, colour: int | None = None) -> None:
    fenced = ""
    plain: list[str] = []
    lines = safe(text).split("\n")
    for line in lines[:_MOST]:
        mark = line.strip()
        ticks = len(mark) - len(mark.lstrip("`"))
        if ticks >= 3 and (not fenced or (ticks >= len(fenced) and mark == "`" * ticks)):
            _flush(ui, plain, colour, mono=bool(fenced))
            fenced = "" if fenced else "`" * ticks
        elif not fenced and line.startswith("#"):
            _flush(ui, plain, colour, mono=False)
            ui.wrapped_bold(line.lstrip("# "))
        else:
            plain.append(line if fenced else line.replace("**", ""))
    _flush(ui, plain, colour, mono=bool(fenced))
    if len(lines) > _MOST:
        ui.small(f"and {counted(len(lines) - _MOST, 'more line')}", ui.look.faint)


def _flush(ui: Ui, lines: list[str], colour: int | None, *, mono: bool) -> None:
    words = "\n".join(lines) if mono else "\n".join(lines).strip("\n")
    lines.clear()
    if not words.strip():
        return
    if mono:
        imgui.push_font(ui.look.mono, NORMAL - 1)
    ui.wrapped(words, colour)
    if mono:
        imgui.pop_font()

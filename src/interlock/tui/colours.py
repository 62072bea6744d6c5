"""Roles of colours as styles of the terminal: true colour, the 16 colours of any terminal, or none."""

from collections.abc import Mapping
from typing import Literal

from msgspec.structs import asdict
from rich.style import Style
from textual.theme import BUILTIN_THEMES, Theme

from interlock.desk.palette import DARK, MARK, TINT, mixed

_OF_TEXTUAL = BUILTIN_THEMES["ansi-dark"].variables

Mode = Literal["true", "16", "none"]

_TINTED = ("good", "bad", "planner", "waiting", "running", "accent")
_ANSI = {
    "text": "default",
    "dim": "default",
    "faint": "bright_black",
    "good": "green",
    "running": "bright_blue",
    "waiting": "yellow",
    "bad": "bright_red",
    "accent": "cyan",
    "planner": "magenta",
    "line": "bright_black",
}


def colour_mode(environment: Mapping[str, str]) -> Mode:
    """NO_COLOR wins; a terminal that names 256 colours or true colour gets the palette, all others their own 16."""
    if environment.get("NO_COLOR"):
        return "none"
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "true"
    return "true" if environment.get("TERM", "").endswith(("-256color", "-direct", "-kitty")) else "16"


class Colours:
    def __init__(self, mode: Mode) -> None:
        self.mode: Mode = mode
        self._styles: dict[tuple[str, str, bool, bool], Style] = {}
        self._hex: dict[str, str] = asdict(DARK)
        for role in _TINTED:
            self._hex[f"tint-{role}"] = mixed(self._hex[role], DARK.panel, TINT)
            self._hex[f"mark-{role}"] = mixed(self._hex[role], DARK.panel, MARK)
        self._hex["chosen"] = mixed(DARK.accent, DARK.panel, 0.22)

    def style(self, role: str, on: str = "", *, bold: bool = False, chosen: bool = False) -> Style:
        """`chosen`: the row under the cursor of the list that has the keyboard."""
        key = (role, on, bold, chosen)
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = self._made(role, on, bold=bold, chosen=chosen)
        return style

    def _made(self, role: str, on: str, *, bold: bool, chosen: bool) -> Style:
        if self.mode == "true":
            ground = self._hex["chosen"] if chosen else self._hex.get(on or "panel", DARK.panel)
            return Style(color=self._hex.get(role, DARK.text), bgcolor=ground, bold=bold or None)
        strong = bold or on.startswith("mark-") or (self.mode == "none" and role in ("bad", "waiting"))
        faint = self.mode == "none" and role == "faint"
        pill = on.startswith("tint-") and self.mode == "none" and role == on.removeprefix("tint-")
        colour = None if self.mode == "none" else _ANSI.get(role, "default")
        return Style(color=colour, bold=strong or None, dim=faint or None, reverse=(chosen or pill) or None)


def theme(mode: Mode) -> Theme:
    """The colours of what Textual draws itself: frames, inputs, scrollbars."""
    palette = DARK
    if mode != "true":
        names = dict.fromkeys(("primary", "secondary", "accent", "success", "warning", "error"), "ansi_cyan")
        plain = dict.fromkeys(("foreground", "background", "surface", "panel", "boost"), "ansi_default")
        variables = {"line": "ansi_bright_black", "frame": "ansi_cyan", "code": "ansi_default"}
        variables |= {"beside": "ansi_bright_black", "shade": "ansi_default"}
        return Theme(
            "interlock",
            ansi=True,
            **names,
            **plain,
            variables=_scrollbar({**_OF_TEXTUAL, **variables}, "ansi_bright_black"),
        )
    variables = {"line": palette.line, "frame": palette.accent, "code": palette.code}
    variables |= {"beside": palette.faint, "shade": f"{palette.ground}99"}
    return Theme(
        "interlock",
        primary=palette.accent,
        secondary=palette.running,
        warning=palette.waiting,
        error=palette.bad,
        success=palette.good,
        accent=palette.accent,
        foreground=palette.text,
        background=palette.ground,
        surface=palette.panel,
        panel=palette.panel,
        variables=_scrollbar(variables, palette.line),
    )


def _scrollbar(variables: dict[str, str], colour: str) -> dict[str, str]:
    ground = variables["code"] if colour.startswith("ansi") else DARK.panel
    grabbed = ("scrollbar", "scrollbar-hover", "scrollbar-active")
    return {
        **variables,
        **dict.fromkeys(grabbed, colour),
        **dict.fromkeys(("scrollbar-background", "scrollbar-background-hover", "scrollbar-background-active"), ground),
        "scrollbar-corner-color": ground,
    }

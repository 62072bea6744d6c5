"""Colours, sizes and fonts: a neutral background, colours for states only."""

from pathlib import Path
from typing import ClassVar

import imgui_bundle
from imgui_bundle import imgui, implot
from msgspec.structs import asdict

from interlock.desk.palette import MARK, THEMES, TINT, Palette, mixed, rgb

NORMAL, SMALL = 15.0, 13.0
GAP = 8.0


def contrast(first: str, second: str) -> float:
    """The WCAG contrast ratio: text needs at least 4.5."""
    lights = sorted(
        sum(
            weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
            for weight, part in zip((0.2126, 0.7152, 0.0722), rgb(colour), strict=True)
        )
        for colour in (first, second)
    )
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def u32(colour: str, alpha: int = 255) -> int:
    return alpha << 24 | int(colour[5:7], 16) << 16 | int(colour[3:5], 16) << 8 | int(colour[1:3], 16)


def vec4(colour: str, alpha: float = 1.0) -> imgui.ImVec4:
    return imgui.ImVec4(*rgb(colour), alpha)


class Look:
    """The current theme, with its colours as draw lists need them: `look.good`, `look.dim` …"""

    ground: int
    panel: int
    raised: int
    line: int
    text: int
    dim: int
    faint: int
    good: int
    running: int
    waiting: int
    bad: int
    accent: int
    planner: int
    code: int
    on_good: int
    regular: imgui.ImFont
    bold: imgui.ImFont
    mono: imgui.ImFont
    fonts: ClassVar[Path] = Path(imgui_bundle.__file__).parent / "assets" / "fonts"

    def __init__(self, name: str = "dark") -> None:
        self._drawn: dict[int, set[str]] = {}  # by font: the characters it can draw
        self.use(name)

    def use(self, name: str) -> None:
        self.name = name
        self.palette = palette = THEMES[name]
        for role, colour in asdict(palette).items():
            setattr(self, role, u32(colour))
        self.tints = {role: u32(mixed(colour, palette.panel, TINT)) for role, colour in asdict(palette).items()}
        self.marks = {role: u32(mixed(colour, palette.panel, MARK)) for role, colour in asdict(palette).items()}
        self.by_role: dict[str, int] = {role: u32(colour) for role, colour in asdict(palette).items()}

    def load_fonts(self) -> None:
        self._drawn.clear()
        atlas = imgui.get_io().fonts
        self.regular = self._font(atlas, "Roboto/Roboto-Regular.ttf")
        self.bold = self._font(atlas, "Roboto/Roboto-Bold.ttf")
        self.mono = self._font(atlas, "Inconsolata-Medium.ttf")

    def _font(self, atlas: imgui.ImFontAtlas, file: str) -> imgui.ImFont:
        font = atlas.add_font_from_file_ttf(str(self.fonts / file), NORMAL)
        more = imgui.ImFontConfig()
        more.merge_mode = True
        for fallback in (self.fonts / "DroidSans.ttf", *FALLBACKS):
            if Path(fallback).is_file():  # ImGui reads it only when it needs one of its characters
                atlas.add_font_from_file_ttf(str(fallback), NORMAL, more)
        # Last, because it also has blank glyphs for many letters, such as Greek and Cyrillic.
        atlas.add_font_from_file_ttf(str(self.fonts / "Font_Awesome_6_Free-Solid-900.otf"), NORMAL - 2, more)
        return font

    def drawable(self, words: str, *, spell: bool = False) -> str:
        """`words` with U+FFFD (or `<U+XXXX>` with `spell`) for each character that the current font cannot draw."""
        if words.isascii():
            return words
        font, known = imgui.get_font(), self._drawn.setdefault(imgui.get_font().font_id, set())
        new = set(words) - known
        if not new:
            return words
        baked = imgui.get_font_baked()
        missing: set[str] = set()
        for letter in new:
            code = ord(letter)
            blank = letter.isspace()  # line breaks are in no font
            if (blank and code < 128) or (
                font.is_glyph_in_font(code) and (blank or baked.find_glyph(code).is_visible())
            ):
                known.add(letter)
            else:
                missing.add(letter)
        if not missing:
            return words
        return words.translate({ord(letter): f"<U+{ord(letter):04X}>" if spell else "\ufffd" for letter in missing})

    def apply_style(self) -> None:
        """Set ImGui's and ImPlot's style."""
        style, palette = imgui.get_style(), self.palette
        style.window_padding = imgui.ImVec2(12, 10)
        style.frame_padding = imgui.ImVec2(10, 5)
        style.item_spacing = imgui.ImVec2(GAP, 6)
        style.item_inner_spacing = imgui.ImVec2(6, 4)
        style.cell_padding = imgui.ImVec2(6, 3)
        style.indent_spacing = 16
        style.scrollbar_size = 10
        style.scrollbar_rounding = 6
        style.frame_rounding = 4
        style.child_rounding = 5
        style.popup_rounding = 6
        style.window_rounding = 6
        style.tab_rounding = 4
        style.grab_rounding = 4
        style.window_border_size = 1
        style.child_border_size = 1
        style.frame_border_size = 1
        style.tab_border_size = 0
        style.tab_bar_border_size = 1
        style.tab_bar_overline_size = 0
        style.docking_separator_size = GAP
        style.window_menu_button_position = imgui.Dir.none
        style.window_title_align = imgui.ImVec2(0, 0.5)
        style.disabled_alpha = 0.75
        style.anti_aliased_lines = True
        self._colours(style, palette)
        plot = implot.get_style()
        plot.plot_border_size = 0
        plot.plot_padding = imgui.ImVec2(2, 6)
        plot.set_color_(implot.Col_.frame_bg.value, vec4(palette.panel, 0))
        plot.set_color_(implot.Col_.plot_bg.value, vec4(palette.panel, 0))
        plot.set_color_(implot.Col_.axis_grid.value, vec4(palette.line))
        plot.set_color_(implot.Col_.axis_text.value, vec4(palette.dim))

    def _colours(self, style: imgui.Style, palette: Palette) -> None:
        col = imgui.Col_
        clear = vec4(palette.ground, 0)
        raised = mixed(palette.text, palette.raised, 0.06)
        table: dict[imgui.Col_, imgui.ImVec4] = {
            col.text: vec4(palette.text),
            col.text_disabled: vec4(palette.faint),
            col.window_bg: vec4(palette.panel),
            col.child_bg: clear,
            col.popup_bg: vec4(palette.raised),
            col.border: vec4(palette.line),
            col.border_shadow: clear,
            col.frame_bg: vec4(palette.code),
            col.frame_bg_hovered: vec4(palette.code),
            col.frame_bg_active: vec4(palette.code),
            col.title_bg: vec4(palette.panel),
            col.title_bg_active: vec4(palette.panel),
            col.title_bg_collapsed: vec4(palette.panel),
            col.scrollbar_bg: clear,
            col.scrollbar_grab: vec4(palette.line),
            col.scrollbar_grab_hovered: vec4(palette.faint),
            col.scrollbar_grab_active: vec4(palette.faint),
            col.check_mark: vec4(palette.accent),
            col.checkbox_selected_bg: vec4(palette.code),
            col.input_text_cursor: vec4(palette.text),
            col.text_link: vec4(palette.accent),
            col.drag_drop_target: vec4(palette.accent),
            col.button: vec4(palette.raised),
            col.button_hovered: vec4(raised),
            col.button_active: vec4(palette.line),
            col.header: vec4(palette.raised),
            col.header_hovered: vec4(raised),
            col.header_active: vec4(palette.line),
            col.separator: vec4(palette.ground),  # between docks; lines inside panels use draw lists
            col.separator_hovered: vec4(palette.accent),
            col.separator_active: vec4(palette.accent),
            col.resize_grip: clear,
            col.resize_grip_hovered: vec4(palette.line),
            col.resize_grip_active: vec4(palette.accent),
            col.tab: vec4(palette.panel),
            col.tab_hovered: vec4(palette.raised),
            col.tab_selected: vec4(palette.raised),
            col.tab_selected_overline: vec4(palette.accent),
            col.tab_dimmed: vec4(palette.panel),
            col.tab_dimmed_selected: vec4(palette.raised),
            col.tab_dimmed_selected_overline: vec4(palette.line),
            col.docking_preview: vec4(palette.accent, 0.4),
            col.docking_empty_bg: vec4(palette.ground),
            col.text_selected_bg: vec4(palette.accent, 0.35),
            col.nav_cursor: vec4(palette.accent),
            col.table_header_bg: vec4(palette.panel),
            col.table_border_light: vec4(palette.line),
            col.table_border_strong: vec4(palette.line),
            col.table_row_bg: clear,
            col.table_row_bg_alt: clear,
            col.modal_window_dim_bg: vec4(palette.ground, 0.6),
        }
        for which, colour in table.items():
            style.set_color_(which.value, colour)


FALLBACKS = (
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/noto/NotoSansMono-Regular.ttf",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
)
"""System fonts for characters that the bundled fonts lack."""

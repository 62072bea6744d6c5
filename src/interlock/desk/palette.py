"""The colours of the front ends: a neutral background, colours for states only."""

from msgspec import Struct

TINT = 0.16
"""The part of a colour in the background of text in that colour."""

MARK = 0.42
"""The same for changed words, which stand out from their line."""


class Palette(Struct, frozen=True):
    """The roles of colours, as #rrggbb."""

    ground: str
    panel: str
    raised: str
    line: str
    text: str
    dim: str
    faint: str
    good: str
    running: str
    waiting: str
    bad: str
    accent: str
    planner: str
    code: str
    on_good: str  # text on a green button


DARK = Palette(
    ground="#0f1216",
    panel="#161a20",
    raised="#1c2129",
    line="#2a313b",
    text="#e6e9ee",
    dim="#a3adba",
    faint="#828d9a",
    good="#3fb68b",
    running="#4c9df0",
    waiting="#e0a83e",
    bad="#ee6f5d",
    accent="#39c0c8",
    planner="#a78bfa",
    code="#0b0e12",
    on_good="#06231a",
)
LIGHT = Palette(
    ground="#e9ecf0",
    panel="#fbfcfd",
    raised="#f0f2f5",
    line="#d0d6de",
    text="#1b2027",
    dim="#475160",
    faint="#5d6775",
    good="#116b47",
    running="#1b62b8",
    waiting="#7d5700",
    bad="#b5301f",
    accent="#0a6b73",
    planner="#6443c8",
    code="#ffffff",
    on_good="#ffffff",
)
THEMES = {"dark": DARK, "light": LIGHT}


def rgb(colour: str) -> tuple[float, float, float]:
    return (int(colour[1:3], 16) / 255, int(colour[3:5], 16) / 255, int(colour[5:7], 16) / 255)


def mixed(colour: str, ground: str, part: float) -> str:
    """`part` of the colour mixed with the background."""
    pairs = ((int(colour[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(a * part + b * (1 - part)):02x}" for a, b in pairs)

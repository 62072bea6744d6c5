"""Compares two pictures: tolerates differences between renderers, but none that a person would see."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

BLOCK = 10  # pixels: squares of this size are compared by their mean colour
FAR = 6.0  # of 255, in any of red, green and blue: such a square looks different
ALLOWED = 0.0008  # of all squares: eleven in a window of 1500×950, fewer than a button takes

Rect = tuple[float, float, float, float]


def differing(old: Path, new: Path, but: Sequence[Rect] = ()) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The squares that differ; the rectangles in `but` (x0, y0, x1, y1) are not compared."""
    one, other = _blocks(old), _blocks(new)
    assert one.shape == other.shape, f"{new}: {other.shape} squares, expected {one.shape}"
    squares = np.abs(one - other).max(axis=2) > FAR
    for x0, y0, x1, y1 in but:
        squares[int(y0) // BLOCK : int(y1) // BLOCK + 1, int(x0) // BLOCK : int(x1) // BLOCK + 1] = False
    return squares


def compare(old: Path, new: Path, but: Sequence[Rect] = ()) -> str:
    """Empty if the pictures look the same, else a message. The difference is saved beside the new picture."""
    squares = differing(old, new, but)
    count = int(squares.sum())
    if count <= squares.size * ALLOWED:
        return ""
    rows, columns = np.nonzero(squares)
    mark = new.with_name(f"{new.stem}-difference.png")
    _mark(new, squares).save(mark)
    place = f"{columns.min() * BLOCK},{rows.min() * BLOCK} to {(columns.max() + 1) * BLOCK},{(rows.max() + 1) * BLOCK}"
    return (
        f"{old.name}: {count} of {squares.size} squares differ ({place}). New: {new}  difference: {mark}"
        f"  If that is meant: python -m tests.gui.stills {old.stem}"
    )


def _blocks(file: Path) -> np.ndarray[Any, np.dtype[np.float64]]:
    with Image.open(file) as picture:
        pixels = np.asarray(picture.convert("RGB"), dtype=np.float64)
    high, wide = pixels.shape[0] // BLOCK, pixels.shape[1] // BLOCK
    cut = pixels[: high * BLOCK, : wide * BLOCK]
    return cut.reshape(high, BLOCK, wide, BLOCK, 3).mean(axis=(1, 3))


def _mark(new: Path, squares: np.ndarray[Any, np.dtype[np.bool_]]) -> Image.Image:
    """The new picture faded, with the different squares framed in red."""
    with Image.open(new) as picture:
        pixels = np.array(picture.convert("RGB"))
    where = np.kron(squares, np.ones((BLOCK, BLOCK), dtype=bool))
    high, wide = where.shape
    part = pixels[:high, :wide]
    part[~where] = part[~where] // 3
    part[where, 0] = np.maximum(part[where, 0], 200)
    return Image.fromarray(pixels)

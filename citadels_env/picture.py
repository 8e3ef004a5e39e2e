"""The text of a game as an image, for `render_mode="rgb_array"`."""

from functools import cache
from typing import Any

import numpy as np

SIZE = (1280, 720)  # width and height of every image: those who tile or film them need one size
INK, PAPER = (30, 30, 30), (250, 248, 240)
MARGIN = 16
LARGEST, SMALLEST = 18, 6  # of the letters, in pixels


def of_text(text: str) -> Any:
    """`text` in dark letters, as large as they fit up to LARGEST, long lines broken at spaces: (720, 1280, 3) uint8, a new array."""
    from PIL import Image, ImageDraw  # late: few need it

    width, height = SIZE
    for letters in range(LARGEST, SMALLEST - 1, -1):
        lines = [part for line in text.splitlines() for part in _broken(line, letters, width - 2 * MARGIN)]
        if len(lines) * _spacing(letters) <= height - 2 * MARGIN:
            break
    image = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    for k, line in enumerate(lines):
        draw.text((MARGIN, MARGIN + k * _spacing(letters)), line, fill=INK, font=_font(letters))
    return np.array(image)


def _spacing(letters: int) -> int:
    """From one line to the next."""
    return round(1.3 * letters)


@cache
def _font(letters: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(letters)


def _broken(line: str, letters: int, width: int) -> list[str]:
    """A line as several that are no wider than `width`; those that follow are indented further than the first."""
    font = _font(letters)
    if font.getlength(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip(" ")))
    first, *others = line.split()
    parts = [indent + first]
    for word in others:
        if font.getlength(f"{parts[-1]} {word}") <= width:
            parts[-1] += f" {word}"
        else:
            parts.append(f"{indent}        {word}")
    return parts

"""Bars as inline SVG: parts of a whole side by side, and an interval over them. Drawn in per cent, styled by class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_HEIGHT = 14


@dataclass(frozen=True)
class Part:
    """A part of a bar: the CSS class that paints it, and how many of the whole it stands for."""

    paint: str
    count: int


def bar(parts: Iterable[Part], whole: int, interval: tuple[float, float] | None = None, height: int = _HEIGHT) -> str:
    """A bar of `whole`, from 0 to 100 %. The figures stand in words beside it, so it is hidden from screen readers."""
    drawn, start = [f'<rect class="track" width="100%" height="{height}"/>'], 0.0
    for part in parts:
        width = 100 * part.count / whole if whole else 0.0
        if part.count:
            drawn.append(f'<rect class="{part.paint}" x="{start:.3f}%" width="{width:.3f}%" height="{height}"/>')
        start += width
    if interval is not None:
        drawn.append(_whisker(interval, height))
    return (
        f'<svg class="bar" aria-hidden="true" focusable="false" width="100%" height="{height}">{"".join(drawn)}</svg>'
    )


def _whisker(interval: tuple[float, float], height: int) -> str:
    low, high = (f"{100 * end:.3f}%" for end in interval)
    middle, top, bottom = height / 2, height / 4, 3 * height / 4
    lines = ((low, middle, high, middle), (low, top, low, bottom), (high, top, high, bottom))
    drawn = "".join(f'<line x1="{x1}" y1="{y1:g}" x2="{x2}" y2="{y2:g}"/>' for x1, y1, x2, y2 in lines)
    return f'<g class="whisker">{drawn}</g>'


def swatch(paint: str) -> str:
    """The paint of a part, for a legend."""
    return f'<svg class="swatch" aria-hidden="true" focusable="false" width="12" height="12">{_square(paint)}</svg>'


def _square(paint: str) -> str:
    return f'<rect class="{paint}" width="12" height="12"/>'

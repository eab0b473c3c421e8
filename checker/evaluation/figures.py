"""The paper's Figure 6 as a drawing: what each phase adds, as PNG and SVG (matplotlib, the extra `eval`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.evaluation.phases import STEPS, Phases

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#1f4e79", "#c55a11", "#548235", "#7f3f98", "#7f6000", "#404040")
_MARKERS = ("o", "s", "^", "D", "v", "P")


def draw_phases(courses: Mapping[str, Phases], folder: Path) -> list[Path]:
    """Writes `phases.png` and `phases.svg` into the folder: exact match and binary accuracy of each method after
    Phases I, II, III, and the pairs that Phases II and III set right (up) and wrong (down). Same input, same bytes.
    """
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(11, 3.6), layout="constrained")
        exact, binary, changes = figure.subplots(1, 3)
        for axes, name, title in (
            (exact, "exact_match", "Exact match"),
            (binary, "binary_accuracy", "Binary accuracy"),
        ):
            _lines(axes, courses, name)
            axes.set_title(f"{title} after each phase (%)", fontsize=9)
        _bars(changes, courses)
        figure.legend(
            *exact.get_legend_handles_labels(), loc="outside lower center", ncols=min(6, len(courses)), frameon=False
        )
        return save(figure, folder, "phases")


def styled() -> AbstractContextManager[None]:
    """The look of all figures; a name's dollar signs stay dollar signs."""
    import matplotlib as mpl

    return mpl.rc_context(
        {
            "svg.hashsalt": "paichecker",
            "text.parse_math": False,
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Writes NAME.png and NAME.svg into the folder: same figure, same bytes. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    figure.savefig(paths[0], dpi=200, metadata={"Software": None})
    figure.savefig(paths[1], metadata={"Date": None})
    return paths


def _style(index: int) -> dict[str, Any]:
    return {"color": _COLOURS[index % len(_COLOURS)], "marker": _MARKERS[index % len(_MARKERS)]}


def _lines(axes: Axes, courses: Mapping[str, Phases], name: str) -> None:
    for index, (method, phases) in enumerate(courses.items()):
        values = [100 * getattr(after, name) for after in phases.after]
        axes.plot([after.phase for after in phases.after], values, label=method, **_style(index))
    axes.set_xlabel("after phase")
    axes.grid(axis="y", alpha=0.3)


def _bars(axes: Axes, courses: Mapping[str, Phases]) -> None:
    """One group for each step, one bar each way for each method."""
    width = 0.8 / len(courses)
    for index, phases in enumerate(courses.values()):
        places = [step + (index - (len(courses) - 1) / 2) * width for step in range(len(STEPS))]
        right, wrong = ([getattr(c, name) for c in phases.changes] for name in ("to_correct", "to_incorrect"))
        colour = _style(index)["color"]
        _numbered(axes, places, right, width, colour)
        _numbered(axes, places, [-count for count in wrong], width, colour, alpha=0.45)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.margins(y=0.12)
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    axes.set_xticks(range(len(STEPS)), [f"Phase {before} to {after}" for before, after in STEPS])
    axes.set_title("Pairs set right (up) and wrong (down)", fontsize=9)


def _numbered(
    axes: Axes, places: Sequence[float], counts: Sequence[int], width: float, colour: str, alpha: float = 1
) -> None:
    bars = axes.bar(places, counts, width * 0.9, color=colour, alpha=alpha)
    axes.bar_label(bars, [str(abs(count)) for count in counts], fontsize=7, padding=1)

"""The paper's Figures 2 and 3 as drawings, PNG and SVG (matplotlib, the extra `eval`)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from checker.evaluation.figures import save, styled
from checker.evaluation.solved import Bin, Solved, Standing
from checker.render import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _ORANGE, _GREY = "#1f4e79", "#c55a11", "#7f7f7f"
_MOST_ROWS = 30
_LONGEST_NAME = 60


def draw_solved(study: Solved, folder: Path) -> list[Path]:
    """Writes `solved` and `leaderboard`, each as PNG and SVG. Same input, same bytes. Raises OSError."""
    from matplotlib.figure import Figure

    with styled():
        rates = Figure(figsize=(6.4, 4), layout="constrained")
        _rates(rates.subplots(), study)
        rates.suptitle(_titled("Misaligned pairs by the number of agents that solve them", study), fontsize=9)
        shown = study.standings[:_MOST_ROWS]
        board = Figure(figsize=(8, 1.7 + 0.24 * len(shown)), layout="constrained")
        _board(board.subplots(), shown)
        board.suptitle(_titled(_board_title(study, len(shown)), study), fontsize=9)
        return save(rates, folder, "solved") + save(board, folder, "leaderboard")


def _titled(title: str, study: Solved) -> str:
    return "\n".join([title, *textwrap.wrap(f"judged by {one_line(study.judge)}", 90)])


def _board_title(study: Solved, shown: int) -> str:
    tau = "" if study.tau is None else f" (Kendall's tau {study.tau:.3f})"
    cut = "" if shown == len(study.standings) else f", the best {shown} of {len(study.standings)}"
    return f"Resolved with and without misaligned pairs{cut}; on the right ranks before and after{tau}"


def _rates(axes: Axes, study: Solved) -> None:
    """One bar a bin with its interval, the counts on top; a line for all pairs."""
    for place, one in enumerate(study.bins):
        _bar(axes, place, one)
    if study.misaligned.fraction is not None:
        whole = 100 * study.misaligned.fraction
        axes.axhline(whole, color=_ORANGE, linewidth=1, linestyle="--", label=f"all pairs: {whole:.1f} %")
        axes.legend(frameon=False, loc="upper right")
    names = [str(one.least) if one.least == one.most else f"{one.least}–{one.most}" for one in study.bins]
    axes.set_xticks(range(len(study.bins)), names)
    axes.set_xlabel(f"agents that solve a pair, of {len(study.standings)}")
    axes.set_ylabel("misaligned (%), with 95 % intervals")
    axes.set_xlim(-0.6, len(study.bins) - 0.4)
    axes.set_ylim(0, 125 * max((one.misaligned.high or 0 for one in study.bins), default=1))


def _bar(axes: Axes, place: int, one: Bin) -> None:
    part = one.misaligned
    if not part.of:
        axes.annotate("no pair", (place, 0), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=8)
        return
    rate, low, high = (100 * (value or 0) for value in (part.fraction, part.low, part.high))
    # Rounding may put an end of the interval a hair on the other side of 0 or 100 %.
    reach = [[max(0, rate - low)], [max(0, high - rate)]]
    axes.bar(place, rate, 0.7, color=_BLUE, alpha=0.85)
    axes.errorbar(place, rate, yerr=reach, color="black", capsize=3, linewidth=1)
    counted = f"{part.count}/{part.of}"
    axes.annotate(counted, (place, high), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=8)


def _board(axes: Axes, shown: Sequence[Standing]) -> None:
    """One line a submission: from its rate on all pairs to that without misaligned ones; ranks on the right."""
    for place, one in enumerate(shown):
        before, after = (100 * (part.fraction or 0) for part in (one.all, one.without_label))
        axes.plot([before, after], [place, place], color=_GREY, linewidth=1, zorder=1)
        axes.scatter(before, place, color=_GREY, s=22, zorder=2, label=None if place else "all pairs")
        axes.scatter(after, place, color=_BLUE, s=22, zorder=3, label=None if place else "without misaligned")
        _rank(axes, place, one)
    axes.set_yticks(range(len(shown)), [_short(one.name) for one in shown], fontsize=8)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.margins(x=0.08)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("resolved (%)")
    handles, names = axes.get_legend_handles_labels()
    axes.figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)


def _rank(axes: Axes, place: int, one: Standing) -> None:
    moved = f"{one.rank} → {one.rank_without}" if one.climbs else str(one.rank)
    axes.annotate(
        moved,
        (1, place),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=_ORANGE if one.climbs else _GREY,
    )


def _short(name: str) -> str:
    name = one_line(name)
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"

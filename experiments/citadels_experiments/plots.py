"""The figures of the studies.  Colours are told apart by colour-blind readers too."""

from collections.abc import Sequence
from io import BytesIO

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import fairness
from .study import Record, pair_table, set_table

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#999999"
FEW = 24  # up to so many sets the points carry their numbers


def fairness_and_length(records: Sequence[Record], title: str, margin: float = fairness.MARGIN) -> Figure:
    """Every role set by length and fairness and, where there are pairs to compare, what exchanging a role changes.

    Win shares are smoothed where there are sets enough; a ring marks the sets that are shown to be fair within `margin`.
    """
    sets, pairs = set_table(records, margin), pair_table(records)
    figure = Figure(figsize=(16, 6.4) if len(pairs) else (8, 6.4), layout="constrained")
    figure.suptitle(title)
    if not len(pairs):
        _scatter(figure.subplots(), sets, None)
        return figure
    axes = figure.subplots(1, 3, width_ratios=(1.5, 1, 1))
    rounds, seats = (pairs[pairs["measure"] == measure] for measure in ("rounds", "seat_deviation"))
    _scatter(axes[0], sets, rounds.iloc[int(rounds["difference"].abs().argmax())])
    _changes(axes[1], rounds, 1.0, [f"{row['second']} for {row['first']}" for _, row in rounds.iterrows()])
    axes[1].set(title="Length when one role is exchanged", xlabel="change of mean rounds\n(left: shorter; grey: may be none)")
    _changes(axes[2], seats, 100.0, [""] * len(seats))
    axes[2].set(
        title="Fairness when one role is exchanged", xlabel="change of seat deviation, percentage points\n(left: fairer; grey: may be none)"
    )
    return figure


def _scatter(axes: Axes, sets: pd.DataFrame, split: pd.Series | None) -> None:
    """Sets as points; `split` is the pair of roles that the colours tell apart."""
    groups = [("role sets", sets, BLUE)]
    if split is not None:
        column = f"rank_{split['rank']}"
        roles = ((split["first"], BLUE), (split["second"], ORANGE))
        groups = [(f"with {role}", sets[sets[column] == role], colour) for role, colour in roles]
    few = len(sets) <= FEW
    for label, rows, colour in groups:
        x, (y, low, high) = rows["rounds"], (100 * rows[f"smooth_deviation{end}"] for end in ("", "_low", "_high"))
        error = np.nan_to_num(np.clip([y - low, high - y], 0, None))
        x_error = (rows["rounds_high"] - x).fillna(0)
        axes.errorbar(x, y, yerr=error, xerr=x_error, fmt="none", ecolor=colour, alpha=0.8 if few else 0.15, lw=1)
        axes.scatter(x, y, s=36 if few else 18, color=colour, label=label, zorder=3, edgecolors="white", lw=0.4)
    if few:
        for _, row in sets.iterrows():
            place = (row["rounds"], 100 * row["smooth_deviation"])
            axes.annotate(str(row["set"]), place, xytext=(5, 4), textcoords="offset points", fontsize=9, zorder=4)
    fair = sets[sets["fair"] == 1]
    if len(fair):
        points = f"{100 * fair['margin'].iloc[0]:g}"
        x, y, size = fair["rounds"], 100 * fair["smooth_deviation"], 90 if few else 44
        axes.scatter(x, y, s=size, facecolors="none", edgecolors="black", lw=1, zorder=4, label=f"shown to be fair within ±{points}")
    top = np.nanmax(100 * sets[["smooth_deviation", "smooth_deviation_high"]].to_numpy())
    axes.set_ylim(-0.02 * top, 1.12 * top or 1)  # the space on top is the legend's
    axes.set(
        xlabel="mean rounds\n(left: shorter)",
        ylabel="seat deviation, percentage points\n(down: fairer)",
        title="Role sets, with 95 % intervals",
    )
    axes.legend(loc="upper center", ncols=3, frameon=False, fontsize=9, columnspacing=1.0, handletextpad=0.4)


def _changes(axes: Axes, rows: pd.DataFrame, scale: float, labels: Sequence[str]) -> None:
    """One line per pair with the change and its interval; grey where it is not told apart from no change among so many."""
    places = np.arange(len(rows))
    for place, (_, row) in zip(places, rows.iterrows(), strict=True):
        value, low, high = (scale * row[f"difference{end}"] for end in ("", "_low", "_high"))
        colour = ORANGE if row["q"] <= fairness.ERROR_RATE else GREY
        error = np.nan_to_num([[value - low], [high - value]])
        axes.errorbar([value], [place], xerr=error, fmt="o", color=colour, ms=6, lw=2)
    axes.axvline(0, color="black", lw=1)
    axes.set_yticks(places, labels)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.locator_params(axis="x", nbins=6)
    axes.grid(axis="x", alpha=0.3)


def png(figure: Figure) -> bytes:
    """The figure as a PNG file; the same numbers give the same bytes."""
    file = BytesIO()
    figure.savefig(file, format="png", dpi=120, metadata={"Software": None})
    return file.getvalue()

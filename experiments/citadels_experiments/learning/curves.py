"""The learning curve of a training run, from its tables."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from ..plots import BLUE, GREY, ORANGE
from ..tournament_plots import COLOURS

SMOOTH = 50  # the lines of entropy and value error are means over about a fiftieth of the run


def learning_curve(folder: Path, title: str) -> Figure | None:
    """Win shares with intervals, entropy and value error over environment steps; None before the first iteration."""
    if not (folder / "progress.csv").exists():
        return None
    progress = pd.read_csv(folder / "progress.csv")
    if progress.empty:
        return None
    figure = Figure(figsize=(13, 5), layout="constrained")
    figure.suptitle(title)
    left, right = figure.subplots(1, 2, width_ratios=(1.3, 1))
    evaluations = pd.read_csv(folder / "evaluations.csv") if (folder / "evaluations.csv").exists() else None
    if evaluations is not None and len(evaluations):
        _shares(left, evaluations)
    left.set_xlim(0, progress["steps"].max())
    left.set(title="Wins against fixed opponents in all other seats, with 95 % interval", ylabel="share of games won", ylim=(0, 1))
    _losses(right, progress)
    for axes in (left, right):
        axes.set_xlabel("environment steps (decisions of policies)")
        axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
        axes.grid(alpha=0.3)
    return figure


def _shares(axes: Axes, evaluations: pd.DataFrame) -> None:
    for (name, rows), colour in zip(evaluations.groupby("opponents", sort=False), COLOURS * 3, strict=False):
        axes.plot(rows["steps"], rows["share"], color=colour, marker="o", ms=3, label=f"against {name}: {rows['share'].iloc[-1]:.2f}")
        axes.fill_between(rows["steps"], rows["low"], rows["high"], color=colour, alpha=0.2, lw=0)
    axes.plot(evaluations["steps"], evaluations["fair"], color=GREY, ls="--", label="fair share")
    axes.legend(loc="best", framealpha=0.9)


def _losses(axes: Axes, progress: pd.DataFrame) -> None:
    window = max(1, len(progress) // SMOOTH)
    steps = progress["steps"]
    for place, (name, label, colour) in enumerate(
        (("entropy", "entropy of the answers, nats", BLUE), ("value_error", "squared error of the value", ORANGE))
    ):
        side = axes if place == 0 else axes.twinx()
        side.plot(steps, progress[name], color=colour, alpha=0.2, lw=0.8)
        side.plot(steps, progress[name].rolling(window, min_periods=1).mean(), color=colour, label=label)
        side.set_ylabel(label, color=colour)
        if progress[name].max() > 0:
            side.set_ylim(0, 1.1 * progress[name].max())
    axes.set_title("Entropy and value error")

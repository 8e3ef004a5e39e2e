"""The figures of tournaments."""

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from .ladder import Results
from .plots import BLUE, GREY, ORANGE

BLACK = "#000000"
COLOURS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", BLACK, "#8C6D31")
MARKERS = "osD^vPX*"
PLACES: dict[Literal["outside lower left", "outside lower right"], str] = {
    "outside lower left": "shares",
    "outside lower right": "strengths",
}  # of legends
ITERATIONS = re.compile(r"iterations=(\d+)")


def label(name: str, width: int = 18) -> str:
    """An agent's name over as many lines as it needs."""
    lines = [""]
    for piece in name.replace(":", ":\n").replace(",", ",\n").split("\n"):
        if lines[-1] and len(lines[-1]) + len(piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def standings(results: Results) -> Figure:
    """Win shares against the fair share, head to head, and strengths, strongest agent on top."""
    t, names = results.tournament, results.order
    panels = ["shares"] + (["duels"] if len(results.tables["duels"]) else []) + ["strengths"]
    lines = 1 + max(label(name).count("\n") for name in names)
    figure = Figure(figsize=(4.4 * len(panels) + 0.5 * len(names), 2.1 + max(0.6, 0.24 * lines) * len(names)), layout="constrained")
    figure.suptitle(f"{t.players} players, {results.summary['games']:,} games")
    ratios = [0.8 + 0.06 * len(names) if panel == "duels" else 1 for panel in panels]
    axes = dict(zip(panels, figure.subplots(1, len(panels), squeeze=False, width_ratios=ratios)[0], strict=True))
    _shares(axes["shares"], results, names)
    if "duels" in axes:
        _duels(axes["duels"], results, names)
    _strengths(axes["strengths"], results, names)
    for place, panel in PLACES.items():
        handles, texts = axes[panel].get_legend_handles_labels()
        figure.legend(handles, texts, loc=place, ncols=4, frameon=False, fontsize=9)
    return figure


def _agents(axes: Axes, names: Sequence[str], labels: bool) -> None:
    axes.set_yticks(range(len(names)), [label(f"{place} {name}") for place, name in enumerate(names, start=1)] if labels else [])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)


def _shares(axes: Axes, results: Results, names: Sequence[str]) -> None:
    shown = {"duel": ("one challenger against a field", BLUE, "o"), "mixed": ("mixed line-ups", ORANGE, "s")}
    designs = results.tournament.designs
    for k, design in enumerate(designs):
        rows = results.tables["shares"]
        rows = rows[rows["design"] == design]
        y = np.array([names.index(name) for name in rows["agent"]]) + 0.24 * (k - (len(designs) - 1) / 2)
        _intervals(axes, 100 * rows["share"], 100 * rows["share_low"], 100 * rows["share_high"], y, *shown[design])
    fair = {design: 100 * rows["fair"].max() for design, rows in results.tables["shares"].groupby("design")}
    for design in designs if len({round(share, 3) for share in fair.values()}) > 1 else designs[:1]:
        colour = "black" if len(set(fair.values())) == 1 else shown[design][1]
        axes.axvline(fair[design], color=colour, lw=1, ls="--", label=f"fair share {fair[design]:.1f} %")
    _agents(axes, names, True)
    axes.set_xlim(left=-0.03 * axes.get_xlim()[1])
    axes.set(title="Win share, with 95 % interval", xlabel="games won, %")


def _intervals(
    axes: Axes, value: np.ndarray, low: np.ndarray, high: np.ndarray, y: np.ndarray, text: str | None, colour: str, marker: str
) -> None:
    error = np.nan_to_num(np.clip([value - low, high - value], 0, None))
    axes.errorbar(value, y, xerr=error, fmt=marker, color=colour, ms=6, lw=2, label=text)


def _duels(axes: Axes, results: Results, names: Sequence[str]) -> None:
    duels, fair = results.tables["duels"], 1 / results.tournament.players
    fields = [name for name in names if (duels["field"] == name).any()]
    grid = np.full((len(names), len(fields)), np.nan)
    for _, row in duels.iterrows():
        at = names.index(row["challenger"]), fields.index(row["field"])
        grid[at] = row["share"]
        if not np.isnan(row["share"]):
            dark = row["share"] > fair + 0.62 * (1 - fair) or row["share"] < 0.35 * fair
            colour = "white" if dark else "black"
            axes.text(at[1], at[0] - 0.04, f"{100 * row['share']:.0f}", ha="center", va="bottom", fontsize=11, color=colour)
            if not np.isnan(row["share_low"]):
                interval = f"{100 * row['share_low']:.0f}-{100 * row['share_high']:.0f}"
                axes.text(at[1], at[0] + 0.06, interval, ha="center", va="top", fontsize=8, color=colour)
    axes.imshow(grid, cmap="PuOr_r", norm=TwoSlopeNorm(fair, 0, 1), aspect="auto")
    axes.set_facecolor("#EEEEEE")
    axes.set_xticks(range(len(fields)), [str(names.index(name) + 1) for name in fields])
    axes.set_yticks(range(len(names)), [str(place) for place in range(1, len(names) + 1)])
    axes.tick_params(length=0)
    axes.set(title="Games won by one, %, with 95 % interval", xlabel="against a field of")


def _strengths(axes: Axes, results: Results, names: Sequence[str]) -> None:
    rows = results.tables["strengths"]
    y = np.array([names.index(name) for name in rows["agent"]])
    for name, shift, text, colour, marker in (("winning", -0.12, "by wins", BLACK, "D"), ("finishing", 0.12, "by places", GREY, "v")):
        _intervals(axes, rows[name], rows[f"{name}_low"], rows[f"{name}_high"], y + shift, text, colour, marker)
    axes.axvline(0, color="black", lw=1)
    _agents(axes, names, False)
    axes.tick_params(axis="y", length=0)
    axes.set(title="Strength, with 95 % interval", xlabel="Plackett-Luce: log odds of coming\nbefore an agent of strength 0")


def budgets(results: Results) -> Figure | None:
    """Wins as challenger by iterations of search, for agents that differ in them only; None if there are no two such."""
    points: dict[tuple[str, str], list[tuple[int, pd.Series]]] = {}
    for _, row in results.tables["duels"].iterrows():
        found = ITERATIONS.search(row["challenger"])
        if found and not ITERATIONS.search(row["field"]):
            family = ITERATIONS.sub("", row["challenger"]).replace(":,", ":").rstrip(":,")
            points.setdefault((family, row["field"]), []).append((int(found[1]), row))
    lines = {key: sorted(line, key=lambda point: point[0]) for key, line in points.items() if len(line) > 1}
    if not lines:
        return None
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for k, ((family, field), line) in enumerate(lines.items()):
        value, low, high = (100 * np.array([row["share" + end] for _, row in line]) for end in ("", "_low", "_high"))
        error = np.nan_to_num(np.clip([value - low, high - value], 0, None))
        x = np.array([iterations for iterations, _ in line]) * 1.02 ** (k - (len(lines) - 1) / 2)
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        text = f"{family} against a field of {field}"
        axes.errorbar(x, value, yerr=error, marker=marker, color=colour, ms=6, lw=1.6, label=text)
    fair = 100 / results.tournament.players
    axes.axhline(fair, color="black", lw=1, ls="--", label=f"fair share {fair:.1f} %")
    axes.set_xscale("log")
    ticks = sorted({iterations for line in lines.values() for iterations, _ in line})
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", alpha=0.3)
    axes.set(
        xlabel="iterations a decision",
        ylabel="games won, %, with 95 % interval",
        title=f"Strength of search, {results.tournament.players} players",
    )
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure


def by_players(found: Sequence[Results]) -> Figure:
    """Strengths by number of players, one line per agent."""
    figure = Figure(figsize=(9.5, 6), layout="constrained")
    axes = figure.subplots()
    last = found[-1]
    names = [*last.order, *(name for results in found for name in results.order if name not in last.order)]
    names = list(dict.fromkeys(names))
    for k, name in enumerate(names):
        points = [
            (results.tournament.players, row)
            for results in found
            for _, row in results.tables["strengths"].iterrows()
            if row["agent"] == name
        ]
        if not points:
            continue
        x = np.array([players for players, _ in points]) + 0.05 * (k - (len(names) - 1) / 2)
        value, low, high = (np.array([row["winning" + end] for _, row in points]) for end in ("", "_low", "_high"))
        error = np.nan_to_num(np.clip([value - low, high - value], 0, None))
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        style = "-" if k < len(COLOURS) else "--"
        axes.errorbar(x, value, yerr=error, marker=marker, ls=style, color=colour, ms=6, lw=1.4, label=label(name, 30))
    axes.axhline(0, color="black", lw=0.8)
    axes.set_xticks([results.tournament.players for results in found])
    axes.grid(axis="y", alpha=0.3)
    axes.set(
        xlabel="players",
        ylabel="Plackett-Luce strength\n(log odds of winning against an agent of strength 0)",
        title="Strength by number of players",
    )
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=9)
    return figure

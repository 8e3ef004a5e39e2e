"""A study as text for a terminal."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import fairness
from .study import Record, Study, agent_table, overall, overall_roles, pair_table, set_table
from .text import text_table


def short(roles: Iterable[str]) -> str:
    """A role set in three letters a role."""
    return " ".join(role[:3] for role in roles)


def number(row: Any, name: str, scale: float = 1.0, digits: int = 1, sign: bool = False) -> str:
    """A value with its interval, like ``25.3 [24.1, 26.5]``."""
    value, low, high = (scale * row[name + end] for end in ("", "_low", "_high"))
    plus = "+" if sign else ""
    if pd.isna(low):
        return f"{value:{plus}.{digits}f}"
    return f"{value:{plus}.{digits}f} [{low:{plus}.{digits}f}, {high:{plus}.{digits}f}]"


def study_text(study: Study, records: Sequence[Record], show: int | None = 12, margin: float = fairness.MARGIN) -> str:
    """The tables of a study; of the sets the `show` fairest and least fair ones, or all (None).

    `margin` is how far from 1 / players the win shares of a fair set may be.
    """
    every = overall(records)
    parts = [_overall_text(every), _pairs_text(records), _roles_text(records, study.players), _sets_text(study, records, show, margin)]
    if len(set(study.seats)) > 1:
        rows = agent_table(records, study.seats)
        cells = [(str(r["seat"]), r["agent"], number(r, "win", 100)) for _, r in rows.iterrows()]
        parts.insert(1, "AGENTS\n" + text_table(("player", "agent", "wins %"), cells, (1,)))
    return "\n\n".join(part for part in parts if part)


def _overall_text(every: dict[str, Any]) -> str:
    seats = len([name for name in every if name.startswith("win_") and name.count("_") == 1])
    rows = [
        ("rounds", number(every, "rounds", digits=2)),
        ("score of a player", number(every, "score", digits=2)),
        ("winning score", number(every, "winning_score", digits=2)),
        *(
            (f"wins % of seat {seat}" + (" (first crown)" if seat == 0 else ""), number(every, f"win_{seat}", 100, 2))
            for seat in range(seats)
        ),
        ("seat deviation within a set, points", number(every, "seat_deviation", 100, 2)),
        ("ended by Bell Tower, %", number(every, "bell_tower", 100, 2)),
        ("tied, %", f"{100 * every['tied']:.2f}"),
        ("cut off, %", f"{100 * every['truncated']:.2f}"),
    ]
    return f"ALL {every['sets']} SETS TOGETHER ({every['games']:,} games)\n" + text_table(("", "value [95 % interval]"), rows, (0, 1))


def _pairs_text(records: Sequence[Record]) -> str:
    pairs = pair_table(records)
    if not len(pairs):
        return ""
    rows = []
    for _, group in pairs.groupby("rank"):
        by = {r["measure"]: r for _, r in group.iterrows()}
        first = group.iloc[0]
        shown = (("rounds", 1), ("winning_score", 1), ("seat_deviation", 100), ("bell_tower", 100))
        rows.append((f"{first['second']} for {first['first']}", *(_change(by[name], scale) for name, scale in shown)))
    headers = ("role exchanged", "rounds", "winning score", "seat deviation, points", "Bell Tower, points")
    title = "WHAT EXCHANGING ONE ROLE CHANGES (on average over sets that are equal otherwise)\n"
    note = "* told apart from no change; of all changes with a star about 5 % are expected to be mistakes (q in pairs.csv)."
    return f"{title}{text_table(headers, rows)}\n{note}"


def _change(row: Any, scale: float) -> str:
    return number(row, "difference", scale, 2, True) + ("*" if row["q"] <= fairness.ERROR_RATE else " ")


def _roles_text(records: Sequence[Record], players: int) -> str:
    rows = [
        (r["role"], str(r["rank"]), str(r["sets"]), number(r, "drafted", 100), number(r, "win", 100))
        for _, r in overall_roles(records).iterrows()
    ]
    headers = ("role", "rank", "sets", "drafted, % of rounds", f"wins % of drafters (all: {100 / players:.1f})")
    return "ROLES\n" + text_table(headers, rows)


def _sets_text(study: Study, records: Sequence[Record], show: int | None, margin: float) -> str:
    found = fairness.seats(records)
    table = set_table(records, margin).sort_values("rank")
    n, points = len(table), f"{100 * margin:g}"
    fair, unequal = int(table["fair"].sum()), int((table["q_unequal"] <= fairness.ERROR_RATE).sum())
    title = "ROLE SETS, fairest first"
    if show is not None and n > 2 * show:
        title = f"ROLE SETS: the {show} fairest and the {show} least fair of {n} (all are in sets.csv)"
        table = pd.concat([table.head(show), table.tail(show)])
    rows = []
    for place, (_, r) in enumerate(table.iterrows()):
        if show is not None and n > 2 * show and place == show:
            rows.append(("...",) + ("",) * (8 + study.players))
        rows.append(
            (
                f"{r['rank']:.0f} [{r['rank_low']:.0f}, {r['rank_high']:.0f}]",
                str(r["set"]),
                short(study.sets[r["set"]]),
                *(f"{100 * r[f'smooth_win_{seat}']:.1f}" for seat in range(study.players)),
                number(r, "smooth_deviation", 100),
                "<0.001" if r["q_unequal"] < 0.001 else f"{r['q_unequal']:.3f}",
                "shown" if r["fair"] else "-",
                number(r, "rounds", digits=2),
                f"{r['winning_score']:.1f}",
                f"{100 * r['bell_tower']:.1f}",
            )
        )
    headers = (
        "rank",
        "set",
        "roles",
        *(f"seat {seat} %" for seat in range(study.players)),
        "deviation",
        "q",
        f"fair ±{points}",
        "rounds",
        "winner",
        "Bell %",
    )
    share, error = f"{100 / study.players:.1f}", 196 * float(np.sqrt(np.einsum("sii->si", found.errors).mean()))
    notes = [
        f"seat: wins of the seats counted from the first crown, known within about ±{error:.1f} points. {_smoothing_text(found)}",
        f"deviation: root mean square distance of the seats from {share} %, in points, less what chance adds, with 95 % interval.",
        f"q: false discovery rate of calling the seats unequal: {unequal} of {n} sets have {fairness.ERROR_RATE} or less.",
        f"fair: shown where every seat surely wins {share} ± {points} % (false discovery rate {fairness.ERROR_RATE}): {fair} of {n} sets.",
        "A set that is neither is not known well enough, which does not make it fair; more games tell.",
    ]
    return f"{title}\n{text_table(headers, rows, (2,))}\n" + "\n".join(notes)


def _smoothing_text(found: fairness.Seats) -> str:
    """What the win shares of the table are made of."""
    if not found.smoothed and found.freedom == 0:
        return "They are those of\n  each set's own games: there are too few sets to smooth them."
    fit = f"chi-squared {found.misfit:.0f} on {found.freedom} degrees of freedom, p = {found.p_misfit:.2g}"
    if found.p_misfit < fairness.ERROR_RATE:
        fit = f"these do not explain everything ({fit})"
    else:
        fit = f"these explain the sets ({fit})"
    return (
        f"They are smoothed:\n  fitted to all sets by {found.effects - 1} effects of roles and pairs of roles; {fit};\n"
        f"  {100 * found.kept:.0f} % of what else a set's own games show is kept. The unsmoothed shares are in sets.csv."
    )

"""A study as text for a terminal."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

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


def study_text(study: Study, records: Sequence[Record], show: int | None = 12) -> str:
    """The tables of a study; of the sets the `show` fairest and least fair ones, or all (None)."""
    every = overall(records)
    parts = [_overall_text(every), _pairs_text(records), _roles_text(records, study.players), _sets_text(study, records, show)]
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
        ("seat deviation, points", number(every, "seat_deviation", 100, 2)),
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
        rows.append(
            (
                f"{first['second']} for {first['first']}",
                number(by["rounds"], "difference", 1, 2, True),
                number(by["winning_score"], "difference", 1, 2, True),
                number(by["seat_deviation"], "difference", 100, 2, True),
                number(by["bell_tower"], "difference", 100, 2, True),
            )
        )
    headers = ("role exchanged", "rounds", "winning score", "seat deviation, points", "Bell Tower, points")
    return "WHAT EXCHANGING ONE ROLE CHANGES (over sets that are equal otherwise)\n" + text_table(headers, rows)


def _roles_text(records: Sequence[Record], players: int) -> str:
    rows = [
        (r["role"], str(r["rank"]), str(r["sets"]), number(r, "drafted", 100), number(r, "win", 100))
        for _, r in overall_roles(records).iterrows()
    ]
    headers = ("role", "rank", "sets", "drafted, % of rounds", f"wins % of drafters (all: {100 / players:.1f})")
    return "ROLES\n" + text_table(headers, rows)


def _sets_text(study: Study, records: Sequence[Record], show: int | None) -> str:
    table = set_table(records).sort_values(["seat_deviation", "set"])
    title = "ROLE SETS, fairest first"
    if show is not None and len(table) > 2 * show:
        title = f"ROLE SETS: the {show} fairest and the {show} least fair of {len(table)} (all are in sets.csv)"
        table = pd.concat([table.head(show), table.tail(show)])
    rows = []
    for place, (_, r) in enumerate(table.iterrows()):
        if show is not None and len(records) > 2 * show and place == show:
            rows.append(("...",) + ("",) * (6 + study.players))
        rows.append(
            (
                str(r["set"]),
                short(study.sets[r["set"]]),
                number(r, "rounds", digits=2),
                f"{r['score']:.1f}",
                f"{r['winning_score']:.1f}",
                *(number(r, f"win_{seat}", 100, 0).replace(", ", ",") for seat in range(study.players)),
                f"{100 * r['seat_deviation']:.1f}",
                f"{100 * r['bell_tower']:.1f}",
            )
        )
    headers = (
        "set",
        "roles",
        "rounds",
        "score",
        "winner",
        *(f"seat {seat} %" for seat in range(study.players)),
        "deviation",
        "Bell %",
    )
    chance = 100 * float(table["seat_deviation_by_chance"].max())
    note = f"A perfectly fair set stays below a deviation of {chance:.1f} points in 95 of 100 studies of this size."
    return f"{title}\n{text_table(headers, rows, (1,))}\n{note}"

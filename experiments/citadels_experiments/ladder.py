"""Results of tournaments as text: for a terminal, and as the pages of a published ladder."""

import json
import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from citadels_env import EDITIONS

from . import folders, tournament
from .report import number as shown_number
from .text import text_table
from .tournament import Tournament

START, END = "<!-- results: written by `citadels ladder`, do not edit -->", "<!-- end of results -->"
MOST_FAILURES = 10  # shown; all are in failures.jsonl
Table = tuple[Sequence[str], Sequence[Sequence[str]]]  # headers and rows


@dataclass(frozen=True)
class Results:
    """What `tournament.write_results` and the command wrote into a folder."""

    tournament: Tournament
    summary: dict[str, Any]
    tables: dict[str, pd.DataFrame]
    speed: dict[str, dict[str, float]]
    failures: list[dict[str, Any]]
    versions: dict[str, str]

    @property
    def order(self) -> list[str]:
        """The agents, strongest first; those without a finished game last."""
        ranked = list(self.tables["strengths"]["agent"])
        return ranked + [name for name in self.tournament.names if name not in ranked]


def load(folder: Path) -> Results:
    """The results in `folder`; ValueError if it holds no finished tournament."""
    if not (folder / "summary.json").exists():
        raise ValueError(f"{folder} holds no finished tournament")
    manifest = tournament.manifest(folder)
    speed = folder / "speed.json"
    return Results(
        Tournament.from_parameters(manifest["parameters"], check=False),
        folders.read_json(folder / "summary.json"),
        {name: tournament.read_table(folder, name) for name in tournament.TABLES},
        folders.read_json(speed).get("agents", {}) if speed.exists() else {},
        tournament.failures(folder),
        manifest["versions"],
    )


def load_all(folder: Path) -> list[Results]:
    """The results in ``players-N`` below `folder`, by number of players."""
    found = sorted((load(path.parent) for path in folder.glob("players-*/summary.json")), key=lambda r: r.tournament.players)
    if not found:
        raise ValueError(f"{folder} holds no finished tournament (players-N/summary.json)")
    return found


# --- tables --------------------------------------------------------------------


def number(row: Any, name: str, scale: float = 1.0, digits: int = 1, sign: bool = False) -> str:
    """A value with its interval; a dash where nothing was counted."""
    return "-" if pd.isna(row[name]) else shown_number(row, name, scale, digits, sign)


def standings(results: Results) -> Table:
    """One row per agent, strongest first."""
    t, tables = results.tournament, results.tables
    strength = {row["agent"]: row for _, row in tables["strengths"].iterrows()}
    shares = {(row["design"], row["agent"]): row for _, row in tables["shares"].iterrows()}
    rows = []
    for name in results.order:
        own = [shares[design, name] for design in t.designs if (design, name) in shares]
        decisions = [row["decisions"] for row in own if row["games"]]
        rows.append(
            (
                name,
                number(strength[name], "winning", digits=2) if name in strength else "-",
                *(number(shares[d, name], "share", 100) if (d, name) in shares else "-" for d in t.designs),
                number(strength[name], "finishing", digits=2) if name in strength else "-",
                f"{sum(decisions) / len(decisions):.0f}" if decisions else "-",
                f"{results.speed[name]['ms_per_decision']:.3g}" if name in results.speed else "-",
            )
        )
    shown = {"duel": "wins % as challenger", "mixed": "wins % in mixed games"}
    return ("agent", "strength", *(shown[d] for d in t.designs), "strength by places", "decisions a game", "ms a decision"), rows


def head_to_head(results: Results) -> Table | None:
    """The wins of one challenger (row) against a field of copies (column)."""
    duels = {(row["challenger"], row["field"]): row for _, row in results.tables["duels"].iterrows()}
    if not duels:
        return None
    places = {name: str(place) for place, name in enumerate(results.order, start=1)}
    fields = [name for name in results.order if any(f == name for _, f in duels)]
    rows = [
        (f"{places[c]} {c}", *(number(duels[c, f], "share", 100) if (c, f) in duels else "" for f in fields))
        for c in results.order
        if any(challenger == c for challenger, _ in duels)
    ]
    return ("wins % of one, against", *(places[f] if len(rows) > 2 else f for f in fields)), rows


def gains(results: Results) -> Table | None:
    """Two challengers compared against the fields that both met, the better one first."""
    rows = []
    for _, row in results.tables["differences"].iterrows():
        if pd.isna(row["difference"]):
            continue
        better, worse, sign = (row["first"], row["second"], 1) if row["difference"] >= 0 else (row["second"], row["first"], -1)
        low, high = sorted((sign * row["difference_low"], sign * row["difference_high"]))
        shown = {"difference": abs(row["difference"]), "difference_low": low, "difference_high": high}
        rows.append((better, worse, number(shown, "difference", 100, 1, True), str(row["fields"])))
    order = {name: place for place, name in enumerate(results.order)}
    rows.sort(key=lambda row: (order[row[0]], order[row[1]]))
    return (("challenger", "compared with", "wins, points more", "fields"), rows) if rows else None


def failed(results: Results) -> Table | None:
    """The first games that failed."""
    rows = []
    for f in results.failures[:MOST_FAILURES]:
        reason = f["reason"].splitlines()[0] if f["reason"] else ""
        short = reason if len(reason) <= 80 else reason[:77] + "..."
        rows.append((f["agent"], str(f["seat"]), f"{f['replicate']}-{f['block']}-{f['game']}", short, f["file"]))
    more = len(results.failures) - len(rows)
    if more > 0:
        rows.append((f"{more:,} more", "", "", "", "failures.jsonl"))
    return (("agent", "seat", "game", "reason", "played up to there"), rows) if rows else None


def _about(results: Results) -> str:
    s, t = results.summary, results.tournament
    fair = {row["design"]: f"{100 * row['fair']:.1f} %" for _, row in results.tables["shares"].iterrows() if row["games"]}
    text = f"{s['games']:,} games: {s['replicates']:,} replicates of {s['blocks_per_replicate']} blocks of {t.players} games"
    if t.precision is not None:
        text += f"; {s['stopped']} (±{100 * t.precision:g} points, at most {t.blocks:,} replicates)"
    text += f". Fair shares: {', '.join(f'{d} {x}' for d, x in fair.items())}. Intervals: {s['interval']}."
    if s["failed_games"]:
        text += f" {s['failed_games']:,} games failed; {s['failed_blocks']:,} blocks are left out."
    return text


def _misfit(found: dict[str, Any]) -> str:
    """How well the strengths stand for the head-to-head games."""
    largest = found["largest"]
    chance = f", of which chance explains {100 * found['by_chance']:.1f}" if found["by_chance"] is not None else ""
    return (
        f"Misfit of the strengths: head-to-head shares are {100 * found['root_mean_square']:.1f} points off what the strengths give "
        f"(root mean square{chance}); most of all {largest['challenger']} against {largest['field']}, "
        f"{100 * largest['share']:.1f} % instead of {100 * largest['by_strength']:.1f} %."
    )


def _render(results: Results, table_text: Callable[[Table], str], heading: str) -> Iterable[str]:
    yield _about(results)
    yield table_text(standings(results))
    if results.summary.get("misfit"):
        yield _misfit(results.summary["misfit"])
    for title, table in (
        ("Head to head: one challenger against a field of copies", head_to_head(results)),
        ("Differences between challengers against the same fields, from the same seeds", gains(results)),
        ("Failures: their blocks are left out", failed(results)),
    ):
        if table:
            yield heading.format(title)
            yield table_text(table)


def results_text(results: Results) -> str:
    """A tournament for the terminal."""

    def plain(table: Table) -> str:
        text = [i for i, name in enumerate(table[0]) if name in ("agent", "reason", "challenger", "compared with", "played up to there")]
        return text_table(*table, left=[0, *text])

    title = f"{results.tournament.players} PLAYERS"
    return title + "\n" + "\n\n".join(_render(results, plain, "{}")).replace("\n\n", "\n", 1)


def _markdown(table: Table) -> str:
    headers, rows = table
    lines = [headers, ["---"] + ["---:"] * (len(headers) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def command(found: Sequence[Results], out: str = "ladder") -> str:
    """The command that plays these tournaments again."""
    t = found[0].tournament
    players = [r.tournament.players for r in found]
    span = (
        f"{players[0]}-{players[-1]}"
        if len(players) > 1 and players == list(range(players[0], players[-1] + 1))
        else ",".join(map(str, players))
    )
    words = ["citadels", "tournament", *t.agents, "--players", span]
    edition = next((n for n, r in EDITIONS.items() if r.with_(players=t.players, add_districts=t.rules.add_districts) == t.rules), None)
    words += ["--edition", edition] if edition else ["--rules", "rules.json"]
    if edition and t.rules.add_districts:
        every = t.rules.add_districts == t.rules.with_(add_districts="all").add_districts
        words += ["--districts", "all" if every else ",".join(t.rules.add_districts)]
    words += ["--design", t.design, "--blocks", str(t.blocks), "--seed", str(t.seed)]
    words += ["--precision", str(t.precision)] if t.precision is not None else []
    words += ["--anytime"] if t.anytime else []
    words += [word for name in t.fields for word in ("--field", name)]
    words += [word for name, _ in t.modules for word in ("--agents-from", name)]
    return shlex.join([*words, "--out", out])


def sections(folder: Path) -> list[Path]:
    """The folders of tournaments: `folder` itself, and those directly below it; ValueError if there are none."""
    found = [path for path in (folder, *sorted(folder.iterdir())) if any(path.glob("players-*/summary.json"))]
    if not found:
        raise ValueError(f"{folder} holds no finished tournament (players-N/summary.json)")
    return found


def ladder_page(folder: Path, link: Callable[[Path], str] | None = None) -> str:
    """The results in and directly below `folder` as Markdown: how they were made, and the tables of every number of players.

    `link` gives the address under which the page shows a picture.
    """
    parts = []
    for section in sections(folder):
        mark = "###"
        if section != folder:
            parts.append(f"### {section.name.capitalize()}")
            mark = "####"
        parts += _section(section, mark, link, "ladder" if section == folder else f"ladder/{section.name}")
    return "\n\n".join(parts) + "\n"


def _section(folder: Path, mark: str, link: Callable[[Path], str] | None, out: str) -> Iterable[str]:
    found = load_all(folder)
    groups: dict[str, list[Results]] = {}
    for results in found:
        plain = {
            **results.tournament.parameters,
            "sources": "",
            "rules": {**results.tournament.parameters["rules"], "players": 0, "roles": []},
        }
        groups.setdefault(json.dumps(plain, sort_keys=True), []).append(results)
    commands = [command(group, out) for group in groups.values()]
    yield "```bash\n" + "\n".join(commands) + "\n```"
    if any("--rules" in line for line in commands):
        yield "`rules.json` holds the rules that are written in `manifest.json`."
    for versions in {json.dumps(r.versions, sort_keys=True): r.versions for r in found}.values():
        yield "Played with " + ", ".join(f"{name} {value}" for name, value in versions.items()) + "."
    if link and (folder / "ladder.png").exists():
        yield f"![Strength by number of players]({link(folder / 'ladder.png')})"
    for results in found:
        players = results.tournament.players
        yield f"{mark} {players} players"
        yield from _render(results, _markdown, "**{}**")
        curve = folder / f"players-{players}" / "budgets.png"
        if link and curve.exists():
            yield f"![Wins by iterations of search]({link(curve)})"


def write_page(folder: Path, page: Path, pictures: Path | None = None) -> None:
    """Put `ladder_page` between the two marks of the file `page`, and the pictures it shows into the folder `pictures`.

    Raises ValueError if the page does not have the marks.
    """
    text = page.read_text(encoding="utf-8")
    if START not in text or END not in text[text.index(START) :]:
        raise ValueError(f"{page} has no place for results: the lines {START} and {END}")

    def link(picture: Path) -> str:
        assert pictures is not None
        copy = pictures / "-".join(picture.relative_to(folder).parts)
        folders.write(copy, picture.read_bytes())
        return Path(os.path.relpath(copy, page.parent)).as_posix()

    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    before, rest = text.split(START, 1)
    results = ladder_page(folder, link if pictures else None)
    folders.write(page, (before + START + "\n\n" + results + "\n" + END + rest.split(END, 1)[1]).encode())

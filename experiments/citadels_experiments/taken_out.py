"""One game of a study or a tournament, taken out of its folder: played again from its seed, and held against what is written there."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import folders, study, tournament


def game_text(
    folder: Path,
    game: int,
    *,
    set_: int | None = None,
    replicate: int | None = None,
    block: int | None = None,
    modules: Sequence[tuple[str, str]] = (),
) -> str:
    """The notation of a game: number `game` of a set of a study, or of a block of a tournament.

    modules: names and fingerprints of the files that registered further agents.

    Raises ValueError for a folder or a number that is not there, and where the game would not be the one that was played: rules,
    agents or files have changed, or an agent does not play the same game twice.
    """
    manifest = folder / folders.MANIFEST
    if not manifest.exists():
        inside = sorted(path.parent.name for path in folder.glob("players-*/manifest.json"))
        raise ValueError(f"{folder} has no manifest.json" + (f"; it holds {', '.join(inside)}: name one of them" if inside else ""))
    found = folders.read_sealed(manifest)
    parameters: dict[str, Any] = found.get("parameters", {})
    needed = tuple(map(tuple, parameters.get("modules", ())))
    if set(needed) - set(modules):
        names = ", ".join(f"--agents-from {name}" for name, _ in needed)
        raise ValueError(f"{folder} was played with {names}: give the same files, unchanged")
    if found.get("kind") == "study":
        if set_ is None or replicate is not None or block is not None:
            raise ValueError(f"{folder} holds a study: name the game by --set and --game")
        plan = study.Study.from_parameters(parameters)
        _check_same(folder, parameters, plan.parameters)
        return study.recorded_game(plan, set_, game)
    if found.get("kind") != "tournament":
        raise ValueError(f"{folder} holds neither a study nor a tournament")
    if set_ is not None or replicate is None or block is None:
        raise ValueError(f"{folder} holds a tournament: name the game by --replicate, --block and --game")
    t = tournament.Tournament.from_parameters(parameters)
    text, row = tournament.recorded_game(t, replicate, block, game)
    table = tournament.read_games(folder, t.players)
    rows = table[(table["replicate"] == replicate) & (table["block"] == block) & (table["game"] == game)]
    if rows.empty:
        raise ValueError(f"{folder} does not hold that game (yet)")
    there = {name: rows.iloc[0][name] for name in row}
    wrong = [name for name in row if there[name] != row[name]]
    if wrong:
        _check_same(folder, parameters, t.parameters)
        listed = ", ".join(f"{name} {there[name]} there, {row[name]} now" for name in wrong[:3])
        raise ValueError(f"an agent does not play the same game twice ({listed})")
    return text


def _check_same(folder: Path, there: dict[str, Any], now: dict[str, Any]) -> None:
    """ValueError unless rules and agents are those of the folder."""
    for name, what in (("sources", "other versions of rules or agents"), ("files", "other files of networks"), ("aliases", "other agents")):
        if there.get(name) != now.get(name):
            raise ValueError(f"{folder} was played with {what} than there are now ({there.get(name)}, now {now.get(name)})")

"""Tuning the weights of a persona: CMA-ES (Hansen, through the library `cma`) on the share of games it wins.

A candidate is judged by how often it wins against a field of other personas, one seat against all others, rotated
through all seats, over several numbers of players, editions, role sets and district sets.  All candidates of a
generation play the same deals (common random numbers); every generation has new ones.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from citadels_agents import arena, personas
from citadels_agents.weights import WEIGHTS
from citadels_env import AMERICAN, FRENCH, GERMAN, InvalidArgumentError, Rules
from citadels_env.actions import MAX_PLAYERS
from citadels_env.batch import game_seeds
from citadels_env.cards import DISTRICTS
from citadels_env.checks import names_list, one_of, real_number, thread_number, true_or_false, whole_number
from citadels_env.vocabulary import Colour

from . import folders

FIXED = ("inference", "near", "useless")  # switches and figures that stay as they are
NEW = ("Witch", "Tax Collector", "Wizard", "Emperor", "Abbot", "Alchemist", "Navigator", "Diplomat", "Artist")
MIXED = ("Assassin", "Tax Collector", "Magician", "Emperor", "Bishop", "Alchemist", "Architect", "Diplomat", "Artist")
OTHER = ("Witch", "Thief", "Wizard", "King", "Abbot", "Merchant", "Navigator", "Warlord", "Queen")


# What `tune` takes.  Every generation has a seed of its own, made from the run's and its number; `cma` reads 32 bits.
LIMITS = {"generations": (1, 99_999), "population": (4, 10_000), "games": (8, 1_000_000), "seed": (1, 2**32 - 1)}
SIGMA = (1e-6, 100.0)


@dataclass(frozen=True)
class Scenario:
    """Rules to be played, and how much they count."""

    rules: Rules
    weight: float = 1.0


def scenarios(duel: bool = False) -> list[Scenario]:
    """What a candidate must be good at: base and new roles, few and many players, all editions and districts.

    With `duel` two players only.
    """
    if duel:
        return [
            Scenario(GERMAN.with_(players=2), 2.0),
            Scenario(GERMAN.with_(players=2, roles=NEW[:8], add_districts="all")),
            Scenario(FRENCH.with_(players=2, roles=MIXED[:8], add_districts="recommended")),
            Scenario(AMERICAN.with_(players=2, add_districts="all")),
        ]
    return [
        Scenario(GERMAN, 4.0),
        Scenario(GERMAN.with_(players=4, roles=NEW, add_districts="all"), 1.5),
        Scenario(FRENCH.with_(players=4, roles=MIXED, add_districts="recommended")),
        Scenario(AMERICAN.with_(players=5, roles=OTHER, add_districts="all")),
        Scenario(GERMAN.with_(players=6, add_districts="all")),
        Scenario(AMERICAN.with_(players=7, roles=MIXED)),
        Scenario(GERMAN.with_(players=8, roles=OTHER, add_districts="all")),
        Scenario(GERMAN.with_(players=3, roles=NEW[:8]), 1.0),
        Scenario(AMERICAN.with_(players=2, add_districts="all"), 1.0),
    ]


def tuned_entries() -> tuple[Any, Any]:
    """Which entries of a weight vector are tuned, and the scale of a step in each: bool and float64 arrays."""
    base = personas.PERSONAS["heuristic"]
    free, scale = [], []
    for weight in WEIGHTS:
        values = np.atleast_1d(base[weight.name][0])
        open_entries = np.full(values.shape, weight.name not in FIXED)
        if weight.name == "extra":
            open_entries &= np.array([row.colour == Colour.UNIQUE for row in DISTRICTS])
        free.append(open_entries)
        scale.append(np.maximum(0.4, 0.35 * np.abs(values)) if weight.size == 1 else np.full(values.shape, 0.6))
    return np.concatenate(free), np.concatenate(scale)


def judge(vectors: list[Any], field: list[str], games: int, seed: int, threads: int, duel: bool = False) -> Any:
    """How well each weight vector does: its win share over the fair share, averaged over the scenarios and the field."""
    every, scores, total = scenarios(duel), np.zeros(len(vectors)), 0.0
    for number, scenario in enumerate(every):
        players = scenario.rules.players
        rounds = max(1, games // players)
        seeds = np.repeat(game_seeds(seed * 1000 + number, rounds), players)
        table = np.zeros(len(vectors) + len(field), arena.AGENT)
        table["kind"] = arena.WEIGHED
        for k, vector in enumerate(vectors):
            table["w"][k] = table["duel"][k] = personas.from_vector(vector)[0]
        for k, name in enumerate(field):
            table["w"][len(vectors) + k] = personas.PERSONAS[name][0]
            table["duel"][len(vectors) + k] = personas.DUELS[name][0]
        opponents = len(vectors) + np.arange(rounds).repeat(players) % len(field)
        for k in range(len(vectors)):
            seating = np.repeat(opponents[:, None], MAX_PLAYERS, 1).astype(np.int64)
            place = np.tile(np.arange(players), rounds)
            seating[np.arange(len(place)), place] = k
            results = arena.play_seated(scenario.rules, table, seating, seeds, threads)
            share = results["wins"][np.arange(len(place)), place].mean() * players
            scores[k] += scenario.weight * share
        total += scenario.weight
    return scores / total


def tune(
    start: str = "expert",
    field: tuple[str, ...] = ("heuristic", "opportunist"),
    generations: int = 100,
    population: int = 24,
    games: int = 400,
    seed: int = 1,
    sigma: float = 0.5,
    threads: int = 1,
    duel: bool = False,
    out: Path = Path("expert.json"),
    report: Callable[[str], None] = print,
) -> None:
    """Tune the persona `start` against `field`, with `duel` for two players.

    The best mean vector is written to `out` after every generation, with how it was obtained.  A run goes on from
    `out` with the suffix `.state` if that is there.

    Raises InvalidArgumentError (a ValueError) for an unknown persona and an impossible number (`LIMITS`), and `folders.FolderError` (a
    ValueError) if another run writes these files, or if they cannot be written or were changed.
    """
    one_of("start", start, personas.PERSONAS)
    for name in names_list("field", field):
        one_of("field", name, personas.PERSONAS)
    if not field:
        raise InvalidArgumentError("field must name one persona or more")
    numbers = {"generations": generations, "population": population, "games": games, "seed": seed}
    for what, value in numbers.items():
        whole_number(what, value, *LIMITS[what])
    real_number("sigma", sigma, *SIGMA)
    thread_number(threads)
    true_or_false("duel", duel)
    with folders.Writer(out.with_suffix(".lock"), str(out)):
        folders.probe(out.parent)
        _tune(start, field, generations, population, games, seed, sigma, threads, duel, out, report)


def _tune(
    start: str,
    field: tuple[str, ...],
    generations: int,
    population: int,
    games: int,
    seed: int,
    sigma: float,
    threads: int,
    duel: bool,
    out: Path,
    report: Callable[[str], None],
) -> None:
    import pickle

    import cma

    free, scale = tuned_entries()
    origin = personas.to_vector(personas.PERSONAS[start])
    kept = out.with_suffix(".state")
    about: dict[str, Any] = {
        "what": "weights of the persona, tuned by CMA-ES",
        "command": f"citadels tune --start {start} --field {','.join(field)} --generations {generations} --population {population} "
        f"--games {games} --seed {seed} --sigma {sigma}" + (" --duel" if duel else ""),
    }

    def vector(z: Any) -> Any:
        full = origin.copy()
        full[free] = origin[free] + scale[free] * z
        return full

    if kept.exists():
        before, strategy, history = pickle.loads(folders.read_sealed_bytes(kept))
        if before != about["command"].replace(f"--generations {generations} ", ""):
            raise folders.FolderError(f"{kept} belongs to another run: {before}")
    else:
        options = {"popsize": population, "seed": seed, "verbose": -9, "CMA_diagonal": True}
        strategy, history = cma.CMAEvolutionStrategy(np.zeros(int(free.sum())), sigma, options), []
    began = time.perf_counter()
    while strategy.countiter < generations:
        generation = int(strategy.countiter) + 1
        candidates = strategy.ask()
        scores = judge([vector(z) for z in candidates], list(field), games, seed * 100_000 + generation, threads, duel)
        strategy.tell(candidates, list(-scores))
        history.append([round(float(scores.mean()), 4), round(float(scores.max()), 4)])
        mean = vector(strategy.result.xfavorite)
        with folders.writing(out):
            personas.save(out, personas.from_vector(mean), **about, history=history)
        state = (about["command"].replace(f"--generations {generations} ", ""), strategy, history)
        folders.write_sealed_bytes(kept, pickle.dumps(state))
        minutes = (time.perf_counter() - began) / 60
        report(
            f"generation {generation}/{generations}: mean {scores.mean():.3f}, best {scores.max():.3f} of the fair share, {minutes:.1f} min"
        )
    final = judge([vector(strategy.result.xfavorite), origin], list(field), 10 * games, 77, threads, duel)
    report(f"tuned {final[0]:.3f}, start {final[1]:.3f} of the fair share, on deals not used in tuning")
    about["check"] = {"tuned": round(float(final[0]), 4), "start": round(float(final[1]), 4), "games per scenario": 10 * games}
    with folders.writing(out):
        personas.save(out, personas.from_vector(vector(strategy.result.xfavorite)), **about, history=history)

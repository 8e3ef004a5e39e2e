"""Tournaments: agents play seat-rotated blocks of games, kept on disk as they come, until all are played or the answer is precise.

A block is one seed and one line-up, played once for each seat: game j moves everybody j seats to the left, so that every
agent of the line-up sits everywhere: it balances the seats.  In a *duel* one challenger meets
a field of copies of another agent; *mixed* line-ups are drawn from all agents.  A replicate is one block of every duel, all
of them from one seed, and as many mixed blocks, each from its own seed, as give every agent equally many seats.

Replicates are independent of each other, and all intervals rest on that: what happens within one may be as dependent
as it likes.  Everything is decided by the parameters; threads, interruptions and the clock change no number.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import InitVar, asdict, dataclass
from functools import cached_property
from importlib.util import find_spec
from io import BytesIO, StringIO
from math import gcd
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from citadels_agents import RESULT, AgentError, alias, make, play_lineups
from citadels_agents.registry import named, plays_inside
from citadels_env import EDITIONS, InvalidArgumentError, Rules
from citadels_env.batch import checked_rules
from citadels_env.checks import MAX_GAMES, names_list, one_of, real_number, seed_number, true_or_false, whole_number

from . import folders, stats
from .study import MOST_SEED, files, sources

DESIGNS = ("duel", "mixed")
GROWING = ("blocks",)  # a tournament that holds fewer of these can be extended
FIRST_CHECK = 20  # replicates before the precision is looked at for the first time: fewer tell too little about the width
CHUNK_SECONDS = 5.0  # how long games are played before they are written, roughly
MOST_GAMES = 16384  # in a chunk
TIMED_SECONDS = 1.0  # how long the speed of an agent is measured, roughly


class Block(NamedTuple):
    """A line-up, as numbers of `Tournament.names` by seat of the first game, and the seed of its games."""

    design: str
    lineup: tuple[int, ...]
    seed: int


@dataclass(frozen=True)
class Tournament:
    """What is played: `blocks` replicates, or fewer if all win shares are known within `precision` before.

    With `anytime` the intervals of shares and differences hold at all times at once, so that one may look at the results as
    often as one likes and stop whenever one likes; they are wider, and reaching a `precision` takes several times the games.

    Raises InvalidArgumentError or AgentSpecError (ValueErrors) for what cannot be played.
    """

    rules: Rules
    agents: tuple[str, ...]
    design: str = "both"  # duel, mixed or both
    blocks: int = 500
    seed: int = 0
    precision: float | None = None  # half the width of the interval of each win share
    fields: tuple[str, ...] = ()  # agents that duels are played against; all if none is named
    modules: tuple[tuple[str, str], ...] = ()  # files that define further agents, with their fingerprints
    anytime: bool = False  # confidence sequences in place of intervals
    check: InitVar[bool] = True  # that the agents are known

    def __post_init__(self, check: bool) -> None:
        checked_rules(self.rules)
        known: Callable[[str], str] = named if check else str
        for field, value in (
            ("agents", tuple(map(known, names_list("agents", self.agents)))),
            ("fields", tuple(map(known, names_list("fields", self.fields)))),
            ("design", one_of("design", self.design, (*DESIGNS, "both"))),
            ("blocks", whole_number("blocks", self.blocks, 2, MAX_GAMES)),
            ("seed", seed_number(self.seed, "seed", MOST_SEED)),
            ("precision", None if self.precision is None else real_number("precision", self.precision, 0, 0.5)),
            ("anytime", true_or_false("anytime", self.anytime)),
        ):
            object.__setattr__(self, field, value)
        if self.precision in (0, 0.5):
            raise InvalidArgumentError(f"the precision is half the width of an interval, between 0 and 0.5, not {self.precision}")
        for names in (self.agents, self.fields):
            if len(set(names)) < len(names):
                raise InvalidArgumentError(f"an agent is named twice: {', '.join(names)}")
        if len(self.names) < 2:
            raise InvalidArgumentError("a tournament needs two agents or more")
        for name in self.names if check else ():
            make(name)

    @property
    def players(self) -> int:
        return self.rules.players

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All agents, each once."""
        return tuple(dict.fromkeys((*self.agents, *self.fields)))

    @cached_property
    def designs(self) -> tuple[str, ...]:
        return DESIGNS if self.design == "both" else (self.design,)

    @cached_property
    def duels(self) -> tuple[tuple[int, int], ...]:
        """Challenger and field, as numbers of `names`."""
        fields = [self.names.index(name) for name in self.fields or self.agents]
        challengers = [self.names.index(name) for name in self.agents]
        return tuple((c, f) for c in challengers for f in fields if c != f) if "duel" in self.designs else ()

    def _random(self, replicate: int, purpose: int) -> np.random.SeedSequence:
        return np.random.SeedSequence([self.seed, self.players, replicate, 1 + purpose])

    def _game_seed(self, replicate: int, purpose: int) -> int:
        return int(self._random(replicate, purpose).generate_state(1, np.uint64)[0] >> 1)  # fits into a signed integer

    def replicate(self, number: int) -> list[Block]:
        """The blocks of replicate `number`; how many there are does not depend on it."""
        duel_seed = self._game_seed(number, 1)
        blocks = [Block("duel", (c,) + (f,) * (self.players - 1), duel_seed) for c, f in self.duels]
        if "mixed" in self.designs:
            lineups = mixed_lineups(len(self.names), self.players, np.random.default_rng(self._random(number, 0)))
            blocks += [Block("mixed", lineup, self._game_seed(number, 2 + k)) for k, lineup in enumerate(lineups)]
        return blocks

    @cached_property
    def blocks_per_replicate(self) -> int:
        return len(self.replicate(0))

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Everything that decides the numbers, as plain data."""
        plain = {
            "sources": sources(),
            "agents": self.agents,
            "fields": self.fields,
            "design": self.design,
            "blocks": self.blocks,
            "seed": self.seed,
            "precision": self.precision,
            "anytime": self.anytime,
            "modules": self.modules,
            "rules": asdict(self.rules),
            **files(self.names),
        }
        return dict(json.loads(json.dumps(plain)))

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], check: bool = True) -> "Tournament":
        """The tournament of a manifest; without `check` its agents need not be there."""
        plain = {name: value for name, value in parameters.items() if name not in ("sources", "files", "aliases")}
        for name, spec in parameters.get("aliases", {}).items() if check else ():
            alias(name, spec)
        for name in ("agents", "fields"):
            plain[name] = tuple(plain[name])
        plain["modules"] = tuple(map(tuple, plain["modules"]))
        plain.setdefault("anytime", plain["precision"] is not None)  # in manifests that do not say it
        return cls(**plain | {"rules": Rules.from_dict(plain["rules"])}, check=check)


def mixed_lineups(agents: int, players: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """The fewest line-ups in which all agents have equally many seats, and in each of which no two differ by more than one seat."""
    whole, rest = divmod(players, agents)
    waiting: list[int] = []
    lineups = []
    for _ in range(agents // gcd(agents, rest) if rest else 1):
        chosen, waiting = waiting[:rest], waiting[rest:]
        if len(chosen) < rest:
            fresh = [int(a) for a in rng.permutation(agents)]
            new = [a for a in fresh if a not in chosen][: rest - len(chosen)]
            chosen, waiting = chosen + new, [a for a in fresh if a not in new]
        lineups.append(tuple(int(a) for a in rng.permutation(list(range(agents)) * whole + chosen)))
    return lineups


def rotated(lineup: Sequence[Any], game: int) -> tuple[Any, ...]:
    """Who sits where in game number `game` of a block."""
    return tuple(lineup[(seat - game) % len(lineup)] for seat in range(len(lineup)))


# --- playing -------------------------------------------------------------------


class AgentFailedError(RuntimeError):
    """An agent gave an illegal answer or raised, and the tournament was to stop then."""


def columns(players: int) -> dict[str, str]:
    """The columns of the table of games with their types.  In a failed game all numbers of the game itself are 0."""
    seats = range(players)
    return {
        "design": "str",
        "replicate": "int64",
        "block": "int64",  # within the replicate
        "game": "int64",  # within the block
        "seed": "int64",
        **{f"agent_{seat}": "str" for seat in seats},
        **dict.fromkeys(("failed", "rounds", "decisions", "truncated", "bell_tower", "first_crown"), "int64"),
        **{f"score_{seat}": "int64" for seat in seats},
        **{f"win_{seat}": "float64" for seat in seats},  # ties share the win
        **{f"decisions_{seat}": "int64" for seat in seats},
    }


def _play(t: Tournament, first: int, last: int, threads: int) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Play the blocks `first` to `last` - 1 of the whole tournament; their games and what failed in them."""
    places, lineups, seeds, designs = [], [], [], []
    per = t.blocks_per_replicate
    for replicate in range(first // per, (last - 1) // per + 1):
        for number, block in enumerate(t.replicate(replicate)):
            if first <= replicate * per + number < last:
                names = [t.names[a] for a in block.lineup]
                for game in range(t.players):
                    places.append((replicate, number, game))
                    lineups.append(rotated(names, game))
                    seeds.append(block.seed)
                    designs.append(block.design)
    results, failed = np.zeros(len(lineups), RESULT), np.zeros(len(lineups), np.int64)
    failures = []
    inside = {name: agent for name in t.names if plays_inside(agent := make(name))}
    seated = [[inside.get(name, name) for name in lineup] for lineup in lineups]
    together = [k for k, lineup in enumerate(lineups) if inside.keys() >= set(lineup)]
    if together:
        numbers = np.array(seeds, np.uint64)[together]
        try:
            results[together] = play_lineups(t.rules, [seated[k] for k in together], numbers, threads=threads)
        except AgentError:  # of a network; which games it costs is seen when they are played one by one
            together = []
    for k in sorted(set(range(len(lineups))) - set(together)):
        try:
            results[k] = play_lineups(t.rules, [seated[k]], np.array([seeds[k]], np.uint64))[0]
        except AgentError as error:
            failed[k] = 1
            replicate, number, game = places[k]
            about: dict[str, Any] = {"replicate": replicate, "block": number, "game": game, "seed": seeds[k]}
            about |= {"seat": int(error.seat), "agent": lineups[k][error.seat], "reason": str(error.reason)}
            failures.append({**about, "file": f"failures/{replicate}-{number}-{game}.txt", "replay": error.replay})
    wins = results["wins"] > 0
    table: dict[str, Any] = {"design": designs, **dict(zip(("replicate", "block", "game"), zip(*places, strict=True), strict=True))}
    table |= {"seed": seeds, "failed": failed}
    table |= {name: results[name] for name in ("rounds", "decisions", "truncated", "bell_tower", "first_crown")}
    for seat in range(t.players):
        table[f"agent_{seat}"] = [lineup[seat] for lineup in lineups]
        table[f"score_{seat}"] = results["scores"][:, seat]
        table[f"win_{seat}"] = wins[:, seat] / np.maximum(wins.sum(axis=1), 1)
        table[f"decisions_{seat}"] = results["seat_decisions"][:, seat]
    types = columns(t.players)
    return pd.DataFrame({n: table[n] if kind == "str" else np.asarray(table[n], kind) for n, kind in types.items()}), failures


def recorded_game(t: Tournament, replicate: int, block: int, game: int) -> tuple[str, dict[str, Any]]:
    """A game of the tournament as text, for `Game.replay`, and its row of the table of games.

    A game in which an agent fails is written down to there.  Raises ValueError if there is no such game.
    """
    for name, number, end in (("replicate", replicate, t.blocks), ("block", block, t.blocks_per_replicate), ("game", game, t.players)):
        if not 0 <= number < end:
            raise ValueError(f"{name} must be 0 to {end - 1} in this tournament, not {number}")
    chosen = t.replicate(replicate)[block]
    lineup, seeds = rotated([t.names[a] for a in chosen.lineup], game), np.array([chosen.seed], np.uint64)
    try:
        results, records = play_lineups(t.rules, [lineup], seeds, record=True)
        text, failed = str(records[0]), 0
    except AgentError as error:
        results, text, failed = np.zeros(1, RESULT), error.replay, 1
    row: dict[str, Any] = {"replicate": replicate, "block": block, "game": game, "seed": chosen.seed, "failed": failed}
    row |= {name: int(results[name][0]) for name in ("rounds", "decisions")}
    row |= {f"agent_{seat}": lineup[seat] for seat in range(t.players)}
    return text, row | {f"score_{seat}": int(results["scores"][0, seat]) for seat in range(t.players)}


Progress = Callable[[int, int], None]  # games played, games at most


def run(
    t: Tournament,
    folder: Path | None = None,
    threads: int = 1,
    on_error: str = "continue",
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Play the tournament and return its games, one row each (`columns`).

    With a `folder`, games are written to ``games.csv`` as they are played, and blocks that are there already are not
    played again: an interrupted tournament goes on, and one of fewer blocks is extended.  Nobody else can write into the folder
    meanwhile.  `folders.FolderError` (a ValueError) if the folder is being written, cannot be written, was changed, or holds
    anything else or more than this tournament.  A game in which an agent fails is described in ``failures.jsonl`` and written
    down up to there in ``failures/``.  With `on_error` "stop" it ends the tournament with `AgentFailedError`; what was played
    before its block stays, and another run goes on from there.
    """
    one_of("on_error", on_error, ("stop", "continue"))
    if folder is None:
        return _run(t, None, threads, on_error, progress)
    with folders.writer(folder, "tournament"):
        return _run(t, folder, threads, on_error, progress)


def _run(t: Tournament, folder: Path | None, threads: int, on_error: str, progress: Progress | None) -> pd.DataFrame:
    kept, tables = (None, []) if folder is None else _continue(folder, t)
    units = Units(t)
    for table in tables:
        units.add(table)
    done = sum(map(len, tables)) // t.players
    per, size = t.blocks_per_replicate, max(1, threads // t.players)
    while True:
        if progress:
            progress(done * t.players, t.blocks * per * t.players)
        replicates, within = divmod(done, per)
        if within == 0 and (replicates >= t.blocks or (replicates == next_check(replicates - 1) and units.precise(replicates))):
            break
        until = t.blocks if t.precision is None else min(t.blocks, next_check(replicates))
        started = time.perf_counter()
        last = min(done + size, until * per)
        table, failures = _play(t, done, last, threads)
        seconds = time.perf_counter() - started
        if failures and on_error == "stop":
            failed = failures[0]
            whole = (failed["replicate"] * per + failed["block"] - done) * t.players
            _keep(kept, table.iloc[:whole], [])
            where = None if kept is None else _write_replay(kept, failed)
            raise AgentFailedError(_failure_text(t, failed) + (f"; the game up to there is in {where}" if where else ""))
        _keep(kept, table, failures)
        units.add(table)
        tables.append(table)
        done = last
        size = min(int(size * min(4.0, CHUNK_SECONDS / max(seconds, 1e-3))) or 1, MOST_GAMES // t.players)
    return pd.concat(tables, ignore_index=True)


def next_check(replicates: int) -> int:
    """After how many replicates the precision is looked at next."""
    check = FIRST_CHECK
    while check <= replicates:
        check += max(1, check // 20)
    return check


def _failure_text(t: Tournament, failure: dict[str, Any]) -> str:
    place = f"replicate {failure['replicate']}, block {failure['block']}, game {failure['game']} (seed {failure['seed']})"
    return f"{failure['agent']} failed at seat {failure['seat']} in {place}, {t.players} players: {failure['reason']}"


class Kept(NamedTuple):
    """The files of a tournament that grow."""

    games: folders.Lines
    failures: folders.Lines


def _files(folder: Path, parameters: dict[str, Any]) -> Kept:
    key = folders.key_of(parameters, "tournament", GROWING)
    header = ",".join(columns(parameters["rules"]["players"]))
    return Kept(folders.Lines(folder / "games.csv", key, header), folders.Lines(folder / "failures.jsonl", key))


def _write_replay(kept: Kept, failure: dict[str, Any]) -> Path:
    path = kept.failures.path.parent / str(failure["file"])
    with folders.writing(path):
        path.parent.mkdir(exist_ok=True)
    return folders.write(path, failure["replay"].encode())


def _keep(kept: Kept | None, table: pd.DataFrame, failures: Iterable[dict[str, Any]]) -> None:
    """Add games to what is kept."""
    if kept is None:
        return
    for failure in failures:  # before the games: without their rows they are played again
        _write_replay(kept, failure)
        kept.failures.add([json.dumps({name: value for name, value in failure.items() if name != "replay"})])
    if len(table):
        kept.games.add(table.to_csv(index=False, header=False, lineterminator="\n").splitlines())


def _continue(folder: Path, t: Tournament) -> tuple[Kept, list[pd.DataFrame]]:
    """The files of `folder` and the games of `t` that they hold, whole blocks only; FolderError if it holds anything else."""
    folders.holds(folder, t.parameters, "tournament", GROWING)
    kept = _files(folder, t.parameters)
    lines = kept.games.resume()
    blocks = len(lines) // t.players
    if blocks > t.blocks * t.blocks_per_replicate:
        raise folders.FolderError(
            f"{folder} holds {blocks // t.blocks_per_replicate:,} blocks of each duel already, more than the {t.blocks:,} asked for; "
            "ask for at least as many, or choose another folder"
        )
    folders.claim(folder, t.parameters, "tournament")
    if len(lines) != blocks * t.players or not blocks:
        lines = lines[: blocks * t.players]
        kept.games.put(lines)
    known = {(f["replicate"], f["block"], f["game"]): f for f in map(json.loads, kept.failures.resume())}
    known = {place: f for place, f in known.items() if place[0] * t.blocks_per_replicate + place[1] < blocks}
    table = _table(kept.games.header, lines, t.players)
    failed = table.loc[table["failed"] == 1, ["replicate", "block", "game"]]
    for place in failed.itertuples(index=False, name=None):
        if place not in known:
            game = f"game {place[2]} of replicate {place[0]}, block {place[1]}"
            raise folders.FolderError(f"{kept.failures.path} says nothing of {game}, which failed: restore the file")
    kept.failures.put([json.dumps(f) for f in known.values()])
    return kept, [table] if blocks else []


def _table(header: str, lines: Sequence[str], players: int) -> pd.DataFrame:
    """The table of the lines of games.csv."""
    table = pd.read_csv(StringIO("\n".join([header, *lines])), dtype=columns(players), keep_default_na=False)
    for seat in range(players):
        won = table[f"win_{seat}"].to_numpy() > 0
        winners = np.round(1 / table.loc[won, f"win_{seat}"])
        table.loc[won, f"win_{seat}"] = 1 / winners  # to the last bit, however the text was read
    return table


def read_games(folder: Path, players: int) -> pd.DataFrame:
    """The games in `folder`, as `run` returns them; FolderError if they are not those that were written."""
    games = _files(folder, manifest(folder)["parameters"]).games
    return _table(games.header, games.read(), players)


def failures(folder: Path) -> list[dict[str, Any]]:
    """What is written in `folder` about games in which an agent failed."""
    return [json.loads(line) for line in _files(folder, manifest(folder)["parameters"]).failures.read()]


def manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a tournament; FolderError if there is none."""
    found = folders.read_sealed(folder / folders.MANIFEST)
    if found.get("kind") != "tournament":
        raise folders.FolderError(f"{folder} holds a {found.get('kind')}, not a tournament")
    return found


def folder_name(t: Tournament, rules_name: str) -> str:
    """The name of the default folder: the same for tournaments that differ in the number of blocks or players only, and for no others.

    rules_name: the edition, or what the rules are called.
    """
    rules = t.rules
    named = EDITIONS.get(rules_name)
    complete = named is not None and named.with_(players=t.players) == rules and rules_name == "german"
    complete &= (t.design, t.seed, t.precision, t.fields, t.modules) == ("both", 0, None, (), ())
    complete &= all(name.isalnum() for name in t.agents)
    deciding = {name: value for name, value in t.parameters.items() if name not in ("sources", *GROWING)}
    deciding["rules"] = {name: value for name, value in deciding["rules"].items() if name not in ("players", "roles")}
    parts = ["tournament", "" if rules_name == "german" else rules_name, *(name.partition(":")[0] for name in t.agents)]
    return folders.name_of(parts, deciding, complete)


# --- counting ------------------------------------------------------------------


class Units:
    """Sums by replicate, over the blocks in which nobody failed.

    The first axis of `wins`, `games`, `seats` and `decisions` is the design (DESIGNS), then come agent and replicate; in
    duels only challengers count.  `seats` counts seats of all games, several in a game for copies.  `duel_wins` and
    `duel_games` are by challenger, field, replicate.  Of every two seats of a game with different agents, `before` counts which finished
    before the other and `won` which won, ties as parts; by replicate, agent, other agent.
    """

    def __init__(self, t: Tournament) -> None:
        self.t = t
        n = len(t.names)
        self.wins, self.games, self.seats, self.decisions = np.zeros((4, len(DESIGNS), n, t.blocks))
        self.failed = np.zeros((len(DESIGNS), n), np.int64)  # blocks left out
        self.duel_wins, self.duel_games = np.zeros((2, n, n, t.blocks))
        self.before, self.won = np.zeros((2, t.blocks, n, n))
        self.played = self.failed_games = self.failed_blocks = 0

    @classmethod
    def of(cls, t: Tournament, games: pd.DataFrame) -> "Units":
        units = cls(t)
        units.add(games)
        return units

    def add(self, games: pd.DataFrame) -> None:
        """Count the games of whole blocks."""
        if not len(games):
            return
        t, seats = self.t, range(self.t.players)
        number = {name: i for i, name in enumerate(t.names)}

        def by_seat(name: str) -> np.ndarray:
            """(blocks, games of a block, seats)"""
            return np.stack([games[f"{name}_{seat}"].to_numpy() for seat in seats], axis=1).reshape(-1, t.players, t.players)

        def of_block(name: str) -> np.ndarray:
            return games[name].to_numpy().reshape(-1, t.players)

        agent = np.stack([games[f"agent_{seat}"].map(number).to_numpy() for seat in seats], axis=1).reshape(-1, t.players, t.players)
        failed = of_block("failed")
        whole = ~failed.any(axis=1)
        self.played += failed.size
        self.failed_games += int(failed.sum())
        self.failed_blocks += int((~whole).sum())
        design = np.array([DESIGNS.index(d) for d in of_block("design")[:, 0]])
        replicate = of_block("replicate")[:, 0]

        lineup = agent[:, 0, :]
        position = (np.arange(t.players)[None, :] - np.arange(t.players)[:, None]) % t.players  # of a seat's agent in the line-up
        wins, decisions = np.zeros((2, *lineup.shape))
        for game in seats:
            wins[:, position[game]] += by_seat("win")[:, game]
            decisions[:, position[game]] += by_seat("decisions")[:, game]

        for place in seats:
            counted = (design == DESIGNS.index("mixed")) | (place == 0)
            first = counted & ~(lineup[:, :place] == lineup[:, place, None]).any(axis=1)  # of the copies of an agent
            at = design, lineup[:, place], replicate
            for sums, where, values in (
                (self.wins, counted, wins[:, place]),
                (self.decisions, counted, decisions[:, place]),
                (self.seats, counted, t.players),
                (self.games, first, t.players),
            ):
                np.add.at(sums, at, np.where(whole & where, values, 0))
            np.add.at(self.failed, at[:2], ~whole & first)
        duels = whole & (design == DESIGNS.index("duel"))
        np.add.at(self.duel_wins, (lineup[duels, 0], lineup[duels, 1], replicate[duels]), wins[duels, 0])
        np.add.at(self.duel_games, (lineup[duels, 0], lineup[duels, 1], replicate[duels]), t.players)

        share = by_seat("win")
        standing = 2 * by_seat("score") + (share > 0)  # winners before losers of equal scores
        for seat in seats:
            for other in seats:
                here, there = agent[whole, :, seat], agent[whole, :, other]
                differ = here != there
                pair = np.broadcast_to(replicate[whole, None], here.shape)[differ], here[differ], there[differ]
                mine, theirs = standing[whole, :, seat][differ], standing[whole, :, other][differ]
                np.add.at(self.before, pair, (mine > theirs) + 0.5 * (mine == theirs))
                np.add.at(self.won, pair, share[whole, :, seat][differ])

    def precise(self, replicates: int) -> bool:
        """Is every win share known as precisely as wanted after so many replicates?

        The width of an ordinary interval hardly depends on where it lies, so stopping at a width leaves it right (Y. Chow
        and H. Robbins, "On the asymptotic theory of fixed-width sequential confidence intervals for the mean", Annals of
        Mathematical Statistics 36, 1965).  Stopping when it excludes some value would not.
        """
        if self.t.precision is None:
            return False
        for wins, games in zip(self.wins.reshape(-1, self.t.blocks), self.games.reshape(-1, self.t.blocks), strict=True):
            if games.any():
                _, low, high = self.share(wins[:replicates], games[:replicates])
                if high - low > 2 * self.t.precision:
                    return False
        return True

    def share(self, wins: np.ndarray, games: np.ndarray) -> stats.Estimate:
        """Wins per game, with the clustered interval or, if asked for, one that holds at any time."""
        played = games > 0
        if not self.t.anytime:
            return stats.clustered_share(wins[played], games[played])
        return stats.anytime(wins[played] / games[played])


# --- tables --------------------------------------------------------------------


def _put(row: dict[str, Any], name: str, estimate: stats.Estimate) -> None:
    row[name], row[f"{name}_low"], row[f"{name}_high"] = (float(x) for x in estimate)


def share_table(units: Units) -> pd.DataFrame:
    """One row per design and agent: its share of the games that it sat in, against its fair share, seats held / players."""
    t, rows = units.t, []
    for d, design in enumerate(DESIGNS):
        for a, agent in enumerate(t.names):
            games, seats = units.games[d, a], units.seats[d, a].sum()
            if design not in t.designs or not (seats or units.failed[d, a]):
                continue
            row: dict[str, Any] = {"design": design, "agent": agent, "blocks": int(games.sum()) // t.players}
            row |= {"failed_blocks": int(units.failed[d, a]), "games": int(games.sum())}
            _put(row, "share", units.share(units.wins[d, a], games) if seats else (np.nan,) * 3)
            row["fair"] = seats / games.sum() / t.players if seats else np.nan
            row["times_fair"] = row["share"] / row["fair"]
            row["decisions"] = units.decisions[d, a].sum() / seats if seats else np.nan  # of one seat in a game
            rows.append(row)
    return pd.DataFrame(rows)


def duel_table(units: Units) -> pd.DataFrame:
    """One row per duel: the share of games that one challenger wins against a field of copies of the other agent.

    `by_strength` is the share that follows from the strengths by wins (`strength_table`): one agent of worth exp(strength)
    against players - 1 of the other's.
    """
    t, rows = units.t, []
    met, pairs = _pairs(units, units.won)
    worth = dict(zip(met.tolist(), np.exp(stats.strengths(pairs.sum(axis=0))), strict=True)) if len(met) else {}
    for c, f in t.duels:
        games = units.duel_games[c, f]
        row: dict[str, Any] = {"challenger": t.names[c], "field": t.names[f], "games": int(games.sum())}
        _put(row, "share", units.share(units.duel_wins[c, f], games) if games.any() else (np.nan,) * 3)
        row["by_strength"] = worth[c] / (worth[c] + (t.players - 1) * worth[f]) if games.any() else np.nan
        rows.append(row | {"fair": 1 / t.players})
    names = ["challenger", "field", "games", "share", "share_low", "share_high", "by_strength", "fair"]
    return pd.DataFrame(rows, columns=None if rows else names)


def misfit(units: Units) -> dict[str, Any] | None:
    """How far the shares of head-to-head games are from those that the strengths give.

    `root_mean_square` over all duels, `by_chance` what the errors of the shares alone would make of it, and the `largest`.
    None where there are so few duels that the strengths can fit each of them.
    """
    duels = duel_table(units)
    duels = duels[duels["games"] > 0]
    if len(duels) < max(1, len({*duels["challenger"], *duels["field"]})):
        return None
    off = duels["share"] - duels["by_strength"]
    errors = [_share_error(units.duel_wins[c, f], units.duel_games[c, f]) for c, f in units.t.duels if units.duel_games[c, f].any()]
    largest = duels.loc[off.abs().idxmax()]
    chance = np.sqrt(np.mean(np.square(errors)))
    return {
        "root_mean_square": float(np.sqrt((off**2).mean())),
        "by_chance": float(chance) if np.isfinite(chance) else None,
        "largest": {name: largest[name] for name in ("challenger", "field", "share", "by_strength")},
    }


def _share_error(wins: np.ndarray, games: np.ndarray) -> float:
    """The standard error of a share of games, from replicates; NaN with one."""
    played = games > 0
    n, total = played.sum(), games.sum()
    residuals = wins[played] - wins.sum() / total * games[played]
    return float(np.sqrt(n / (n - 1) * (residuals**2).sum()) / total) if n > 1 else float("nan")


def _pairs(units: Units, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The agents that met another one, and their `pairs` by replicate, of the replicates that were played."""
    met = np.flatnonzero(units.before.sum(axis=(0, 2)) + units.before.sum(axis=(0, 1)))
    return met, pairs[np.ix_(units.before.any(axis=(1, 2)), met, met)]


def difference_table(units: Units) -> pd.DataFrame:
    """One row per two challengers: how much larger the first one's share of games won is, against the fields that both met.

    Both play from the same seeds, and differences are taken before they are averaged, so the interval is narrower than
    those of the two shares suggest.
    """
    t, rows = units.t, []
    with np.errstate(invalid="ignore"):
        shares = units.duel_wins / units.duel_games
    for i, first in enumerate(t.names):
        for j in range(i + 1, len(t.names)):
            fields = [f for f in range(len(t.names)) if (i, f) in t.duels and (j, f) in t.duels]
            if not fields:
                continue
            values = (shares[i, fields] - shares[j, fields]).mean(axis=0)
            values = values[~np.isnan(values)]
            row: dict[str, Any] = {"first": first, "second": t.names[j], "fields": len(fields), "replicates": len(values)}
            if not t.anytime:
                _put(row, "difference", stats.mean(values.sum(), (values**2).sum(), len(values)))
            else:
                _put(row, "difference", tuple(2 * x - 1 for x in stats.anytime((values + 1) / 2)))
            rows.append(row)
    return pd.DataFrame(rows, columns=None if rows else ["first", "second", "fields", "replicates", "difference"])


def strength_table(units: Units) -> pd.DataFrame:
    """One row per agent, best first: its Plackett-Luce strengths, `winning` from who won, `finishing` from all places.

    An agent that risks its place for the chance to win has a larger winning than finishing strength.
    """
    strengths = {}
    for name, sums in (("winning", units.won), ("finishing", units.before)):
        met, pairs = _pairs(units, sums)
        strengths[name] = stats.strength_intervals(pairs) if len(met) else ()
    rows = []
    for k, agent in enumerate(met):
        row: dict[str, Any] = {"agent": units.t.names[agent]}
        for name, estimate in strengths.items():
            _put(row, name, tuple(end[k] for end in estimate))
        rows.append(row)
    names = ["agent", *(name + end for name in strengths for end in ("", "_low", "_high"))]
    return pd.DataFrame(rows, columns=names).sort_values("winning", ascending=False, kind="stable", ignore_index=True)


TABLES: dict[str, Callable[[Units], pd.DataFrame]] = {
    "shares": share_table,
    "duels": duel_table,
    "differences": difference_table,
    "strengths": strength_table,
}


def _interval_text(t: Tournament) -> str:
    if t.anytime:
        return "95 %, at any time (confidence sequences)"
    return "95 %, for a fixed number of blocks" if t.precision is None else "95 %, for stopping at their width"


def write_results(t: Tournament, games: pd.DataFrame, folder: Path) -> list[Path]:
    """Write the tables as CSV, all of them as ``summary.json``, and the games as Parquet where pyarrow is installed."""
    units = Units.of(t, games)
    replicates = len(games) // (t.players * t.blocks_per_replicate)
    summary: dict[str, Any] = {
        "players": t.players,
        "games": units.played,
        "failed_games": units.failed_games,
        "failed_blocks": units.failed_blocks,
        "replicates": replicates,
        "blocks_per_replicate": t.blocks_per_replicate,
        "stopped": "the precision was reached" if units.precise(replicates) else "all blocks were played",
        "interval": _interval_text(t),
        "misfit": misfit(units),
    }
    paths = []
    for name, table in TABLES.items():
        text = table(units).to_csv(index=False, float_format="%.6g", lineterminator="\n")
        paths.append(folders.write(folder / f"{name}.csv", text.encode()))
        summary[name] = json.loads(read_table(folder, name).to_json(orient="records", double_precision=15))
    paths.append(folders.write_json(folder / "summary.json", summary))
    if find_spec("pyarrow"):
        file = BytesIO()
        games.to_parquet(file, index=False)
        paths.append(folders.write(folder / "games.parquet", file.getvalue()))
    return paths


def read_table(folder: Path, name: str) -> pd.DataFrame:
    """One of the tables that `write_results` wrote; FolderError if it cannot be read."""
    path = folder / f"{name}.csv"
    try:
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:
        raise folders.FolderError(f"{path} cannot be read: {error}") from error


# --- speed ---------------------------------------------------------------------


def measure(t: Tournament, warm: bool = False) -> dict[str, dict[str, float]]:
    """How long each agent takes for a decision when it plays against itself on one thread: a measurement of this machine.

    An agent plays at least one game; unless everything is compiled (`warm`), another one before the clock starts.
    """
    found: dict[str, dict[str, float]] = {}
    for name in t.names:
        games = 1
        try:
            if not warm:
                _timed(t, name, 1)
            while True:
                taken, decisions = _timed(t, name, games)
                if taken >= TIMED_SECONDS / 2:
                    break
                games = int(games * min(16.0, 1 + TIMED_SECONDS / max(taken, 1e-6)))
        except AgentError:
            continue
        per_decision = 1000 * taken / decisions
        found[name] = {"games": games, "decisions": decisions, "seconds": round(taken, 3), "ms_per_decision": float(f"{per_decision:.3g}")}
    return found


def _timed(t: Tournament, name: str, games: int) -> tuple[float, int]:
    seeds = np.arange(games).astype(np.uint64)
    start = time.perf_counter()
    played = play_lineups(t.rules, [[name] * t.players] * games, seeds, threads=1)
    return time.perf_counter() - start, int(played["decisions"].sum())

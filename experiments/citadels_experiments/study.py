"""The study of role sets: many games of each, counted, kept on disk as they come, and turned into tables.

A set's games are decided by its rules, the agents, and a seed made from the study's seed and the set's roles, so
the numbers do not depend on threads, interruptions or which other sets are played, and ``play_games`` with the
seed in the table plays the same games again.

Paired studies use one seed for all sets: game k of every set starts from the same shuffle.  That makes the
difference between two sets sharper, but averages over many sets less sharp, since they rest on fewer shuffles.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import citadels_agents
import citadels_env
from citadels_agents import make, play_games
from citadels_env import ROLES, InvalidArgumentError, Rules
from citadels_env.batch import checked_rules
from citadels_env.checks import MAX_GAMES, items, names_list, seed_number, true_or_false, whole_number

from . import folders, stats

MOST_SEED = 2**63 - 1  # fits into a signed integer, as tables have them
BLOCKS = 20  # blocks of games per set, for the intervals of what is computed over several sets
RANKS = tuple(tuple(row.name for row in ROLES if row.rank == rank) for rank in range(1, 10))
RANK_OF = {row.name: row.rank for row in ROLES}

Record = dict[str, Any]  # what is counted in the games of one set; plain lists and numbers, ready for JSON


# --- the sets ------------------------------------------------------------------


def role_sets(players: int, size: int | None = None, only: Iterable[str] = (), emperor_with_queen: bool = True) -> list[tuple[str, ...]]:
    """Every role set for `players`: one role of each rank, in a fixed order.

    `size` is 8 or 9 roles: by default 8 for two and three players, 9 from four on.  The ninth role is the
    Artist, and from five players on the Artist or the Queen.  A rank that `only` names roles of has these
    roles only.
    """
    size = size or (8 if players < 4 else 9)
    if (size, players) not in citadels_env.cards.FACE_UP:
        raise ValueError(f"{players} players do not play with {size} roles (S-2)")
    wanted = set(only)
    for name in wanted:
        if name not in RANK_OF:
            raise ValueError(f"there is no role {name!r}; the roles are {', '.join(RANK_OF)}")
        if RANK_OF[name] > size:
            raise ValueError(f"{name} is of rank {RANK_OF[name]}; the sets asked for have {size} roles")
        if name == "Queen" and players < 5:
            raise ValueError(f"the Queen needs five or more players, not {players} (S-5)")
    choices = []
    for rank in RANKS[:size]:
        allowed = [name for name in rank if name != "Queen" or players >= 5]
        choices.append([name for name in allowed if name in wanted] or allowed)
    return [roles for roles in product(*choices) if emperor_with_queen or not {"Emperor", "Queen"} <= set(roles)]


@dataclass(frozen=True)
class Study:
    """What is played: for each of `sets`, `games` games under `rules` (its own roles do not count) by `agents`.

    Raises InvalidArgumentError, RulesError or AgentSpecError (all of them ValueErrors) for what cannot be played.
    """

    rules: Rules
    sets: tuple[tuple[str, ...], ...]
    agents: tuple[str, ...] = ("heuristic",)  # one for all seats, or one for each
    games: int = 5000
    seed: int = 0
    paired: bool = False

    def __post_init__(self) -> None:
        checked_rules(self.rules)
        if not items("sets", self.sets, "role sets"):
            raise InvalidArgumentError("a study needs at least one role set")
        for name, value in (
            ("sets", tuple(names_list("sets", roles) for roles in self.sets)),
            ("agents", names_list("agents", self.agents)),
            ("games", whole_number("games", self.games, 2, MAX_GAMES)),  # per set
            ("seed", seed_number(self.seed, "seed", MOST_SEED)),
            ("paired", true_or_false("paired", self.paired)),
        ):
            object.__setattr__(self, name, value)
        if len(self.agents) not in (1, self.players):
            raise InvalidArgumentError(f"name one agent, or one for each of the {self.players} seats, not {len(self.agents)}")
        for agent in dict.fromkeys(self.agents):
            make(agent)
        for index in range(len(self.sets)):
            self.rules_of(index)

    @property
    def players(self) -> int:
        return self.rules.players

    @property
    def seats(self) -> list[str]:
        """The agent of each seat."""
        return list(self.agents) * (self.players if len(self.agents) == 1 else 1)

    def rules_of(self, index: int) -> Rules:
        """The rules of set number `index`."""
        return self.rules.quietly(roles=self.sets[index])

    def seed_of(self, index: int) -> int:
        """The seed that ``play_games`` gets for set number `index`."""
        if self.paired:
            return self.seed
        entropy = [self.seed, *(citadels_env.cards.ROLE_INDEX[role] for role in self.sets[index])]
        return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0] >> 1)  # fits into a signed integer

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Everything that decides the numbers, as plain data."""
        rules = {name: value for name, value in asdict(self.rules).items() if name != "roles"}
        plain = {
            "sources": sources(),
            "games": self.games,
            "seed": self.seed,
            "paired": self.paired,
            "agents": self.seats,
            "rules": rules,
            "sets": [", ".join(roles) for roles in self.sets],
            **files(self.seats),
        }
        return dict(json.loads(json.dumps(plain)))


def files(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Checksums of the files that agents are read from: another file of the same name is another player."""
    found = {name: str(make(name).fingerprint) for name in dict.fromkeys(names) if name.startswith("network:")}
    return {"files": found} if found else {}


def sources() -> str:
    """A short fingerprint of the source of rules and agents: numbers from different sources are never mixed."""
    digest = sha256()
    for package in (citadels_env, citadels_agents):
        folder = Path(str(package.__file__)).parent
        for path in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".json")):
            digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


# --- playing -------------------------------------------------------------------


def play_set(study: Study, index: int, threads: int = 1) -> Record:
    """Play set number `index` and count."""
    start, seed = time.perf_counter(), study.seed_of(index)
    games = play_games(study.rules_of(index), agents=study.seats, num_games=study.games, seed=seed, threads=threads)
    seconds = round(time.perf_counter() - start, 3)
    return {"set": index, "seed": seed, **count(games, study.sets[index], study.players), "seconds": seconds}


def _play_sets(study: Study, indices: Sequence[int], threads: int) -> Iterator[Record]:
    """Play sets side by side, one a thread; with more threads than sets, each set on several.  In the order of `indices`."""
    workers = max(1, min(threads, len(indices)))
    ahead: deque[Future[Record]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for index in indices:
                ahead.append(pool.submit(play_set, study, index, threads // workers))
                if len(ahead) > workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


def count(games: np.ndarray, roles: Sequence[str], players: int) -> Record:
    """Sums over `games`, as they come from ``play_games``, for each block and in all.

    Seats are counted from the first holder of the crown; `agent_wins` are by seat at the table.
    """
    n = len(games)
    block = np.arange(n) * min(BLOCKS, n) // n
    order = (games["first_crown"][:, None] + np.arange(players)) % players
    wins = games["wins"][:, :players].astype(float)
    scores = games["scores"][:, :players].astype(float)
    rounds = games["rounds"].astype(float)
    drafted = games["drafted"][:, :players, [citadels_env.cards.ROLE_INDEX[role] for role in roles]].astype(float)
    drafts = drafted.sum(axis=1)
    drafts_won = (drafted * wins[:, :, None]).sum(axis=1)
    score, best = scores.mean(axis=1), scores.max(axis=1)

    def per_block(values: np.ndarray) -> list[Any]:
        sums = np.zeros((block[-1] + 1, *values.shape[1:]))
        np.add.at(sums, block, values)
        return list(sums.tolist())

    def squares(values: np.ndarray) -> Any:
        return (values**2).sum(axis=0).tolist()

    return {
        "roles": list(roles),
        "games": per_block(np.ones(n)),
        "rounds": per_block(rounds),
        "decisions": per_block(games["decisions"].astype(float)),
        "score": per_block(score),
        "best": per_block(best),
        "bell_tower": per_block(games["bell_tower"].astype(float)),
        "truncated": per_block(games["truncated"].astype(float)),
        "tied": per_block((wins.max(axis=1) < 1).astype(float)),
        "wins": per_block(np.take_along_axis(wins, order, axis=1)),
        "scores": per_block(np.take_along_axis(scores, order, axis=1)),
        "agent_wins": per_block(wins),
        "drafts": per_block(drafts),
        "drafts_won": per_block(drafts_won),
        "squares": {
            "rounds": squares(rounds),
            "score": squares(score),
            "best": squares(best),
            "drafts": squares(drafts),
            "drafts_won": squares(drafts_won),
            "drafts_won_x_drafts": (drafts_won * drafts).sum(axis=0).tolist(),
            "drafts_x_rounds": (drafts * rounds[:, None]).sum(axis=0).tolist(),
        },
    }


Progress = Callable[[Iterator[Record], int, int], Iterable[Record]]


def run(study: Study, folder: Path | None = None, threads: int = 1, progress: Progress | None = None) -> list[Record]:
    """Play all sets and return what was counted, in the order of the sets.

    With a `folder`, each set is written to ``parts.jsonl`` as soon as it is played, and sets that are there
    already are not played again.  ValueError if the folder holds a study with other parameters.  `progress`
    wraps the stream of new records; its other arguments are the number of all sets and of those there already.
    """
    records = {} if folder is None else _continue(folder, study)
    todo = [index for index in range(len(study.sets)) if index not in records]
    if todo:  # compile once, before the threads and the clock start
        play_games(study.rules_of(todo[0]), agents=study.seats, num_games=1, seed=study.seed)
    stream = _play_sets(study, todo, threads)
    for record in progress(stream, len(study.sets), len(records)) if progress else stream:
        records[record["set"]] = record
        if folder is not None:
            _keep(folder, study, record)
    return [records[index] for index in range(len(study.sets))]


def _continue(folder: Path, study: Study) -> dict[int, Record]:
    """What `folder` already holds of `study`; ValueError if it holds anything else."""
    if not folders.holds(folder, study.parameters, "study"):
        return {}
    return {record["set"]: record for record in map(json.loads, folders.whole_lines(folder / "parts.jsonl").splitlines())}


def _keep(folder: Path, study: Study, record: Record) -> None:
    """Add `record` to `folder`; the first one makes the folder this study's."""
    folders.claim(folder, study.parameters)
    with (folder / "parts.jsonl").open("a", encoding="utf-8") as parts:
        parts.write(json.dumps(record) + "\n")


# --- tables --------------------------------------------------------------------


def _put(row: dict[str, Any], name: str, estimate: stats.Estimate) -> None:
    row[name], row[f"{name}_low"], row[f"{name}_high"] = (float(x) for x in estimate)


def _put_share(row: dict[str, Any], name: str, wins: float, n: float) -> None:
    _put(row, name, (wins / n, *stats.wilson(wins / n, n)))


def _sum(records: Iterable[Record], name: str) -> np.ndarray:
    """The sums over `records`, by block."""
    return np.sum([record[name] for record in records], axis=0)


def set_table(records: Sequence[Record]) -> pd.DataFrame:
    """One row per role set: length, scores, win rate by seat, fairness, how games ended."""
    rows = []
    for record in records:
        total = {name: np.sum(value, axis=0) for name, value in record.items() if isinstance(value, list) and name != "roles"}
        n, squares = total["games"], record["squares"]
        row: dict[str, Any] = {"set": record["set"], **{f"rank_{RANK_OF[role]}": role for role in record["roles"]}}
        row |= {"seed": record["seed"], "games": int(n)}
        for name in ("rounds", "score", "best"):
            _put(row, {"best": "winning_score"}.get(name, name), stats.mean(total[name], squares[name], n))
        row["decisions"] = total["decisions"] / n
        for seat, wins in enumerate(total["wins"]):
            _put_share(row, f"win_{seat}", wins, n)
        for seat, score in enumerate(total["scores"]):
            row[f"score_{seat}"] = score / n
        rates = total["wins"] / n
        row["seat_deviation"] = stats.deviation(rates)
        row["seat_deviation_by_chance"] = stats.chance_deviation(len(rates), n)
        row["p_fair"] = stats.fair_probability(rates, n)
        for name in ("bell_tower", "tied", "truncated"):
            _put_share(row, name, total[name], n)
        rows.append(row)
    return pd.DataFrame(rows)


def role_table(records: Sequence[Record]) -> pd.DataFrame:
    """One row per set and role: share of rounds in which it is drafted, and win rate of those who draft it."""
    rows = []
    for record in records:
        squares = {name: np.asarray(value) for name, value in record["squares"].items()}
        games, rounds = np.sum(record["games"]), np.sum(record["rounds"])
        drafts, won = np.sum(record["drafts"], axis=0), np.sum(record["drafts_won"], axis=0)
        drafted = stats.ratio(drafts, rounds, (squares["drafts"], squares["drafts_x_rounds"], squares["rounds"]), games)
        wins = stats.ratio(won, drafts, (squares["drafts_won"], squares["drafts_won_x_drafts"], squares["drafts"]), games)
        for i, role in enumerate(record["roles"]):
            row: dict[str, Any] = {"set": record["set"], "rank": RANK_OF[role], "role": role, "games": int(games), "drafts": int(drafts[i])}
            _put(row, "drafted", (drafted[0][i], drafted[1][i], drafted[2][i]))
            _put(row, "win", (wins[0][i], wins[1][i], wins[2][i]))
            rows.append(row)
    return pd.DataFrame(rows)


def overall_roles(records: Sequence[Record]) -> pd.DataFrame:
    """One row per role, over all sets that hold it: how often it is drafted, and the win rate of those who draft it."""
    rows = []
    for role, rank in RANK_OF.items():
        having = [record for record in records if role in record["roles"]]
        if not having:
            continue
        drafts, won = (
            sum(np.array(record[name])[:, record["roles"].index(role)] for record in having) for name in ("drafts", "drafts_won")
        )
        rounds = _sum(having, "rounds")
        row: dict[str, Any] = {"rank": rank, "role": role, "sets": len(having), "drafts": int(np.sum(drafts))}
        _put(row, "drafted", stats.jackknife(_divide, drafts, rounds))
        _put(row, "win", stats.jackknife(_divide, won, drafts))
        rows.append(row)
    return pd.DataFrame(rows)


def _divide(top: Any, bottom: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(top, bottom)


def _deviation(wins: Any, games: Any) -> Any:
    return stats.deviation(wins / games)


# What is compared between the two roles of a rank: name, statistic of sums, the sums it needs.
MEASURES: tuple[tuple[str, Callable[..., Any], tuple[str, ...]], ...] = (
    ("rounds", _divide, ("rounds", "games")),
    ("score", _divide, ("score", "games")),
    ("winning_score", _divide, ("best", "games")),
    ("seat_deviation", _deviation, ("wins", "games")),
    ("bell_tower", _divide, ("bell_tower", "games")),
)


def pair_table(records: Sequence[Record]) -> pd.DataFrame:
    """One row per rank and measure: its value with either role, over sets that differ in this rank only.

    `difference` is second role minus first.  Intervals are jackknifed over blocks of games.
    """
    by_roles = {tuple(record["roles"]): record for record in records}
    rows = []
    for rank, pair in enumerate(RANKS, start=1):
        matched = []
        for roles, record in by_roles.items():
            if len(roles) >= rank and roles[rank - 1] == pair[0]:
                other = by_roles.get((*roles[: rank - 1], pair[1], *roles[rank:]))
                if other is not None:
                    matched.append((record, other))
        if not matched:
            continue
        for name, statistic, needs in MEASURES:
            first, second = ([_sum([both[side] for both in matched], need) for need in needs] for side in (0, 1))
            row: dict[str, Any] = {"rank": rank, "first": pair[0], "second": pair[1], "sets": len(matched), "measure": name}
            _put(row, "with_first", stats.jackknife(statistic, *first))
            _put(row, "with_second", stats.jackknife(statistic, *second))
            _put(row, "difference", stats.jackknife(_second_minus_first(statistic), *first, *second))
            rows.append(row)
    return pd.DataFrame(rows, columns=None if rows else ["rank", "first", "second", "sets", "measure"])


def _second_minus_first(statistic: Callable[..., Any]) -> Callable[..., Any]:
    def difference(*sums: Any) -> Any:
        half = len(sums) // 2
        return statistic(*sums[half:]) - statistic(*sums[:half])

    return difference


def overall(records: Sequence[Record]) -> dict[str, Any]:
    """The measures and the win rate by seat over all sets together."""
    row: dict[str, Any] = {"sets": len(records), "games": int(sum(np.sum(record["games"]) for record in records))}
    sums = {name: _sum(records, name) for name in ("games", "rounds", "score", "best", "wins", "bell_tower")}
    for name, statistic, needs in MEASURES:
        _put(row, name, stats.jackknife(statistic, *(sums[need] for need in needs)))
    for seat in range(sums["wins"].shape[1]):
        _put(row, f"win_{seat}", stats.jackknife(_divide, sums["wins"][:, seat], sums["games"]))
    for name in ("tied", "truncated"):
        row[name] = float(sum(np.sum(record[name]) for record in records)) / row["games"]
    return row


def agent_table(records: Sequence[Record], agents: Sequence[str]) -> pd.DataFrame:
    """One row per seat at the table: its agent and its win rate over all sets."""
    wins, games = _sum(records, "agent_wins"), _sum(records, "games")
    rows = []
    for seat, agent in enumerate(agents):
        row: dict[str, Any] = {"seat": seat, "agent": agent}
        _put(row, "win", stats.jackknife(_divide, wins[:, seat], games))
        rows.append(row)
    return pd.DataFrame(rows)


def write_tables(records: Sequence[Record], folder: Path) -> list[Path]:
    """Write the tables of a study as CSV files into `folder`."""
    tables = {"sets": set_table, "roles": role_table, "roles_overall": overall_roles, "pairs": pair_table}
    paths = []
    for name, table in tables.items():
        text = table(records).to_csv(index=False, float_format="%.6g", lineterminator="\n")
        paths.append(folders.write(folder / f"{name}.csv", text.encode()))
    return paths

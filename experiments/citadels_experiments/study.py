"""The study of role sets: many games of each, counted, kept on disk as they come, and turned into tables.

A set's games are decided by its rules, the agents, and a seed made from the study's seed and the set's roles, so
the numbers do not depend on threads, interruptions or which other sets are played, and ``play_games`` with the
seed in the table plays the same games again.  A study can be extended: with more games or more sets, only what is
new is played, and the numbers are those of a study that was as large from the beginning.

Paired studies use one seed for all sets: game k of every set starts from the same shuffle.  That makes the
difference between two sets sharper, but averages over many sets less sharp, since they rest on fewer shuffles.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control
from scipy.stats import t as student

import citadels_agents
import citadels_env
from citadels_agents import alias, make, play_games
from citadels_agents.registry import named, spec_of
from citadels_env import ROLES, InvalidArgumentError, Rules
from citadels_env.batch import checked_rules
from citadels_env.checks import MAX_GAMES, items, names_list, seed_number, true_or_false, whole_number
from citadels_env.names import known_name

from . import fairness, folders, stats

MOST_SEED = 2**63 - 1  # fits into a signed integer, as tables have them
BLOCKS = 20  # blocks of games per set, for the intervals of what is computed over several sets; game k is in block k mod 20
GROWING = ("games", "sets")  # a study that holds fewer of these can be extended
PORTION = 65536  # games that are counted before the next ones are played
RANKS = tuple(tuple(row.name for row in ROLES if row.rank == rank) for rank in range(1, 10))
RANK_OF = {row.name: row.rank for row in ROLES}

Record = dict[str, Any]  # what is counted in the games of one set; plain lists and numbers, ready for JSON


# --- the sets ------------------------------------------------------------------


def role_sets(players: int, size: int | None = None, only: Iterable[str] = (), emperor_with_queen: bool = True) -> list[tuple[str, ...]]:
    """Every role set for `players`: one role of each rank, in a fixed order.

    `size` is 8 or 9 roles: by default 8 for two and three players, 9 from four on.  The ninth role is the
    Artist, and from five players on the Artist or the Queen.  A rank that `only` names roles of has these
    roles only: both roles of a rank leave it as free as none.
    """
    size = size or (8 if players < 4 else 9)
    if (size, players) not in citadels_env.cards.FACE_UP:
        raise ValueError(f"{players} players do not play with {size} roles (S-2)")
    wanted = {known_name("role", name, RANK_OF) for name in only}
    for name in wanted:
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
    modules: tuple[tuple[str, str], ...] = ()  # files that define further agents, with their fingerprints

    def __post_init__(self) -> None:
        checked_rules(self.rules)
        if not items("sets", self.sets, "role sets"):
            raise InvalidArgumentError("a study needs at least one role set")
        for name, value in (
            ("sets", tuple(names_list("sets", roles) for roles in self.sets)),
            ("agents", tuple(map(named, names_list("agents", self.agents)))),
            ("games", whole_number("games", self.games, 2, MAX_GAMES)),  # per set
            ("seed", seed_number(self.seed, "seed", MOST_SEED)),
            ("paired", true_or_false("paired", self.paired)),
        ):
            object.__setattr__(self, name, value)
        if len(set(self.sets)) < len(self.sets):
            raise InvalidArgumentError("a study plays every role set once; one is named twice")
        if len(self.agents) not in (1, self.players):
            raise InvalidArgumentError(f"name one agent, or one for each of the {self.players} seats, not {len(self.agents)}")
        for agent in dict.fromkeys(self.agents):
            make(agent)
        for index in range(len(self.sets)):
            self.rules_of(index)
        for name in dict.fromkeys(self.agents):
            make(name)

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
            **({"modules": self.modules} if self.modules else {}),
            **files(self.seats),
        }
        return dict(json.loads(json.dumps(plain)))

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> "Study":
        """The study of a manifest; its aliases are made known.  Raises ValueError if it names agents that are not there."""
        for name, spec in parameters.get("aliases", {}).items():
            alias(name, spec)
        sets = tuple(tuple(text.split(", ")) for text in parameters["sets"])
        rules = Rules.from_dict({**parameters["rules"], "roles": sets[0]})
        modules = tuple((name, fingerprint) for name, fingerprint in parameters.get("modules", ()))
        agents = tuple(parameters["agents"])
        return cls(rules, sets, agents, parameters["games"], parameters["seed"], parameters["paired"], modules)


def files(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """What short names stand for, and checksums of the files that agents are read from: another file of the same name is another player."""
    each = dict.fromkeys(names)
    aliases = {name: spec_of(name) for name in each if spec_of(name) != name}
    found = {name: str(make(name).fingerprint) for name in each if spec_of(name).startswith("network:")}
    return ({"aliases": aliases} if aliases else {}) | ({"files": found} if found else {})


def sources() -> str:
    """A short fingerprint of the source of rules and agents: numbers from different sources are never mixed."""
    digest = sha256()
    for package in (citadels_env, citadels_agents):
        folder = Path(str(package.__file__)).parent
        for path in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".json")):
            digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


# --- playing -------------------------------------------------------------------


def play_set(study: Study, index: int, threads: int = 1, before: Record | None = None) -> Record:
    """Play set number `index` and count, after the games counted in `before`."""
    start, seed, agents = time.perf_counter(), study.seed_of(index), [make(name) for name in study.seats]
    record, taken = before, before["seconds"] if before else 0.0
    while record is None or played(record) < study.games:
        first = played(record)
        number = min(PORTION, study.games - first)
        games = play_games(study.rules_of(index), agents, number, seed, threads=threads, first_game=first)
        record = count(games, study.sets[index], study.players, record)
    seconds = round(taken + time.perf_counter() - start, 3)
    return {"set": index, "seed": seed, **record, "seconds": seconds}


def recorded_game(study: Study, index: int, game: int) -> str:
    """Game number `game` of set number `index` as text, for `Game.replay`; ValueError if there is none."""
    if not 0 <= index < len(study.sets) or not 0 <= game < study.games:
        raise ValueError(
            f"the study has sets 0 to {len(study.sets) - 1} and in each the games 0 to {study.games - 1}, not game {game} of set {index}"
        )
    _, records = play_games(study.rules_of(index), study.seats, 1, study.seed_of(index), first_game=game, record=True)
    return str(records[0])


def played(record: Record | None) -> int:
    """How many games are counted in a record."""
    return int(sum(record["games"])) if record else 0


def _play_sets(study: Study, indices: Sequence[int], threads: int, before: dict[int, Record]) -> Generator[Record, None, None]:
    """Play sets side by side, one a thread; with more threads than sets, each set on several.  In the order of `indices`."""
    workers = max(1, min(threads, len(indices)))
    ahead: deque[Future[Record]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for index in indices:
                ahead.append(pool.submit(play_set, study, index, threads // workers, before.get(index)))
                if len(ahead) > workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


def count(games: np.ndarray, roles: Sequence[str], players: int, before: Record | None = None) -> Record:
    """Sums over `games`, as they come from ``play_games``, for each block and in all, added to those of the games before them.

    Game k belongs to block k mod BLOCKS, however many games there are, and is added after game k - 1: so the sums are the same, to the
    last bit, whether games are counted at once or in parts.  Seats are counted from the first holder of the crown; `agent_wins` are by
    seat at the table.
    """
    n, first = len(games), played(before)
    blocks = min(BLOCKS, first + n)
    block = (first + np.arange(n)) % BLOCKS
    order = (games["first_crown"][:, None] + np.arange(players)) % players
    wins = games["wins"][:, :players].astype(float)
    scores = games["scores"][:, :players].astype(float)
    rounds = games["rounds"].astype(float)
    drafted = games["drafted"][:, :players, [citadels_env.cards.ROLE_INDEX[role] for role in roles]].astype(float)
    drafts = drafted.sum(axis=1)
    drafts_won = (drafted * wins[:, :, None]).sum(axis=1)
    score, best = scores.mean(axis=1), scores.max(axis=1)

    def per_block(name: str, values: np.ndarray) -> list[Any]:
        sums = np.zeros((blocks, *values.shape[1:]))
        if before:
            sums[: len(before[name])] = before[name]
        np.add.at(sums, block, values)
        return list(sums.tolist())

    def added(name: str, values: np.ndarray) -> Any:
        start = np.asarray(before["squares"][name])[None] if before else np.zeros((1, *values.shape[1:]))
        return np.concatenate([start, values]).cumsum(axis=0)[-1].tolist()  # one after the other, unlike `sum`

    seat_wins = np.take_along_axis(wins, order, axis=1)
    by_block = {
        "games": np.ones(n),
        "rounds": rounds,
        "decisions": games["decisions"].astype(float),
        "score": score,
        "best": best,
        "bell_tower": games["bell_tower"].astype(float),
        "truncated": games["truncated"].astype(float),
        "tied": (wins.max(axis=1) < 1).astype(float),
        "wins": seat_wins,
        "scores": np.take_along_axis(scores, order, axis=1),
        "agent_wins": wins,
        "drafts": drafts,
        "drafts_won": drafts_won,
    }
    squares = {
        "wins": seat_wins[:, :, None] * seat_wins[:, None, :],  # of every two seats: ties make them vary less
        "rounds": rounds**2,
        "score": score**2,
        "best": best**2,
        "drafts": drafts**2,
        "drafts_won": drafts_won**2,
        "drafts_won_x_drafts": drafts_won * drafts,
        "drafts_x_rounds": drafts * rounds[:, None],
    }
    return {
        "roles": list(roles),
        **{name: per_block(name, values) for name, values in by_block.items()},
        "squares": {name: added(name, values) for name, values in squares.items()},
    }


Progress = Callable[[Iterator[Record], int, int], Iterable[Record]]


def run(study: Study, folder: Path | None = None, threads: int = 1, progress: Progress | None = None) -> list[Record]:
    """Play all sets and return what was counted, in the order of the sets.

    With a `folder`, each set is written to ``parts.jsonl`` as soon as it is played, and games that are there already are not played
    again: an interrupted study goes on, and one with fewer games or sets is extended.  Nobody else can write into the folder
    meanwhile.  `folders.FolderError` (a ValueError) if the folder is being written, cannot be written, was changed, or holds
    anything else or more than this study.  `progress` wraps the stream of new records; its other arguments are the number
    of all sets and of those that are finished already.
    """
    if folder is None:
        return _run(study, None, threads, progress)
    with folders.writer(folder, "study"):
        return _run(study, folder, threads, progress)


def _run(study: Study, folder: Path | None, threads: int, progress: Progress | None) -> list[Record]:
    parts, records = (None, {}) if folder is None else _continue(folder, study)
    todo = [index for index in range(len(study.sets)) if played(records.get(index)) < study.games]
    if todo:  # compile once, before the threads and the clock start
        play_games(study.rules_of(todo[0]), agents=study.seats, num_games=1, seed=study.seed)
    with closing(_play_sets(study, todo, threads, dict(records))) as stream:
        for record in progress(stream, len(study.sets), len(study.sets) - len(todo)) if progress else stream:
            records[record["set"]] = record
            if parts is not None:
                parts.add([json.dumps(record)])
    in_order = [records[index] for index in range(len(study.sets))]
    if parts is not None:  # as if all had been asked for at once
        parts.put([json.dumps(record) for record in in_order])
    return in_order


def _continue(folder: Path, study: Study) -> tuple[folders.Lines, dict[int, Record]]:
    """The file of records in `folder`, and what it holds of `study`; FolderError if it holds anything else."""
    folders.holds(folder, study.parameters, "study", GROWING)
    parts = folders.Lines(folder / "parts.jsonl", folders.key_of(study.parameters, "study", GROWING))
    number = {roles: index for index, roles in enumerate(study.sets)}
    records: dict[int, Record] = {}
    for line in parts.resume():
        record = json.loads(line)
        index = number.get(tuple(record["roles"]))
        if index is None:
            raise folders.FolderError(
                f"{folder} holds a set that is not asked for ({', '.join(record['roles'])}); a study can get more sets, not fewer: "
                "choose another folder"
            )
        if played(record) > study.games:
            raise folders.FolderError(
                f"{folder} holds {played(record):,} games of a set already, more than the {study.games:,} asked for; "
                "ask for at least as many, or choose another folder"
            )
        records[index] = record | {"set": index}
    folders.claim(folder, study.parameters, "study")
    return parts, records


def folder_name(study: Study, rules_name: str) -> str:
    """The name of the default folder of a study: the same for all that differ in the number of games only, and for no others.

    rules_name: the edition, or what the rules are called.
    """
    rules, players, sets = study.rules_of(0), study.players, study.sets
    kinds = {kind: rules.quietly(roles=(), add_districts=kind).add_districts for kind in ("all", "none", "recommended")}
    districts = next((kind for kind, names in kinds.items() if names == rules.add_districts), f"{len(rules.add_districts)}-districts")
    named = citadels_env.EDITIONS.get(rules_name)
    complete = named is not None and named.quietly(players=players, add_districts=rules.add_districts, roles=rules.roles) == rules
    complete &= districts in kinds
    parts = ["role-sets", str(players), rules_name, "" if districts == "all" else districts]
    size = len(sets[0])
    if size != len(role_sets(players)[0]):
        parts.append(f"{size}-roles")
    if set(sets) != set(role_sets(players, size, emperor_with_queen=rules.allow_emperor_and_queen)):
        offered = [{row[rank] for row in role_sets(players, size)} for rank in range(size)]
        parts += [sets[0][rank] for rank in range(size) if len(offered[rank]) > 1 and len({roles[rank] for roles in sets}) == 1]
        complete = False
    agents = tuple(dict.fromkeys(study.seats))
    if agents != ("heuristic",):
        parts += [name.partition(":")[0] for name in agents]
        complete = False
    parts += [f"seed-{study.seed}"] if study.seed else []
    parts += ["paired"] if study.paired else []
    deciding = {name: value for name, value in study.parameters.items() if name not in ("sources", "games", "sets")}
    return folders.name_of(parts, deciding | {"sets": sorted(study.parameters["sets"])}, complete)


# --- tables --------------------------------------------------------------------


def _put(row: dict[str, Any], name: str, estimate: stats.Estimate) -> None:
    row[name], row[f"{name}_low"], row[f"{name}_high"] = (float(x) for x in estimate)


def _put_share(row: dict[str, Any], name: str, wins: float, n: float) -> None:
    _put(row, name, (wins / n, *stats.wilson(wins / n, n)))


def _sum(records: Iterable[Record], name: str) -> np.ndarray:
    """The sums over `records`, by block."""
    return np.sum([record[name] for record in records], axis=0)


def set_table(records: Sequence[Record], margin: float = fairness.MARGIN) -> pd.DataFrame:
    """One row per role set: length, scores, win rate by seat, fairness, how games ended.

    `seat_deviation` comes from the games of the set alone: an unbiased estimate with its interval, the deviation that was
    observed, what chance makes of it, and the probability of as much in a fair set with its false discovery rate
    over all sets.  The columns of `fairness.fairness_table` follow, which use the other sets, too; `margin` is how far from
    1 / players the win shares of a fair set may be.
    """
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
        row["seat_deviation_observed"] = stats.deviation(rates)
        row["seat_deviation_by_chance"] = stats.chance_deviation(len(rates), n)
        row["p_fair"] = stats.fair_probability(rates, n)
        for name in ("bell_tower", "tied", "truncated"):
            _put_share(row, name, total[name], n)
        rows.append(row)
    table = pd.DataFrame(rows)
    (value, low, high), _ = stats.seat_deviation(*_rates(records))  # of all sets at once: it takes a while
    at = table.columns.get_loc("seat_deviation_observed")
    for place, (end, column) in enumerate((("", value), ("_low", low), ("_high", high))):
        table.insert(at + place, f"seat_deviation{end}", column)
    table.insert(table.columns.get_loc("p_fair") + 1, "q_fair", false_discovery_control(table["p_fair"]))
    return pd.concat([table, fairness.fairness_table(fairness.seats(records), margin)], axis=1)


def _rates(records: Sequence[Record]) -> tuple[np.ndarray, np.ndarray]:
    """The win rates of the seats (sets, seats), and their error covariance (sets, seats, seats)."""
    wins, games = (np.array([np.sum(record[name], axis=0) for record in records]) for name in ("wins", "games"))
    covariance = stats.covariance(wins, np.array([record["squares"]["wins"] for record in records]), games)
    return wins / games[:, None], covariance / games[:, None, None]


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


# What is compared between the two roles of a rank, besides the deviation of the seats: name, and the sums that make the mean.
MEANS = {"rounds": "rounds", "score": "score", "winning_score": "best", "bell_tower": "bell_tower"}
MEASURES = ("rounds", "score", "winning_score", "seat_deviation", "bell_tower")


def _seat_squares(records: Sequence[Record]) -> tuple[Callable[..., Any], np.ndarray, np.ndarray]:
    """Mean over sets of the squared deviation of the seats, without what chance adds, as a statistic of wins and games.

    Sets are taken one by one: if the first seat is ahead in one set and behind in another, neither is fair.
    """
    wins = np.array([record["wins"] for record in records], float).swapaxes(0, 1)  # blocks, sets, seats
    games = np.array([record["games"] for record in records], float).T
    total, products = wins.sum(axis=0), np.array([record["squares"]["wins"] for record in records])
    covariance = stats.covariance(total, products, games.sum(axis=0))

    def statistic(wins: np.ndarray, games: np.ndarray) -> Any:
        return stats.squared_deviation(wins / games[:, None], covariance / games[:, None, None]).mean()

    return statistic, wins, games


def seat_deviation(records: Sequence[Record]) -> stats.Estimate:
    """How unequal the seats are within sets: the root mean square over all sets, with its interval.

    With several sets it is the interval of the square, jackknifed over blocks; near 0 it is a little too wide rather than too narrow.
    """
    if len(records) == 1:
        rates, covariance = _rates(records)
        return stats.seat_deviation(rates[0], covariance[0])[0]
    return stats.root(*stats.jackknife_error(*_seat_squares(records)))


def _seat_change(first: Sequence[Record], second: Sequence[Record]) -> tuple[stats.Estimate, float]:
    """How much `seat_deviation` grows from the first sets to the second, and the probability of as much by chance."""
    (before, *one), (after, *two) = _seat_squares(first), _seat_squares(second)

    def both(*sums: np.ndarray) -> np.ndarray:
        squares = before(*sums[:2]), after(*sums[2:])
        return np.array([*squares, squares[1] - squares[0]])

    (a, b, difference), (_, _, error), freedom = stats.jackknife_error(both, *one, *two)
    return stats.difference_of_roots(a, b, error, freedom), _p_value(difference, error, freedom)


def _p_value(value: float, error: float, freedom: int) -> float:
    """Of Student's test that the true value is 0; 1 where there is nothing to tell."""
    if not error > 0:
        return 1.0 if value == 0 or np.isnan(error) else 0.0
    return float(2 * student.sf(abs(value) / error, freedom))


def pair_table(records: Sequence[Record]) -> pd.DataFrame:
    """One row per rank and measure: its value with either role, over sets that differ in this rank only.

    `difference` is second role minus first, `p` the probability of as much if there were none, `q` the false discovery rate of
    Benjamini and Hochberg over the whole table.  Intervals are jackknifed over blocks of games.
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
        first, second = ([both[side] for both in matched] for side in (0, 1))
        for name in MEASURES:
            row: dict[str, Any] = {"rank": rank, "first": pair[0], "second": pair[1], "sets": len(matched), "measure": name}
            if name == "seat_deviation":
                _put(row, "with_first", seat_deviation(first))
                _put(row, "with_second", seat_deviation(second))
                difference, row["p"] = _seat_change(first, second)
                _put(row, "difference", difference)
            else:
                sums = [(_sum(side, MEANS[name]), _sum(side, "games")) for side in (first, second)]
                _put(row, "with_first", stats.jackknife(_divide, *sums[0]))
                _put(row, "with_second", stats.jackknife(_divide, *sums[1]))
                _put(row, "difference", stats.jackknife(_second_minus_first, *sums[0], *sums[1]))
                row["p"] = _p_value(*stats.jackknife_error(_second_minus_first, *sums[0], *sums[1]))
            rows.append(row)
    if not rows:
        return pd.DataFrame(columns=["rank", "first", "second", "sets", "measure"])
    table = pd.DataFrame(rows)
    table["p"] = table.pop("p")  # behind the difference
    table["q"] = false_discovery_control(table["p"])
    return table


def _second_minus_first(top: Any, bottom: Any, other_top: Any, other_bottom: Any) -> Any:
    return _divide(other_top, other_bottom) - _divide(top, bottom)


def overall(records: Sequence[Record]) -> dict[str, Any]:
    """The measures and the win rate by seat over all sets together."""
    row: dict[str, Any] = {"sets": len(records), "games": int(sum(np.sum(record["games"]) for record in records))}
    games, wins = _sum(records, "games"), _sum(records, "wins")
    for name in MEASURES:
        mean = name != "seat_deviation"
        _put(row, name, stats.jackknife(_divide, _sum(records, MEANS[name]), games) if mean else seat_deviation(records))
    for seat in range(wins.shape[1]):
        _put(row, f"win_{seat}", stats.jackknife(_divide, wins[:, seat], games))
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


def write_tables(records: Sequence[Record], folder: Path, margin: float = fairness.MARGIN) -> list[Path]:
    """Write the tables of a study as CSV files into `folder`; `margin` is that of `set_table`."""
    tables = {"sets": set_table(records, margin), "roles": role_table(records)}
    tables |= {"roles_overall": overall_roles(records), "pairs": pair_table(records)}
    paths = []
    for name, table in tables.items():
        text = table.to_csv(index=False, float_format="%.6g", lineterminator="\n")
        paths.append(folders.write(folder / f"{name}.csv", text.encode()))
    return paths

"""What games a learner plays, as plain data: the `env_config` of RLlib and the table `[games]` of a training file."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from gymnasium import spaces

from citadels_agents import SeatedBatch, alias, load_agents
from citadels_agents.seated import SELF
from citadels_env import EDITIONS, Rules, observation, scoring
from citadels_env.actions import N_ACTIONS
from citadels_env.names import canonical, hint

from ..study import role_sets

LEARNER = "learner"  # the policy, an RLModule, that plays for "self"
PAST = "past"  # opponents: frozen past versions of the learner, the modules past_0, past_1, ...
KEYS = (
    "editions", "players", "roles", "districts", "rules", "rules_shares", "opponents", "rewards", "compact", "stagger", "aliases",
    "agents_from",
)  # fmt: skip


@dataclass(frozen=True)
class Games:
    """Rules that games are drawn from, who else plays, and what is rewarded.

    rules: each game is played by one of them, drawn by `rules_shares` (equally often if empty).
    opponents: as in `SeatedBatch`; "self" is the learner, and "past" stands for frozen past versions of it.
    rewards: win, score or rank (see `citadels_env.Batch`).
    compact: observations with one row per player instead of eight; the rules must then agree in their number of players.
    stagger: a batch of games that learners use begins with up to so many random answers, so that its games do not begin
        and end together.
    """

    rules: tuple[Rules, ...]
    rules_shares: tuple[float, ...] = ()
    opponents: str | tuple[str, ...] | Mapping[str, float] = SELF
    rewards: str = "win"
    compact: bool = False
    stagger: int = 200

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "Games":
        """Games described by plain data.

        `rules`: a list of option tables (as `Rules.to_json` writes them, and `edition` for those that are missing), or instead the
        product of `editions` (names), `players` (numbers), `roles` ("base", "all" for every set, or lists of names) and
        `districts` ("none", "all", "recommended", or lists of names).  `compact` is true or false; if not given, true where
        all rules have as many players.

        `agents_from` (Python files that register agents) and `aliases` (short names with their specs) are made known first, in
        this process.

        Raises ValueError for an unknown key or an impossible value, naming it.
        """
        unknown = sorted(map(str, set(config) - set(KEYS)))
        if unknown:
            raise ValueError(f"games: there is no {', '.join(unknown)}; there are {', '.join(KEYS)}{hint(unknown[0], KEYS)}")
        _make_known(config.get("agents_from", ()), config.get("aliases", {}))
        if "rules" in config:
            clash = sorted({"editions", "players", "roles", "districts"} & set(config))
            if clash:
                raise ValueError(f"games: `rules` names everything; leave out {', '.join(clash)}")
            rules = tuple(_one(entry) for entry in _list(config["rules"]))
        else:
            rules = tuple(_product(config))
        if not rules:
            raise ValueError("games: there must be at least one set of rules; a list is empty")
        shares = _list(config.get("rules_shares", ()))
        if shares and (len(shares) != len(rules) or not _shares(shares)):
            raise ValueError(f"games: rules_shares must be {len(rules)} shares, none negative and not all zero, not {shares}")
        rewards = config.get("rewards", "win")
        if rewards not in list(scoring.REWARDS):
            raise ValueError(f"games: rewards is one of {', '.join(scoring.REWARDS)}, not {rewards!r}")
        same = len({r.players for r in rules}) == 1
        compact = config.get("compact", same)
        if not isinstance(compact, bool):
            raise ValueError(f"games: compact is true or false, not {compact!r}")
        if compact and not same:
            raise ValueError("games: compact observations need the same number of players in all rules")
        stagger = config.get("stagger", cls.stagger)
        if isinstance(stagger, bool) or not isinstance(stagger, int) or stagger < 0:
            raise ValueError(f"games: stagger is a number of answers, not {stagger!r}")
        opponents = _opponents(config.get("opponents", SELF))
        most = max(r.players for r in rules)
        if isinstance(opponents, tuple) and len(opponents) < most - 1:
            raise ValueError(f"games: {most} players need {most - 1} opponents, not {len(opponents)}: {', '.join(opponents)}")
        return cls(rules, tuple(shares), opponents, rewards, compact, stagger)

    @property
    def players(self) -> int:
        """The largest number of players."""
        return max(r.players for r in self.rules)

    @property
    def rows(self) -> int:
        """Player rows of an observation."""
        return self.players if self.compact else 8

    def batch(self, num_games: int, seed: int = 0, **changes: Any) -> SeatedBatch:
        """A `SeatedBatch` of these games; `changes` are further arguments of it, or other values of these."""
        arguments: dict[str, Any] = {
            "rules_shares": self.rules_shares or None,
            "opponents": self.opponents,
            "rewards": self.rewards,
            "compact": self.compact,
        }
        return SeatedBatch(self.rules, num_games, seed, **{**arguments, **changes})


def spaces_of(games: Games) -> tuple[Any, Any]:
    """The observation and action space of one seat."""
    high = observation.high(games.rows)
    flat = spaces.Box(np.zeros_like(high), high, dtype=np.uint8)
    mask = spaces.Box(0, 1, (N_ACTIONS,), np.int8)
    return spaces.Dict({"observation": flat, "action_mask": mask}), spaces.Discrete(N_ACTIONS)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | range) else [value]


def _shares(values: Any) -> bool:
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")]
    return len(numbers) == len(values) and sum(numbers) > 0


def _opponents(given: Any) -> str | tuple[str, ...] | Mapping[str, float]:
    """Who else plays, if it is a name, a list of names or a table of shares; who bears a name is found out by the batch."""
    names = list(given) if isinstance(given, Mapping) else _list(given)
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"games: opponents is a name, a list of names or a table of names with shares, not {given!r}")
    if isinstance(given, Mapping):
        if not _shares(given.values()):
            raise ValueError(f"games: the shares of opponents are numbers, none negative and not all zero, not {dict(given)}")
        return dict(given)
    return given if isinstance(given, str) else tuple(names)


def _make_known(files: Any, aliases: Any) -> None:
    """Run the files that register agents, and name the aliases."""
    for file in _list(files):
        if not isinstance(file, str):
            raise ValueError(f"games: agents_from is a file or a list of files, not {files!r}")
        load_agents(file)
    if not isinstance(aliases, Mapping) or not all(isinstance(text, str) for pair in aliases.items() for text in pair):
        raise ValueError(f"games: aliases is a table of names and specs, not {aliases!r}")
    for name, spec in aliases.items():
        try:
            alias(name, spec)
        except ValueError as error:
            raise ValueError(f"games: aliases: {error}") from None


def _edition(name: Any) -> Rules:
    found = canonical(name, EDITIONS)
    if found is None:
        raise ValueError(f"games: the editions are {', '.join(EDITIONS)}, not {name!r}{hint(name, EDITIONS)}")
    return EDITIONS[found]


def _one(entry: Any) -> Rules:
    if isinstance(entry, Rules):
        return entry
    if not isinstance(entry, Mapping):
        raise ValueError(f"games: an entry of rules is a table of options, not {entry!r}")
    options = dict(entry)
    return _with(_edition(options.pop("edition", "german")), options)


def _product(config: Mapping[str, Any]) -> Sequence[Rules]:
    found = []
    roles = config.get("roles", "base")
    if roles not in ("base", "all") and not isinstance(roles, list | tuple):
        raise ValueError(f"games: roles is base, all, a list of names or a list of such lists, not {roles!r}")
    districts = _list(config.get("districts", "none"))
    if districts and all(isinstance(d, str) and d not in ("none", "all", "recommended") for d in districts):
        districts = [districts]  # one list of names
    for edition, players in product(_list(config.get("editions", "german")), _list(config.get("players", 4))):
        base = _edition(edition).with_(players=players)
        if roles == "base":
            sets: list[Any] = [()]
        elif roles == "all":
            sets = list(role_sets(players, None, (), base.allow_emperor_and_queen))
        else:
            sets = [roles] if roles and isinstance(roles[0], str) else list(roles)
        with warnings.catch_warnings():
            if roles == "all":  # asked for as a whole
                warnings.filterwarnings("ignore", message=".*Emperor and Queen")
            found += [_with(base, {"roles": chosen, "add_districts": cards}) for chosen, cards in product(sets, districts)]
    return found


def _with(rules: Rules, options: Mapping[str, Any]) -> Rules:
    try:
        return rules.with_(**{name: tuple(value) if isinstance(value, list) else value for name, value in options.items()})
    except TypeError as error:  # a list in place of a name
        raise ValueError(f"games: {dict(options)}: {error}") from None

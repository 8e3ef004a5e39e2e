"""What games a learner plays, as plain data: the `env_config` of RLlib and the table `[games]` of a training file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from gymnasium import spaces

from citadels_agents import SeatedBatch, alias, load_agents
from citadels_agents.seated import SELF, shares_of
from citadels_env import EDITIONS, CitadelsError, InvalidArgumentError, Rules, observation, scoring
from citadels_env.actions import N_ACTIONS
from citadels_env.checks import shown, whole_number
from citadels_env.names import canonical, hint

from ..study import role_sets

LEARNER = "learner"  # the policy, an RLModule, that plays for "self"
PAST = "past"  # opponents: frozen past versions of the learner, the modules past_0, past_1, ...
MOST_STAGGER = 100_000
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

        Raises InvalidArgumentError or RulesError (ValueErrors) for an unknown key or an impossible value, naming it.
        """
        if not isinstance(config, Mapping):
            raise InvalidArgumentError(f"games: a table of {', '.join(KEYS)} is needed, not {shown(config)}")
        unknown = sorted(map(str, set(config) - set(KEYS)))
        if unknown:
            raise InvalidArgumentError(f"games: there is no {', '.join(unknown)}; there are {', '.join(KEYS)}{hint(unknown[0], KEYS)}")
        _make_known(config.get("agents_from", ()), config.get("aliases", {}))
        if "rules" in config:
            clash = sorted({"editions", "players", "roles", "districts"} & set(config))
            if clash:
                raise InvalidArgumentError(f"games: `rules` names everything; leave out {', '.join(clash)}")
            rules = tuple(_one(entry) for entry in _list(config["rules"]))
        else:
            rules = tuple(_product(config))
        if not rules:
            raise InvalidArgumentError("games: there must be at least one set of rules; a list is empty")
        shares = _list(config.get("rules_shares", ()))
        if shares:
            shares_of("games: rules_shares", shares, len(rules))
        rewards = config.get("rewards", "win")
        if not isinstance(rewards, str) or rewards not in scoring.REWARDS:
            raise InvalidArgumentError(f"games: rewards is one of {', '.join(scoring.REWARDS)}, not {shown(rewards)}")
        same = len({r.players for r in rules}) == 1
        compact = config.get("compact", same)
        if not isinstance(compact, bool):
            raise InvalidArgumentError(f"games: compact is true or false, not {shown(compact)}")
        if compact and not same:
            raise InvalidArgumentError("games: compact observations need the same number of players in all rules")
        stagger = whole_number("games: stagger (a number of answers)", config.get("stagger", cls.stagger), 0, MOST_STAGGER)
        opponents = _opponents(config.get("opponents", SELF))
        most = max(r.players for r in rules)
        if isinstance(opponents, tuple) and len(opponents) < most - 1:
            raise InvalidArgumentError(f"games: {most} players need {most - 1} opponents, not {len(opponents)}: {', '.join(opponents)}")
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


def _opponents(given: Any) -> str | tuple[str, ...] | Mapping[str, float]:
    """Who else plays, if it is a name, a list of names or a table of shares; who bears a name is found out by the batch."""
    names = list(given) if isinstance(given, Mapping) else _list(given)
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidArgumentError(f"games: opponents is a name, a list of names or a table of names with shares, not {shown(given)}")
    if isinstance(given, Mapping):
        try:
            shares_of("", list(given.values()), len(given))
        except InvalidArgumentError:
            text = f"games: the shares of opponents are numbers, none negative and not all zero, not {shown(dict(given))}"
            raise InvalidArgumentError(text) from None
        return dict(given)
    return given if isinstance(given, str) else tuple(names)


def _make_known(files: Any, aliases: Any) -> None:
    """Run the files that register agents, and name the aliases."""
    for file in _list(files):
        if not isinstance(file, str):
            raise InvalidArgumentError(f"games: agents_from is a file or a list of files, not {shown(files)}")
        try:
            load_agents(file)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"games: agents_from: {error}") from None
    if not isinstance(aliases, Mapping) or not all(isinstance(text, str) for pair in aliases.items() for text in pair):
        raise InvalidArgumentError(f"games: aliases is a table of names and specs, not {shown(aliases)}")
    for name, spec in aliases.items():
        try:
            alias(name, spec)
        except ValueError as error:
            raise InvalidArgumentError(f"games: aliases: {error}") from None


def _edition(name: Any) -> Rules:
    found = canonical(name, EDITIONS)
    if found is None:
        raise InvalidArgumentError(f"games: the editions are {', '.join(EDITIONS)}, not {shown(name)}{hint(name, EDITIONS)}")
    return EDITIONS[found]


def _one(entry: Any) -> Rules:
    if isinstance(entry, Rules):
        return entry
    if not isinstance(entry, Mapping):
        raise InvalidArgumentError(f"games: an entry of rules is a table of options, not {shown(entry)}")
    options = dict(entry)
    return _with(_edition(options.pop("edition", "german")), options)


def _product(config: Mapping[str, Any]) -> Sequence[Rules]:
    found = []
    roles = config.get("roles", "base")
    if not isinstance(roles, list | tuple) and not (isinstance(roles, str) and roles in ("base", "all")):
        raise InvalidArgumentError(f"games: roles is base, all, a list of names or a list of such lists, not {shown(roles)}")
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
        quiet = roles == "all"  # asked for as a whole
        found += [_with(base, {"roles": chosen, "add_districts": cards}, quiet) for chosen, cards in product(sets, districts)]
    return found


def _with(rules: Rules, options: Mapping[Any, Any], quiet: bool = False) -> Rules:
    if not all(isinstance(name, str) for name in options):
        raise InvalidArgumentError(f"games: options are named by texts, unlike {shown(dict(options))}")
    try:
        return (rules.quietly if quiet else rules.with_)(**options)
    except CitadelsError as error:
        raise type(error)(f"games: {error}") from None

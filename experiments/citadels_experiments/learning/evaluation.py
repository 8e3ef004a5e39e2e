"""How often a policy wins against fixed opponents."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from citadels_agents import SeatedBatch, play_to_end
from citadels_agents.rollout import OnEnd, Policy
from citadels_agents.seated import ENDED
from citadels_env.checks import MAX_GAMES, seed_number, true_or_false, whole_number

from ..stats import wilson
from .games import Games

AT_ONCE = 1000


@dataclass(frozen=True)
class WinShare:
    """Share of games won by the learner's seat (shared wins count in part), with its 95 % interval."""

    opponents: str
    games: int
    share: float
    low: float
    high: float
    fair: float  # what the share would be if all played alike

    def as_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)


def whole_games(
    games: Games,
    players: Sequence[Policy],
    number: int,
    seeds: Callable[[int], Any],
    at_once: int,
    *,
    greedy: bool,
    watch: Callable[[SeatedBatch], OnEnd] | None = None,
    **changes: Any,
) -> Any:
    """Play `number` whole games, none favoured for being short, with the learner in each seat equally often; ENDED records.

    players: the policies, in the order of the batch's.
    seeds: the SeedSequence of the games from a given one on, asked for once in `at_once` games.
    watch: shown each batch before it is played; what it returns is told of the games that end (`play_to_end`).
    changes: as in `Games.batch`.
    """
    results = [np.zeros(0, ENDED)]
    for start in range(0, number, at_once):
        deal, choose = seeds(start).generate_state(2, np.uint64)
        batch = games.batch(min(at_once, number - start), int(deal), own_seat="rotate", auto_reset=False, **changes)
        results.append(play_to_end(batch, players, greedy=greedy, seed=int(choose), on_end=watch(batch) if watch else None))
    return np.concatenate(results)


def win_share(policy: Policy, games: Games, opponents: str, number: int, seed: int = 0, *, greedy: bool = True) -> WinShare:
    """Play `number` games against `opponents` in all other seats, with the policy in each seat equally often.

    The same policy, games and seed give the same share.  Raises InvalidArgumentError or AgentSpecError (ValueErrors) for an impossible
    number, seed or opponent.
    """
    number, seed, greedy = whole_number("number", number, 1, MAX_GAMES), seed_number(seed, "seed"), true_or_false("greedy", greedy)
    counts = np.array([rules.players for rules in games.rules])
    ended = whole_games(
        games, [policy], number, lambda start: np.random.SeedSequence([seed, start]), AT_ONCE, greedy=greedy,
        opponents=opponents, rewards="win",
    )  # fmt: skip
    wins, fair = ended["rewards"][np.arange(number), ended["own"]].astype(np.float64), 1 / counts[ended["rules"]]
    share = float(wins.mean())
    low, high = wilson(share, number)
    return WinShare(opponents, number, share, float(low), float(high), float(fair.mean()))

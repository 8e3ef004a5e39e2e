"""How often a policy wins against fixed opponents."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from citadels_agents import play_to_end
from citadels_agents.rollout import Policy

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


def win_share(policy: Policy, games: Games, opponents: str, number: int, seed: int = 0, *, greedy: bool = True) -> WinShare:
    """Play `number` games against `opponents` in all other seats, with the policy in each seat equally often.

    The same policy, games and seed give the same share.  Raises ValueError for a number that is not positive.
    """
    if number < 1:
        raise ValueError(f"the number of games must be at least 1, not {number}")
    wins, fair = np.zeros(0), np.zeros(0)
    players = np.array([rules.players for rules in games.rules])
    for start in range(0, number, AT_ONCE):
        deal, choose = np.random.SeedSequence([seed, start]).generate_state(2, np.uint64)
        batch = games.batch(
            min(AT_ONCE, number - start), int(deal), opponents=opponents, own_seat="rotate", auto_reset=False, rewards="win"
        )
        ended = play_to_end(batch, [policy], greedy=greedy, seed=int(choose))
        wins = np.concatenate([wins, ended["rewards"][np.arange(len(ended)), ended["own"]]])
        fair = np.concatenate([fair, 1 / players[ended["rules"]]])
    share = float(wins.mean())
    low, high = wilson(share, number)
    return WinShare(opponents, number, share, float(low), float(high), float(fair.mean()))

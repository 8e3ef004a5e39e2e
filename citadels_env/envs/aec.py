"""The game as a PettingZoo AEC environment: every decision of every player, one at a time.

The agents are `player_0` to `player_7`.  `agent_selection` is whoever has to answer the open question: the
same agent may act several times running, and the order of play is that of the rules.  An episode is one
game.  When it is over all agents terminate together, and all rewards come then; a game cut off after
`max_rounds` rounds is scored as it stands, and all agents are truncated instead.

The whole game is in NumPy arrays, so that `copy.deepcopy`, `pickle` and `cloudpickle` keep it in mid-game.
"""

import copy
import json
from operator import index
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from .. import actions
from ..rules import GERMAN, Rules
from ..state import DECK_CAPACITY, STATE

REWARDS = ("win", "score", "rank")
MASK_IN = ("obs", "info", "both")
NOBODY = -1  # the seat to act when the game is over

# What `state` leaves out: what is the same in every state or no part of the situation, and who knows which cards.
# The deck is written in the order in which it will be drawn.
_NOT_IN_STATE = ("rng", "rules", "known", "any_known", "deck", "deck_seen", "deck_bottom", "deck_ordered", "deck_viewer")
_STATE_FIELDS = tuple(name for name in STATE.names if name not in _NOT_IN_STATE)


class raw_env(AECEnv[str, Any, Any]):
    """One game of Citadels for PettingZoo, without wrappers.

    Args:
        rules: the rules of the game, `GERMAN` if not given.
        num_players: 2 to 8; those of the rules if not given (4 in the editions).
        render_mode: "ansi", or None.
        rewards: "win" (1, shared among the winners), "score" or "rank", given to all at the end.
        mask_in: where the action mask stands.  "obs": the observation is a dictionary `observation`, `action_mask`;
            "info": the observation is a flat array and the mask is `infos[agent]["action_mask"]`; "both".
        compact: observations without the places of absent players (their size then depends on `num_players`).

    The mask is int8, 1 for a legal answer; that of an agent who is not to answer is zero everywhere.  `step`
    raises ValueError for an illegal answer and leaves the game as it was.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (PettingZoo's own form)
        "name": "citadels_v0",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        rules: Rules | None = None,
        num_players: int | None = None,
        render_mode: str | None = None,
        rewards: str = "win",
        mask_in: str = "obs",
        compact: bool = False,
    ) -> None:
        super().__init__()
        for name, value, allowed in (("rewards", rewards, REWARDS), ("mask_in", mask_in, MASK_IN)):
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            gymnasium.logger.warn(f"there is no render mode {render_mode!r}, only 'ansi': nothing will be shown")
            render_mode = None
        rules = GERMAN if rules is None else rules
        self.rules = rules if num_players is None else rules.with_(players=num_players)
        self.render_mode = render_mode
        self.reward_kind = rewards
        self.compact = compact
        self._dict_observations = mask_in != "info"
        self._mask_in_info = mask_in != "obs"

        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        size = 0 # TODO
        self.observation_spaces = {agent: self._space_of_observations(size) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(actions.N_ACTIONS) for agent in self.possible_agents}

"""One game for Gymnasium: one seat against agents."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from citadels_env import Game
from citadels_env.actions import N_ACTIONS
from citadels_env.checks import index_of, seed_number
from citadels_env.errors import IllegalActionError

from .options import ILLEGAL_REWARD, RENDER_MODES, Seated

_PLACE = np.zeros(1, np.int64)


class CitadelsEnv(Seated, gymnasium.Env[Any, Any]):
    """One seat of Citadels for Gymnasium, the others played by agents: `gymnasium.make("citadels_env:Citadels-v0", ...)`.

    The options are those of `citadels_agents.envs.options.Seated`.  An episode is one game; a step is one decision of the
    learner and all that follows until it is asked again.  Observations are uint8 (docs/observation.md), actions those of
    docs/actions.md, masks int8 with 1 for each legal action; after the end they are zero.  All arrays handed out are
    the caller's own.

    `reset(seed)` deals the game that `Game(rules, seed)` is; `reset()` deals the one that follows the last game's seed,
    the first time one of fresh entropy.  A game cut off after `max_rounds` rounds is truncated and scored as it stands.

    Info: `seat` (the learner's) after a reset and at the end, where `scores` ((8,) int32, by absolute seat) and `rounds` are
    added; `illegal_action`, a text, when an illegal action has ended the game.

    `copy.deepcopy` and `pickle` keep the game in mid-play, and the games that follow it.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012 (declared so by Gymnasium)

    def __init__(
        self,
        rules: Any = None,
        num_players: int | None = None,
        opponents: Any = "heuristic",
        seat: int | None = None,
        rewards: str = "win",
        mask_in: str = "obs",
        compact: bool = False,
        illegal: str = "terminate",
        render_mode: str | None = None,
    ) -> None:
        self._set_up(
            1, 1, rules=rules, num_players=num_players, opponents=opponents, seat=seat, rewards=rewards, mask_in=mask_in, compact=compact,
            illegal=illegal, render_mode=render_mode,
        )  # fmt: skip
        self.observation_space = self._space()
        self.action_space = spaces.Discrete(N_ACTIONS)
        self._dealt, self._over = False, True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal the game of `seed`, or the next one (`options` has no effect): observation and info.

        Raises InvalidArgumentError (a ValueError) for an impossible seed; nothing is changed then.
        """
        if seed is not None:
            seed = seed_number(seed)
        super().reset(seed=seed)
        if seed is None and not self._dealt:
            seed = int(self.np_random.integers(2**63))
        self._batch.deal_in(_PLACE, seed)
        self._dealt, self._over = True, False
        return self._seen(), self._info({"seat": self.seat})

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Answer for the learner's seat: observation, reward, terminated, truncated and info.

        Raises IllegalActionError (a ValueError) for what is no action at all (and for an illegal one with `illegal="raise"`), and
        `gymnasium.error.ResetNeeded` after the end; nothing is changed then.
        """
        if self._over:
            raise ResetNeeded(
                "the game is over; call reset() before the next step" if self._dealt else "call reset() before the first step"
            )
        batch = self._batch
        number = action if type(action) is int else index_of(action, -1)
        inside = 0 <= number < N_ACTIONS
        if not inside or not batch._masks[0, number]:
            text = self._refusal(0, action)
            if self._raises or not inside:
                raise IllegalActionError(text)
            self._over = True
            batch._masks[:] = 0
            return self._seen(), ILLEGAL_REWARD, True, False, self._info({"illegal_action": text})
        batch.step_in(_PLACE, number)
        if not batch.done[0]:
            return self._seen(), 0.0, False, False, self._info({})
        self._over = True
        game = batch.games[0]
        truncated = bool(game["ended_truncated"])
        info = {"seat": self.seat, "scores": game["ended_scores"].copy(), "rounds": int(game["ended_rounds"])}
        return self._seen(), float(batch.rewards[0, self.seat]), not truncated, truncated, self._info(info)

    def _seen(self) -> Any:
        seen = self._batch.observations()[0].copy()
        return {"observation": seen, "action_mask": self._batch._masks[0].view(np.int8).copy()} if self._mask_in_obs else seen

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        if self._mask_in_info:
            info["action_mask"] = self._batch._masks[0].view(np.int8).copy()
        return info

    def action_masks(self) -> Any:
        """(N_ACTIONS,) bool: the legal actions; a new array."""
        return self._batch._masks[0].astype(np.bool_)

    @property
    def seat(self) -> int:
        """The learner's seat in this game."""
        return int(self._batch.games["own"][0])

    @property
    def game(self) -> Game:
        """A copy of the game as it stands, hidden cards included."""
        return self._game(0)

    def render(self) -> Any:
        """The whole game, hidden cards included: with `render_mode="ansi"` a text, with "rgb_array" its image (720, 1280, 3) uint8."""
        if self.render_mode is None:
            gymnasium.logger.warn('nothing is rendered without a render mode; make the environment with render_mode="ansi"')
            return None
        return self._picture(0)

    def close(self) -> None:
        """Nothing is held that needs to be closed."""

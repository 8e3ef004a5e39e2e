"""What the Gymnasium environments share: options, spaces, seeds, and copies in mid-game."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from citadels_env import GERMAN, Game, Rules, observation, picture
from citadels_env.actions import N_ACTIONS
from citadels_env.batch import checked_rules, rules_list
from citadels_env.checks import one_of, shown, true_or_false, whole_number
from citadels_env.errors import InvalidArgumentError

from ..seated import SELF, SeatedBatch

MASK_IN = ("obs", "info", "both")
ILLEGAL = ("terminate", "raise")
RENDER_MODES = ("ansi", "rgb_array")
ILLEGAL_REWARD = -1.0  # of the learner whose illegal answer ends a game
_KEPT = ("states", "_steps", "games", "_masks", "_observations")  # all that changes in a SeatedBatch


class Seated:
    """One seat against agents in every game of a `SeatedBatch` that deals no games by itself.

    Options of both environments
    ----------
    rules: the rules of the game (`GERMAN` if not given), or several `Rules` of which each game is played by one.
    num_players: 2 to 8; as many as the rules say if not given (4 in the editions).
    opponents: who plays the other seats.  A spec of `citadels_agents.make` or an agent: plays all of them.  A list: the one k places
        to the left of the learner.  A mapping of specs to shares: drawn for each seat of each game anew.
    seat: the learner's seat, the same in all games; drawn from each game's seed if not given.
    rewards: what the end of a game pays: "win" (1, shared by the winners of a tie), "score" (a tenth of the points above the mean) or
        "rank" (from 1 for the first to -1 for the last).
    mask_in: where the action mask stands.  "obs": the observation is a dictionary of `observation` and `action_mask`; "info": it is
        the flat array alone, and the mask is in the info as `action_mask`; "both".
    compact: observations with as many player rows as there are players instead of eight.
    illegal: what an illegal answer does.  "terminate": it ends the game with a reward of -1; "raise": it raises IllegalActionError (a
        ValueError), and nothing changes.
    render_mode: "ansi" (`render()` gives the whole game as text, hidden cards included), "rgb_array" (an image of that text,
        (720, 1280, 3) uint8) or None.

    Raises InvalidArgumentError, RulesError or AgentSpecError (all of them ValueErrors) for impossible options, naming them.
    """

    def _set_up(
        self,
        num_games: int,
        threads: int,
        *,
        rules: Rules | Sequence[Rules] | None,
        num_players: int | None,
        opponents: Any,
        seat: int | None,
        rewards: str,
        mask_in: str,
        compact: bool,
        illegal: str,
        render_mode: str | None,
    ) -> None:
        one_of("mask_in", mask_in, MASK_IN)
        one_of("illegal", illegal, ILLEGAL)
        modes = (None, *RENDER_MODES)
        if not (render_mode is None or isinstance(render_mode, str)) or render_mode not in modes:
            raise InvalidArgumentError(f"render_mode must be one of {', '.join(map(str, modes))}, not {shown(render_mode)}")
        true_or_false("compact", compact)
        several = isinstance(rules, Sequence) and not isinstance(rules, str | bytes)
        every = [GERMAN] if rules is None else rules_list(rules) if several else [checked_rules(rules)]
        if num_players is not None:
            every = [r.with_(players=num_players) for r in every]
        if seat is not None:
            seat = whole_number("seat", seat, 0, min(r.players for r in every) - 1)
        if isinstance(opponents, bytes | bytearray) or not isinstance(opponents, str | Mapping | Sequence):
            opponents = [opponents] * max(r.players for r in every)
        if any(isinstance(name, str) and name == SELF for name in ([opponents] if isinstance(opponents, str) else opponents)):
            raise InvalidArgumentError(
                "opponents are agents; to answer for all seats yourself use citadels_agents.SeatedBatch or the AEC environment"
            )
        self._arguments: dict[str, Any] = {
            "rules": tuple(every),
            "num_games": num_games,
            "opponents": opponents,
            "own_seat": seat,
            "rewards": rewards,
            "threads": threads,
            "compact": compact,
        }
        self._mask_in_obs, self._mask_in_info = mask_in != "info", mask_in != "obs"
        self._raises = illegal == "raise"
        self.render_mode = render_mode
        self._batch = self._new_batch()

    def _new_batch(self) -> SeatedBatch:
        batch = SeatedBatch(**self._arguments, auto_reset=False)
        batch.observations()
        return batch

    def _space(self) -> spaces.Space[Any]:
        """The observation space of one game."""
        high = observation.high(self._batch.observation_rows)
        flat = spaces.Box(np.zeros_like(high), high, dtype=np.uint8)
        if not self._mask_in_obs:
            return flat
        return spaces.Dict({"observation": flat, "action_mask": spaces.Box(0, 1, (N_ACTIONS,), np.int8)})

    def _game(self, place: int) -> Game:
        batch = self._batch
        return Game.of_state(batch.rules[batch.games["rules"][place]], batch.states[place : place + 1])

    def _picture(self, place: int) -> Any:
        """The whole game, hidden cards included, in the render mode: text or image."""
        text = str(self._game(place))
        return text if self.render_mode == "ansi" else picture.of_text(text)

    def _refusal(self, place: int, action: Any) -> str:
        """Why an action is illegal, with the legal ones."""
        try:
            self._game(place)._number(action)
        except ValueError as error:
            return str(error)
        raise AssertionError(f"{action} is legal")

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: getattr(self._batch, name).tobytes() for name in _KEPT}
        return {**{name: value for name, value in self.__dict__.items() if name != "_batch"}, "kept": kept}

    def __setstate__(self, contents: dict[str, Any]) -> None:
        kept = contents.pop("kept")
        self.__dict__.update(contents)
        self._batch = self._new_batch()
        for name, content in kept.items():
            array = getattr(self._batch, name)
            array.view(np.uint8).reshape(-1)[:] = np.frombuffer(content, np.uint8)

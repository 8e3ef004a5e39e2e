"""Many games for Gymnasium: one seat of each against agents, all played by the kernel."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from citadels_env import Game
from citadels_env.actions import N_ACTIONS
from citadels_env.batch import DEAL, LOOK, next_seeds
from citadels_env.checks import MAX_SEED, MAX_SIDE_BY_SIDE, items, seed_number, shown, true_or_false, whole_number, whole_numbers
from citadels_env.errors import IllegalActionError, InvalidArgumentError

from .options import ILLEGAL_REWARD, RENDER_MODES, Seated
from .single import CitadelsEnv

# What `call` and `get_attr` give of every game, as `SyncVectorEnv` does with as many `CitadelsEnv`.
OF_EACH = ("action_masks", "seat", "game", "render", "render_mode", "observation_space", "action_space", "metadata")


class CitadelsVectorEnv(Seated, VectorEnv[Any, Any, Any]):
    """Many games of `CitadelsEnv` at once, without a Python object for any: `gymnasium.make_vec("citadels_env:Citadels-v0", ...)`.

    num_envs: the number of games N.
    autoreset_mode: an `AutoresetMode`, its name or its value.  NEXT_STEP: the step after the end of a game deals the next one, ignores
        the action and rewards 0.  SAME_STEP: the step that ends a game deals the next one; the last observation and info are in the
        infos as `final_obs` and `final_info`.  DISABLED: reset ended games with `reset(options={"reset_mask": ...})`.
    threads: threads to use; games do not depend on it.
    copy: return arrays of the caller's own; otherwise observations and masks are live arrays that the next call overwrites.

    The other options are those of `citadels_agents.envs.options.Seated`.  Observations, infos and games are those that Gymnasium's
    `SyncVectorEnv` has with N `CitadelsEnv`, but for `illegal_action`, which is the number of the action.

    `reset(seed=s)` deals the game of seed s + i in place i; each next game in a place follows from the last one's seed.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: Any = None,
        num_players: int | None = None,
        opponents: Any = "heuristic",
        seat: int | None = None,
        rewards: str = "win",
        mask_in: str = "obs",
        compact: bool = False,
        illegal: str = "terminate",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        copy: bool = True,
    ) -> None:
        num_envs = whole_number("num_envs", num_envs, 1, MAX_SIDE_BY_SIDE)
        modes = {mode.name: mode for mode in AutoresetMode} | {mode.value: mode for mode in AutoresetMode}
        if not isinstance(autoreset_mode, AutoresetMode) and (not isinstance(autoreset_mode, str) or autoreset_mode not in modes):
            raise InvalidArgumentError(
                f"autoreset_mode must be one of {', '.join(mode.name for mode in AutoresetMode)}, not {shown(autoreset_mode)}"
            )
        self.autoreset_mode = autoreset_mode if isinstance(autoreset_mode, AutoresetMode) else modes[autoreset_mode]
        self._set_up(
            num_envs, threads, rules=rules, num_players=num_players, opponents=opponents, seat=seat, rewards=rewards, mask_in=mask_in,
            compact=compact, illegal=illegal, render_mode=render_mode,
        )  # fmt: skip
        self.num_envs = num_envs
        self.metadata = {**CitadelsEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self._copy = true_or_false("copy", copy)
        self.single_observation_space, self.single_action_space = self._space(), spaces.Discrete(N_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rows = np.arange(num_envs) * N_ACTIONS  # where the masks begin
        self._dealt = False
        self._over = np.ones(num_envs, np.bool_)

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal new games everywhere, or where `options["reset_mask"]` ((N,) bool) is set: observations and infos.

        seed: of the first place, or one for each place; without one, the game that follows the last one's.
        Raises InvalidArgumentError (a ValueError) for impossible seeds or masks; nothing is changed then.
        """
        given, seeds = self._given(seed)
        chosen = self._chosen(options)
        super().reset(seed=int(seeds[0]) if given.all() else None)
        batch = self._batch
        following = next_seeds(batch.seeds) if self._dealt else self.np_random.integers(2**63, size=self.num_envs).astype(np.uint64)
        batch.seeds[chosen] = np.where(given, seeds, following)[chosen]
        batch.games["number"][chosen] += 1
        self._over[chosen] = False
        self._answer(np.where(chosen, DEAL, LOOK), self._over)
        self._dealt = True
        infos: dict[str, Any] = {}
        self._add(infos, "seat", self._seats, chosen)
        return self._seen(), self._with_masks(infos, chosen)

    def _given(self, seed: Any) -> tuple[Any, Any]:
        """Where a seed is given, and the seeds: (N,) bool and (N,) uint64."""
        number = self.num_envs
        if seed is None:
            return np.zeros(number, np.bool_), np.zeros(number, np.uint64)
        if (
            isinstance(seed, str | bytes | bytearray)
            or not isinstance(seed, Sequence | np.ndarray)
            or (isinstance(seed, np.ndarray) and not seed.ndim)
        ):
            first = seed_number(seed, most=MAX_SEED - number + 1)
            return np.ones(number, np.bool_), np.uint64(first) + np.arange(number, dtype=np.uint64)
        every = list(seed) if isinstance(seed, np.ndarray) else items("seed", seed, "seeds")
        if len(every) != number:
            raise InvalidArgumentError(f"there are {number} games, but {len(every)} seeds")
        given = np.array([one is not None for one in every])
        return given, np.array([0 if one is None else seed_number(one) for one in every], np.uint64)

    def _chosen(self, options: dict[str, Any] | None) -> Any:
        """Where games are to be dealt: (N,) bool."""
        if options is None or "reset_mask" not in options:
            return np.ones(self.num_envs, np.bool_)
        chosen = options["reset_mask"]
        if not isinstance(chosen, np.ndarray) or chosen.dtype != np.bool_:
            kind = getattr(chosen, "dtype", type(chosen).__name__)
            raise InvalidArgumentError(f"options['reset_mask'] must be a NumPy array of bool, not {kind}")
        if chosen.shape != (self.num_envs,) or not chosen.any():
            raise InvalidArgumentError(f"options['reset_mask'] must have shape ({self.num_envs},) and be true somewhere, not {chosen}")
        if not self._dealt:
            raise ResetNeeded("call reset() without a reset_mask before the first one with it")
        return chosen

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Answer in every game: observations, rewards (N,) float64, terminated and truncated (N,) bool, and infos.

        Raises InvalidArgumentError for what are no N whole numbers, IllegalActionError for what are no actions at all (and for
        illegal ones with `illegal="raise"`; both are ValueErrors), and
        `gymnasium.error.ResetNeeded` where a game has ended and must be reset; nothing is changed then.
        """
        batch, dealt = self._batch, self._over
        if not self._dealt:
            raise ResetNeeded("call reset() before the first step")
        if self.autoreset_mode == AutoresetMode.DISABLED and dealt.any():
            place = int(np.argmax(dealt))
            raise ResetNeeded(f"game {place} is over; reset it with options={{'reset_mask': ...}} before the next step")
        if not isinstance(actions, np.ndarray) or actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            actions = whole_numbers("actions", actions, self.num_envs)
        inside = (actions >= 0) & (actions < N_ACTIONS)
        legal = batch._masks.view(np.bool_).ravel().take(self._rows + np.where(inside, actions, 0)) & inside
        illegal = ~(legal | dealt)
        if illegal.any():
            refused = illegal if self._raises else illegal & ~inside
            if refused.any():
                place = int(np.argmax(refused))
                raise IllegalActionError(f"game {place}: {self._refusal(place, int(actions[place]))}")
        if dealt.any():
            batch.seeds[dealt] = next_seeds(batch.seeds[dealt])
            batch.games["number"][dealt] += 1
        answers = np.where(legal, actions, np.where(dealt, DEAL, LOOK)) if not legal.all() else actions
        self._answer(answers, illegal)
        done = batch.done.copy()
        ended = done | illegal
        truncated = np.zeros(self.num_envs, np.bool_)
        rewards = np.zeros(self.num_envs)
        infos: dict[str, Any] = {}
        if ended.any():
            places = np.flatnonzero(done)
            truncated[places] = batch.games["ended_truncated"][places]
            rewards[places] = batch.rewards[places, batch.games["own"][places]]
            rewards[illegal] = ILLEGAL_REWARD
            infos = self._end(done, illegal, actions)
        if self.autoreset_mode != AutoresetMode.SAME_STEP:
            self._over = ended
            if dealt.any():
                self._add(infos, "seat", self._seats, done | dealt)
        elif ended.any():
            infos = {"final_obs": self._final(ended), "_final_obs": ended.copy(), "final_info": self._with_masks(infos, ended)}
            infos["_final_info"] = ended.copy()
            batch.deal_in(np.flatnonzero(ended))
            self._add(infos, "seat", self._seats, ended)
        return self._seen(), rewards, ended & ~truncated, truncated, self._with_masks(infos, np.ones(self.num_envs, np.bool_))

    def _answer(self, answers: Any, over: Any) -> None:
        """Let the kernel answer in every game; those of `over` have ended."""
        batch = self._batch
        if self._copy:  # the array with the last observations is the caller's now
            batch._observations = np.empty_like(batch._observations)
        batch.step_unchecked(answers)
        batch._masks[over] = 0

    @property
    def _seats(self) -> Any:
        return self._batch.games["own"].astype(np.int64)

    @staticmethod
    def _add(infos: dict[str, Any], name: str, values: Any, where: Any) -> None:
        """Put the `values` of some games into the infos, as Gymnasium does: zero in the others, and `_name` says where."""
        infos[name] = np.zeros(values.shape, values.dtype)
        places = np.flatnonzero(where)  # few, and the values may be fields of records
        infos[name][places] = values[places]
        infos[f"_{name}"] = where.copy()

    def _end(self, done: Any, illegal: Any, actions: Any) -> dict[str, Any]:
        """How games ended."""
        infos: dict[str, Any] = {}
        if done.any():
            self._add(infos, "seat", self._seats, done)
            self._add(infos, "scores", self._batch.games["ended_scores"], done)
            self._add(infos, "rounds", self._batch.games["ended_rounds"].astype(np.int64), done)
        if illegal.any():
            self._add(infos, "illegal_action", actions.astype(np.int64), illegal)
        return infos

    def _final(self, ended: Any) -> Any:
        """The last observations of games that ended: (N,) object array, None in the others."""
        result = np.full(self.num_envs, None, object)
        seen = list(self._batch.observations()[ended])
        if self._mask_in_obs:
            masks = self._batch._masks.view(np.int8)[ended]
            seen = [{"observation": row, "action_mask": mask} for row, mask in zip(seen, masks, strict=True)]
        for place, one in zip(np.flatnonzero(ended), seen, strict=True):
            result[place] = one
        return result

    def _seen(self) -> Any:
        seen = self._batch.observations()
        if not self._mask_in_obs:
            return seen
        masks = self._batch._masks.view(np.int8)
        return {"observation": seen, "action_mask": masks.copy() if self._copy else masks}

    def _with_masks(self, infos: dict[str, Any], where: Any) -> dict[str, Any]:
        if self._mask_in_info:
            self._add(infos, "action_mask", self._batch._masks.view(np.int8), where)
        return infos

    def action_masks(self) -> Any:
        """(N, N_ACTIONS) bool: the legal actions; a new array, or with `copy=False` a live one."""
        return self._batch.masks().copy() if self._copy else self._batch.masks()

    def game(self, place: int) -> Game:
        """A copy of the game in a place, hidden cards included."""
        return self._game(place)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """An attribute of every game, or what its method returns: one entry a game, as in Gymnasium's `SyncVectorEnv`.

        name: `action_masks` ((N_ACTIONS,) bool each, of the caller's own), `seat`, `game`, `render`, `render_mode`, `observation_space`,
            `action_space` or `metadata`, which are those of `CitadelsEnv`.

        Raises AttributeError for another name, and TypeError for arguments (none of these takes any).
        """
        if name not in OF_EACH:
            hint = f"; call {name}() of the vector environment itself" if name in ("step", "reset", "close") else ""
            raise AttributeError(f"there is no {name!r} of single games; there are {', '.join(OF_EACH)}{hint}")
        if args or kwargs:
            raise TypeError(f"{name} takes no arguments")
        number = range(self.num_envs)
        if name == "action_masks":
            return tuple(self._batch.masks().copy())
        if name == "seat":
            return tuple(self._seats.tolist())
        if name == "game":
            return tuple(self._game(place) for place in number)
        if name == "render":
            return self.render() or (None,) * self.num_envs
        value = {
            "render_mode": self.render_mode,
            "observation_space": self.single_observation_space,
            "action_space": self.single_action_space,
            "metadata": CitadelsEnv.metadata,
        }[name]
        return (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """`call` without arguments."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of all games: `render_mode` is the only one that can be changed.

        values: one for all games, or a list or tuple with one for each, which must be equal.

        Raises AttributeError for another name, and ValueError for values that cannot be; nothing is changed then.
        """
        if name != "render_mode":
            raise AttributeError(
                f"{name!r} cannot be set: games are made with their options, and only render_mode may change later; make a new environment"
            )
        every = list(values) if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(every) != self.num_envs:
            raise ValueError(f"there are {self.num_envs} games, but {len(every)} values")
        if any(value != every[0] for value in every) or every[0] not in (None, *RENDER_MODES):
            raise ValueError(f"render_mode must be one of None, {', '.join(RENDER_MODES)}, the same in all games, not {values!r}")
        self.render_mode = every[0]

    def render(self) -> tuple[Any, ...] | None:
        """Every whole game, hidden cards included: with `render_mode="ansi"` texts, with "rgb_array" images (720, 1280, 3) uint8."""
        if self.render_mode is None:
            gymnasium.logger.warn('nothing is rendered without a render mode; make the environment with render_mode="ansi"')
            return None
        return tuple(self._picture(place) for place in range(self.num_envs))

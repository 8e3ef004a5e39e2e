"""The stock path: one game as RLlib's `MultiAgentEnv`, and PPO with one policy for all seats."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from citadels_env import Game, IllegalActionError, InvalidArgumentError
from citadels_env.actions import N_ACTIONS
from citadels_env.checks import index_of, seed_number, shown

from . import settings
from .callbacks import Callbacks
from .games import LEARNER, Games, spaces_of
from .module import MaskedModule
from .network import HIDDEN
from .runner import BatchedEnvRunner
from .settings import DEFAULTS

_PLACE = np.zeros(1, np.int64)
_NO_ANSWER = np.zeros(N_ACTIONS, np.int8)


class CitadelsMultiAgentEnv(MultiAgentEnv):
    """One game for RLlib's new API stack: every step one agent is asked.

    config: what `Games.from_config` takes, and optionally `seed`.  The agents are `player_0` to `player_7`, as many as the
    most players; a game of fewer is played by the first ones.  Seats that `opponents` gives to agents of
    `citadels_agents.make` are played inside and do not show.  "past" is for the batched runner only.

    Observations are {"observation": uint8 (size,), "action_mask": int8 (N_ACTIONS,)}.  A step returns that of the agent asked
    next.  At the end of the game every agent gets its reward, and every agent that has acted a last observation (with an empty
    mask): RLlib silently drops rewards without one.  A game cut off after `max_rounds` rounds is scored as it stands; it counts
    as terminated, with "truncated" in its infos, because RLlib would add a value estimate to the reward of a truncated one.

    `reset(seed=...)` deals the game that `Game(rules, seed)` is, `reset()` the next one, the first time that of the config's `seed`
    or of fresh entropy.  Inside RLlib seeds are mixed with the runner's index and the environment's, as RLlib gives one
    seed to several.  Set `environment(disable_env_checking=True)`: RLlib's checker plays illegal actions.

    Raises ValueError for an impossible config.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (declared so by Gymnasium; RLlib writes into it)

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        if config is not None and not isinstance(config, Mapping):
            raise InvalidArgumentError(f"config must be a mapping, as for Games.from_config, not {shown(config)}")
        options = dict(config or {})
        seed = options.pop("seed", None)
        games = Games.from_config(options)
        if "past" in ([games.opponents] if isinstance(games.opponents, str) else games.opponents):
            raise InvalidArgumentError(
                "opponents: the multi-agent environment has no 'past' versions of the learner; use the batched runner"
            )
        self._batch = games.batch(1, auto_reset=False)
        self._batch.observations()
        self._within: tuple[int, ...] = ()
        if isinstance(config, EnvContext):
            self._within = (config.worker_index, config.vector_index)
            config.vector_index += 1  # RLlib makes all environments of a runner from one context, and leaves this at 0
        self._first_seed: int | None = self._seed_of_game(seed)
        self.possible_agents = [f"player_{seat}" for seat in range(games.players)]
        seen, actions = spaces_of(games)
        self.observation_spaces = dict.fromkeys(self.possible_agents, seen)
        self.action_spaces = dict.fromkeys(self.possible_agents, actions)
        self.agents: list[str] = []
        self._acted: set[str] = set()
        super().__init__()

    def _seed_of_game(self, seed: int | None) -> int:
        if seed is not None:
            seed = seed_number(seed)
            if not self._within:
                return seed
        entropy = None if seed is None else [seed, *self._within]
        return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal the game of `seed`, or the next one (`options` has no effect): observation and info of the first agent asked."""
        seed = self._first_seed if seed is None else self._seed_of_game(seed)
        self._first_seed = None
        self._batch.deal_in(_PLACE, seed)
        place = self._batch.games[0]
        seats = range(self._batch.rules[place["rules"]].players)
        self.agents = [self.possible_agents[seat] for seat in seats if place["seating"][seat] < 0]
        self._acted = set()
        return self._asked()

    def step(self, action_dict: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Answer for the agent that is asked: observations, rewards, terminateds, truncateds and infos.

        Raises InvalidArgumentError if another agent answers, or none, and IllegalActionError if the action is not legal (both are
        ValueErrors); nothing is changed then.
        """
        batch = self._batch
        if not self.agents:
            raise InvalidArgumentError("no game is being played; call reset() before the next step")
        agent = self.possible_agents[int(batch.actors[0])]
        if not isinstance(action_dict, Mapping) or list(action_dict) != [agent]:
            who = ", ".join(map(str, action_dict)) or "nobody" if isinstance(action_dict, Mapping) else shown(action_dict)
            raise InvalidArgumentError(f"{agent} must answer, and nobody else, not {who}")
        action = action_dict[agent]
        number = action if type(action) is int else index_of(action, -1)
        if not (0 <= number < N_ACTIONS and batch._masks[0, number]):
            raise IllegalActionError(self._refusal(agent, action))
        self._acted.add(agent)
        batch.step_in(_PLACE, number)
        going_on = {"__all__": False}
        if not batch.done[0]:
            observations, infos = self._asked()
            return observations, {agent: 0.0}, going_on, dict(going_on), infos
        acted = [name for name in self.agents if name in self._acted]
        rewards = {name: float(batch.rewards[0, self._seat(name)]) for name in self.agents}
        observations = {name: self._observation(batch.observe(self._seat(name))[0], _NO_ANSWER) for name in acted}
        infos = {name: {"truncated": bool(batch.games["ended_truncated"][0])} for name in acted}
        self.agents = []
        return observations, rewards, {"__all__": True}, going_on, infos

    def _asked(self) -> tuple[dict[str, Any], dict[str, Any]]:
        agent = self.possible_agents[int(self._batch.actors[0])]
        return {agent: self._observation(self._batch.observations()[0], self._batch._masks[0].view(np.int8))}, {agent: {}}

    @staticmethod
    def _observation(seen: Any, mask: Any) -> dict[str, Any]:
        return {"observation": seen.copy(), "action_mask": mask.copy()}

    def _seat(self, agent: str) -> int:
        return self.possible_agents.index(agent)

    @property
    def game(self) -> Game:
        """A copy of the game as it stands, hidden cards included."""
        return Game.of_state(self._batch.rules[self._batch.games["rules"][0]], self._batch.states)

    def _refusal(self, agent: str, action: Any) -> str:
        game, text = self.game, shown(action)
        if 0 <= index_of(action, -1) < N_ACTIONS:
            text += f" ({game.describe(index_of(action, -1))})"
        legal = ", ".join(f"{number} ({game.describe(int(number))})" for number in game.legal_indices())
        return f"action {text} is not a legal answer of {agent} to {game.question}; legal: {legal}"


def one_policy(agent: str, episode: Any = None, **_: Any) -> str:
    """Every agent's policy: `LEARNER`."""
    return LEARNER


class CitadelsPPOConfig(PPOConfig):
    """A PPOConfig that refuses callbacks which the batched runner, if it is the chosen one, would not call.

    RLlib turns what a remote runner raises into an error about something else, so it must be found out before there is one.
    """

    def validate(self) -> None:
        """Raise ValueError for impossible settings, naming the callbacks that would not be called."""
        super().validate()
        if isinstance(self.env_runner_cls, type) and issubclass(self.env_runner_cls, BatchedEnvRunner):
            Callbacks(self)


def stock_ppo(
    games: Mapping[str, Any],
    hidden: Sequence[int] = HIDDEN,
    bfloat16: bool = False,
    *,
    module: type[Any] = MaskedModule,
    model_config: Mapping[str, Any] | None = None,
    **training: Any,
) -> PPOConfig:
    """PPO with RLlib's own runner, connectors and learner: one policy for all seats, illegal actions masked.

    games: the env_config of `CitadelsMultiAgentEnv`.
    hidden: widths of the network's layers.
    bfloat16: multiply matrices in this precision; see docs/training.md for when that is faster.
    module: another RLModule (see `module.PolicyModule`); `hidden` and `bfloat16` are then not looked at.
    model_config: its `model_config`.
    training: arguments of `PPOConfig.training`, over DEFAULTS.

    Rewards come at the end of a game only and games are short, hence gamma 1.

    Raises InvalidArgumentError (a ValueError) for impossible games, widths and settings.
    """
    Games.from_config({name: value for name, value in games.items() if name != "seed"})
    settings.check_hidden("hidden", hidden)
    settings.check(training)
    standard = {"hidden": tuple(hidden), "bfloat16": bfloat16} if module is MaskedModule else {}
    spec = RLModuleSpec(module_class=module, model_config={**standard, **(model_config or {})})
    return (
        CitadelsPPOConfig()
        .environment(CitadelsMultiAgentEnv, env_config=dict(games), disable_env_checking=True)
        .multi_agent(policies={LEARNER}, policy_mapping_fn=one_policy, policies_to_train=[LEARNER])
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={LEARNER: spec}))
        .training(use_kl_loss=False, **{**DEFAULTS, **training})
    )

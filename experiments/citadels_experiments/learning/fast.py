"""The fast path as an RLlib configuration."""

from collections.abc import Mapping, Sequence
from typing import Any

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec

from citadels_env.checks import MAX_SIDE_BY_SIDE, whole_number

from .games import LEARNER, PAST
from .learner import FastPPOTorchLearner
from .module import MaskedModule
from .multi_agent import stock_ppo
from .network import HIDDEN
from .runner import BatchedEnvRunner, FragmentsToBatch

COMPILE_SECONDS = 1200.0  # how long remote runners are waited for: on a new machine they compile the rules first, RLlib would wait a minute


def fast_ppo(
    games: Mapping[str, Any],
    *,
    runners: int = 0,
    num_games: int = 128,
    hidden: Sequence[int] = HIDDEN,
    bfloat16: bool = False,
    past: int = 0,
    module: type[Any] = MaskedModule,
    model_config: Mapping[str, Any] | None = None,
    **training: Any,
) -> PPOConfig:
    """PPO on batched games: `stock_ppo` with another runner and learner.

    games: the `env_config` (see `BatchedEnvRunner`).
    runners: remote runners; with 0 the games are played in the process that learns.
    num_games: games each runner plays side by side.  Few games and long fragments learn better than the reverse: 64 to 128 games,
        128 answers or more of each to a training batch.
    hidden, bfloat16, module, model_config, training: as in `stock_ppo`.
    past: how many frozen versions there may be, as the modules past_0, past_1, ...

    What it returns is an ordinary PPOConfig, to change at will.

    Raises InvalidArgumentError (a ValueError) for impossible numbers, and as `stock_ppo`.
    """
    whole_number("runners", runners, 0, 10_000)
    whole_number("num_games", num_games, 1, MAX_SIDE_BY_SIDE)
    whole_number("past", past, 0, 1000)
    config = stock_ppo(games, hidden, bfloat16, module=module, model_config=model_config, **training)
    spec = config.rl_module_spec.rl_module_specs[LEARNER]
    modules = [LEARNER, *(f"{PAST}_{k}" for k in range(past))]
    return (
        config.env_runners(
            env_runner_cls=BatchedEnvRunner,
            num_env_runners=runners,
            num_envs_per_env_runner=num_games,
            sample_timeout_s=COMPILE_SECONDS,
        )
        .multi_agent(policies=modules)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=dict.fromkeys(modules, spec)))
        .learners(learner_class=FastPPOTorchLearner, learner_connector=fragments_to_batch, add_default_connectors_to_learner_pipeline=False)
        .debugging(log_level="ERROR")
    )


def fragments_to_batch(observation_space: Any, action_space: Any) -> FragmentsToBatch:
    """The learner connector of the fast path."""
    return FragmentsToBatch(observation_space, action_space)

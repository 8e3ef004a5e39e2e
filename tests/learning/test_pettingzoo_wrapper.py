"""RLlib's own wrapper of PettingZoo environments works with `citadels_v0`; `CitadelsMultiAgentEnv` is the better choice."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")
pytest.importorskip("torch")

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

from citadels_env import FRENCH, GERMAN, citadels_v0
from citadels_experiments.learning.module import MaskedModule

POLICY = "main"


def wrapped(config: dict[str, Any]) -> PettingZooEnv:
    """The environment; its agents in order, because RLlib's wrapper takes them from a set."""
    env = PettingZooEnv(citadels_v0.env(**config))
    env.possible_agents = sorted(env.possible_agents)
    return env


@pytest.mark.parametrize("rules", [GERMAN, FRENCH.with_(players=7, add_districts="all"), GERMAN.with_(max_rounds=3)])
def test_the_wrapper_plays_the_games_of_the_aec_environment(rules: Any) -> None:
    env, aec = PettingZooEnv(citadels_v0.env(rules=rules)), citadels_v0.env(rules=rules)
    rng = np.random.default_rng(0)
    for seed in range(3):
        observations, _ = env.reset(seed=seed)
        aec.reset(seed=seed)
        over = False
        while not over:
            ((agent, seen),) = observations.items()
            assert agent == aec.agent_selection
            expected = aec.observe(agent)
            assert all((seen[name] == expected[name]).all() for name in expected)
            assert env.observation_space[agent].contains(seen)
            action = int(rng.choice(np.flatnonzero(seen["action_mask"])))
            observations, rewards, terminated, truncated, _ = env.step({agent: action})
            aec.step(action)
            over = terminated["__all__"] or truncated["__all__"]
        assert rewards == aec.rewards
        assert sum(rewards.values()) == pytest.approx(1)
        assert truncated["__all__"] == (rules.max_rounds == 3)


@pytest.mark.slow
@pytest.mark.usefixtures("ray_running")
def test_ppo_trains_on_the_wrapper() -> None:
    register_env("citadels_v0 in RLlib's wrapper", wrapped)
    module = RLModuleSpec(module_class=MaskedModule, model_config={"hidden": (16,)})
    config = (
        PPOConfig()
        .environment("citadels_v0 in RLlib's wrapper", env_config={"num_players": 3, "compact": True}, disable_env_checking=True)
        .multi_agent(policies={POLICY}, policy_mapping_fn=lambda agent, episode, **_: POLICY)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: module}))
        .training(train_batch_size_per_learner=600, minibatch_size=200, num_epochs=1, gamma=1.0, use_kl_loss=False)
        .env_runners(num_env_runners=0)
        .debugging(seed=1, log_level="ERROR")
    )
    algorithm = config.build_algo()
    before = {name: weights.copy() for name, weights in algorithm.get_module(POLICY).get_state().items()}
    result = algorithm.train()["env_runners"]
    after = algorithm.get_module(POLICY).get_state()
    algorithm.stop()
    assert result["num_env_steps_sampled_lifetime"] >= 600
    assert any(not np.array_equal(before[name], after[name]) for name in before)
    # an illegal answer would pay -1 to one player and end the game after some two steps
    assert result["episode_return_mean"] == pytest.approx(1)
    assert result["episode_len_mean"] > 50

"""Self-play with RLlib's own PPO, and a look at how often it beats random players.

Every seat is played by one policy, and illegal actions are masked.  This is the slow, plain path that any RLlib user can
follow; `citadels train` learns several times faster.  Run: python examples/rllib_stock.py [ITERATIONS]
"""

import os
import sys

os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # a run on one machine needs no token

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from citadels_experiments.learning.module import MaskedModule
from citadels_experiments.learning.multi_agent import CitadelsMultiAgentEnv

games = {"players": 4, "opponents": "self"}  # the base roles; opponents are the learner itself
policy = RLModuleSpec(module_class=MaskedModule, model_config={"hidden": (256, 256)})
config = (
    PPOConfig()
    .environment(CitadelsMultiAgentEnv, env_config=games, disable_env_checking=True)  # the checker ignores masks
    .env_runners(num_env_runners=0, num_envs_per_env_runner=16)
    .multi_agent(policies={"learner"}, policy_mapping_fn=lambda agent, episode, **_: "learner")
    .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"learner": policy}))
    .training(gamma=1.0, lambda_=0.95, lr=1e-3, train_batch_size_per_learner=4096, minibatch_size=1024, num_epochs=2)
    .training(use_kl_loss=False, entropy_coeff=0.01, vf_loss_coeff=0.5, grad_clip=0.5)
    .evaluation(evaluation_interval=5, evaluation_duration=100)  # against random players: one agent, whose return is its wins
    .evaluation(evaluation_config=PPOConfig.overrides(env_config={"players": 4, "opponents": "random"}))
)

ray.init(include_dashboard=False)
algorithm = config.build_algo()
for iteration in range(1, 1 + int(sys.argv[1] if len(sys.argv) > 1 else 20)):
    result = algorithm.train()
    line = f"iteration {iteration}: {result['env_runners']['num_env_steps_sampled_lifetime']:.0f} decisions"
    if iteration % 5 == 0:
        share = result["evaluation"]["env_runners"]["episode_return_mean"]
        line += f", wins {100 * share:.0f}% of games against three random players (25% is no better than they)"
    print(line)
algorithm.stop()

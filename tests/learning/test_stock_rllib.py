"""The stock path: the multi-agent environment, the module that masks, and PPO with RLlib's own runner."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ray")
torch = pytest.importorskip("torch")

from gymnasium import spaces
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.core.columns import Columns
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner

from citadels_env import GERMAN, citadels_v0
from citadels_env.actions import N_ACTIONS
from citadels_experiments.learning.module import MaskedModule
from citadels_experiments.learning.multi_agent import LEARNER, CitadelsMultiAgentEnv, stock_ppo
from citadels_experiments.learning.network import Network

ROOT = Path(__file__).parents[2]
SMALL = {"hidden": (16,)}


def play(env, choices=0, **reset):
    """Play one game at random: the steps as (agent, observation, action, what the step returned)."""
    chooser = np.random.default_rng(choices)
    observations, _ = env.reset(**reset)
    steps = []
    while env.agents:
        ((agent, seen),) = observations.items()
        action = int(chooser.choice(np.flatnonzero(seen["action_mask"])))
        steps.append((agent, seen, action, env.step({agent: action})))
        observations = steps[-1][3][0]
    return steps


# --- the environment ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rewards", ["win", "score", "rank"])
def test_a_seed_and_its_actions_play_the_same_game_as_in_the_aec_environment(rewards):
    env = CitadelsMultiAgentEnv({"players": 5, "rewards": rewards})
    other = citadels_v0.raw_env(GERMAN.with_(players=5), rewards=rewards, compact=True)
    other.reset(seed=7)
    steps = play(env, seed=7)
    for agent, seen, action, _ in steps:
        assert agent == other.agent_selection
        expected = other.observe(agent)
        assert np.array_equal(seen["observation"], expected["observation"])
        assert np.array_equal(seen["action_mask"], expected["action_mask"])
        other.step(action)
    assert steps[-1][3][1] == other.rewards
    for agent, last in steps[-1][3][0].items():
        assert np.array_equal(last["observation"], other.observe(agent)["observation"])


@pytest.mark.parametrize("players", range(2, 9))
def test_every_agent_gets_its_reward_at_the_end_and_all_that_acted_a_last_observation(players):
    env = CitadelsMultiAgentEnv({"players": players})
    agents = [f"player_{seat}" for seat in range(players)]
    assert env.possible_agents == agents
    steps = play(env, seed=players)
    for _, _, _, (observations, given, terminateds, truncateds, infos) in steps[:-1]:
        assert len(observations) == 1
        assert set(given.values()) == {0.0}
        assert not terminateds["__all__"] and not truncateds["__all__"]
        assert infos.keys() == observations.keys()
    observations, given, terminateds, truncateds, infos = steps[-1][3]
    assert list(given) == agents and sum(given.values()) == pytest.approx(1)
    assert set(observations) == {agent for agent, *_ in steps} == set(infos)
    assert terminateds["__all__"] and not truncateds["__all__"]
    for agent, seen in observations.items():
        assert env.observation_spaces[agent].contains(seen)
        assert not seen["action_mask"].any()


def test_games_of_different_numbers_of_players_use_the_first_agents():
    env = CitadelsMultiAgentEnv({"players": list(range(2, 9)), "seed": 1})
    counts = set()
    for game in range(25):
        steps = play(env, game)
        given = steps[-1][3][1]
        assert list(given) == env.possible_agents[: len(given)]
        assert sum(given.values()) == pytest.approx(1)
        assert {agent for agent, *_ in steps} <= set(given)
        assert env.observation_spaces["player_7"].contains(steps[0][1])
        counts.add(len(given))
    assert counts == set(range(2, 9))


def test_observations_are_copies():
    env = CitadelsMultiAgentEnv({"players": 3})
    steps = play(env, seed=2)
    again = play(env, seed=2)
    for (_, before, _, _), (_, after, _, _) in zip(steps, again, strict=True):
        assert np.array_equal(before["observation"], after["observation"])
        assert not np.shares_memory(before["observation"], after["observation"])
        assert not np.shares_memory(before["action_mask"], after["action_mask"])
    assert all(not np.shares_memory(one[1]["observation"], other[1]["observation"]) for one, other in pairwise(steps))


def test_seats_of_opponents_are_played_inside():
    env = CitadelsMultiAgentEnv({"players": 4, "opponents": "random", "seed": 3})
    seen = set()
    for game in range(12):
        steps = play(env, game)
        agents = {agent for agent, *_ in steps}
        observations, given, *_ = steps[-1][3]
        assert len(agents) == 1 and set(given) == agents == set(observations)
        seen |= agents
    assert len(seen) > 1  # the learner's seat is drawn for each game


def test_a_share_of_seats_may_be_the_learners():
    env = CitadelsMultiAgentEnv({"players": 4, "opponents": {"self": 1, "random": 1}, "seed": 3})
    counts = set()
    for game in range(12):
        env.reset()
        before = list(env.agents)
        steps = play(env, game)
        assert len(before) >= 1
        assert set(steps[-1][3][1]) == {agent for agent, *_ in steps}
        counts.add(len(steps[-1][3][1]))
    assert len(counts) > 1


def test_a_game_cut_off_is_scored_and_terminated():
    env = CitadelsMultiAgentEnv({"rules": [{"players": 3, "max_rounds": 2}]})
    observations, given, terminateds, truncateds, infos = play(env, seed=0)[-1][3]
    assert sum(given.values()) == pytest.approx(1)
    assert terminateds["__all__"] and not truncateds["__all__"]
    assert all(info["truncated"] for info in infos.values()) and infos.keys() == observations.keys()


def test_illegal_answers_are_refused_with_the_legal_ones_and_change_nothing():
    env = CitadelsMultiAgentEnv({"players": 4})
    with pytest.raises(ValueError, match="reset"):
        env.step({"player_0": 0})
    observations, _ = env.reset(seed=5)
    ((agent, seen),) = observations.items()
    legal, other = np.flatnonzero(seen["action_mask"]), next(name for name in env.agents if name != agent)
    before = env._batch.states.tobytes()
    for wrong in (int(np.flatnonzero(seen["action_mask"] == 0)[0]), -1, N_ACTIONS, 0.5, None, "draft"):
        with pytest.raises(ValueError, match=f"action {wrong!r}.* is not a legal answer of {agent}") as caught:
            env.step({agent: wrong})
        assert all(f"{action} (" in str(caught.value) for action in legal)
    for wrong in ({}, {other: int(legal[0])}, {agent: int(legal[0]), other: int(legal[0])}):
        with pytest.raises(ValueError, match=f"{agent} must answer"):
            env.step(wrong)
    assert env._batch.states.tobytes() == before
    env.step({agent: np.int64(legal[0])})
    play(env, seed=5)
    with pytest.raises(ValueError, match="reset"):
        env.step({agent: 0})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"opponents": "past"}, "batched runner"),
        ({"opponents": {"self": 1, "past": 1}}, "batched runner"),
        ({"opponents": "nobody"}, "nobody"),
        ({"player": 4}, "player"),
        ({"players": 9}, "9"),
    ],
)
def test_impossible_configurations_are_refused(config, message):
    with pytest.raises(ValueError, match=message):
        CitadelsMultiAgentEnv(config)


def test_the_seed_of_the_config_decides_all_games():
    first, second = (CitadelsMultiAgentEnv({"players": 2, "seed": 9}) for _ in range(2))
    games = [[(agent, action) for agent, _, action, _ in play(env)] for env in (first, first, second, second)]
    assert games[:2] == games[2:] and games[0] != games[1]
    one, other = (CitadelsMultiAgentEnv({"players": 2}) for _ in range(2))
    assert [action for _, _, action, _ in play(one)] != [action for _, _, action, _ in play(other)]


@pytest.mark.parametrize("seeded", ["config", "reset"])
def test_environments_of_one_configuration_play_different_games(seeded):
    dealt = []
    for worker in (0, 1, 2):
        context = EnvContext({"players": 4, "seed": 3}, worker_index=worker)
        for place in range(3):
            env = CitadelsMultiAgentEnv(context)
            # RLlib seeds environment i of runner w with seed + w + i
            env.reset(seed=3 + worker + place if seeded == "reset" else None)
            dealt.append(int(env._batch.seeds[0]))
    assert len(set(dealt)) == 9


@pytest.mark.slow
def test_the_order_of_agents_does_not_depend_on_the_hash_seed():
    code = """
from citadels_experiments.learning.multi_agent import CitadelsMultiAgentEnv
env = CitadelsMultiAgentEnv({"players": [3, 8], "seed": 4})
for _ in range(3):
    seen, _ = env.reset()
    order = []
    while env.agents:
        (agent, last), = seen.items()
        order.append(agent)
        seen, rewards, *_ = env.step({agent: int(last["action_mask"].argmax())})
    print(env.possible_agents, list(env.observation_spaces), order, list(seen), list(rewards))
"""
    paths = os.pathsep.join(str(ROOT / name) for name in (".", "agents", "experiments"))
    seen = set()
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": paths}
        seen.add(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stdout)
    assert len(seen) == 1 and "player_7" in seen.pop()


# --- the module -----------------------------------------------------------------------------------------------------


def situations(count=64):
    """Observations and masks from random play."""
    env = CitadelsMultiAgentEnv({"players": 4, "seed": 1})
    rows = []
    while len(rows) < count:
        rows += [seen for _, seen, _, _ in play(env, len(rows))]
    return {name: torch.from_numpy(np.stack([row[name] for row in rows[-count:]])) for name in ("observation", "action_mask")}


def module_for(seen, **config):
    size = seen["observation"].shape[1]
    space = spaces.Dict({"observation": spaces.Box(0, 255, (size,), np.uint8), "action_mask": spaces.Box(0, 1, (N_ACTIONS,), np.int8)})
    torch.manual_seed(0)
    return MaskedModule(observation_space=space, action_space=spaces.Discrete(N_ACTIONS), model_config=config)


@pytest.mark.parametrize("kind", [torch.int8, torch.uint8, torch.bool])
def test_forward_passes_mask_and_change_neither_batch_nor_each_other(kind):
    seen = situations()
    module = module_for(seen, **SMALL)
    batch = {Columns.OBS: {"observation": seen["observation"], "action_mask": seen["action_mask"].to(kind)}}
    before = {name: part.clone() for name, part in batch[Columns.OBS].items()}
    inputs = [getattr(module, name)(batch)[Columns.ACTION_DIST_INPUTS] for name in ("forward_train", "forward_exploration") * 2]
    inputs.append(module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS])
    assert all(torch.equal(one, inputs[0]) for one in inputs)
    chances = torch.softmax(inputs[0].detach(), dim=-1)
    assert (chances[before["action_mask"] == 0] == 0).all()
    assert (chances[before["action_mask"] != 0] > 0).all()
    assert list(batch) == [Columns.OBS] and list(batch[Columns.OBS]) == ["observation", "action_mask"]
    assert all(torch.equal(batch[Columns.OBS][name], part) for name, part in before.items())


def test_values_are_the_same_with_and_without_embeddings():
    seen = situations()
    module = module_for(seen, **SMALL)
    batch = {Columns.OBS: seen}
    embeddings = module.forward_train(batch)[Columns.EMBEDDINGS]
    assert torch.equal(module.compute_values(batch), module.compute_values(batch, embeddings))
    assert module.compute_values(batch).shape == (64,)


def test_module_and_network_make_the_same_choice_with_the_same_weights():
    seen = situations()
    module = module_for(seen, hidden=(32, 16))
    network = Network(seen["observation"].shape[1], (32, 16))
    network.load_state_dict(module.state_dict())
    logits, values = network(seen["observation"])
    assert torch.equal(values, module.compute_values({Columns.OBS: seen}))
    assert all(torch.equal(one, other) for one, other in zip(module.logits_and_values(seen["observation"]), (logits, values), strict=True))
    best = module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS].argmax(dim=-1)
    assert torch.equal(best, logits.masked_fill(seen["action_mask"] == 0, -torch.inf).argmax(dim=-1))
    assert len(best.unique()) > 3


def test_parameters_have_the_names_of_the_exported_files_and_start_near_even_chances():
    seen = situations()
    module = module_for(seen)
    size = seen["observation"].shape[1]
    assert {name: tuple(weights.shape) for name, weights in module.state_dict().items()} == {
        "body.0.weight": (256, size),
        "body.0.bias": (256,),
        "body.2.weight": (256, 256),
        "body.2.bias": (256,),
        "policy.weight": (N_ACTIONS, 256),
        "policy.bias": (N_ACTIONS,),
        "value.weight": (1, 256),
        "value.bias": (1,),
    }
    chances = torch.softmax(module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS], dim=-1)
    assert (chances.max(dim=-1).values * seen["action_mask"].sum(dim=-1)).max() < 1.5


@pytest.mark.parametrize("hidden", [(0,), (-3,), (2.5,), ("16",)])
def test_impossible_widths_are_refused(hidden):
    with pytest.raises(ValueError, match="hidden"):
        Network(10, hidden)


# --- RLlib's own runner ---------------------------------------------------------------------------------------------


def runner_of(games, environments=1, worker=0, seed=0):
    config = stock_ppo(games, hidden=(16,)).env_runners(num_env_runners=0, num_envs_per_env_runner=environments).debugging(seed=seed)
    return MultiAgentEnvRunner(config=config, worker_index=worker)


@pytest.mark.usefixtures("ray_running")
@pytest.mark.parametrize("fragment", [1, 3, 50])
def test_no_row_and_no_reward_is_lost_however_games_are_cut(fragment):
    runner = runner_of({"players": 3, "rewards": "win"})
    rows, rewards, games, steps = 0, 0.0, 0, 0
    while games < 2:
        for episode in runner.sample(num_timesteps=fragment):
            games += episode.is_terminated
            steps += episode.env_steps()
            rows += sum(len(part) for part in episode.agent_episodes.values())
            rewards += sum(part.get_return() for part in episode.agent_episodes.values())
    assert rewards == pytest.approx(games)
    # a decision whose next observation has not come yet waits for the next fragment: one per agent at most
    assert steps - 3 <= rows <= steps


@pytest.mark.usefixtures("ray_running")
def test_no_illegal_action_is_sampled_whatever_the_network_prefers():
    runner = runner_of({"players": list(range(2, 9)), "opponents": {"self": 3, "random": 1}}, environments=4)
    with torch.no_grad():
        runner.module[LEARNER].policy.bias.copy_(20 * torch.randn(N_ACTIONS, generator=torch.Generator().manual_seed(0)))
    decisions = 0
    for episode in runner.sample(num_timesteps=800):
        for part in episode.agent_episodes.values():
            masks, actions = part.get_observations(slice(0, len(part)))["action_mask"], part.get_actions()
            assert masks[np.arange(len(actions)), actions].all()
            decisions += len(actions)
    assert decisions > 700


@pytest.mark.usefixtures("ray_running")
def test_the_environments_of_rllibs_runners_play_different_games():
    dealt = []
    for worker in (1, 2):
        runner = runner_of({"players": 4}, environments=3, worker=worker)
        runner.sample(num_timesteps=3)
        dealt += [int(env.unwrapped._batch.seeds[0]) for env in runner.env.envs]
    assert len(set(dealt)) == 6


@pytest.mark.slow
def test_training_checkpoint_and_restoring_go_on_with_the_same_weights(ray_running, tmp_path):
    config = stock_ppo({"players": [2, 3]}, hidden=(16,), train_batch_size_per_learner=600, minibatch_size=200, num_epochs=1)
    algorithm = config.env_runners(num_env_runners=1, num_envs_per_env_runner=4).debugging(seed=1, log_level="ERROR").build_algo()
    before = algorithm.get_module(LEARNER).get_state()
    before = {name: weights.copy() for name, weights in before.items()}
    result = algorithm.train()
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] >= 600
    trained = {name: weights.copy() for name, weights in algorithm.get_module(LEARNER).get_state().items()}
    assert any(not np.array_equal(before[name], trained[name]) for name in before)
    algorithm.save_to_path(tmp_path)
    algorithm.stop()
    restored = Algorithm.from_checkpoint(tmp_path)
    for name, weights in restored.get_module(LEARNER).get_state().items():
        assert np.array_equal(weights, trained[name])
    assert restored.train()["env_runners"]["num_env_steps_sampled_lifetime"] >= 1200
    restored.stop()


@pytest.mark.slow
def test_the_example_trains():
    paths = os.pathsep.join(str(ROOT / name) for name in (".", "agents", "experiments"))
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "rllib_stock.py"), "1"],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "iteration 1: 4" in done.stdout

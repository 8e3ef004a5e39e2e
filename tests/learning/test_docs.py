"""The example of the page on training runs, and so does its file of a run."""

import re
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("ray")
pytest.importorskip("torch")

from citadels_agents import load_agents, play_games
from citadels_env import GERMAN
from citadels_experiments.learning.runner import BatchedEnvRunner
from citadels_experiments.learning.training import CONFIGS, Trainer, Training, config_file

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")


def test_the_stock_configuration_becomes_the_fast_one_as_the_page_says(ray_running):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(compile(example, "docs/training.md", "exec"), names)
    config = names["config"]
    config.env_runners(num_envs_per_env_runner=8).training(train_batch_size_per_learner=256, minibatch_size=128)
    algorithm = config.build_algo()
    try:
        assert algorithm.train()["env_runners"]["num_env_steps_sampled"] == 256
        assert type(algorithm.env_runner).__name__ == "BatchedEnvRunner"
    finally:
        algorithm.stop()


def test_the_file_of_a_run_on_the_page_is_one():
    text, _ = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    training = Training.from_config(tomllib.loads(text))
    assert training.league.past == 8
    assert training.games["opponents"] == {"self": 0.5, "past": 0.25, "heuristic": 0.25}


def example(word):
    """The example that holds a word."""
    (found,) = (text for text in re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL) if word in text)
    return found


def test_the_example_of_callbacks_logs_its_metric(ray_running):
    names = {}
    exec(compile(example("margin"), "docs/training.md", "exec"), names)
    config = names["config"].training(train_batch_size_per_learner=256, minibatch_size=128).env_runners(num_envs_per_env_runner=8)
    runner = BatchedEnvRunner(config=config, worker_index=0)
    runner.sample(num_episodes=8)
    assert runner.metrics.peek()["margin"] >= 0


def test_the_network_of_ones_own_on_the_page_is_trained_and_its_agent_plays(ray_running, tmp_path):
    (tmp_path / "my_network.py").write_text(example("class Normed"))
    _, network = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    rest = """
[games]
players = 4
[training]
train_batch_size_per_learner = 256
minibatch_size = 128
[evaluation]
opponents = []
[run]
iterations = 1
num_games = 8
"""
    (tmp_path / "run.toml").write_text(network + rest)
    trainer = Trainer(Training.from_file(tmp_path / "run.toml"), tmp_path / "run")
    try:
        trainer.run()
    finally:
        trainer.close()
    agent = example("class Mine").replace("results/train-mine/checkpoint-000100", str(tmp_path / "run" / "checkpoint-000001"))
    (tmp_path / "my_agent.py").write_text(agent)
    load_agents(tmp_path / "my_agent.py")
    played = play_games(GERMAN.with_(players=4, max_rounds=2), agents=["mine", "random", "random", "random"], num_games=1)
    assert played["scores"][0, :4].any()


@pytest.mark.parametrize("name", sorted(path.stem for path in CONFIGS.glob("*.toml")))
def test_the_files_that_come_along_are_runs(name):
    Training.from_file(config_file(name))

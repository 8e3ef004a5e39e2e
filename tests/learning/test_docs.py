"""The example of the page on training runs, and so does its file of a run."""

import re
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("ray")
pytest.importorskip("torch")

from citadels_experiments.learning.training import CONFIGS, Training, config_file

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
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    training = Training.from_config(tomllib.loads(text))
    assert training.league.past == 8
    assert training.games["opponents"] == {"self": 0.5, "past": 0.25, "heuristic": 0.25}


@pytest.mark.parametrize("name", sorted(path.stem for path in CONFIGS.glob("*.toml")))
def test_the_files_that_come_along_are_runs(name):
    Training.from_file(config_file(name))

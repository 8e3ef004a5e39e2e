"""Stable-Baselines3's MaskablePPO trains on the Gymnasium environment."""

import copy
import re
from pathlib import Path
from typing import Any

import gymnasium
import pytest

pytest.importorskip("sb3_contrib")
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

from citadels_env import GERMAN

ID = "citadels_env:Citadels-v0"
DOCS = Path(__file__).parents[2] / "docs" / "environments.md"


@pytest.mark.parametrize("mask_in", ["obs", "info"])
def test_maskable_ppo_trains_and_plays_legally(mask_in: str) -> None:
    torch.set_num_threads(1)
    options: dict[str, Any] = {"rules": GERMAN.with_(city_size=6), "mask_in": mask_in, "compact": True, "illegal": "raise"}
    policy = "MultiInputPolicy" if mask_in == "obs" else "MlpPolicy"
    model = MaskablePPO(policy, gymnasium.make(ID, **options), n_steps=128, batch_size=64, n_epochs=2, seed=0, device="cpu")
    before = copy.deepcopy(model.policy.state_dict())
    model.learn(384)
    after = model.policy.state_dict()
    assert model.num_timesteps == 384
    assert not torch.equal(before["action_net.weight"], after["action_net.weight"])
    assert all(torch.isfinite(value).all() for value in after.values())
    rewards, lengths = evaluate_policy(model, model.get_env(), n_eval_episodes=4, return_episode_rewards=True, warn=False)
    assert len(rewards) == 4 and all(0 <= reward <= 1 for reward in rewards) and min(lengths) > 10


def test_its_own_check_finds_nothing_wrong(recwarn: pytest.WarningsRecorder) -> None:
    check_env(gymnasium.make(ID).unwrapped)
    assert [str(warning.message) for warning in recwarn if "stable_baselines3" in warning.filename] == []


EXAMPLES = re.findall(r"```py\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("example", [text for text in EXAMPLES if "sb3_contrib" in text])
def test_the_examples_of_the_page_on_environments_run(example: str) -> None:
    exec(compile(example, "docs/environments.md", "exec"), {})


@pytest.mark.parametrize("several", [DummyVecEnv, SubprocVecEnv])
def test_the_environment_is_made_by_its_name_as_users_of_stable_baselines_make_theirs(several: Any, recwarn: Any) -> None:
    torch.set_num_threads(1)
    env_kwargs = {"opponents": "random", "compact": True, "illegal": "raise"}
    envs = make_vec_env(ID, n_envs=2, seed=3, env_kwargs=env_kwargs, vec_env_cls=several)
    model = MaskablePPO("MultiInputPolicy", envs, n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(256)
    assert model.num_timesteps == 256
    images = envs.get_images()
    assert [image.shape for image in images] == [(720, 1280, 3)] * 2
    tiled = envs.render()
    assert tiled is not None
    assert (tiled[:720, :1280] == images[0]).all()
    assert [mask.shape for mask in envs.env_method("action_masks")] == [(1353,)] * 2
    envs.close()
    assert [str(warning.message) for warning in recwarn if "render" in str(warning.message)] == []

"""TorchRL steps the PettingZoo and the Gymnasium environment."""

import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("torchrl")
import torch
from torchrl.envs import ActionMask, GymWrapper, PettingZooWrapper, TransformedEnv, check_env_specs

from citadels_env import citadels_v0

ID = "citadels_env:Citadels-v0"
pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version")


@pytest.mark.parametrize("mask_in", ["obs", "info"])
def test_pettingzoo_environment(mask_in: str) -> None:
    env = PettingZooWrapper(citadels_v0.env(num_players=3, mask_in=mask_in), use_mask=True)
    check_env_specs(env)
    env.set_seed(0)
    played = env.rollout(2000)
    agents = [f"player_{seat}" for seat in range(3)]
    assert played["next", "done"][-1].all() and not played["next", "done"][:-1].any()
    rewards = torch.stack([played["next", agent, "reward"].reshape(len(played), -1).sum() for agent in agents])
    assert rewards.sum() == 1 and rewards.min() >= 0  # nobody answered illegally, and the winner is paid
    acted = torch.stack([played[agent, "mask"].reshape(-1) for agent in agents])
    assert (acted.sum(0) == 1).all()


@pytest.mark.parametrize("illegal", ["raise", "terminate"])
def test_gymnasium_environment(illegal: str) -> None:
    env = TransformedEnv(GymWrapper(gymnasium.make(ID, illegal=illegal)), ActionMask())
    check_env_specs(env)
    env.set_seed(0)
    played = env.rollout(300, break_when_any_done=False)
    assert len(played) == 300
    assert played["next", "done"].sum() >= 2
    assert played["next", "reward"].min() >= 0
    chosen = played["action"].argmax(-1, keepdim=True)
    assert played["action_mask"].gather(1, chosen).all()


@pytest.mark.parametrize(("mode", "mask_in"), [("DISABLED", "obs"), ("SAME_STEP", "info")])
def test_many_games_at_once_play_as_outside_of_torchrl_across_the_ends_of_games(mode: str, mask_in: str) -> None:
    number, steps = 3, 250
    options = {"num_envs": number, "opponents": "random", "illegal": "terminate", "mask_in": mask_in, "autoreset_mode": mode}
    env = TransformedEnv(GymWrapper(gymnasium.make_vec(ID, **options)), ActionMask())
    check_env_specs(env)
    env.set_seed(5)
    played = env.rollout(steps, break_when_any_done=False)
    assert played.batch_size == (number, steps)
    ours = gymnasium.make_vec(ID, **options)
    ours.reset(seed=5)  # by set_seed
    seen, infos = ours.reset()  # by rollout
    ends = 0
    for t in range(steps):
        now, after = played[:, t], played[:, t]["next"]
        assert (now["observation"].numpy() == (seen["observation"] if mask_in == "obs" else seen)).all()
        assert (now["action_mask"].numpy() == ours.action_masks()).all()
        actions = now["action"].argmax(-1).numpy()
        assert ours.action_masks()[np.arange(number), actions].all()
        seen, rewards, terminated, truncated, infos = ours.step(actions)
        ended = terminated | truncated
        last = seen["observation"].copy() if mask_in == "obs" else seen.copy()
        for place in np.flatnonzero(ended) if mode == "SAME_STEP" else ():
            last[place] = infos["final_obs"][place]
        assert (after["observation"].numpy() == last).all()
        assert (after["reward"].squeeze(-1).numpy() == rewards.astype(np.float32)).all()
        assert (after["terminated"].squeeze(-1).numpy() == terminated).all()
        assert (after["done"].squeeze(-1).numpy() == ended).all()
        ends += int(ended.sum())
        if mode == "DISABLED" and ended.any():
            seen, infos = ours.reset(options={"reset_mask": ended})
    assert ends >= 2 * number
    assert played["next", "reward"].max() > 0


def test_the_mode_that_torchrl_cannot_use_is_refused_by_torchrl() -> None:
    with pytest.raises(RuntimeError, match="must be one of SAME_STEP or DISABLED"):
        GymWrapper(gymnasium.make_vec(ID, num_envs=2))


def test_the_example_of_the_page_on_environments_runs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "environments.md").read_text(encoding="utf-8")
    (example,) = [text for text in re.findall(r"```py\n(.*?)```", page, re.DOTALL) if "torchrl" in text]
    names: dict[str, Any] = {}
    exec(compile(example, "docs/environments.md", "exec"), names)
    assert names["played"].batch_size == (4, 100)

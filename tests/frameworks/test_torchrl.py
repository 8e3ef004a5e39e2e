"""TorchRL steps the PettingZoo and the Gymnasium environment."""

import gymnasium
import pytest

pytest.importorskip("torchrl")
import torch
from torchrl.envs import ActionMask, GymWrapper, PettingZooWrapper, TransformedEnv, check_env_specs

from citadels_env import citadels_v0

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
    env = TransformedEnv(GymWrapper(gymnasium.make("citadels_env:Citadels-v0", illegal=illegal)), ActionMask())
    check_env_specs(env)
    env.set_seed(0)
    played = env.rollout(300, break_when_any_done=False)
    assert len(played) == 300
    assert played["next", "done"].sum() >= 2
    assert played["next", "reward"].min() >= 0
    chosen = played["action"].argmax(-1, keepdim=True)
    assert played["action_mask"].gather(1, chosen).all()

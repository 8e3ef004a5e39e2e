"""The same position, the same choice through torch and NumPy."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from citadels_agents import View
from citadels_agents.networks import Network, NetworkAgent, save_network
from citadels_env import GERMAN, Batch, Game, observation
from citadels_env.actions import N_ACTIONS


class Twin(torch.nn.Module):
    """The network as torch users would write it."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(size, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU())
        self.policy, self.value = torch.nn.Linear(256, N_ACTIONS), torch.nn.Linear(256, 1)

    def forward(self, observations):
        x = self.body(torch.log2(1 + observations.float()))
        return self.policy(x), self.value(x)[:, 0]


@pytest.mark.parametrize("rows", [4, 8])
def test_numpy_and_torch_choose_the_same_in_hundreds_of_positions(tmp_path, rows):
    torch.manual_seed(1)
    twin = Twin(observation.size(rows))
    tensors = {name: tensor.numpy() for name, tensor in twin.state_dict().items()}
    network = Network.load(save_network(tmp_path / "a", tensors, rules=[GERMAN], rows=rows))
    agent = NetworkAgent("it", network)
    games, compared, different = Batch(GERMAN, 20, 7, compact=rows == 4), 0, set()
    for _ in range(40):
        seen, masks = games.observations(), games.masks()
        with torch.no_grad():
            logits, values = (array.numpy() for array in twin(torch.from_numpy(seen)))
        ours, our_values = network(seen, masks)
        assert np.abs(ours - logits).max() < 1e-4
        assert np.abs(our_values - values).max() < 1e-4
        chosen = np.where(masks, logits, -np.inf).argmax(axis=1)
        assert (np.where(masks, ours, -np.inf).argmax(axis=1) == chosen).all()
        for i in range(20):
            assert agent.act(View(Game.of_state(GERMAN, games.states[i : i + 1]))) == chosen[i]
        compared += len(chosen)
        different |= set(chosen)
        games.step(chosen)
    assert compared == 800 and len(different) > 20

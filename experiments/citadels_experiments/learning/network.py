"""The policy and value network: one definition for the plain loop, RLlib and export."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from citadels_env.actions import N_ACTIONS

HIDDEN = (256, 256)
BLOCK = 64  # rows
# Added to no logit, put in its place: finite, so that a gradient stays finite, and far below any logit.  Never take exp (or
# logsumexp) of masked logits: below about -87 torch's exp is ten times slower.  softmax and log_softmax subtract the maximum.
ILLEGAL = -1e9


def build_layers(size: int, hidden: Sequence[int]) -> tuple[nn.Sequential, nn.Linear, nn.Linear]:
    """Body, policy head and value head, initialised orthogonally as in Andrychowicz et al. 2021 (a small policy head)."""
    if not all(isinstance(width, int) and width > 0 for width in hidden):
        raise ValueError(f"hidden must be widths of layers, positive whole numbers, not {list(hidden)}")
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [_linear(size, width, 2**0.5), nn.ReLU()]
        size = width
    return nn.Sequential(*layers), _linear(size, N_ACTIONS, 0.01), _linear(size, 1, 1.0)


def _linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def scaled(observations: Any) -> Any:
    """log2(1 + x) of an observation's small integers (uint8), float32: 0 to 0, 1 to 1, 255 to 8."""
    return observations.to(torch.float32, copy=True).add_(1.0).log2_()


def inputs_of(observations: Any) -> Any:
    """What the body reads of observations (n, size) uint8: `scaled`, and in bfloat16 with empty rows up to a multiple of BLOCK.

    For every number of rows that it meets, torch's bfloat16 keeps compiled code and weights in another order: gigabytes in a
    training run, where hardly two batches are of one length.
    """
    if torch.is_autocast_enabled(observations.device.type):
        observations = nn.functional.pad(observations, (0, 0, 0, -len(observations) % BLOCK))
    return scaled(observations)


def masked(logits: Any, masks: Any) -> Any:
    """Logits with the illegal answers' out of reach; `masks` of any integer type or bool, not zero where legal."""
    return logits.masked_fill(masks == 0, ILLEGAL)


def legal_logits(head: nn.Linear, h: Any, legal: Any) -> Any:
    """Logits (n, K) float32 of legal answers only: there are a handful, where `head` has more than a thousand outputs.

    h: (n, width), what `head` reads; legal: (n, K) int16, lists of legal answers filled up with -1 (`rollout.legal_lists`), which
    get the logit ILLEGAL.
    """
    rows, columns = torch.nonzero(legal >= 0, as_tuple=True)
    answers = legal[rows, columns].long()
    products = (h.index_select(0, rows) * nn.functional.embedding(answers, head.weight)).sum(-1, dtype=torch.float32)
    logits = torch.full(legal.shape, ILLEGAL, device=legal.device)
    return logits.index_put((rows, columns), products + head.bias.index_select(0, answers))


def legal_distribution(logits: Any, legal: Any, actions: Any) -> tuple[Any, Any, Any]:
    """Log-probabilities and probabilities (n, K) of `legal_logits`, and the place (n, 1) of `actions` (n,) among the legal ones."""
    place = (legal == actions.unsqueeze(1)).int().argmax(1, keepdim=True)
    return torch.log_softmax(logits, -1), torch.softmax(logits, -1), place


class Network(nn.Module):
    """A multilayer perceptron with a policy and a value head on one body.

    size: entries of an observation.
    hidden: widths of the layers of the body.

    Parameters are named `body.0.weight`, `body.0.bias`, `body.2.weight`, ..., `policy.weight`, ..., `value.bias`.
    """

    def __init__(self, size: int, hidden: Sequence[int] = HIDDEN) -> None:
        super().__init__()
        self.body, self.policy, self.value = build_layers(size, hidden)

    def on_legal(self, observations: Any, legal: Any) -> tuple[Any, Any]:
        """`legal_logits` (n, K), and values (n,), float32."""
        h = self.body(inputs_of(observations))
        return legal_logits(self.policy, h, legal), self.value(h).squeeze(-1).float()[: len(observations)]

    def forward(self, observations: Any) -> tuple[Any, Any]:
        """Logits (n, N_ACTIONS), not masked, and values (n,), float32, of observations (n, size) uint8."""
        h, n = self.body(inputs_of(observations)), len(observations)
        return self.policy(h)[:n].float(), self.value(h).squeeze(-1)[:n].float()

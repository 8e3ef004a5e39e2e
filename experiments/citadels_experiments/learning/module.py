"""The network as an RLModule of RLlib's new API stack."""

from typing import Any

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule

from .network import HIDDEN, build_layers, inputs_of, legal_logits, masked


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """`Network` with illegal answers masked, for observations {"observation": uint8 (size,), "action_mask": (N_ACTIONS,)}.

    model_config: {"hidden": widths of the layers of the body, (256, 256) if not given, "bfloat16": multiply in that precision}.

    Its parameters bear the names of `Network`'s.  Batches are not changed, so that any method may be called on one any
    number of times and in any order.
    """

    def setup(self) -> None:
        """Build the layers."""
        options = self.model_config or {}
        self.body, self.policy, self.value = build_layers(self.observation_space["observation"].shape[0], options.get("hidden", HIDDEN))
        self.bfloat16 = bool(options.get("bfloat16", False))

    def _precision(self) -> Any:
        return torch.autocast(self.value.weight.device.type, torch.bfloat16, enabled=self.bfloat16)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self._forward_train(batch)[Columns.ACTION_DIST_INPUTS]}

    def _forward_train(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        with self._precision():
            h = self.body(inputs_of(seen["observation"]))
            if "legal" in seen:  # batches of the fast path hold lists of legal answers in place of masks
                logits = legal_logits(self.policy, h, seen["legal"])
            else:
                logits = masked(self.policy(h)[: len(seen["observation"])].float(), seen["action_mask"])
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: h}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Values (n,) float32 of a batch, or of the embeddings that `forward_train` returned for it."""
        seen = batch[Columns.OBS]["observation"]
        with self._precision():
            h = self.body(inputs_of(seen)) if embeddings is None else embeddings
            return self.value(h).squeeze(-1)[: len(seen)].float()

    def logits_and_values(self, observations: Any) -> tuple[Any, Any]:
        """As `Network.forward`, in one pass for those who mask by themselves."""
        n = len(observations)
        with self._precision():
            h = self.body(inputs_of(observations))
            return self.policy(h)[:n].float(), self.value(h).squeeze(-1)[:n].float()

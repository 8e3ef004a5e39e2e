"""PPO's loss over legal answers only, for batches of `FragmentsToBatch`."""

from collections.abc import Iterator
from typing import Any

import torch
from ray.rllib.algorithms.ppo.ppo import LEARNER_RESULTS_KL_KEY, LEARNER_RESULTS_VF_EXPLAINED_VAR_KEY
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.learner import ENTROPY_KEY, POLICY_LOSS_KEY, VF_LOSS_KEY
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch
from ray.rllib.utils.torch_utils import explained_variance

from .network import legal_distribution


class FastPPOTorchLearner(PPOTorchLearner):
    """PPO (Schulman et al. 2017) with the same loss as RLlib's own learner for a module whose illegal answers are masked.

    The loss looks at legal answers alone, a few dozen of more than a thousand logits, and rows are cut into minibatches of
    equal size, each row once an epoch.
    """

    def compute_loss_for_module(self, *, module_id: str, config: Any, batch: Any, fwd_out: Any) -> Any:
        """The loss of one minibatch."""
        logs, probabilities, chosen = legal_distribution(
            fwd_out[Columns.ACTION_DIST_INPUTS], batch[Columns.OBS]["legal"], batch[Columns.ACTIONS]
        )
        change = logs.gather(1, chosen).squeeze(1) - batch[Columns.ACTION_LOGP]
        ratio = change.exp()
        advantages = batch[Postprocessing.ADVANTAGES]
        clipped = ratio.clamp(1 - config.clip_param, 1 + config.clip_param)
        policy_loss = -torch.min(advantages * ratio, advantages * clipped).mean()
        values = self.module[module_id].unwrapped().compute_values(batch, embeddings=fwd_out.get(Columns.EMBEDDINGS))
        errors = (values - batch[Postprocessing.VALUE_TARGETS]).pow(2)
        value_loss = errors.clamp(max=config.vf_clip_param).mean()
        entropy = -(probabilities * logs).sum(-1).mean()
        results = {
            POLICY_LOSS_KEY: policy_loss,
            VF_LOSS_KEY: value_loss,
            LEARNER_RESULTS_VF_EXPLAINED_VAR_KEY: explained_variance(batch[Postprocessing.VALUE_TARGETS], values),
            ENTROPY_KEY: entropy,
            LEARNER_RESULTS_KL_KEY: (ratio - 1 - change).mean(),  # the estimator k3 of Schulman 2020
        }
        self.metrics.log_dict({name: value.detach() for name, value in results.items()}, key=module_id, window=1)
        weight = self.entropy_coeff_schedulers_per_module[module_id].get_current_value()
        return policy_loss + config.vf_loss_coeff * value_loss - weight * entropy

    def _create_iterator_if_necessary(
        self, *, training_data: Any, num_total_minibatches: int = 0, num_epochs: int = 1, minibatch_size: int | None = None, **_: Any
    ) -> Iterator[Any]:
        batch = self._make_batch_if_necessary(training_data=training_data)
        rows = {name: data for name, data in batch.policy_batches.items() if self.should_module_be_updated(name, batch)}
        return minibatches(rows, num_epochs, minibatch_size, num_total_minibatches, self._device)


def minibatches(rows: dict[str, Any], epochs: int, size: int | None, total: int = 0, device: Any = "cpu") -> Iterator[Any]:
    """Minibatches of about `size` rows, all of one length but for one row, each row of a module once an epoch.

    (RLlib's iterator fills up the last one from the beginning: with a few rows more than a multiple of `size`, which is what
    seats that wait for their next turn bring about, a fifth of the work would be done twice.)  With `total` exactly that many,
    which several learners have to agree on.
    """
    if not rows:
        raise ValueError("no decision is followed by its seat's next one: train_batch_size_per_learner is too small for so many games")
    longest = max(len(data[Columns.ACTIONS]) for data in rows.values())
    each = max(1, round(longest / size)) if size else 1
    if total:
        each = max(1, total // epochs)
    done = 0
    while done < (total or epochs * each):
        orders = {name: torch.randperm(len(data[Columns.ACTIONS])) for name, data in rows.items()}
        for k in range(each):
            if total and done == total:
                return
            chosen = {name: order.tensor_split(each)[k] for name, order in orders.items()}
            part = {name: _rows(data, chosen[name], device) for name, data in rows.items() if len(chosen[name])}
            yield MultiAgentBatch(part, sum(len(data[Columns.ACTIONS]) for data in part.values()))
            done += 1


def _rows(data: Any, chosen: Any, device: Any) -> Any:
    seen = {name: column[chosen].to(device) for name, column in data[Columns.OBS].items()}
    return SampleBatch({Columns.OBS: seen, **{name: column[chosen].to(device) for name, column in data.items() if name != Columns.OBS}})

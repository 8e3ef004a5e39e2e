"""Networks as RLModules of RLlib's new API stack: what one has to offer, the standard one, and others from files."""

import sys
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ray import cloudpickle
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule

from citadels_agents.networks import Network as Player
from citadels_env import observation
from citadels_env.actions import N_ACTIONS
from citadels_env.errors import InvalidArgumentError

from .network import HIDDEN, ILLEGAL, build_layers, inputs_of, legal_logits, masked


class PolicyModule(TorchRLModule, ValueFunctionAPI):
    """Base of networks for both paths: a class of its own needs `setup` and `logits_and_values` only.

    `setup` builds the layers; `self.observation_space["observation"].shape[0]` is the size of an observation, and
    `self.model_config` the table `config` of a run's `[network]`.  Illegal answers are masked here.
    """

    def logits_and_values(self, observations: Any) -> tuple[Any, Any]:
        """Logits (n, N_ACTIONS) of all answers, illegal ones included, and values (n,): float32.

        observations: uint8 (n, size); any n from 1 on.  A row's answer must not depend on the other rows.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method logits_and_values(observations)")

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self._forward_train(batch)[Columns.ACTION_DIST_INPUTS]}

    def _forward_train(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        logits, values = self.logits_and_values(seen["observation"])
        if "legal" in seen:  # batches of the fast path hold lists of legal answers in place of masks
            legal = seen["legal"].long()
            logits = logits.gather(1, legal.clamp(min=0)).masked_fill(legal < 0, ILLEGAL)
        else:
            logits = masked(logits, seen["action_mask"])
        # the learner hands the embeddings back to compute_values
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: values}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Values (n,) float32 of a batch, or those that `forward_train` returned for it as embeddings."""
        return self.logits_and_values(batch[Columns.OBS]["observation"])[1] if embeddings is None else embeddings


class MaskedModule(PolicyModule):
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


def module_class(text: str, folder: Path | None = None) -> tuple[type[Any], tuple[str, str, str]]:
    """The RLModule that "file.py:Class" names, and what identifies it: the file's name, the class and a fingerprint of the file.

    folder: where a relative path starts (None: the current directory).  The file is run once for as long as it stays the same.  Its
    classes travel by value, so that remote runners and readers of a checkpoint need no copy of it; what it imports must be
    installed there.

    Raises InvalidArgumentError if there is no such file or class, the file cannot be run, or the class is no RLModule of torch
    with `logits_and_values`.
    """
    file, colon, name = text.rpartition(":")
    if not colon or not file or not name.isidentifier():
        raise InvalidArgumentError(f"a module is given as file.py:Class, not {text!r}")
    path = (folder or Path()).joinpath(Path(file).expanduser()).resolve()
    if not path.is_file() or path.suffix != ".py":
        raise InvalidArgumentError(f"{text}: there is no Python file {file}")
    content = path.read_bytes()
    fingerprint = sha256(content).hexdigest()[:16]
    # one name for each content, so that a file that was changed is another module
    module_name = f"citadels_module_{sha256(str(path).encode()).hexdigest()[:8]}_{fingerprint}"
    if module_name not in sys.modules:
        spec = spec_from_file_location(module_name, path)
        assert spec is not None and spec.loader is not None  # it ends in .py
        made = sys.modules[module_name] = module_from_spec(spec)
        try:
            exec(compile(content, str(path), "exec"), made.__dict__)
        except BaseException as error:
            del sys.modules[module_name]
            if isinstance(error, Exception):
                raise InvalidArgumentError(f"{text}: {path.name} cannot be run ({type(error).__name__}: {error})") from error
            raise
        cloudpickle.register_pickle_by_value(made)
    found = getattr(sys.modules[module_name], name, None)
    if not isinstance(found, type):
        classes = [
            key for key, value in vars(sys.modules[module_name]).items() if isinstance(value, type) and value.__module__ == module_name
        ]
        raise InvalidArgumentError(f"{text}: {path.name} has no class {name}; its classes are {', '.join(classes) or 'none'}")
    if not issubclass(found, TorchRLModule) or not callable(getattr(found, "logits_and_values", None)):
        raise InvalidArgumentError(
            f"{text}: {name} is no TorchRLModule with a method logits_and_values; "
            f"derive it from {PolicyModule.__module__}.{PolicyModule.__name__}"
        )
    return found, (path.name, name, fingerprint)


def check_module(module: Any, rows: int) -> None:
    """Raise InvalidArgumentError if a module cannot play on the fast path: it keeps a state, or its answers have the wrong form."""
    name = type(module).__name__
    if not callable(getattr(module, "logits_and_values", None)):
        raise InvalidArgumentError(f"{name} needs a method logits_and_values(observations): derive it from PolicyModule")
    if type(module) is MaskedModule:
        return
    if module.is_stateful():
        raise InvalidArgumentError(
            f"{name} is recurrent (get_initial_state() is not empty), but the fast path keeps no states: it asks for one answer of many "
            "games at once, and learns from single decisions in any order. Let get_initial_state() return {}, and read from the "
            "observation what is needed"
        )
    for n in (1, 3):
        with torch.inference_mode():
            answer = module.logits_and_values(torch.from_numpy(_examples(rows, n)))
        if not isinstance(answer, tuple) or len(answer) != 2 or not all(isinstance(part, torch.Tensor) for part in answer):
            raise InvalidArgumentError(f"{name}.logits_and_values must return logits and values, two tensors, not {type(answer).__name__}")
        for what, tensor, shape in zip(("logits", "values"), answer, ((n, N_ACTIONS), (n,)), strict=True):
            if tuple(tensor.shape) != shape or tensor.dtype != torch.float32:
                raise InvalidArgumentError(
                    f"{name}.logits_and_values must return {what} float32 of shape {shape} for {n} observations, "
                    f"not {str(tensor.dtype).removeprefix('torch.')} of shape {tuple(tensor.shape)}"
                )


def check_exportable(module: Any, rows: int) -> None:
    """Raise InvalidArgumentError unless a module's file would play as it does: the tensors and answers of `MaskedModule`."""
    if type(module) is MaskedModule:
        return
    name = type(module).__name__
    advice = (
        "Such a file holds layers named body.0, body.2, ..., policy and value, with ReLU between, that read log2(1 + x) of an observation. "
        f"Derive {name} from MaskedModule and leave its layers as they are, or play it from the checkpoint, by an agent of your own "
        "(docs/training.md)"
    )
    try:
        player = Player({key: np.asarray(value) for key, value in module.get_state().items()}, rows)
    except ValueError as error:
        raise InvalidArgumentError(f"{name} cannot be written as an agent's file: {error}. {advice}") from None
    seen = _examples(rows, 64)
    rounded = getattr(module, "bfloat16", None)
    learning, module.bfloat16 = module.training, False  # which changes the last digits, on purpose
    try:
        with torch.inference_mode():
            own = module.eval().logits_and_values(torch.from_numpy(seen))
    finally:
        module.train(learning)
        if rounded is None:
            del module.bfloat16
        else:
            module.bfloat16 = rounded
    for given, played in zip(own, player(seen), strict=True):
        if not np.allclose(given.numpy(), played, rtol=0, atol=1e-4 * max(1e-6, float(np.abs(played).max()))):
            raise InvalidArgumentError(f"{name} cannot be written as an agent's file: it computes something else of its tensors. {advice}")


def _examples(rows: int, n: int) -> Any:
    """Made-up observations (n, size) uint8 with every entry in its range."""
    return np.random.default_rng(0).integers(0, observation.high(rows), (n, observation.size(rows)), np.uint8, endpoint=True)

"""The file of a network: safetensors, with all that is needed to play it as JSON in the metadata.

The tensors are float32 in torch's layout (outputs, inputs): ``body.0.weight``, ``body.0.bias``, ``body.2.weight``, ... (the
odd numbers are the ReLUs between), ``policy.weight``, ``policy.bias``, ``value.weight`` and ``value.bias``.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from citadels_env import Rules, __version__, observation
from citadels_env.actions import MAX_PLAYERS, N_ACTIONS

from ..seated import shares_of

# What an input, log2(1 + entry), is at most, and what layers may reach: beyond the largest float32 (3.4e38) all that follows is nan.
LARGEST_INPUT, LARGEST = 8.0, 1e30

FORMAT = "citadels-network"
FORMAT_VERSION = 1
KEYS = ("format", "format_version", "library", "observation", "rows", "actions", "hidden", "rules", "rules_shares", "training")


def check(tensors: Mapping[str, Any], rows: int) -> tuple[int, ...]:
    """The sizes of the hidden layers; ValueError unless these are the tensors of a network that reads `rows` player rows.

    Weights so large that a layer may leave the range of its numbers are refused, so that a network never plays nan.
    """
    if not isinstance(rows, int) or rows not in range(2, MAX_PLAYERS + 1):
        raise ValueError(f"an observation has 2 to {MAX_PLAYERS} player rows, not {rows}")
    depth = max(1, sum(name.startswith("body.") and name.endswith(".weight") for name in tensors))
    layers = [*(f"body.{2 * k}" for k in range(depth)), "policy", "value"]
    names = [f"{layer}.{part}" for layer in layers for part in ("weight", "bias")]
    if set(names) != set(tensors):
        raise ValueError(f"the tensors of a network with {depth} hidden layers are {', '.join(names)}, not {', '.join(tensors) or 'none'}")
    inputs, hidden = observation.size(rows), []
    reach = np.full(inputs, LARGEST_INPUT)  # what the inputs of a layer are at most
    for layer in layers:
        weight = tensors[f"{layer}.weight"]
        outputs = {"policy": N_ACTIONS, "value": 1}.get(layer) or (weight.shape[0] if weight.ndim == 2 else 1)
        for part, shape in (("weight", (outputs, inputs)), ("bias", (outputs,))):
            tensor = tensors[f"{layer}.{part}"]
            if tensor.dtype != np.float32 or tensor.shape != shape:
                raise ValueError(f"{layer}.{part} must be float32 of shape {shape}, not {tensor.dtype} of shape {tensor.shape}")
            if not np.isfinite(tensor).all():
                raise ValueError(f"{layer}.{part} holds numbers that are not finite")
        most = np.abs(weight.astype(np.float64)) @ reach + np.abs(tensors[f"{layer}.bias"])
        if most.max(initial=0.0) > LARGEST:
            raise ValueError(f"{layer} has such large weights that it may reach {most.max():.0e}, beyond its numbers (limit {LARGEST:.0e})")
        if layer.startswith("body"):
            inputs, reach = outputs, most
            hidden.append(outputs)
    return tuple(hidden)


def save_network(
    path: str | Path,
    tensors: Mapping[str, Any],
    *,
    rules: Sequence[Rules],
    rules_shares: Sequence[float] = (),
    rows: int = MAX_PLAYERS,
    training: Mapping[str, Any] | None = None,
) -> Path:
    """Write a network to a file, which is never there by half; returns its path.

    tensors: the float32 arrays named above.
    rules, rules_shares: what games it was trained on, and how often each was drawn (equally often if empty).
    rows: player rows it reads: 8 (full observations), or the number of players (compact ones).
    training: how it came about, anything that JSON can hold.

    Raises ValueError for missing, misshapen, not finite or absurdly large tensors and impossible shares, and TypeError
    for a `training` that is no JSON.
    """
    arrays = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    hidden = check(arrays, rows)
    if len(rules_shares):
        shares_of("rules_shares", rules_shares, len(rules))
    metadata = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library": __version__,
        "observation": observation.VERSION,
        "rows": rows,
        "actions": N_ACTIONS,
        "hidden": hidden,
        "rules": _packed(rules),
        "rules_shares": [float(share) for share in rules_shares],
        "training": dict(training or {}),
    }
    texts = {key: json.dumps(value) for key, value in metadata.items()}
    texts["sha256"] = fingerprint(arrays, texts)
    path = Path(path).expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".tmp")
    fresh.write_bytes(save(arrays, texts))
    return fresh.replace(path)


def read_network(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tensors and metadata of a file; ValueError, in one line that names the file, if it cannot be played."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            texts = file.metadata() or {}
            if texts.get("format") != json.dumps(FORMAT):
                raise ValueError("it says nothing of Citadels; networks are written by save_network")
            if texts.get("format_version") != str(FORMAT_VERSION):
                raise ValueError(f"its format has version {texts.get('format_version')}; this library reads version {FORMAT_VERSION}")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
        missing = [key for key in (*KEYS, "sha256") if key not in texts]
        if missing:
            raise ValueError(f"its metadata lack {', '.join(missing)}")
        if fingerprint(tensors, texts) != texts["sha256"]:
            raise ValueError("it is damaged: its content does not agree with its checksum")
        metadata = {key: json.loads(texts[key]) for key in KEYS} | {"sha256": texts["sha256"]}
        if metadata["observation"] != observation.VERSION:
            raise ValueError(
                f"it reads observations of version {metadata['observation']}, but this library writes version {observation.VERSION}; "
                f"play it with the library it was written by ({metadata['library']}), or train it anew"
            )
        if metadata["actions"] != N_ACTIONS:
            raise ValueError(f"it knows {metadata['actions']} actions, but this library has {N_ACTIONS}; train it anew")
        check(tensors, metadata["rows"])
    except (SafetensorError, OSError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is no safetensors file, or damaged: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path} cannot be played: {error}") from error
    return tensors, metadata


def fingerprint(tensors: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """SHA-256 of tensors and metadata, in hexadecimal."""
    digest = sha256(json.dumps([(key, texts[key]) for key in KEYS]).encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).data)
    return digest.hexdigest()


def _packed(rules: Sequence[Rules]) -> dict[str, Any]:
    """Rules as plain data; what all of them agree in stands there once."""
    every = [asdict(r) for r in rules]
    first = every[0] if every else {}
    common = {name: value for name, value in first.items() if all(options[name] == value for options in every)}
    return {"common": common, "each": [{name: value for name, value in options.items() if name not in common} for options in every]}


def unpacked(packed: Mapping[str, Any]) -> tuple[Rules, ...]:
    """The rules that `_packed` wrote."""
    return tuple(Rules.from_dict({**packed["common"], **options}) for options in packed["each"])

"""The numbers of PPO that a user may set, their defaults, and what they may be; without torch and Ray."""

from collections.abc import Mapping, Sequence
from typing import Any

from citadels_env.checks import items, real_number, shown, whole_number
from citadels_env.errors import InvalidArgumentError

DEFAULTS = {
    "train_batch_size_per_learner": 16_384,
    "minibatch_size": 4_096,
    "num_epochs": 2,
    "lr": 5e-4,
    "gamma": 1.0,
    "lambda_": 0.95,
    "entropy_coeff": 0.01,
    "vf_loss_coeff": 0.5,
    "vf_clip_param": 10.0,
    "clip_param": 0.2,
    "grad_clip": 0.5,
}

SIZES = {"train_batch_size_per_learner": 100_000_000, "minibatch_size": 100_000_000, "num_epochs": 1000}  # whole numbers from 1 on
SHARES = ("gamma", "lambda_")  # from 0 to 1
SCHEDULES = ("lr", "entropy_coeff")  # of at least 0, or a list of [steps, value]
OTHERS = ("vf_loss_coeff", "vf_clip_param", "clip_param", "grad_clip")  # of at least 0
MOST_LAYERS, MOST_WIDTH = 100, 65_536


def check(settings: Mapping[str, Any], table: str = "") -> None:
    """Raise InvalidArgumentError (a ValueError), naming the entry of `table` and its value, for a setting that cannot be.

    Settings that are none of those above are RLlib's to check.
    """
    for name, value in settings.items():
        what = f"{table} {name}".strip()
        if name in SIZES:
            whole_number(what, value, 1, SIZES[name])
        elif name in SCHEDULES and isinstance(value, list | tuple):
            _check_schedule(what, value)
        elif name in SHARES or name in SCHEDULES or name in OTHERS:
            most = 1 if name in SHARES else None
            if not at_least_0(value, most):
                raise InvalidArgumentError(f"{what} is a number {'from 0 to 1' if most else 'of at least 0'}, not {shown(value)}")


def _check_schedule(what: str, value: Sequence[Any]) -> None:
    pairs = [pair for pair in value if isinstance(pair, list | tuple) and len(pair) == 2 and all(map(at_least_0, pair))]
    steps = [pair[0] for pair in pairs]
    if len(pairs) != len(value) or len(pairs) < 2 or steps[0] != 0 or steps != sorted(set(steps)):
        raise InvalidArgumentError(f"{what} is a number, or a list of [steps, value], the first with 0 steps, not {shown(value)}")


def check_hidden(what: str, hidden: Any) -> None:
    """Raise InvalidArgumentError (a ValueError) unless these are widths of layers."""
    text = f"{what} is a list of widths of layers, whole numbers from 1 to {MOST_WIDTH:,} and at most {MOST_LAYERS} of them, not "
    try:
        widths = [whole_number("", width, 1, MOST_WIDTH) for width in items("", hidden)]
    except InvalidArgumentError:
        widths = []
    if not 0 < len(widths) <= MOST_LAYERS:
        raise InvalidArgumentError(text + shown(list(hidden) if isinstance(hidden, tuple) else hidden))


def at_least_0(value: Any, most: float | None = None) -> bool:
    """Is it a finite number of at least 0, and at most `most`?"""
    try:
        real_number("", value, 0, most)
    except InvalidArgumentError:
        return False
    return True

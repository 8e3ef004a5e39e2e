"""The checks of numbers that users give, so that each kind of number is read in one way everywhere.

A whole number is anything that Python accepts as an index (int, NumPy integers), but not a bool and not a float,
even where it is whole.  A real number is any finite int or float, Python's or NumPy's, but not a bool.
"""

import math
import operator
from numbers import Real
from typing import Any

import numpy as np

from .errors import CitadelsError, InvalidArgumentError

MAX_SEED = 2**64 - 1


def whole_number(
    what: str, value: Any, least: int | None = None, most: int | None = None, error: type[CitadelsError] = InvalidArgumentError
) -> int:
    """`value` as an int from `least` to `most` (both included, None: no bound).

    Raises `error`, naming `what`, the value and the bounds, for anything else.
    """
    try:
        number = None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        number = None
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        raise error(f"{what} must be a whole number{_bounds(least, most)}, not {_shown(value)}")
    return number


def real_number(
    what: str, value: Any, least: float | None = None, most: float | None = None, error: type[CitadelsError] = InvalidArgumentError
) -> float:
    """`value` as a finite float from `least` to `most` (both included, None: no bound).

    Raises `error`, naming `what`, the value and the bounds, for anything else.
    """
    try:
        number = float(value) if isinstance(value, Real | np.integer | np.floating) and not isinstance(value, bool | np.bool_) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or (least is not None and number < least) or (most is not None and number > most):
        raise error(f"{what} must be a finite number{_bounds(least, most)}, not {_shown(value)}")
    return number


def seed_number(value: Any, what: str = "a seed") -> int:
    """`value` as the seed of a game, 0 to 2**64 - 1; raises InvalidArgumentError for anything else."""
    try:
        return whole_number(what, value, 0, MAX_SEED)
    except InvalidArgumentError:
        raise InvalidArgumentError(f"{what} must be a whole number from 0 to 2**64 - 1, not {_shown(value)}") from None


def _bounds(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f" of at least {least}"
    return "" if most is None else f" of at most {most}"


def _shown(value: Any) -> str:
    """The value as it was given, cut where it is endless."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."

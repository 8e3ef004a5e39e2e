"""The checks of what users give, so that each kind of value is read in one way everywhere.

A whole number is anything that Python accepts as an index (int, NumPy integers), but not a bool and not a float,
even where it is whole.  A real number is any finite int or float, Python's or NumPy's, but not a bool.  A list of names
is a list or tuple of texts, not a text.
"""

import json
import math
import operator
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from .errors import CitadelsError, InvalidArgumentError

_BOOLS, _REALS = (bool, np.bool_), (Real, np.integer, np.floating)
MAX_SEED = 2**64 - 1
MAX_THREADS = 4096
MAX_SIDE_BY_SIDE = 1_000_000  # games held at once: about 6 kB each
MAX_GAMES = 10_000_000  # games played one after the other: some 400 bytes of results each


def index_of(value: Any, otherwise: Any = None) -> Any:
    """The int that a whole number is; `otherwise` for what is none."""
    if value is True or value is False:
        return otherwise
    try:
        return operator.index(value)  # which refuses NumPy's bools by itself
    except TypeError:
        return otherwise


def whole_number(
    what: str, value: Any, least: int | None = None, most: int | None = None, error: type[CitadelsError] = InvalidArgumentError
) -> int:
    """`value` as an int from `least` to `most` (both included, None: no bound).

    Raises `error`, naming `what`, the value and the bounds, for anything else.
    """
    number = index_of(value)
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        raise error(f"{what} must be a whole number{_bounds(least, most)}, not {shown(value)}")
    return number


def real_number(
    what: str, value: Any, least: float | None = None, most: float | None = None, error: type[CitadelsError] = InvalidArgumentError
) -> float:
    """`value` as a finite float from `least` to `most` (both included, None: no bound).

    Raises `error`, naming `what`, the value and the bounds, for anything else.
    """
    try:
        number = float(value) if isinstance(value, _REALS) and not isinstance(value, _BOOLS) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or (least is not None and number < least) or (most is not None and number > most):
        raise error(f"{what} must be a finite number{_bounds(least, most)}, not {shown(value)}")
    return number


def seed_number(value: Any, what: str = "a seed", most: int = MAX_SEED, error: type[CitadelsError] = InvalidArgumentError) -> int:
    """`value` as a seed, 0 to 2**64 - 1 (or `most`); raises `error` for anything else."""
    try:
        return whole_number(what, value, 0, most)
    except InvalidArgumentError:
        bound = f"2**{most.bit_length()} - 1" if most & (most + 1) == 0 else most
        raise error(f"{what} must be a whole number from 0 to {bound}, not {shown(value)}") from None


def thread_number(value: Any, what: str = "threads") -> int:
    """`value` as a number of threads, of which no more are used than there are cores; raises InvalidArgumentError for anything else."""
    return whole_number(what, value, 1, MAX_THREADS)


def true_or_false(what: str, value: Any, error: type[CitadelsError] = InvalidArgumentError) -> bool:
    """`value` as a bool; raises `error` for anything but True and False."""
    if not isinstance(value, _BOOLS):
        raise error(f"{what} must be True or False, not {shown(value)}")
    return bool(value)


def one_of(what: str, value: Any, allowed: Iterable[str], error: type[CitadelsError] = InvalidArgumentError) -> str:
    """`value` as one of the `allowed` words; raises `error`, listing them, for anything else."""
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise error(f"{what} must be one of {', '.join(words)}, not {shown(value)}")
    return str(value)


def names_list(what: str, value: Any, of: str = "names", error: type[CitadelsError] = InvalidArgumentError) -> tuple[str, ...]:
    """`value`, a list of texts, as a tuple; raises `error` for anything else."""
    names = items(what, value, of, error)
    for name in names:
        if not isinstance(name, str):
            raise error(f"{what} must be a list of {of}, but it holds {shown(name)}")
    return tuple(str(name) for name in names)


def items(what: str, value: Any, of: str = "values", error: type[CitadelsError] = InvalidArgumentError) -> list[Any]:
    """The entries of `value`, a list or tuple or another sequence that is no text; raises `error` for anything else."""
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Sequence):
        raise error(f"{what} must be a list of {of}, not {shown(value)}")
    return list(value)


def whole_numbers(what: str, values: Any, size: int | None = None, error: type[CitadelsError] = InvalidArgumentError) -> np.ndarray:
    """`values` as an array of whole numbers of one dimension; raises `error`, naming type and shape, for anything else.

    With a `size`, as many as that.
    """
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise error(f"{what} must be whole numbers, not {shown(values)}") from None
    if array.dtype.kind not in "iu" or (size is not None and array.shape != (size,)) or array.ndim != 1:
        number, given = "" if size is None else f"{size} ", "" if isinstance(values, np.ndarray) else f"{shown(values)}: "
        raise error(f"{what} must be {number}whole numbers, not {given}{array.dtype} of shape {array.shape}")
    return array


def json_object(what: str, text: Any, error: type[CitadelsError] = InvalidArgumentError) -> dict[str, Any]:
    """The object that a JSON text holds; raises `error` for anything else, and for keys that stand twice, nan and infinity."""
    if not isinstance(text, str | bytes | bytearray):
        raise error(f"{what}: a JSON text is needed, not {shown(text)}")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise ValueError(f"{shown(key)} stands there twice")
            found[key] = value
        return found

    def no_number(name: str) -> None:
        raise ValueError(f"{name} is no number")

    try:
        data = json.loads(text, object_pairs_hook=once, parse_constant=no_number)
    except RecursionError:
        raise error(f"{what}: the JSON text is nested too deeply") from None
    except ValueError as why:
        raise error(f"{what}: this is no JSON: {why}") from None
    if not isinstance(data, dict):
        raise error(f"{what}: this must be a JSON object, not {type(data).__name__}")
    return data


def shown(value: Any) -> str:
    """The value as it was given, on one line, cut where it is endless."""
    try:
        text = " ".join(repr(value).split()) if not isinstance(value, str) else repr(value if len(value) <= 80 else value[:80])
    except Exception:  # nested without end, a number of thousands of digits, or a repr that fails
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def listed(values: Iterable[Any]) -> str:
    """Some values between commas, texts without their marks."""
    return ", ".join(value if isinstance(value, str) and len(value) <= 80 else shown(value) for value in values)


def _bounds(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" from {_plain(least)} to {_plain(most)}"
    if least is not None:
        return f" of at least {_plain(least)}"
    return "" if most is None else f" of at most {_plain(most)}"


def _plain(bound: float) -> str:
    return f"{bound:,}" if isinstance(bound, int) else f"{bound:,.12g}"

"""Interval estimates for the numbers of a study.

`level` is the probability that an interval covers the true value, 0.95 unless said otherwise.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2, norm
from scipy.stats import t as student

Estimate = tuple[Any, Any, Any]  # value, lower end, upper end


def wilson(share: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Any, Any]:
    """Wilson's interval for a mean `share` of `n` values between 0 and 1.

    Wins are shares: 1 alone, 1/2 each for two tied winners.  The interval assumes the variance p(1 - p)
    of values that are 0 or 1.  Values between 0 and 1 with mean p vary less, because x² ≤ x, so with
    ties the interval is a little too wide and never too narrow.
    """
    p, n = np.asarray(share, float), np.asarray(n, float)
    z = norm.ppf(0.5 + level / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(np.maximum(p * (1 - p), 0) / n + z**2 / (4 * n**2))
    return np.maximum(centre - half, 0), np.minimum(centre + half, 1)


def mean(total: ArrayLike, squares: ArrayLike, n: ArrayLike, level: float = 0.95) -> Estimate:
    """The mean of `n` values given their sum and their sum of squares, with Student's interval."""
    total, squares, n = np.asarray(total, float), np.asarray(squares, float), np.asarray(n, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = total / n
        variance = np.maximum(squares - n * centre**2, 0) / (n - 1)
        half = student.ppf(0.5 + level / 2, np.maximum(n - 1, 1)) * np.sqrt(variance / n)
    return centre, centre - half, centre + half


Moments = tuple[ArrayLike, ArrayLike, ArrayLike]


def ratio(top: ArrayLike, bottom: ArrayLike, moments: Moments, n: ArrayLike, level: float = 0.95) -> Estimate:
    """The share `top` / `bottom` of sums over `n` games, with the games as clusters.

    What happens within one game is dependent (a seat drafts the Thief three times and wins once), so the
    variance is that of the residuals t - r b of whole games.  `moments` are the sums of t², tb and b².
    """
    top, bottom, n = np.asarray(top, float), np.asarray(bottom, float), np.asarray(n, float)
    tt, tb, bb = (np.asarray(m, float) for m in moments)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = top / bottom
        residuals = np.maximum(tt - 2 * r * tb + r**2 * bb, 0) * n / (n - 1)
        half = norm.ppf(0.5 + level / 2) * np.sqrt(residuals) / bottom
    return r, np.maximum(r - half, 0), np.minimum(r + half, 1)


def jackknife(statistic: Callable[..., Any], *sums: ArrayLike, level: float = 0.95) -> Estimate:
    """`statistic` of sums, with an interval from what it becomes when each block is left out in turn.

    The first axis of every array of `sums` is the block of games.  Blocks are independent of each other even where
    the games within one are not (in a paired study game k starts from the same seed in every set), which makes the
    interval right for anything computed over several sets.
    """
    arrays = [np.asarray(a, float) for a in sums]
    totals = [a.sum(axis=0) for a in arrays]
    n = len(arrays[0])
    whole = np.asarray(statistic(*totals), float)
    if n < 2:
        return whole, np.full_like(whole, np.nan), np.full_like(whole, np.nan)
    without = np.array([statistic(*(total - a[k] for total, a in zip(totals, arrays, strict=True))) for k in range(n)])
    error = np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    half = student.ppf(0.5 + level / 2, n - 1) * error
    return whole, whole - half, whole + half


def deviation(rates: ArrayLike) -> Any:
    """How unequal the seats are: the root mean square deviation of their win rates (last axis) from 1 / seats."""
    rates = np.asarray(rates, float)
    return np.sqrt(((rates - 1 / rates.shape[-1]) ** 2).mean(axis=-1))


def chance_deviation(seats: int, n: ArrayLike, level: float = 0.95) -> Any:
    """The `deviation` that a perfectly fair game stays below with probability `level` in `n` games."""
    return np.sqrt(chi2.ppf(level, seats - 1) / (np.asarray(n, float) * seats**2))


def fair_probability(rates: ArrayLike, n: ArrayLike) -> Any:
    """The probability of a `deviation` at least this large if all seats were equal (Pearson's test; ties make it cautious)."""
    rates = np.asarray(rates, float)
    seats = rates.shape[-1]
    return chi2.sf(deviation(rates) ** 2 * np.asarray(n, float) * seats**2, seats - 1)

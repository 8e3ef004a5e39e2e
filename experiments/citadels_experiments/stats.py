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


# --- tournaments ---------------------------------------------------------------


def clustered_share(wins: ArrayLike, games: ArrayLike, level: float = 0.95) -> Estimate:
    """The share of wins of `games`, both by cluster (last axis), with an interval that takes the clusters as independent.

    Wilson's interval for the number of independent games that would vary as much as the clusters do (the effective sample
    size of surveys: Korn and Graubard 1998), with Student's quantile.  If nothing varies, as when every game is won, a
    cluster counts as one game.
    """
    wins, games = np.asarray(wins, float), np.asarray(games, float)
    played = games > 0
    n, total = played.sum(axis=-1), games.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = wins.sum(axis=-1) / total
        residuals = wins - p[..., None] * games
        variance = n / (n - 1) * (residuals**2).sum(axis=-1) / total**2
        effective = np.where(variance > 1e-12, p * (1 - p) / variance, n)
        low, high = wilson(p, effective, 2 * norm.cdf(student.ppf(0.5 + level / 2, np.maximum(n - 1, 1))) - 1)
    return p, np.where(n > 1, low, np.nan), np.where(n > 1, high, np.nan)


CAUTION = 0.75  # the largest part of the capital that is staked at once


def _stakes(values: np.ndarray, level: float) -> np.ndarray:
    """What is staked on each of `values` (last axis): decided by the values before it only, larger the less they vary."""
    t = np.arange(1, values.shape[-1] + 1)
    means = (0.5 + values.cumsum(axis=-1)) / (t + 1)
    variances = (0.25 + ((values - means) ** 2).cumsum(axis=-1)) / (t + 1)
    before = np.concatenate([np.full_like(values[..., :1], 0.25), variances[..., :-1]], axis=-1)
    return np.sqrt(2 * np.log(2 / (1 - level)) / (before * t * np.log(t + 1)))


def log_capital(values: ArrayLike, mean: float, level: float = 0.95) -> Any:
    """The logarithm of the capital, after each of `values` (last axis), of one who bets that they lie above `mean`.

    If `mean` is their true mean, the bets are fair, and the capital ever reaches 2 / (1 - level) with probability
    (1 - level) / 2 at most (Ville's inequality).
    """
    values = np.asarray(values, float)
    with np.errstate(divide="ignore"):
        stakes = np.minimum(_stakes(values, level), CAUTION / np.float64(mean))
    return np.log1p(stakes * (values - mean)).cumsum(axis=-1)


def anytime(values: ArrayLike, level: float = 0.95) -> Estimate:
    """The mean of `values` between 0 and 1, with an interval that may be looked at after every value.

    With probability `level` the true mean lies in the intervals of all lengths at once, so one may stop when the interval is
    as narrow as wanted.  An interval of fixed length has no such guarantee.  It holds all means against which neither of two
    gamblers, one for higher and one for lower values, has won 2 / (1 - level) times his stake: the hedged capital
    confidence sequence of Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", Journal of
    the Royal Statistical Society B 86 (2024), pages 1 to 27, without taking the intersection with earlier intervals.
    """
    values = np.asarray(values, float)
    if not len(values):
        return np.nan, 0.0, 1.0
    return values.mean(), _lower_end(values, level), 1 - _lower_end(1 - values, level)


def _lower_end(values: np.ndarray, level: float) -> float:
    """The smallest mean that the gambler for higher values has not won enough against: his capital falls as it grows."""
    stakes, enough = _stakes(values, level), np.log(2 / (1 - level))
    low, high = 0.0, 1.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        if np.log1p(np.minimum(stakes, CAUTION / middle) * (values - middle)).sum() >= enough:
            low = middle
        else:
            high = middle
    return low


def strengths(ahead: ArrayLike, prior: float = 1.0) -> Any:
    """Plackett-Luce strengths: logarithms with mean 0; `ahead[i, j]` is how often i came before j, a tie half for each.

    Of two agents the first is before the other with probability 1 / (1 + exp(-difference)).  Pairs from whole finishing
    orders, or of each winner with all others, estimate the model consistently (Azari Soufiani, Chen, Parkes and Xia 2013)
    and have a place for ties.  `prior` more pairs, tied, between any two keep the strength of those who never lose finite.
    """
    import choix

    ahead = np.asarray(ahead, float)
    return choix.ilsr_pairwise_dense(ahead + prior / 2 * (1 - np.eye(len(ahead))), max_iter=1000)


def bootstrap_strengths(ahead: ArrayLike, seed: int = 0, repeats: int = 400, level: float = 0.95) -> Estimate:
    """`strengths` of sums over clusters (first axis of `ahead`), with intervals from weighing the clusters at random.

    The Bayesian bootstrap (Rubin 1981); the prior pairs are weighed like a cluster, so that the interval of one who never
    loses is wide.  With five agents or more, 0 is the mean of all but the first and the last: an agent that hardly ever
    wins has a vague strength, and would make all others' vague through the mean.
    """
    ahead = np.asarray(ahead, float)
    n = len(ahead)
    value = strengths(ahead.sum(axis=0))
    inner = np.argsort(value, kind="stable")[1:-1] if len(value) >= 5 else slice(None)
    value = value - value[inner].mean()
    if n < 2:
        return value, np.full_like(value, np.nan), np.full_like(value, np.nan)
    weights = np.random.default_rng(seed).exponential(size=(repeats, n + 1))
    totals = np.tensordot(weights[:, :n], ahead, axes=1)
    drawn = np.array([strengths(total, prior) for total, prior in zip(totals, weights[:, n], strict=True)])
    low, high = np.quantile(drawn - drawn[:, inner].mean(axis=1, keepdims=True), [0.5 - level / 2, 0.5 + level / 2], axis=0)
    return value, low, high

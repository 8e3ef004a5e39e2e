"""Interval estimates for the numbers of a study.

`level` is the probability that an interval covers the true value, 0.95 unless said otherwise.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chndtr
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


def jackknife_error(statistic: Callable[..., Any], *sums: ArrayLike) -> tuple[Any, Any, int]:
    """`statistic` of sums, its standard error from leaving out each block in turn, and the degrees of freedom of the error.

    The first axis of every array of `sums` is the block of games.  Blocks are independent of each other even where
    the games within one are not (in a paired study game k starts from the same seed in every set), which makes the
    error right for anything smooth that is computed over several sets.  With one block the error is NaN.
    """
    arrays = [np.asarray(a, float) for a in sums]
    totals = [a.sum(axis=0) for a in arrays]
    n = len(arrays[0])
    whole = np.asarray(statistic(*totals), float)
    if n < 2:
        return whole, np.full_like(whole, np.nan), 0
    without = np.array([statistic(*(total - a[k] for total, a in zip(totals, arrays, strict=True))) for k in range(n)])
    return whole, np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0)), n - 1


def jackknife(statistic: Callable[..., Any], *sums: ArrayLike, level: float = 0.95) -> Estimate:
    """`statistic` of sums over blocks (first axis), with Student's interval for its `jackknife_error`."""
    whole, error, freedom = jackknife_error(statistic, *sums)
    half = student.ppf(0.5 + level / 2, max(freedom, 1)) * error
    return whole, whole - half, whole + half


# --- seats ---------------------------------------------------------------------


def deviation(rates: ArrayLike) -> Any:
    """The root mean square deviation of win rates (last axis) from 1 / seats, as observed: chance makes it larger."""
    rates = np.asarray(rates, float)
    return np.sqrt(((rates - 1 / rates.shape[-1]) ** 2).mean(axis=-1))


def chance_deviation(seats: int, n: ArrayLike, level: float = 0.95) -> Any:
    """The observed `deviation` that a perfectly fair game stays below with probability `level` in `n` games."""
    return np.sqrt(chi2.ppf(level, seats - 1) / (np.asarray(n, float) * seats**2))


def fair_probability(rates: ArrayLike, n: ArrayLike) -> Any:
    """The probability of a `deviation` at least this large if all seats were equal (Pearson's test; ties make it cautious)."""
    rates = np.asarray(rates, float)
    seats = rates.shape[-1]
    return chi2.sf(deviation(rates) ** 2 * np.asarray(n, float) * seats**2, seats - 1)


def covariance(total: ArrayLike, products: ArrayLike, n: ArrayLike) -> Any:
    """The covariance (..., k, k) of `n` vectors with sum `total` (..., k) and sum of outer products `products` (..., k, k)."""
    total, products, n = np.asarray(total, float), np.asarray(products, float), np.asarray(n, float)[..., None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return (products - total[..., :, None] * total[..., None, :] / n) / (n - 1)


def squared_deviation(rates: ArrayLike, covariance: ArrayLike) -> Any:
    """An unbiased estimate of the squared deviation of the true win rates, from `rates` (..., seats) with error `covariance`.

    What chance adds on average, the mean variance of a rate, is taken off.  It may be negative.
    """
    return deviation(rates) ** 2 - np.trace(np.asarray(covariance, float), axis1=-2, axis2=-1) / np.shape(rates)[-1]


def seat_deviation(rates: ArrayLike, covariance: ArrayLike, level: float = 0.95) -> tuple[Estimate, Any]:
    """How unequal the seats are: the root of `squared_deviation`, or 0, with its interval and the p-value of equal seats.

    `rates` (..., seats) are estimated with the error `covariance` (..., seats, seats).  Their squared distance from 1 / seats,
    in units of their variance, has a noncentral chi-squared distribution with seats - 1 degrees of freedom.  The
    interval excludes 0 exactly where the p-value is below 1 - `level`.  NaN where the covariance is 0.
    """
    rates, covariance = np.asarray(rates, float), np.asarray(covariance, float)
    seats = rates.shape[-1]
    freedom = seats - 1
    off = rates - 1 / seats
    square = (off**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        average = np.trace(covariance, axis1=-2, axis2=-1) / freedom
        along = np.where(square > 0, np.einsum("...i,...ij,...j", off, covariance, off) / square, average)
        beyond = np.maximum(square / average - freedom, 0)  # far from fair, only the variance along the deviation matters
        variance = (freedom * average + beyond * along) / (freedom + beyond)
        distance = np.sqrt(square / variance)
    value = np.sqrt(np.maximum(squared_deviation(rates, covariance), 0))
    low, high = noncentrality(distance, freedom, level)
    scale = np.sqrt(variance / seats)
    return (value, low * scale, high * scale), chi2.sf(distance**2, freedom)


def noncentrality(distance: ArrayLike, freedom: int, level: float = 0.95) -> tuple[Any, Any]:
    """The interval for d, where `distance`² is noncentral chi-squared with noncentrality d² and `freedom` degrees of freedom.

    It holds every d for which a distance at least as far from d as the observed one is likely enough: the symmetric range
    interval of J. T. Kent and T. J. Hainsworth, "Confidence intervals for the noncentral chi-squared distribution", Journal of
    Statistical Planning and Inference 46 (1995), pages 147 to 159.  Unlike the interval with equal tails it is never empty.
    """
    r = np.asarray(distance, float)
    known = np.isfinite(r)
    r = np.where(known, r, 0.0)

    def below(end: np.ndarray, d: np.ndarray) -> np.ndarray:
        return chndtr(np.maximum(end, 0.0) ** 2, freedom, d**2)

    def bisect(inner: np.ndarray, outer: np.ndarray, sign: int) -> np.ndarray:
        """Between `inner`, which is within the interval, and `outer`, which is not."""
        for _ in range(40):
            d = (inner + outer) / 2
            within = sign * (below(2 * d - r, d) - below(r, d)) < level
            inner, outer = np.where(within, d, inner), np.where(within, outer, d)
        return inner

    far = r > 40  # normal by then
    half = norm.ppf(0.5 + level / 2)
    near = np.where(far, 0.0, r)
    low = np.where(chi2.cdf(near**2, freedom) <= level, 0.0, bisect(near, np.zeros_like(near), -1)) if near.size else near
    high = bisect(near, near + half + 2 * np.sqrt(freedom) + 4, 1)
    low, high = np.where(far, r - half, low), np.where(far, r + half, high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def root(value: Any, error: Any, freedom: int, level: float = 0.95) -> Estimate:
    """The root of a square that is estimated without bias by `value`, which may be negative, with standard `error`."""
    half = student.ppf(0.5 + level / 2, max(freedom, 1)) * error
    above = np.maximum(value, 0.0)  # the upper end is never that of a negative square
    return np.sqrt(above), np.sqrt(np.maximum(value - half, 0.0)), np.sqrt(above + half)


def difference_of_roots(first: Any, second: Any, error: Any, freedom: int, level: float = 0.95) -> Estimate:
    """The second root minus the first, of squares estimated by `first` and `second`; `error` is that of the squares' difference.

    The interval is that of the difference of the squares, turned into one of roots at the observed sum of the squares.
    Both exclude 0 together.
    """
    half = student.ppf(0.5 + level / 2, max(freedom, 1)) * error
    a, b = np.maximum(first, 0.0), np.maximum(second, 0.0)

    def roots(difference: Any) -> Any:
        total = np.maximum(a + b, np.abs(difference))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = difference / np.sqrt(total + np.sqrt(np.maximum(total**2 - difference**2, 0)))
        return np.where(total > 0, found, difference)

    value = np.sqrt(b) - np.sqrt(a)
    low, high = roots(second - first - half), roots(second - first + half)
    return value, np.minimum(low, value), np.maximum(high, value)


def games_for(half_width: float, share: float, level: float = 0.95) -> int:
    """How many games make the interval of a win share near `share` reach `half_width` to both sides."""
    return max(2, int(np.ceil(share * (1 - share) * (norm.ppf(0.5 + level / 2) / half_width) ** 2)))


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


FEW_CLUSTERS = 100  # below, the bootstrap's intervals are too narrow


def strength_intervals(ahead: ArrayLike, level: float = 0.95) -> Estimate:
    """`strengths` of sums over clusters (first axis of `ahead`), with intervals that treat the clusters as independent.

    With five agents or more, 0 is the mean of all but the first and the last: an agent that hardly ever wins has a vague
    strength, and would make all others' vague through the mean.  With fewer than `FEW_CLUSTERS` clusters the intervals are
    Student's from the jackknife, otherwise those of the Bayesian bootstrap.  The prior pairs count as one more cluster, so that
    the interval of one who never loses is wide.
    """
    ahead = np.asarray(ahead, float)
    value, inner = _centred(ahead.sum(axis=0))
    if len(ahead) < 2:
        return value, np.full_like(value, np.nan), np.full_like(value, np.nan)
    low, high = (_jackknife_strengths if len(ahead) < FEW_CLUSTERS else _bootstrap_strengths)(ahead, inner, level)
    return value, low, high


def _centred(total: np.ndarray, inner: Any = None, prior: float = 1.0) -> tuple[np.ndarray, Any]:
    """Strengths with the mean of those `inner` at 0, and which these are: by default all but the first and the last."""
    value = strengths(total, prior)
    if inner is None:
        inner = np.argsort(value, kind="stable")[1:-1] if len(value) >= 5 else slice(None)
    return value - value[inner].mean(), inner


def _jackknife_strengths(ahead: np.ndarray, inner: Any, level: float) -> tuple[np.ndarray, np.ndarray]:
    n, total = len(ahead), ahead.sum(axis=0)
    without = np.array([_centred(total - cluster, inner)[0] for cluster in ahead])
    variance = (n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    variance += (_centred(total, inner, 1.5)[0] - _centred(total, inner, 0.5)[0]) ** 2  # of a prior that weighs 1 ± 1
    value = _centred(total, inner)[0]
    half = student.ppf(0.5 + level / 2, n - 1) * np.sqrt(variance)
    return value - half, value + half


def _bootstrap_strengths(ahead: np.ndarray, inner: Any, level: float, seed: int = 0, repeats: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """From weighing the clusters at random: the Bayesian bootstrap (Rubin 1981)."""
    weights = np.random.default_rng(seed).exponential(size=(repeats, len(ahead) + 1))
    totals = np.tensordot(weights[:, :-1], ahead, axes=1)
    drawn = np.array([_centred(total, inner, prior)[0] for total, prior in zip(totals, weights[:, -1], strict=True)])
    low, high = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    return low, high

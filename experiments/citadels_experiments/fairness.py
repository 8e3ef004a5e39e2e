"""How fair role sets are to the seats, and which are fairer than others.

The games of one set say little about it, and the best of many noisy numbers is mostly luck.  Sets share their roles, though:
the win shares of all sets are fitted by the effects of single roles and of pairs of roles, and the games of 256 sets
tell about 37 such effects.  What they leave unexplained is kept in proportion to how much more of it there is than chance
makes: shares are shrunk towards the fit as James and Stein do (B. Efron and C. Morris, "Data analysis using
Stein's estimator and its generalizations", Journal of the American Statistical Association 70, 1975).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2, false_discovery_control, norm

from citadels_env import ROLES

from . import stats

MARGIN = 0.02  # within which of 1 / players the win shares of a fair set lie
ERROR_RATE = 0.05  # the share of false ones among the sets that are called unequal or fair
SETS_PER_EFFECT = 2  # with fewer sets, smoothing gains too little
DRAWS, AT_ONCE = 1000, 50  # for the intervals of ranks

SIGN = {row.name: 1.0 if k == 0 or ROLES[k - 1].rank != row.rank else -1.0 for k, row in enumerate(ROLES)}  # of a rank's two roles


@dataclass(frozen=True)
class Seats:
    """The win shares of seats in every set, smoothed where there are enough sets, with what is known about their error."""

    shares: np.ndarray  # (sets, seats), smoothed
    factors: np.ndarray  # (sets,): the error covariance of a row of `shares` is this times `covariance`
    covariance: np.ndarray  # (seats, seats), of the wins in one game
    games: np.ndarray  # (sets,)
    fit: np.ndarray  # (sets, sets), makes fitted shares of observed ones
    kept: float  # the part of what the fit does not explain that `shares` keep; 1: nothing is smoothed
    inflation: float  # how much larger the variance of the fit is than for independent sets; 1 unless studies are paired
    effects: int  # of roles and pairs of roles, with the mean
    misfit: float  # chi-squared of the lack of fit, with its degrees of freedom and the probability of at least that
    freedom: int
    p_misfit: float

    @property
    def smoothed(self) -> bool:
        return self.kept < 1

    @property
    def squares(self) -> np.ndarray:
        """Unbiased estimates of the squared deviations; they rank the sets."""
        return np.asarray(stats.squared_deviation(self.shares, self.errors))

    @property
    def errors(self) -> np.ndarray:
        """The error covariance (sets, seats, seats) of the shares."""
        return self.factors[:, None, None] * self.covariance

    def draw(self, rng: np.random.Generator, times: int) -> np.ndarray:
        """Shares as they might as well be: (times, sets, seats)."""
        values, vectors = np.linalg.eigh(self.covariance)
        half = vectors * np.sqrt(np.maximum(values, 0))
        n, seats = self.shares.shape
        noise = np.zeros((n, times * seats))  # of all draws side by side: one large product
        for part, by in ((1 - self.kept, self.fit), (self.kept, None)):
            if part > 0:
                own = (rng.standard_normal((n, times, seats)) @ half.T).reshape(n, -1) / np.sqrt(self.games)[:, None]
                noise += np.sqrt(part) * own if by is None else np.sqrt(part * self.inflation) * (by @ own)
        return self.shares + noise.reshape(n, times, seats).swapaxes(0, 1)


def design(sets: Sequence[Sequence[str]]) -> np.ndarray:
    """One row per set, one column per effect: the mean, each rank with two roles to choose from, and every two such ranks."""
    columns = [np.array([SIGN[roles[rank]] for roles in sets]) for rank in range(len(sets[0]))]
    columns = [column for column in columns if len(set(column)) > 1]
    return np.column_stack([np.ones(len(sets)), *columns, *(a * b for a, b in combinations(columns, 2))])


def seats(records: Sequence[dict[str, Any]], smooth: bool = True) -> Seats:
    """The seats' win shares of the sets in `records` (`study.count`).

    Nothing is smoothed where there are fewer than two sets for each effect.  In a paired study sets share
    their shuffles, and the error of the fit is then estimated from blocks of games.
    """
    wins = np.array([np.sum(record["wins"], axis=0) for record in records])
    games = np.array([np.sum(record["games"]) for record in records], float)
    own = stats.covariance(wins, np.array([record["squares"]["wins"] for record in records]), games)
    covariance = np.average(own, axis=0, weights=games - 1)
    n, players = wins.shape
    observed = wins / games[:, None]
    effects, fit = 0, np.eye(n)
    if len({len(record["roles"]) for record in records}) == 1:
        columns = design([record["roles"] for record in records])
        effects = int(np.linalg.matrix_rank(columns))
        fit = columns @ np.linalg.pinv(columns)
    if not smooth or not effects or n < SETS_PER_EFFECT * effects or not covariance.any():
        return Seats(observed, 1 / games, covariance, games, fit, 1.0, 1.0, effects, np.nan, 0, np.nan)
    rest = observed - fit @ observed
    misfit = float(np.sum(games * np.einsum("si,ij,sj->s", rest, np.linalg.pinv(covariance, hermitian=True), rest)))
    freedom = (n - effects) * (players - 1)
    kept = max(0.0, 1 - (freedom - 2) / misfit) if misfit > 0 else 0.0
    from_fit = (fit**2 / games).sum(axis=1)  # the diagonal of fit, over games, where all sets have as many
    inflation = 1.0
    if n > 1 and len({record["seed"] for record in records}) == 1:
        inflation = max(1.0, _variance_of_fit(records, fit) / float(from_fit.sum() * np.trace(covariance)))
    factors = (1 - kept) * inflation * from_fit + kept / games
    p = float(chi2.sf(misfit, freedom))
    return Seats(observed - (1 - kept) * rest, factors, covariance, games, fit, kept, inflation, effects, misfit, freedom, p)


def _variance_of_fit(records: Sequence[dict[str, Any]], fit: np.ndarray) -> float:
    """The variances of all fitted shares together, from blocks of games."""
    wins = np.array([record["wins"] for record in records]).swapaxes(0, 1)
    games = np.array([record["games"] for record in records]).T
    _, error, freedom = stats.jackknife_error(lambda w, g: fit @ (w / g[:, None]), wins, games)
    return float(np.sum(error**2)) if freedom else 0.0


def fairness_table(found: Seats, margin: float = MARGIN) -> pd.DataFrame:
    """One row per set: smoothed win shares, how unequal they are, whether that is shown, whether fairness is, and the set's rank.

    `q_unequal` and `q_fair` are the false discovery rates (Benjamini and Hochberg 1995) over all sets at which a set
    counts as one with unequal seats, and as one whose seats all lie within `margin` of 1 / players.  For the latter
    two one-sided tests of every seat must all agree (R. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics
    24, 1982).  A set may be shown to be both, or neither.  Ranks have intervals from drawing the shares anew.
    """
    players = found.shares.shape[1]
    (value, low, high), unequal = stats.seat_deviation(found.shares, found.errors)
    error = np.sqrt(np.einsum("sii->si", found.errors))
    off = np.abs(found.shares - 1 / players)
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = np.nan_to_num(norm.sf((margin - off) / error), nan=1.0).max(axis=1)
    unequal = np.nan_to_num(unequal, nan=1.0)
    q_fair = false_discovery_control(beyond)
    rank, rank_low, rank_high = ranks(found)
    return pd.DataFrame(
        {
            **{f"smooth_win_{seat}": found.shares[:, seat] for seat in range(players)},
            "smooth_deviation": value,
            "smooth_deviation_low": low,
            "smooth_deviation_high": high,
            "rank": rank,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "p_unequal": unequal,
            "q_unequal": false_discovery_control(unequal),
            "margin": margin,
            "p_fair_within": beyond,
            "q_fair_within": q_fair,
            "fair": (q_fair <= ERROR_RATE).astype(int),
        }
    )


def ranks(found: Seats, seed: int = 0, level: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The place of every set among all, 1 the fairest, and the ends of its interval, from drawing all shares `DRAWS` times."""

    def places(squares: np.ndarray) -> np.ndarray:
        return np.argsort(np.argsort(squares, axis=-1, kind="stable"), axis=-1, kind="stable") + 1

    rng = np.random.default_rng(seed)
    rank = places(found.squares)
    chance = 2 * found.factors * np.trace(found.covariance) / found.shares.shape[1]  # drawn shares have the error twice
    times = [min(AT_ONCE, DRAWS - done) for done in range(0, DRAWS, AT_ONCE)]
    drawn = np.concatenate([places(stats.deviation(found.draw(rng, n)) ** 2 - chance) for n in times])
    low, high = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2], axis=0, method="inverted_cdf")
    return rank, np.minimum(rank, low).astype(int), np.maximum(rank, high).astype(int)

"""How likely is each player to win, judged from the state of a game in play: the value estimate of the search.

Each seat has a utility, linear in a few figures of its own; win probabilities are their softmax (a conditional
logit).  The coefficients in evaluation.json were fitted to games of the expert persona by `citadels fit-value`.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np

from citadels_env import cards, districts, scoring
from citadels_env._jit import kernel
from citadels_env.actions import MAX_PLAYERS
from citadels_env.state import players

FIGURES = (
    "points",  # as the game stands
    "points late",  # the same, times the progress of the largest city
    "districts",
    "districts late",
    "gold",
    "gold late",
    "cards",  # in hand, up to 6
    "cards late",
    "card to build",  # printed points of the best card in hand that 2 gold more can pay for
    "crown",
)
N_FIGURES = len(FIGURES)
FILE = Path(__file__).with_name("evaluation.json")


@cache
def coefficients() -> "np.ndarray":
    """The fitted coefficients, read once: float64 array of N_FIGURES."""
    fitted = json.loads(FILE.read_text())["coefficients"]
    return np.array([fitted[name] for name in FIGURES])


@kernel
def progress(g):
    """How far the largest city is, 0 to 1."""
    most = 0
    for seat in range(players(g)):
        most = max(most, np.int64(g.city_size[seat]))
    return min(1.0, most / np.int64(g.districts_to_end))


@kernel
def figures(g, seat, late, out):
    """The figures of one seat (float64 array of N_FIGURES); `late` is the progress of the game."""
    points = 1.0 * scoring.points(g, seat)
    size = 1.0 * g.city_size[seat]
    gold = min(12.0, 1.0 * g.gold[seat])
    hand = min(6.0, 1.0 * g.hand_size[seat])
    best = 0
    for card in range(cards.N_DISTRICTS):
        if g.hand[seat, card] > 0 and g.rules.points[card] > best and districts.price_to_build(g, seat, card) <= gold + 2:
            best = np.int64(g.rules.points[card])
    out[0] = points
    out[1] = points * late
    out[2] = size
    out[3] = size * late
    out[4] = gold
    out[5] = gold * late
    out[6] = hand
    out[7] = hand * late
    out[8] = best
    out[9] = 1.0 if g.crown == seat else 0.0


@kernel
def evaluate(g, coefficients, work, values):
    """Write the estimated chance of winning of each seat into `values` (float64 array of MAX_PLAYERS)."""
    n = players(g)
    late = progress(g)
    highest = -1.0e9
    for seat in range(n):
        figures(g, seat, late, work)
        utility = 0.0
        for k in range(N_FIGURES):
            utility += coefficients[k] * work[k]
        values[seat] = utility
        highest = max(highest, utility)
    total = 0.0
    for seat in range(n):
        values[seat] = np.exp(values[seat] - highest)
        total += values[seat]
    for seat in range(MAX_PLAYERS):
        values[seat] = values[seat] / total if seat < n else 0.0

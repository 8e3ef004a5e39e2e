"""The end of the game: points, winners, rewards (B8)."""

import numpy as np

from . import cards, districts, state
from ._jit import kernel
from .actions import MAX_PLAYERS
from .cards import N_DISTRICTS
from .districts import FIRST_UNIQUE
from .state import players
from .vocabulary import Colour

REWARDS = ("win", "score", "rank")
WIN, SCORE, RANK = range(3)


@kernel
def building_points(g, seat):
    """Printed points and the Artist's coins: what ties are broken by (X-24)."""
    total = 0
    for card in range(N_DISTRICTS):
        standing = np.int64(g.city[seat, card])
        if standing:
            total += standing * np.int64(g.rules.points[card]) + np.int64(g.coins[seat, card])
    return total


@kernel
def five_colours(g, seat):
    """Does the city show all five colours? The Haunted City may stand for the one that is missing (D-HAUNTED, D30)."""
    haunted = np.int64(g.city[seat, cards.HAUNTED_CITY])
    uniques = -haunted
    for card in range(FIRST_UNIQUE, N_DISTRICTS):
        uniques += np.int64(g.city[seat, card])
    shown = 1 if uniques > 0 else 0
    for colour in range(np.int64(Colour.UNIQUE)):
        if state.count_colour(g, seat, colour) > 0:
            shown += 1
    if haunted == 0:
        return shown == 5
    if g.rules.haunted_city_not_in_last_round and g.haunted_round == g.round_number and uniques > 0:
        return shown == 5  # it stays purple, and purple is there without it
    return shown >= 4


@kernel
def points(g, seat):
    """All points of a seat as the game stands (B-SCORE)."""
    total = building_points(g, seat)
    if five_colours(g, seat):
        total += 3
    finished = districts.complete(g, seat)
    if g.first_completers >> seat & 1 and (finished or not g.rules.first_bonus_lost_if_destroyed):
        total += 4
    elif finished:
        total += 2
    if districts.has(g, seat, cards.WISHING_WELL):
        for card in range(FIRST_UNIQUE, N_DISTRICTS):
            total += np.int64(g.city[seat, card])
        total -= 1
    if districts.has(g, seat, cards.IMPERIAL_TREASURY):
        total += np.int64(g.gold[seat])
    if districts.has(g, seat, cards.MAP_ROOM):
        total += np.int64(g.hand_size[seat])
    if districts.has(g, seat, cards.MUSEUM):
        total += np.int64(g.hand_size[state.MUSEUM_PILE])
    return total


@kernel
def score_game(g):
    for seat in range(players(g)):
        g.score[seat] = points(g, seat)


@kernel
def lead(g, seat, other):
    """By how much `seat` is ahead of `other` in the first thing in which they differ: score, then the tie-breaks (B-TIE)."""
    difference = np.int64(g.score[seat]) - np.int64(g.score[other])
    if difference == 0 and seat != other and g.rules.tie_break != state.SHARED:
        difference = building_points(g, seat) - building_points(g, other)
        if difference == 0 and g.rules.tie_break == state.BUILDINGS_THEN_GOLD:
            difference = np.int64(g.gold[seat]) - np.int64(g.gold[other])
    return difference


@kernel
def write_rewards(g, scheme, rewards):
    """The rewards of a finished game (see `Batch`): float32 array of MAX_PLAYERS."""
    n = players(g)
    for seat in range(MAX_PLAYERS):
        rewards[seat] = 0.0
    total = 0
    for seat in range(n):
        total += np.int64(g.score[seat])
    for seat in range(n):
        better, equal = 0, 0
        for other in range(n):
            ahead = lead(g, seat, other)
            if ahead < 0:
                better += 1
            elif ahead == 0:
                equal += 1
        if scheme == WIN:
            rewards[seat] = 1.0 / equal if better == 0 else 0.0
        elif scheme == SCORE:
            rewards[seat] = (np.int64(g.score[seat]) - total / n) / 10.0
        else:
            rewards[seat] = 1.0 - (2.0 * better + equal - 1) / (n - 1)

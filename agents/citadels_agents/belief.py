"""Who holds which role?  What a seat can conclude from the draft, the calls, and what players are likely to take.

Three levels, so that the value of inference can be measured:

none          every role that is not face up or one's own is as likely anywhere
elimination   exact: what the seat was offered and passed on, face-up roles, calls that were answered or not
behavioural   elimination, weighted by how attractive each role is to each player in the public situation
"""

import numpy as np

from citadels_env import hidden, state
from citadels_env._jit import kernel
from citadels_env.actions import MAX_PLAYERS
from citadels_env.cards import N_RANKS
from citadels_env.state import players

from . import valuation

LEVELS = ("none", "elimination", "behavioural")
NONE, ELIMINATION, BEHAVIOURAL = range(3)
BELIEF_SHAPE = (MAX_PLAYERS + N_RANKS, N_RANKS)
PREFERENCE_CAP = 300.0  # a purse of thousands makes the Thief irresistible, not infinite
SCALINGS = 6  # alternating normalisations of rows and columns (Sinkhorn); more change the third digit only


@kernel
def believe(g, seat, level, w, belief, buffer):
    """Write into the first rows of `belief` the probability that a player (row) holds a rank (column), as `seat` sees it.

    `w` are the weights of the player who judges; `belief` is a float64 array of BELIEF_SHAPE, whose other rows are
    work space, and `buffer` an int64 array of hidden.BUFFER.
    """
    for other in range(MAX_PLAYERS):
        for rank in range(N_RANKS):
            belief[other, rank] = 0.0
    if level == NONE:
        believe_nothing(g, seat, belief)
        return
    for rank in range(np.int64(g.rules.n_roles)):
        if g.owner[rank] >= 0 and (g.revealed[rank] or g.owner[rank] == seat):
            belief[g.owner[rank], rank] = 1.0
    choice = hidden.last_choice(g, seat)
    if choice == 2:
        add_places(g, seat, 0, 0.5, level, w, belief, buffer)
        add_places(g, seat, 1, 0.5, level, w, belief, buffer)
    else:
        add_places(g, seat, choice, 1.0, level, w, belief, buffer)


@kernel
def believe_nothing(g, seat, belief):
    """Level none: spread every unseen role over all other players alike."""
    unseen = 0
    for rank in range(np.int64(g.rules.n_roles)):
        if g.drafted_at[rank] != state.FACE_UP and g.owner[rank] != seat:
            unseen += 1
    each = 2.0 if players(g) <= 3 else 1.0
    for rank in range(np.int64(g.rules.n_roles)):
        if g.owner[rank] == seat:
            belief[seat, rank] = 1.0
        elif g.drafted_at[rank] != state.FACE_UP:
            for other in range(players(g)):
                if other != seat:
                    belief[other, rank] = min(1.0, each / max(1, unseen))


@kernel
def add_places(g, seat, took_down, share, level, w, belief, buffer):
    """Add the beliefs of one possible choice of the last chooser, weighted by `share`."""
    slot, group, holder, role = buffer[0:9], buffer[9:18], buffer[18:27], buffer[27:36]
    n = hidden.places(g, seat, took_down, slot, group, holder, role)
    for first in range(n):
        if holder[first] and group[first] != hidden.KNOWN_GROUP:
            leader = True  # the first place of its group that a player holds: the whole group is done here
            for other in range(first):
                if group[other] == group[first] and holder[other]:
                    leader = False
            if leader:
                add_group(g, group[first], n, slot, group, holder, role, share, level, w, belief, buffer)


@kernel
def add_group(g, which, n, slot, group, holder, role, share, level, w, belief, buffer):
    """Beliefs for the places of one group: each free role lies in one of them."""
    matrix = belief[MAX_PLAYERS:]  # places that players hold, and one row for all others; free roles
    matrix[:] = 1.0
    seats, ranks = buffer[36:45], buffer[45:54]
    rows, columns, aside = 0, 0, 0
    for i in range(n):
        if group[i] == which:
            if holder[i]:
                seats[rows] = hidden.holder_of(g, slot[i])
                rows += 1
            else:
                aside += 1
            if hidden.nobody_has(g, role[i]):
                aside -= 1
            else:
                ranks[columns] = role[i]
                columns += 1
    if level == BEHAVIOURAL and columns > 1:
        for i in range(rows):
            for j in range(columns):
                value = valuation.role_value(g, seats[i], np.int64(g.rules.role[ranks[j]]), False, w)
                matrix[i, j] = np.exp(min(PREFERENCE_CAP, w.preference * value))
    lines = rows + (1 if aside > 0 else 0)
    for _ in range(SCALINGS if level == BEHAVIOURAL else 1):
        for i in range(lines):
            mass = 1.0 if i < rows else 1.0 * aside
            total = 0.0
            for j in range(columns):
                total += matrix[i, j]
            for j in range(columns):
                matrix[i, j] *= mass / total
        if level == BEHAVIOURAL:
            for j in range(columns):
                total = 0.0
                for i in range(lines):
                    total += matrix[i, j]
                for i in range(lines):
                    matrix[i, j] /= total
    for i in range(rows):
        for j in range(columns):
            belief[seats[i], ranks[j]] += share * matrix[i, j]

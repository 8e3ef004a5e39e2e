"""Information-set Monte Carlo tree search for two to eight players.

Single-observer ISMCTS (Cowling, Powley, Whitehouse 2012): every iteration deals anew what the searching seat cannot
know (`citadels_env.hidden.redeal`), walks down one tree of answers among those that are legal in this deal, adds one
node, plays on with a persona, and backs up a value per player (max^n: whoever answers at a node maximises his own).
Exploration counts how often an answer was available, not how often its parent was visited.

New answers are tried in the order in which the persona likes them, and only as the node is visited more often
(progressive widening).  Play-outs stop at the end of a round (`horizon`), where evaluation.py estimates the chances.
"""

import numpy as np

from citadels_env import engine, hidden, scoring, state
from citadels_env._jit import kernel
from citadels_env.actions import MAX_PLAYERS, N_ACTIONS

from . import evaluation, heuristic
from .belief import BELIEF_SHAPE

MAX_DEPTH = 64

NODE = np.dtype(
    [
        ("action", np.int32),
        ("first", np.int32),  # first child, 0: none
        ("following", np.int32),  # next child of the same parent, 0: none; in the root the number of nodes
        ("visits", np.int32),
        ("available", np.int32),  # visits of the parent in which the answer was legal
        ("values", np.float64, MAX_PLAYERS),  # sum over visits
    ]
)

SEARCH = np.dtype(
    [
        ("iterations", np.int64),
        ("horizon", np.int64),  # rounds to play after the present one before estimating
        ("cheating", np.int64),  # 1: sees all hidden cards and roles
        ("opponents", np.int64),  # 1: other players answer like the persona instead of being searched
        ("exploration", np.float64),
        ("widening", np.float64),  # an answer more is tried at 1 + widening * sqrt(visits)
    ]
)


@kernel
def new_tree(nodes):
    """Make `nodes` (NODE records) an empty tree."""
    clear_node(nodes[0])
    nodes[0].following = 1


@kernel
def clear_node(node):
    node.action = -1
    node.first = 0
    node.following = 0
    node.visits = 0
    node.available = 0
    for seat in range(MAX_PLAYERS):
        node.values[seat] = 0.0


@kernel
def grow(g, nodes, iterations, seed, settings, w, coefficients, sims):
    """Add `iterations` to the tree for the question open in `g`; `sims` is an array of one state to play in.

    `seed` (uint64) decides the deals and play-outs.
    """
    seat = np.int64(g.actor[g.depth - 1])
    moves = np.empty(engine.MAX_MOVES, np.int64)
    likes = np.empty(engine.MAX_MOVES, np.float64)
    buffer = np.empty(hidden.BUFFER, np.int64)
    belief = np.empty(BELIEF_SHAPE, np.float64)
    work = np.empty(evaluation.N_FIGURES, np.float64)
    values = np.empty(MAX_PLAYERS, np.float64)
    legal_at = np.zeros(N_ACTIONS, np.int64)
    path = np.empty(MAX_DEPTH + 1, np.int64)
    last_round = np.int64(g.round_number) + np.int64(settings.horizon)
    stamp = 0
    for _ in range(iterations):
        seed = state.mix(seed + np.uint64(0x9E3779B97F4A7C15))
        sims[0] = g
        s = sims[0]
        if settings.cheating:
            s.rng[state.PLAY_STREAM] = seed
        else:
            hidden.redeal(s, seat, seed, buffer)
        depth, node, added = 1, 0, False
        path[0] = 0
        n = engine.settle(s, moves)
        while n > 0 and not added and depth <= MAX_DEPTH and s.round_number <= last_round:
            if settings.opponents and s.actor[s.depth - 1] != seat:
                engine.apply(s, heuristic.choose(s, moves, n, w, belief, buffer))
            else:
                stamp += 2
                child = descend(s, nodes, node, moves, n, legal_at, stamp, settings)
                if child < 0:
                    child = add_child(s, nodes, node, moves, n, legal_at, stamp, w, belief, buffer, likes)
                    added = child > 0
                    if child < 0:
                        break
                node = child
                path[depth] = node
                depth += 1
                engine.apply(s, np.int64(nodes[node].action))
            n = engine.settle(s, moves)
        while n > 0 and s.round_number <= last_round:
            engine.apply(s, heuristic.choose(s, moves, n, w, belief, buffer))
            n = engine.settle(s, moves)
        if s.over:
            scoring.write_rewards(s, scoring.WIN, values)
        else:
            evaluation.evaluate(s, coefficients, work, values)
        for k in range(depth):
            visited = nodes[path[k]]
            visited.visits += 1
            for other in range(MAX_PLAYERS):
                visited.values[other] += values[other]


@kernel
def descend(s, nodes, node, moves, n, legal_at, stamp, settings):
    """The child to follow (UCB over answers that are legal now); -1 if a new answer is to be tried."""
    for k in range(n):
        legal_at[moves[k]] = stamp
    actor = np.int64(s.actor[s.depth - 1])
    tried, best, best_value = 0, -1, 0.0
    child = np.int64(nodes[node].first)
    while child > 0:
        it = nodes[child]
        if legal_at[it.action] == stamp:
            legal_at[it.action] = stamp + 1  # legal and tried
            tried += 1
            it.available += 1
            value = it.values[actor] / it.visits + settings.exploration * np.sqrt(np.log(it.available) / it.visits)
            if best < 0 or value > best_value:  # one is followed whatever the values are: -1 means that there is none
                best, best_value = child, value
        child = np.int64(it.following)
    room = np.int64(nodes[0].following) < nodes.size
    if room and tried < n and tried < 1.0 + settings.widening * np.sqrt(np.float64(nodes[node].visits)):
        return -1
    return best


@kernel
def add_child(s, nodes, node, moves, n, legal_at, stamp, w, belief, buffer, likes):
    """Add the untried answer that the persona likes best; -1 if the tree is full."""
    new = np.int64(nodes[0].following)
    if new >= nodes.size:
        return -1
    heuristic.weigh(s, moves, n, w, belief, buffer, likes)
    best = -1
    for k in range(n):
        if legal_at[moves[k]] == stamp and (best < 0 or likes[k] > likes[best]):
            best = k
    clear_node(nodes[new])
    nodes[new].action = moves[best]
    nodes[new].available = 1
    nodes[new].following = nodes[node].first
    nodes[node].first = new
    nodes[0].following += 1
    return new


@kernel
def best_answer(nodes):
    """The action of the root's most visited child."""
    best, child = 0, np.int64(nodes[0].first)
    while child > 0:
        if best == 0 or nodes[child].visits > nodes[best].visits:
            best = child
        child = np.int64(nodes[child].following)
    return np.int64(nodes[best].action)


@kernel
def search(g, moves, n, settings, w, coefficients, nodes, sims):
    """The answer of the seat that is asked, after `settings.iterations`."""
    if n == 1:
        return moves[0]
    z = g.rng[state.PLAY_STREAM] + np.uint64(0x9E3779B97F4A7C15)
    g.rng[state.PLAY_STREAM] = z
    new_tree(nodes)
    grow(g, nodes, np.int64(settings.iterations), state.mix(z), settings, w, coefficients, sims)
    return best_answer(nodes)

"""Networks inside the kernel.

Every observation is worked through by itself, with sums in a fixed order, so that a network answers alike whether it is asked
for one game or for thousands, and on every number of threads.  Most entries of an observation are zero, about half
of the hidden units are, and few actions are legal; what is zero is skipped.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citadels_env import engine, state
from citadels_env._jit import entry_for, kernel
from citadels_env.actions import N_ACTIONS
from citadels_env.batch import GOLDEN

SCALED = np.log2(1 + np.arange(256)).astype(np.float32)  # what a network reads in place of an entry
LANES = 8  # sums that are added up side by side

# A network as whole numbers: where its float32 parameters begin, the player rows it reads, whether it draws its answers (1) or
# takes the best one (0), hidden layers, inputs, and the size of each hidden layer.
START, ROWS, DRAWS, DEPTH, INPUTS = range(5)

_entry = entry_for(Path(__file__).parent)


def packed(networks: Sequence[tuple[Any, Any, int, bool]]) -> tuple[Any, Any]:
    """Networks for the kernel: all parameters (float32), and one row for each network as described above (int64).

    networks: (hidden layers as pairs of weights (inputs, outputs) and biases, policy as weights (outputs, inputs) and bias,
    player rows, whether answers are drawn).
    """
    pieces, start = [np.zeros(0, np.float32)], 0
    layouts = np.zeros((len(networks), INPUTS + 1 + max((len(body) for body, *_ in networks), default=0)), np.int64)
    for k, (body, policy, rows, draws) in enumerate(networks):
        parts = [part.ravel() for layer in (*body, policy) for part in layer]
        sizes = [body[0][0].shape[0], *(weight.shape[1] for weight, _ in body)]
        layouts[k, : INPUTS + len(sizes)] = (start, rows, draws, len(body), *sizes)
        pieces += parts
        start += sum(part.size for part in parts)
    return np.concatenate(pieces), layouts


def work_space(layouts: Any) -> Any:
    """What `logits_of` needs to think in: two layers of the widest network, and the sums."""
    return np.zeros((3, max(LANES, int(layouts[:, INPUTS + 1 :].max(initial=0)))), np.float32)


@kernel
def logits_of(weights, layout, seen, moves, n, work, logits):
    """Write the logits (float32) of the answers `moves[:n]`, given an observation `seen` in the form that the network reads."""
    at, inputs, here = np.int64(layout[START]), np.int64(layout[INPUTS]), 0
    for layer in range(np.int64(layout[DEPTH])):
        outputs = np.int64(layout[INPUTS + 1 + layer])
        x = work[1 - here, :outputs]
        x[:] = weights[at + inputs * outputs : at + inputs * outputs + outputs]
        for i in range(inputs):
            value = SCALED[seen[i]] if layer == 0 else work[here, i]
            if value != 0:
                row = weights[at + i * outputs : at + (i + 1) * outputs]
                for j in range(outputs):
                    x[j] += value * row[j]
        for j in range(outputs):
            x[j] = max(x[j], np.float32(0))
        at += (inputs + 1) * outputs
        inputs, here = outputs, 1 - here
    x, sums = work[here, :inputs], work[2, :LANES]
    whole = inputs - inputs % LANES
    for k in range(n):
        row = weights[at + moves[k] * inputs : at + (moves[k] + 1) * inputs]
        sums[:] = 0
        for i in range(0, whole, LANES):
            for lane in range(LANES):
                sums[lane] += x[i + lane] * row[i + lane]
        total = weights[at + N_ACTIONS * inputs + moves[k]]
        for lane in range(LANES):
            total += sums[lane]
        for i in range(whole, inputs):
            total += x[i] * row[i]
        logits[k] = total


@kernel
def network_answer(weights, layout, seen, moves, n, rng, work, logits, chances):
    """The answer of a network among `moves[:n]`, in rising order: the best, of equals the first, or one drawn by its probability.

    rng: uint64, decides what is drawn.  -1 if a logit is not finite.
    """
    logits_of(weights, layout, seen, moves, n, work, logits)
    best = 0
    for k in range(n):
        if not np.isfinite(logits[k]):
            return -1
        if logits[k] > logits[best]:
            best = k
    if not layout[DRAWS]:
        return moves[best]
    total = 0.0
    for k in range(n):
        total += np.exp(np.float64(logits[k]) - np.float64(logits[best]))
        chances[k] = total
    u = np.float64(state.mix(rng + GOLDEN) >> np.uint64(11)) / 9007199254740992.0 * total
    k = 0
    while k + 1 < n and u >= chances[k]:
        k += 1
    return moves[k]


@kernel
def sort(moves, n):
    """Bring `moves[:n]` into rising order; they mostly are."""
    for k in range(1, n):
        move, at = moves[k], k
        while at > 0 and moves[at - 1] > move:
            moves[at] = moves[at - 1]
            at -= 1
        moves[at] = move


@_entry
def answer_rows(weights, layouts, observations, masks, rngs, answers, logits):
    """The answers of the first network of `layouts` to observations (n, inputs) with masks (n, N_ACTIONS), both uint8.

    rngs: (n,) uint64.  Written: answers (n,) int64, -1 where a logit is not finite; and logits (n, N_ACTIONS) float32 of legal
    actions, unless the array has no columns.
    """
    moves, some = np.empty(engine.MAX_MOVES, np.int64), np.empty(engine.MAX_MOVES, np.float32)
    chances, work = np.empty(engine.MAX_MOVES, np.float64), np.empty((3, max(LANES, layouts[0, INPUTS + 1 :].max())), np.float32)
    for i in range(observations.shape[0]):
        n = 0
        for action in range(N_ACTIONS):
            if masks[i, action]:
                moves[n] = action
                n += 1
        answers[i] = network_answer(weights, layouts[0], observations[i], moves, n, rngs[i], work, some, chances)
        if logits.shape[1] > 0:
            for k in range(n):
                logits[i, moves[k]] = some[k]

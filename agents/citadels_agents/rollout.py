"""Experience of policies in a `SeatedBatch`, ready for policy-gradient learners; NumPy and the kernel only.

Seats answer in an irregular order, so a seat's successive decisions lie any number of steps apart.  The advantage
of a decision needs the value of the same seat's next one; where that has not come yet when a fragment ends, the
decision waits for the next fragment.  Rewards come at the end of a game only, for every seat, and belong to
the last decision of each.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citadels_env import state
from citadels_env._jit import entry_for, kernel
from citadels_env.actions import MAX_PLAYERS, N_ACTIONS
from citadels_env.batch import GOLDEN, game_seeds
from citadels_env.checks import items, real_number, shown, true_or_false, whole_number
from citadels_env.errors import InvalidArgumentError

from .seated import ENDED, SeatedBatch

# Given observations (n, size) uint8 and masks (n, N_ACTIONS) bool: logits (n, N_ACTIONS) float32, of which the illegal ones are
# ignored, and values (n,) float32.
Policy = Callable[[Any, Any], tuple[Any, Any]]
# Told of the games that ended with a step, as records of ENDED, before the next step is taken.
OnEnd = Callable[[Any], None]

MAX_STEPS = 100_000  # of a fragment: each takes about 3 kB a game

COLUMNS = ("observations", "masks", "actions", "log_probabilities", "values", "advantages", "targets")

# Attributes of a Collector that only live through one fragment.
_SCRATCH = ("_seen", "_masks", "_actions", "_log_probabilities", "_values", "_seats", "_asked", "_done", "_rewards", "_logits")

_entry = entry_for(Path(__file__).parent)


@kernel
def uniform(rng, i):
    """A number in [0, 1) from the i-th stream (uint64 states)."""
    z = rng[i] + GOLDEN
    rng[i] = z
    return np.float64(state.mix(z) >> np.uint64(11)) / 9007199254740992.0


@_entry
def sample(logits, masks, rng, greedy, actions, log_probabilities):
    """Draw an action of every row by the softmax of its legal logits (greedy: the best, the first of equals).

    logits: (n, N_ACTIONS) float32; masks: uint8; rng: (n,) uint64, advanced; written: actions (n,) int64 and the logarithms of
    their probabilities (n,) float32.  Rows without a legal action get -1.
    """
    legal = np.empty(masks.shape[1], np.int64)
    weight = np.empty(masks.shape[1], np.float64)
    for i in range(masks.shape[0]):
        n = 0
        best, top = -1, -np.inf
        for action in range(masks.shape[1]):
            if masks[i, action]:
                legal[n] = action
                n += 1
                if best < 0 or logits[i, action] > top:
                    best, top = action, np.float64(logits[i, action])
        actions[i] = best
        log_probabilities[i] = 0.0
        if n == 0:
            continue
        total = 0.0
        for k in range(n):
            total += np.exp(np.float64(logits[i, legal[k]]) - top)
            weight[k] = total
        if not greedy:
            u = uniform(rng, i) * total
            k = 0
            while k + 1 < n and u >= weight[k]:
                k += 1
            actions[i] = legal[k]
        log_probabilities[i] = np.float64(logits[i, actions[i]]) - top - np.log(total)


@_entry
def estimate(seats, learn, values, done, rewards, gamma, lambda_, waiting, advantages, known, waiting_advantages, waiting_known):
    """Generalised advantage estimates (Schulman et al. 2016) of every seat's own sequence of decisions.

    seats, learn, values, done: (T, N), the seat that answered, whether it learns, its value, and whether the game ended with the
    answer; rewards: (T, N, MAX_PLAYERS); waiting: (W, 3) float64 of place, seat and value of decisions left by the
    fragments before.  Written: advantages, and `known` (0: the seat's next decision has not come yet).
    """
    steps, games = seats.shape
    next_value, next_advantage, reward = np.zeros(MAX_PLAYERS), np.zeros(MAX_PLAYERS), np.zeros(MAX_PLAYERS)
    follows = np.zeros(MAX_PLAYERS, np.uint8)  # something follows the decision before: one of the same seat, or the end
    for i in range(games):
        follows[:] = 0
        for t in range(steps - 1, -1, -1):
            if done[t, i]:
                for seat in range(MAX_PLAYERS):
                    next_value[seat], next_advantage[seat], reward[seat], follows[seat] = 0.0, 0.0, rewards[t, i, seat], 1
            if not learn[t, i]:
                continue
            seat = np.int64(seats[t, i])
            value = np.float64(values[t, i])
            known[t, i] = follows[seat]
            advantage = 0.0
            if follows[seat]:
                advantage = reward[seat] + gamma * next_value[seat] - value + gamma * lambda_ * next_advantage[seat]
            advantages[t, i] = advantage
            next_value[seat], next_advantage[seat], reward[seat], follows[seat] = value, advantage, 0.0, 1
        for w in range(waiting.shape[0]):
            if np.int64(waiting[w, 0]) == i:
                seat = np.int64(waiting[w, 1])
                waiting_known[w] = follows[seat]
                if follows[seat]:
                    waiting_advantages[w] = reward[seat] + gamma * next_value[seat] - waiting[w, 2] + gamma * lambda_ * next_advantage[seat]


@_entry
def count_and_list(masks, counts, lists):
    """Legal answers in each row: their number, and as many as there are columns in `lists`."""
    for i in range(masks.shape[0]):
        n = 0
        for action in range(masks.shape[1]):
            if masks[i, action]:
                if n < lists.shape[1]:
                    lists[i, n] = action
                n += 1
        counts[i] = n


def legal_lists(masks: Any) -> Any:
    """The legal answers of every row of `masks` (n, N_ACTIONS) uint8, filled up with -1: (n, most) int16."""
    counts = np.zeros(len(masks), np.int64)
    lists = np.full((len(masks), 32), -1, np.int16)
    count_and_list(masks, counts, lists)
    most = int(counts.max(initial=1))
    if most > lists.shape[1]:
        lists = np.full((len(masks), most), -1, np.int16)
        count_and_list(masks, counts, lists)
    return lists[:, :most]


class Collector:
    """Plays a `SeatedBatch` with policies, fragment by fragment, and returns what they experienced.

    batch: with `auto_reset`.
    steps: answers from outside per game and fragment, T.
    gamma, lambda_: discount from one decision of a seat to its next, and the decay of the advantage estimate.
    learning: the policies (indices) whose decisions are returned.
    seed: of the policies' choices.

    Raises InvalidArgumentError (a ValueError) for a batch that does not deal new games by itself, and impossible numbers.
    """

    def __init__(
        self, batch: SeatedBatch, steps: int, *, gamma: float = 1.0, lambda_: float = 0.95, learning: Sequence[int] = (0,), seed: int = 0
    ) -> None:
        if not isinstance(batch, SeatedBatch):
            raise InvalidArgumentError(f"batch must be a SeatedBatch, not {shown(batch)}")
        if not batch._auto_reset:
            raise InvalidArgumentError("a Collector needs a batch with auto_reset=True")
        self.batch, self.steps = batch, whole_number("steps", steps, 1, MAX_STEPS)
        self.gamma, self.lambda_ = real_number("gamma", gamma, 0, 1), real_number("lambda_", lambda_, 0, 1)
        chosen = [whole_number("learning", policy, 0, len(batch.policies) - 1) for policy in items("learning", learning, "policies")]
        self.learning = np.array([policy in chosen for policy in range(len(batch.policies))])
        self.rng = game_seeds(seed, batch.num_games)
        self.waiting: dict[str, Any] | None = None  # decisions whose successor has not come yet
        self._make_room(steps)
        self.counts: dict[str, Any] = {}  # decisions of the last fragment, by seat and by policy

    def __getstate__(self) -> dict[str, Any]:
        """Without the arrays that the next fragment overwrites."""
        return {name: value for name, value in self.__dict__.items() if name not in _SCRATCH}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._make_room(self.steps)

    def _make_room(self, steps: int) -> None:
        """Arrays for a fragment of `steps`."""
        n, size = self.batch.num_games, self.batch.observation_size
        shape = (steps, n)
        self._seen, self._masks = np.empty((*shape, size), np.uint8), np.empty((*shape, N_ACTIONS), np.uint8)
        self._actions, self._log_probabilities = np.empty(shape, np.int64), np.empty(shape, np.float32)
        self._values, self._seats, self._asked = np.empty(shape, np.float32), np.empty(shape, np.int8), np.empty(shape, np.int8)
        self._done, self._rewards = np.empty(shape, np.uint8), np.empty((*shape, MAX_PLAYERS), np.float32)
        self._logits = np.zeros((n, N_ACTIONS), np.float32)

    def stagger(self, most: int) -> None:
        """Play each game on by 0 to `most` random answers, so that the games do not begin and end together.

        To be called before the first fragment: these answers are part of none.
        Raises InvalidArgumentError (a ValueError) for an impossible number.
        """
        batch, most = self.batch, whole_number("most", most, 0, MAX_STEPS)
        left = (game_seeds(int(self.rng[0]), batch.num_games) % np.uint64(most + 1)).astype(np.int64)
        alike = np.zeros((batch.num_games, N_ACTIONS), np.float32)
        actions, ignored = np.empty(batch.num_games, np.int64), np.empty(batch.num_games, np.float32)
        for step in range(most):
            places = np.flatnonzero(left > step)
            if not len(places):
                break
            sample(alike, batch._masks, self.rng, False, actions, ignored)
            batch.step_in(places, actions[places])

    def collect(
        self, policies: Sequence[Policy], greedy: bool = False, steps: int | None = None, on_end: OnEnd | None = None
    ) -> tuple[dict[int, dict[str, Any]], Any]:
        """Play one fragment (of `steps` steps, if given).

        policies: one for each of the batch's `policies`.
        on_end: called after every step that ended games, when the next ones have been dealt in their places.

        Returns the decisions of each learning policy (by index), as arrays with one row per decision: `observations` uint8,
        `masks` uint8, `actions` int64, `log_probabilities`, `values`, `advantages` and `targets` (of the value: advantage
        + value) float32; and the games that ended: records of ENDED.
        Raises InvalidArgumentError (a ValueError) for too few or too many policies, an impossible number of steps, and a policy whose
        logits are not finite; the fragment is lost then.
        """
        batch = self.batch
        _check(policies, batch)
        true_or_false("greedy", greedy)
        steps = self.steps if steps is None else whole_number("steps", steps, 1, MAX_STEPS)
        batch.observations()
        ended = []
        if len(self._seats) != steps:
            self._make_room(steps)
        for t in range(len(self._seats)):
            self._seen[t], self._masks[t] = batch._observations, batch._masks
            self._seats[t], self._asked[t] = batch.actors, batch.asked
            self._think(policies, self._seen[t], self._masks[t], self._asked[t], self._values[t])
            sample(self._logits, self._masks[t], self.rng, greedy, self._actions[t], self._log_probabilities[t])
            _check_finite(self._log_probabilities[t], self._asked[t], batch)
            batch.step_unchecked(self._actions[t])
            self._done[t], self._rewards[t] = batch.done, batch.rewards
            if self._done[t].any():
                ended.append(batch.ended())
                if on_end is not None:
                    on_end(ended[-1])
        self.counts = {
            "seats": np.bincount(self._seats.ravel(), minlength=MAX_PLAYERS),
            "policies": np.bincount(self._asked.ravel(), minlength=len(batch.policies)),
        }
        return self._finish(), np.concatenate(ended) if ended else batch.ended()

    def _think(self, policies: Sequence[Policy], seen: Any, masks: Any, asked: Any, values: Any) -> None:
        """Fill in logits and values, with one pass of each policy that is asked."""
        if len(policies) == 1:
            self._logits, values[:] = policies[0](seen, masks.view(np.bool_))
            return
        for policy in np.unique(asked):
            rows = np.flatnonzero(asked == policy)
            self._logits[rows], values[rows] = policies[policy](seen[rows], masks[rows].view(np.bool_))

    def _finish(self) -> dict[int, dict[str, Any]]:
        """Advantages, and the decisions whose successor is known."""
        steps, games = self._seats.shape
        learn = self.learning[self._asked].astype(np.uint8)
        flat: dict[str, Any] = {
            "observations": self._seen.reshape(steps * games, -1),
            "masks": self._masks.reshape(steps * games, -1),
            "actions": self._actions.ravel(),
            "log_probabilities": self._log_probabilities.ravel(),
            "values": self._values.ravel(),
            "policy": self._asked.ravel(),
            "place": np.tile(np.arange(games), steps),
            "seat": self._seats.ravel(),
        }
        before = self.waiting or {name: column[:0] for name, column in flat.items()}
        waiting = np.stack([before["place"], before["seat"], before["values"]], axis=1).astype(np.float64)
        advantages, known = np.zeros((steps, games), np.float32), np.zeros((steps, games), np.uint8)
        late, late_known = np.zeros(len(waiting), np.float32), np.zeros(len(waiting), np.uint8)
        estimate(
            self._seats, learn, self._values, self._done, self._rewards, self.gamma, self.lambda_, waiting, advantages, known,
            late, late_known,
        )  # fmt: skip
        result = {}
        for policy in np.flatnonzero(self.learning):
            old = np.flatnonzero((late_known != 0) & (before["policy"] == policy))
            new = np.flatnonzero((known.ravel() != 0) & (flat["policy"] == policy))
            rows = {name: np.concatenate([before[name][old], flat[name][new]]) for name in COLUMNS[:5]}
            rows["advantages"] = np.concatenate([late[old], advantages.ravel()[new]])
            rows["targets"] = rows["advantages"] + rows["values"]
            result[int(policy)] = rows
        still, wait = np.flatnonzero(late_known == 0), np.flatnonzero((known.ravel() == 0) & (learn.ravel() != 0))
        self.waiting = {name: np.concatenate([before[name][still], flat[name][wait]]) for name in flat}
        return result


def _check(policies: Any, batch: SeatedBatch) -> None:
    for policy in items("policies", policies, "policies"):
        if not callable(policy):
            raise InvalidArgumentError(f"policies must be functions of observations and masks, not {shown(policy)}")
    if len(policies) != len(batch.policies):
        raise InvalidArgumentError(f"the policies are {', '.join(batch.policies)}: {len(batch.policies)}, not {len(policies)}")


def _check_finite(log_probabilities: Any, asked: Any, batch: SeatedBatch) -> None:
    """A legal logit that is nan or infinite shows in the probability of whatever is drawn."""
    wrong = np.isnan(log_probabilities)
    if wrong.any():
        policy = batch.policies[asked[wrong.argmax()]]
        raise InvalidArgumentError(f"policy {policy!r} gives logits of legal answers that are not finite")


def play_to_end(batch: SeatedBatch, policies: Sequence[Policy], *, greedy: bool = False, seed: int = 0, on_end: OnEnd | None = None) -> Any:
    """Play every game of a batch without `auto_reset` to its end; records of ENDED, one per place.

    on_end: called after every step that ended games.

    Raises InvalidArgumentError (a ValueError) for a batch that deals new games by itself, too few or too many policies, and a policy
    whose logits are not finite.
    """
    if not isinstance(batch, SeatedBatch):
        raise InvalidArgumentError(f"batch must be a SeatedBatch, not {shown(batch)}")
    true_or_false("greedy", greedy)
    if batch._auto_reset:
        raise InvalidArgumentError("play_to_end needs a batch with auto_reset=False")
    _check(policies, batch)
    rng = game_seeds(seed, batch.num_games)
    seen = batch.observations()
    results = np.zeros(batch.num_games, ENDED)
    while True:
        asked = batch.asked
        places = np.flatnonzero(asked >= 0)
        if not len(places):
            return results
        logits = np.empty((len(places), N_ACTIONS), np.float32)
        for policy in np.unique(asked[places]):
            rows = np.flatnonzero(asked[places] == policy)
            chosen = places[rows]
            logits[rows], _ = policies[policy](seen[chosen], batch.masks()[chosen])
        actions, ignored = np.empty(len(places), np.int64), np.empty(len(places), np.float32)
        own = rng[places]
        sample(logits, batch._masks[places], own, greedy, actions, ignored)
        _check_finite(ignored, asked[places], batch)
        rng[places] = own
        batch.step_in(places, actions)
        over = places[batch.done[places]]
        if len(over):
            results[over] = batch.ended(over)
            if on_end is not None:
                on_end(results[over])

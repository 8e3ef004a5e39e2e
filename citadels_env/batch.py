"""Thousands of games at once: the entry points of the kernel, and `Batch`, their friendly face."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from . import actions, engine, hidden, observation, scoring, state, turn
from ._jit import entry, kernel
from .actions import MAX_PLAYERS, N_ACTIONS
from .cards import N_DISTRICTS
from .checks import MAX_SIDE_BY_SIDE, items, one_of, seed_number, shown, thread_number, true_or_false, whole_number, whole_numbers
from .errors import IllegalActionError, InvalidArgumentError
from .rules import Rules

DEAL, RESUME, LOOK = -1, -2, -3  # answers of `advance` that are no actions
LEAST_CHUNK = 256  # games a thread should have at least
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_mix = getattr(state.mix, "py_func", state.mix)  # for arrays


@kernel
def next_seed(seed):
    """The seed of the game that follows one with `seed` in the same place (uint64)."""
    return state.mix(seed + GOLDEN)


def next_seeds(seeds: Any) -> Any:
    """`next_seed` for an array of seeds (uint64)."""
    with np.errstate(over="ignore"):
        return _mix(seeds + GOLDEN)


# What goes into a step and comes out of it, one record per game.
STEP = np.dtype(
    [
        ("answer", np.int64),  # an action, or DEAL (a new game from its seed), RESUME (a position set up by hand), LOOK (change nothing)
        ("seed", np.uint64),  # of the game being played
        ("rewards", np.float32, MAX_PLAYERS),  # by absolute seat; zero unless the game has just ended
        ("done", np.uint8),  # the game ended with this answer
    ]
)


@entry
def advance(states, steps, masks, observations, templates, scheme, auto_reset, rows, width, first, last):
    """Answer in the games `first` to `last` - 1 and write what comes next.

    Written: the outcome in `steps` (STEP records), masks (uint8), observations of the actor (uint8; none if the array
    has no columns).  With auto_reset a finished game is followed by a new one at once.
    """
    moves = np.empty(engine.MAX_MOVES, np.int64)
    for i in range(first, last):
        g, step = states[i], steps[i]
        answer = step.answer
        step.done = 0
        for seat in range(MAX_PLAYERS):
            step.rewards[seat] = 0.0
        if answer >= 0:
            engine.apply(g, answer)
        elif answer == DEAL:
            engine.new_game(g, step.seed)
        elif answer == RESUME:
            turn.call_next(g)
        n = engine.settle(g, moves)
        if g.over and answer != LOOK:
            step.done = 1
            scoring.write_rewards(g, scheme, step.rewards)
            if auto_reset:
                step.seed = next_seed(step.seed)
                engine.new_game(g, step.seed)
                n = engine.settle(g, moves)
        mask = masks[i]
        mask[:] = 0
        for k in range(n):
            mask[moves[k]] = 1
        if observations.shape[1] > 0:
            if g.over:
                observations[i, :] = 0
            else:
                observation.write(g, np.int64(g.actor[g.depth - 1]), rows, width, templates, observations[i])


@entry
def observe(states, seats, observations, templates, rows, width):
    """Write what `seats` (int64, one per game) see."""
    for i in range(states.shape[0]):
        observation.write(states[i], seats[i], rows, width, templates, observations[i])


@entry
def redeal(states, seats, seeds):
    """Deal anew what `seats` (int64, one per game) cannot know; `seeds` are uint64."""
    buffer = np.empty(hidden.BUFFER, np.int64)
    for i in range(states.shape[0]):
        hidden.redeal(states[i], seats[i], seeds[i], buffer)


@entry
def play_out(states, first, last):
    """Play the games `first` to `last` - 1 to their end with random answers; return the number of decisions."""
    moves = np.empty(engine.MAX_MOVES, np.int64)
    decisions = 0
    for i in range(first, last):
        g = states[i]
        while True:
            n = engine.settle(g, moves)
            if n == 0:
                break
            engine.apply(g, moves[state.random_below(g, state.PLAY_STREAM, n)])
            decisions += 1
    return decisions


@entry
def prepare(states, seed):
    """An empty table in every game, after the draft of a round: for positions set up by hand."""
    for i in range(states.shape[0]):
        g = states[i]
        state.seed_streams(g, seed)
        engine.clear(g)
        turn.begin_round(g)


@entry
def count_scores(states):
    """Write the score of every game as it stands."""
    for i in range(states.shape[0]):
        scoring.score_game(states[i])


def in_chunks(function: Any, n: int, threads: int, least: int = LEAST_CHUNK) -> list[Any]:
    """Call `function(first, last)` for chunks of at least `least` of `n` games, on up to `threads` threads; the results in order."""
    chunks = max(1, min(threads, n // least)) if threads > 1 else 1
    bounds = [n * k // chunks for k in range(chunks + 1)]
    if chunks == 1:
        return [function(0, n)]
    with ThreadPoolExecutor(chunks) as pool:
        return list(pool.map(function, bounds[:-1], bounds[1:]))


def game_seeds(seed: int, n: int, first: int = 0) -> Any:
    """The seeds of games `first` to `first` + n - 1 of a batch with `seed`: (n,) uint64 array; game k's depends on `seed` and k only.

    Raises InvalidArgumentError (a ValueError) for an impossible seed.
    """
    seed = seed_number(seed)
    with np.errstate(over="ignore"):
        number = np.arange(n, dtype=np.uint64) + np.uint64(first) + np.uint64(1)
        return _mix(number * GOLDEN + np.uint64(seed) * np.uint64(0xD1342543DE82EF95))


def checked_rules(rules: Any) -> Rules:
    """`rules` as they are; raises InvalidArgumentError for anything but `Rules`."""
    if not isinstance(rules, Rules):
        raise InvalidArgumentError(f"rules must be Rules, such as GERMAN.with_(players=5), not {shown(rules)}")
    return rules


def rules_list(rules: Any) -> list[Rules]:
    """One or several `Rules` as a list; raises InvalidArgumentError for anything else, and for none at all."""
    if isinstance(rules, Rules):
        return [rules]
    found = [checked_rules(one) for one in items("rules", rules, "Rules")]
    if not found:
        raise InvalidArgumentError("rules must hold at least one set of rules, not none")
    return found


def fill_in_rules(states: Any, rules: Sequence[Rules], rows: int) -> Any:
    """Write one `Rules` into each record; return the observation templates that go with them."""
    number: dict[Rules, int] = {}
    which = [number.setdefault(r, len(number)) for r in rules]
    records, templates = map(list, zip(*(_prepared(r, rows) for r in number), strict=True))
    states["rules"] = np.array(records, state.RULES)[which]
    states["rules"]["template"] = which
    return np.array(templates)


def templates_of(rules: Rules, rows: int) -> Any:
    """The observation templates for games under one `Rules`: (1, size) uint8."""
    return _prepared(rules, rows)[1][None, :]


@lru_cache(maxsize=32768)
def _prepared(rules: Rules, rows: int) -> tuple[Any, Any]:
    """The RULES record and the observation template of `rules`."""
    record = state.rules_row(rules)
    return record, observation.template(record, rows)


class Batch:
    """Many games played side by side, for learners and studies.

    Parameters
    ----------
    rules: one `Rules` for all games, or one per game.
    num_games: number of games N; not needed where `rules` is a list.
    seed: game k depends on (its rules, seed, k) only, never on N, threads or the other games.
    rewards: "win" (the winner gets 1, winners of a tie share it, others 0), "score" (a tenth of the points above
        the mean of the table) or "rank" (from 1 for the first to -1 for the last, ties in the middle).
    auto_reset: deal the next game at once where one ends; otherwise `actors` is -1 there.
    threads: threads to use; results do not depend on it.
    compact: observations with as many player rows as there are players instead of eight.  All games must then
        have the same number of players.

    Attributes (live arrays, overwritten by `step`)
    ----------
    states: (N,) array of the records described in `citadels_env.state`.
    rewards: (N, 8) float32, by absolute seat; not zero only in the step that ends a game.
    done: (N,) bool, the game ended in the last step.
    seeds: (N,) uint64, the seed of the game being played in each place.

    A copy (`copy.deepcopy`, `pickle`) continues identically.

    Raises InvalidArgumentError (a ValueError), naming the argument and what is allowed, for anything impossible: a batch holds
    1 to 1,000,000 games (some 6 kB each).
    """

    _VIEWS: tuple[str, ...] = ("rewards", "seeds", "_answers")  # parts of other arrays

    def __init__(
        self,
        rules: Rules | Sequence[Rules],
        num_games: int | None = None,
        seed: int = 0,
        *,
        rewards: str = "win",
        auto_reset: bool = True,
        threads: int = 1,
        compact: bool = False,
    ) -> None:
        every = rules_list(rules)
        if num_games is not None:
            num_games = whole_number("num_games", num_games, 1, MAX_SIDE_BY_SIDE)
            if isinstance(rules, Rules):
                every *= num_games
        if num_games is not None and len(every) != num_games:
            raise InvalidArgumentError(f"num_games is {num_games}, but there are {len(every)} rules")
        one_of("rewards", rewards, scoring.REWARDS)
        if true_or_false("compact", compact) and len({r.players for r in every}) > 1:
            raise InvalidArgumentError("compact observations need the same number of players in all games")
        auto_reset, threads, seed = true_or_false("auto_reset", auto_reset), thread_number(threads), seed_number(seed)
        n = len(every)
        self.num_games = n
        self.rules = every
        self.threads = min(threads, os.cpu_count() or 1)
        self.observation_rows = every[0].players if compact else MAX_PLAYERS
        self.observation_size = observation.size(self.observation_rows)
        self.states = state.records(n)
        self._templates = fill_in_rules(self.states, every, self.observation_rows)
        self._scheme = scoring.REWARDS.index(rewards)
        self._auto_reset = auto_reset
        self._masks = np.zeros((n, N_ACTIONS), np.uint8)
        self._nothing = np.zeros((n, 0), np.uint8)
        self._observations = np.zeros((n, self.observation_size), np.uint8)
        self._observed = False
        self._index = np.arange(n)
        self._steps = state.records(n, STEP)
        self._take_views()
        self.seeds[:] = game_seeds(seed, n)
        self._answers[:] = DEAL
        self._advance(observe_too=False)

    def _take_views(self) -> None:
        """Parts of the arrays, at hand."""
        self.rewards = self._steps["rewards"].view(np.ndarray)
        self.seeds = self._steps["seed"].view(np.ndarray)
        self._answers = self._steps["answer"].view(np.ndarray)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in self._VIEWS}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._take_views()

    def _advance(self, observe_too: bool) -> None:
        observations = self._observations if observe_too else self._nothing

        def chunk(first: int, last: int) -> None:
            advance(
                self.states, self._steps, self._masks, observations, self._templates, self._scheme, self._auto_reset,
                self.observation_rows, N_DISTRICTS, first, last,
            )  # fmt: skip

        in_chunks(chunk, self.num_games, self.threads)
        self._observed = observe_too

    @property
    def actors(self) -> Any:
        """(N,) int8: the seat to answer in each game, -1 where it is over."""
        depth = self.states["depth"] - 1
        return self.states["actor"][self._index, depth].astype(np.int8)

    @property
    def done(self) -> Any:
        """(N,) bool: the game ended in the last step."""
        return self._steps["done"].view(np.ndarray).view(np.bool_)

    def masks(self) -> Any:
        """(N, N_ACTIONS) bool: the legal answers; a live view that the next step overwrites."""
        return self._masks.view(np.bool_)

    def step(self, answers: Any) -> None:
        """Answer in every game: `answers` is an array of N actions (ignored where a game is over).

        Raises IllegalActionError, naming the game and the action, if one is not legal, and InvalidArgumentError for what are no N
        whole numbers (both are ValueErrors); nothing is changed then.
        """
        if not isinstance(answers, np.ndarray) or answers.shape != (self.num_games,) or answers.dtype.kind not in "iu":
            answers = whole_numbers("answers", answers, self.num_games)
        self._check(answers)
        self._answers[:] = answers
        if not self._auto_reset:
            self._answers[self.states["over"] != 0] = LOOK
        self._advance(observe_too=self._observed)

    def _check(self, answers: Any) -> None:
        inside = (answers >= 0) & (answers < N_ACTIONS)
        legal = inside & (self._masks[self._index, np.where(inside, answers, 0)] != 0)
        if not legal.all():
            wrong = ~legal if self._auto_reset else ~legal & (self.states["over"] == 0)
            if wrong.any():
                k = int(np.argmax(wrong))
                action = int(answers[k])
                name = actions.split(action)[0] if 0 <= action < N_ACTIONS else "no action"
                legal_here = ", ".join(map(str, np.flatnonzero(self._masks[k])[:20]))
                raise IllegalActionError(f"action {action} ({name}) is not legal in game {k}; legal there: {legal_here}")

    def observations(self) -> Any:
        """(N, size) uint8: what the actor of each game sees (zeros where it is over); a live array.

        After the first call every `step` writes it along.
        """
        if not self._observed:
            before = self._steps.copy()
            self._answers[:] = LOOK
            self._advance(observe_too=True)
            self._steps[:] = before
        return self._observations

    def observe(self, seats: Any) -> Any:
        """(N, size) uint8: what `seats` (one per game, or one for all) see; a new array.

        Raises InvalidArgumentError (a ValueError) for what are no players of their games.
        """
        if not isinstance(seats, list | tuple | np.ndarray) or (isinstance(seats, np.ndarray) and not seats.ndim):
            seats = np.full(self.num_games, whole_number("seats", seats, 0, MAX_PLAYERS - 1))
        seats = whole_numbers("seats", seats, self.num_games)
        if (seats < 0).any() or (seats >= self.states["rules"]["n_players"]).any():
            raise InvalidArgumentError(f"seats must be players of their games, not {shown(seats)}")
        seats = seats.astype(np.int64)
        result = np.zeros((self.num_games, self.observation_size), np.uint8)
        observe(self.states, seats, result, self._templates, self.observation_rows, N_DISTRICTS)
        return result

    def play_out(self) -> int:
        """Play every game to its end with random answers, wholly inside the kernel; return the number of decisions.

        Afterwards `actors` is -1 everywhere; `states["score"]` holds the scores.
        """
        counts = in_chunks(lambda first, last: play_out(self.states, first, last), self.num_games, self.threads)
        self._masks[:] = 0
        self._observations[:] = 0
        return int(sum(counts))

    def deal(self, seed: int | None = None) -> None:
        """Deal new games everywhere: from `seed`, or each place's next game.

        Raises InvalidArgumentError (a ValueError) for an impossible seed.
        """
        if seed is None:
            self.seeds[:] = next_seeds(self.seeds)
        else:
            self.seeds[:] = game_seeds(seed, self.num_games)
        self._answers[:] = DEAL
        self._advance(observe_too=self._observed)

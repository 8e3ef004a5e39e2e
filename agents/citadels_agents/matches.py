"""Games between agents of all kinds, played on by the kernel until an agent in Python is asked; and records of what was answered.

Here every answer has a chance of its own: it is decided by what the seat knows and by a seed made from the game's seed and the
number of the answer, so that an agent plays the same game in whatever way it is asked.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from citadels_env import Game, Rules, engine, hidden, observation, state
from citadels_env._jit import entry_for, kernel
from citadels_env.actions import MAX_PLAYERS
from citadels_env.batch import GOLDEN, in_chunks, templates_of
from citadels_env.cards import N_DISTRICTS

from . import arena, evaluation, perceptron
from .belief import BELIEF_SHAPE
from .search import NODE, best_answer, grow, new_tree

OVER, FULL = -1, -2  # nobody is asked: the game is over, or its record is full
ROOM = 512  # answers that a record has room for at first

# What is kept of a game beside its state.
PLAYING = np.dtype(
    [
        ("seed", np.uint64),
        ("chance", np.uint64),  # the number of an answer is added to it
        ("own_chance", np.uint8),  # 0: agents draw from the game's stream for play, as in `arena.play`
        ("dealt", np.uint8),
        ("asked", np.int16),  # the agent that is asked, or OVER or FULL
        ("answer", np.int64),  # of that agent, -1 if there is none
    ]
)

_entry = entry_for(Path(__file__).parent)


@kernel
def rng_of(it, number):
    """What decides the chance of answer `number` (from 1): the first of `game_seeds(chance + number, 1)`."""
    return state.mix(GOLDEN + (it.chance + np.uint64(number)) * np.uint64(0xD1342543DE82EF95))


@kernel
def most_visited(nodes):
    """The action of the root's most visited child, of equals the lowest."""
    best, child = 0, np.int64(nodes[0].first)
    while child > 0:
        it = nodes[child]
        if best == 0 or it.visits > nodes[best].visits or (it.visits == nodes[best].visits and it.action < nodes[best].action):
            best = child
        child = np.int64(it.following)
    return np.int64(nodes[best].action)


@kernel
def kernel_answer(g, it, number, agent, moves, n, belief, buffer, coefficients, nodes, sims):
    """The answer of an agent of the kernel; `number` is that of the answer in the game."""
    own, before = it.own_chance, g.rng[state.PLAY_STREAM]
    rng = rng_of(it, number)
    if agent.kind == arena.SEARCHING:
        if not own:  # as `search.search`
            if n == 1:
                return moves[0]
            before += GOLDEN
            g.rng[state.PLAY_STREAM] = before
            rng = state.mix(before)
        new_tree(nodes)
        grow(g, nodes, np.int64(agent.search.iterations), rng, agent.search, arena.weights_of(g, agent), coefficients, sims)
        return most_visited(nodes) if own else best_answer(nodes)
    if own:
        g.rng[state.PLAY_STREAM] = rng
    move = arena.quick_answer(g, agent, moves, n, belief, buffer)
    if own:
        g.rng[state.PLAY_STREAM] = before
    return move


@kernel
def give(g, result, record, move):
    """Count, write down and carry out an answer."""
    if record.size > 0:
        record[result.decisions] = move
    arena.note(g, result, np.int64(g.actor[g.depth - 1]), move)
    engine.apply(g, move)


@_entry
def play_on(
    places, states, playing, results, records, table, weights, layouts, seating, full, compact, coefficients, nodes, sims, first, last
):  # fmt: skip
    """Play the games of `places[first:last]` until they are over or an agent is asked that does not answer here.

    playing: PLAYING records; records: (N, width) int16, what was answered, or no columns; table: AGENT records; weights, layouts: of
    networks (see perceptron.py); seating: (N, MAX_PLAYERS) int64, who sits where: an entry of `table`, or if larger
    a network, or if larger an agent from outside; full, compact: observation templates; nodes, sims: work space of searches.
    A network with a logit that is not finite is asked from outside.
    """
    moves = np.empty(engine.MAX_MOVES, np.int64)
    belief, buffer = np.empty(BELIEF_SHAPE, np.float64), np.empty(hidden.BUFFER, np.int64)
    logits, chances = np.empty(engine.MAX_MOVES, np.float32), np.empty(engine.MAX_MOVES, np.float64)
    widest = perceptron.LANES
    for k in range(layouts.shape[0]):
        for size in layouts[k, perceptron.INPUTS + 1 :]:
            widest = max(widest, size)
    work, seen = np.empty((3, widest), np.float32), np.empty(full.shape[1], np.uint8)
    for place in range(first, last):
        i = places[place]
        g, it, result, record = states[i], playing[i], results[i], records[i]
        if not it.dealt:
            engine.new_game(g, it.seed)
            result.first_crown = g.crown
            it.dealt = 1
        move, it.answer = np.int64(it.answer), -1
        while True:
            if move >= 0:
                give(g, result, record, move)
            n = engine.settle(g, moves)
            if n == 0:
                arena.finish(g, result)
                it.asked = OVER
                break
            if record.size > 0 and result.decisions == record.size:
                it.asked = FULL
                break
            seat, number = np.int64(g.actor[g.depth - 1]), np.int64(result.decisions) + 1
            agent = seating[i, seat]
            if agent < table.size:
                move = kernel_answer(g, it, number, table[agent], moves, n, belief, buffer, coefficients, nodes, sims)
            elif agent < table.size + layouts.shape[0]:
                layout = layouts[agent - table.size]
                rows = np.int64(layout[perceptron.ROWS])
                templates = full if rows == MAX_PLAYERS else compact
                observation.write(g, seat, rows, N_DISTRICTS, templates, seen[: templates.shape[1]])
                perceptron.sort(moves, n)
                move = perceptron.network_answer(weights, layout, seen, moves, n, rng_of(it, number), work, logits, chances)
            else:
                move = -1
            if move < 0:
                it.asked = agent
                break


class Failure(NamedTuple):
    """An agent that raised or answered illegally: the seat, its agent, the answers before, what is to be said of it, the exception."""

    seat: int
    agent: Any
    answers: Any
    reason: str
    error: Exception


class Matches(NamedTuple):
    """Games that were played: RESULT records, the answers of each if they were to be recorded (else None), and failures by game."""

    results: Any
    answers: list[Any] | None
    failures: dict[int, Failure]


# An agent, a game of which it must not see all, and the seed of its chance: its answer, as index or text.
Ask = Callable[[Any, Game, int], Any]


def play(
    rules: Rules, agents: Sequence[Any], seating: Any, seeds: Any, ask: Ask, *, threads: int = 1, own_chance: bool = True,
    record: bool = False, go_on: bool = True,
) -> Matches:  # fmt: skip
    """Play one game per row of `seating`, with the seed of the same place.

    agents: whoever plays, each once; seating: (N, players) indices into it; seeds: (N,) uint64.
    own_chance: every answer has a chance of its own; otherwise all agents must be of the kernel and play as in `arena.play_seated`.
    go_on: after a failure, play the games that follow.

    Games of which all agents answer in the kernel are played side by side on `threads` threads; the others one after the
    other in the order of their numbers, since agents in Python may remember.
    """
    kernel_agents = [agent for agent in agents if getattr(agent, "in_kernel", False)]
    networks = [agent for agent in agents if hasattr(agent, "packed") and agent.network.rows in (MAX_PLAYERS, rules.players)]
    ordered = [*kernel_agents, *networks]
    ordered += [agent for agent in agents if not any(agent is other for other in ordered)]
    number = {id(agent): k for k, agent in enumerate(ordered)}
    order = np.array([number[id(agent)] for agent in agents], np.int64)
    seats = np.zeros((len(seating), MAX_PLAYERS), np.int64)
    seats[:, : rules.players] = order[np.asarray(seating)]
    table = arena.table_of(kernel_agents)
    weights, layouts = perceptron.packed([agent.packed for agent in networks])
    players = _Players(rules, ordered, table, weights, layouts, ask)
    inside = (seats < len(table) + len(layouts)).all(axis=1)
    matches = Matches(state.records(len(seats), arena.RESULT), [np.zeros(0, np.int16)] * len(seats) if record else None, {})
    side_by_side = np.flatnonzero(inside)
    late = [np.flatnonzero(~inside)]
    for start in range(0, len(side_by_side), arena.AT_ONCE):
        chosen = side_by_side[start : start + arena.AT_ONCE]
        table_of_games = _Games(players, seats[chosen], seeds[chosen], own_chance, record)
        table_of_games.play_on(threads)
        over = table_of_games.playing["asked"] == OVER
        table_of_games.write(matches, chosen, over)
        late.append(chosen[~over])  # a network failed: once more, with a record
    for k in np.sort(np.concatenate(late)):
        games = _Games(players, seats[k : k + 1], seeds[k : k + 1], own_chance, True)
        failure = games.play_with_python()
        if failure is not None:
            matches.failures[int(k)] = failure
            if not go_on:
                break
        else:
            games.write(matches, np.array([k]), np.ones(1, np.bool_))
    return Matches(matches.results.view(np.ndarray), matches.answers, matches.failures)


class _Players(NamedTuple):
    """Rules and agents in the form that the kernel takes."""

    rules: Rules
    agents: Sequence[Any]
    table: Any
    weights: Any
    layouts: Any
    ask: Ask


class _Games:
    """Games side by side, between the same agents by the same rules."""

    def __init__(self, players: _Players, seating: Any, seeds: Any, own_chance: bool, record: bool) -> None:
        self.players, self.seating = players, np.ascontiguousarray(seating)
        number = len(seating)
        self.states = state.records(number)
        self.states["rules"] = state.rules_row(players.rules)
        self.playing, self.results = state.records(number, PLAYING), state.records(number, arena.RESULT)
        self.playing["seed"], self.playing["answer"], self.playing["own_chance"] = seeds, -1, own_chance
        if own_chance:
            chances = [np.random.SeedSequence(int(seed)).generate_state(2, np.uint64)[0] for seed in seeds]
            self.playing["chance"] = np.array(chances, np.uint64) >> np.uint64(1)
        self.records = np.zeros((number, ROOM if record else 0), np.int16)
        self.full = templates_of(players.rules, MAX_PLAYERS)
        self.compact = templates_of(players.rules, players.rules.players)

    def play_on(self, threads: int = 1) -> None:
        """Let the kernel play until all games are over or wait for an agent from outside."""
        places, p = np.arange(len(self.states)), self.players
        largest = int(p.table["search"]["iterations"].max(initial=0)) + 1
        while len(places):

            def chunk(first: int, last: int, places: Any = places) -> None:
                play_on(
                    places, self.states, self.playing, self.results, self.records, p.table, p.weights, p.layouts, self.seating,
                    self.full, self.compact, evaluation.coefficients(), state.records(largest, NODE), state.records(1), first, last,
                )  # fmt: skip

            in_chunks(chunk, len(places), min(threads, os.cpu_count() or 1), least=1)
            places = np.flatnonzero(self.playing["asked"] == FULL)
            if len(places):
                self.records = np.concatenate([self.records, np.zeros_like(self.records)], axis=1)

    def play_with_python(self) -> Failure | None:
        """Play a single game to its end, asking agents in Python."""
        self.play_on()
        while self.playing["asked"][0] != OVER:
            agent = self.players.agents[self.playing["asked"][0]]
            game = Game.of_state(self.players.rules, self.states)
            seat, own = game.actor or 0, int(self.playing["chance"][0]) + int(self.results["decisions"][0]) + 1
            try:
                answer = self.players.ask(agent, game, own)
            except Exception as error:
                return self._failure(seat, agent, f"raised {type(error).__name__}: {error}", error)
            try:
                self.playing["answer"] = game._index(answer)
            except ValueError as error:
                return self._failure(seat, agent, str(error), error)
            self.play_on()
        return None

    def _failure(self, seat: int, agent: Any, reason: str, error: Exception) -> Failure:
        return Failure(seat, agent, self.records[0, : self.results["decisions"][0]], reason, error)

    def write(self, matches: Matches, numbers: Any, which: Any) -> None:
        """Write what became of the games `which` (bool), whose numbers are `numbers`."""
        matches.results[numbers[which]] = self.results[which]
        if matches.answers is not None:
            for k in np.flatnonzero(which):
                matches.answers[numbers[k]] = self.records[k, : self.results["decisions"][k]].copy()


class Records(Sequence[str]):
    """Games that were recorded: the k-th as text (`Game.replay` reads it), or by `game(k)` and `answers(k)`.

    Texts are made when they are asked for, since that takes longer than to play the games.
    """

    def __init__(self, rules: Rules, seeds: Any, answers: Sequence[Any]) -> None:
        self.rules, self.seeds, self._answers = rules, seeds, answers

    def __len__(self) -> int:
        return len(self._answers)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[place] for place in range(*k.indices(len(self)))]
        return self.game(k).notation()

    def answers(self, k: int) -> Any:
        """The answers of the k-th game as actions: int64 array."""
        return self._answers[k].astype(np.int64)

    def game(self, k: int) -> Game:
        """The k-th game at its end, with its log."""
        return replayed(self.rules, int(self.seeds[k]), self._answers[k])


def replayed(rules: Rules, seed: int, answers: Any) -> Game:
    """The game of a seed after some answers (actions)."""
    game = Game(rules, seed)
    for action in answers:
        game.play(int(action))
    return game

"""Whole games between agents, played inside the kernel."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citadels_env import Rules, engine, hidden, scoring, state
from citadels_env._jit import entry_for, kernel
from citadels_env.actions import MAX_PLAYERS
from citadels_env.batch import LEAST_CHUNK, in_chunks
from citadels_env.cards import N_ROLES
from citadels_env.vocabulary import Ask

from . import evaluation, heuristic, weights
from .belief import BELIEF_SHAPE, believe
from .search import NODE, SEARCH, search

RANDOM, WEIGHED, SEARCHING = range(3)  # kinds of kernel agents
AT_ONCE = 8192  # games dealt at a time

# A kernel agent as data: its kind, the persona's weights (with three and more players; with two), and how it searches.
AGENT = np.dtype([("kind", np.int64), ("w", weights.DTYPE), ("duel", weights.DTYPE), ("search", SEARCH)])

RESULT = np.dtype(
    [
        ("rounds", np.int16),
        ("decisions", np.int32),  # answers of players
        ("truncated", np.uint8),  # cut off by max_rounds
        ("bell_tower", np.uint8),  # ended with fewer districts than the rules' city_size
        ("first_crown", np.int8),  # seat
        ("scores", np.int32, MAX_PLAYERS),
        ("wins", np.float32, MAX_PLAYERS),  # 1 for the winner, shared in a tie
        ("drafted", np.int16, (MAX_PLAYERS, N_ROLES)),  # times each seat took each role
        ("seat_decisions", np.int32, MAX_PLAYERS),
    ]
)

_entry = entry_for(Path(__file__).parent)


@kernel
def weights_of(g, agent):
    """The weights an agent plays with at this number of players."""
    if g.rules.n_players == 2:
        return agent.duel
    return agent.w


@kernel
def quick_answer(g, agent, moves, n, belief, buffer):
    """The answer of an agent that does not search."""
    if agent.kind == RANDOM:
        return moves[state.random_below(g, state.PLAY_STREAM, n)]
    return heuristic.choose(g, moves, n, weights_of(g, agent), belief, buffer)


@kernel
def note(g, result, seat, move):
    """Count an answer before it is given."""
    if g.ask[g.depth - 1] == Ask.DRAFT:
        result.drafted[seat, move] += 1
    result.decisions += 1
    result.seat_decisions[seat] += 1


@kernel
def finish(g, result):
    """Fill in how a game ended."""
    result.rounds = g.round_number
    result.truncated = g.truncated
    result.bell_tower = g.ending > 0 and g.districts_to_end < g.rules.city_size
    scoring.write_rewards(g, scoring.WIN, result.wins)
    for seat in range(MAX_PLAYERS):
        result.scores[seat] = g.score[seat]


@_entry
def play(states, seeds, table, seating, results, first, last):
    """Deal and play the games `first` to `last` - 1 between agents that do not search.

    table: AGENT records; seating: (N, MAX_PLAYERS) int64, the agent of each seat as an index into it.
    """
    moves = np.empty(engine.MAX_MOVES, np.int64)
    belief, buffer = np.empty(BELIEF_SHAPE, np.float64), np.empty(hidden.BUFFER, np.int64)
    for i in range(first, last):
        g, result = states[i], results[i]
        engine.new_game(g, seeds[i])
        result.first_crown = g.crown
        while True:
            n = engine.settle(g, moves)
            if n == 0:
                break
            seat = np.int64(g.actor[g.depth - 1])
            move = quick_answer(g, table[seating[i, seat]], moves, n, belief, buffer)
            note(g, result, seat, move)
            engine.apply(g, move)
        finish(g, result)


@_entry
def play_searching(states, seeds, table, seating, results, coefficients, nodes, sims, first, last):
    """As `play`, for all kernel agents; `nodes` and `sims` are work space (NODE records and one state)."""
    moves = np.empty(engine.MAX_MOVES, np.int64)
    belief, buffer = np.empty(BELIEF_SHAPE, np.float64), np.empty(hidden.BUFFER, np.int64)
    for i in range(first, last):
        g, result = states[i], results[i]
        engine.new_game(g, seeds[i])
        result.first_crown = g.crown
        while True:
            n = engine.settle(g, moves)
            if n == 0:
                break
            seat = np.int64(g.actor[g.depth - 1])
            agent = table[seating[i, seat]]
            if agent.kind == SEARCHING:
                move = search(g, moves, n, agent.search, weights_of(g, agent), coefficients, nodes, sims)
            else:
                move = quick_answer(g, agent, moves, n, belief, buffer)
            note(g, result, seat, move)
            engine.apply(g, move)
        finish(g, result)


def table_of(agents: Sequence[Any]) -> Any:
    """The AGENT records of kernel agents, for the kernel."""
    table = state.records(len(agents), AGENT)
    for k, agent in enumerate(agents):
        table[k] = agent.row[0]
    return table


def play_seated(rules: Rules, table: Any, seating: Any, seeds: Any, threads: int = 1) -> Any:
    """Play one game per row of `seating` between the kernel agents of `table`; RESULT records in order.

    table: AGENT records; seating: (N, MAX_PLAYERS) int64 indices into it; seeds: (N,) uint64.
    Game k depends on (rules, agents, seeds[k]) only; its deck and the roles laid aside do not depend on the agents.
    """
    number = len(seating)
    results = state.records(number, RESULT)
    row = state.rules_row(rules)
    searching = bool((table["kind"] == SEARCHING).any())
    largest = int(table["search"]["iterations"].max(initial=0)) + 1
    threads = min(threads, os.cpu_count() or 1)
    for start in range(0, number, AT_ONCE):
        stop = min(start + AT_ONCE, number)
        states = state.records(stop - start)
        states["rules"] = row

        def chunk(first: int, last: int, states: Any = states, start: int = start, stop: int = stop) -> None:
            games = (states, seeds[start:stop], table, seating[start:stop], results[start:stop])
            if searching:
                play_searching(*games, evaluation.coefficients(), state.records(largest, NODE), state.records(1), first, last)
            else:
                play(*games, first, last)

        in_chunks(chunk, stop - start, threads, least=1 if searching else LEAST_CHUNK)
    return results.view(np.ndarray)


@_entry
def answer_all(states, agent, answers):
    """The answer of one kernel agent (an AGENT array of one) that does not search in every game, -1 where it is over."""
    moves = np.empty(engine.MAX_MOVES, np.int64)
    belief, buffer = np.empty(BELIEF_SHAPE, np.float64), np.empty(hidden.BUFFER, np.int64)
    for i in range(states.shape[0]):
        n = engine.settle(states[i], moves)
        answers[i] = quick_answer(states[i], agent[0], moves, n, belief, buffer) if n else -1


@_entry
def weigh_all(states, agent, moves, values):
    """The answers open in one game and what a weighed agent thinks they are worth; returns how many there are."""
    belief, buffer = np.empty(BELIEF_SHAPE, np.float64), np.empty(hidden.BUFFER, np.int64)
    n = engine.settle(states[0], moves)
    heuristic.weigh(states[0], moves, n, weights_of(states[0], agent[0]), belief, buffer, values)
    return n


@_entry
def believe_once(states, seat, agent, belief):
    """Write what `seat` of a single game believes (see belief.py), at the agent's level of inference."""
    w = weights_of(states[0], agent[0])
    believe(states[0], seat, np.int64(w.inference), w, belief, np.empty(hidden.BUFFER, np.int64))


def rotated(agents: Sequence[int], players: int, number: int) -> Any:
    """Seating of `number` games in which game k moves the agents k seats to the left: (number, MAX_PLAYERS) int64."""
    seating = np.zeros((number, MAX_PLAYERS), np.int64)
    for seat in range(players):
        seating[:, seat] = np.array(agents)[(seat - np.arange(number)) % players]
    return seating

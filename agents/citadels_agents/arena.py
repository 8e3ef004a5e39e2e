"""Whole games between agents, played inside the kernel."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citadels_env import Rules, engine, scoring, state
from citadels_env._jit import entry_for, kernel
from citadels_env.actions import MAX_PLAYERS
from citadels_env.batch import game_seeds, in_chunks
from citadels_env.cards import N_ROLES
from citadels_env.vocabulary import Ask

from . import heuristic

AGENTS = ("random", "heuristic")  # kernel agents, by their number
RANDOM, HEURISTIC = range(2)
AT_ONCE = 8192  # games dealt at a time

RESULT = np.dtype(
    [
        ("rounds", np.int16),
        ("decisions", np.int32),  # answers of players
        ("truncated", np.uint8),  # cut off by max_rounds
        ("bell_tower", np.uint8),  # ended with fewer districts than the rules' city_size
        ("first_crown", np.int8),  # seat
        ("scores", np.int16, MAX_PLAYERS),
        ("wins", np.float32, MAX_PLAYERS),  # 1 for the winner, shared in a tie
        ("drafted", np.int16, (MAX_PLAYERS, N_ROLES)),  # times each seat took each role
    ]
)


@kernel
def answer(g, agent, moves, n):
    """The answer of a kernel agent to the open question."""
    if agent == HEURISTIC:
        return heuristic.choose(g, moves, n)
    return moves[state.random_below(g, state.PLAY_STREAM, n)]


@entry_for(Path(__file__).parent)
def play(states, seeds, agents, results, first, last):
    """Deal and play the games `first` to `last` - 1; agents: (N, MAX_PLAYERS) int64 numbers of AGENTS by seat."""
    moves = np.empty(engine.MAX_MOVES, np.int64)
    for i in range(first, last):
        g, result = states[i], results[i]
        engine.new_game(g, seeds[i])
        result.first_crown = g.crown
        decisions = 0
        while True:
            n = engine.settle(g, moves)
            if n == 0:
                break
            seat = np.int64(g.actor[g.depth - 1])
            move = answer(g, agents[i, seat], moves, n)
            if g.ask[g.depth - 1] == Ask.DRAFT:
                result.drafted[seat, move] += 1
            engine.apply(g, move)
            decisions += 1
        result.decisions = decisions
        result.rounds = g.round_number
        result.truncated = g.truncated
        result.bell_tower = g.ending > 0 and g.districts_to_end < g.rules.city_size
        scoring.write_rewards(g, scoring.WIN, result.wins)
        for seat in range(MAX_PLAYERS):
            result.scores[seat] = g.score[seat]


@entry_for(Path(__file__).parent)
def answer_all(states, agent, moves, answers):
    """The answer of one kernel agent in every game (-1 where it is over)."""
    for i in range(states.shape[0]):
        n = engine.settle(states[i], moves)
        answers[i] = answer(states[i], agent, moves, n) if n else -1


def choices(states: Any, agent: str = "heuristic") -> Any:
    """What `agent` answers in every game of an array of states (such as `Batch.states`): int64 actions, -1 where it is over."""
    answers = np.zeros(len(states), np.int64)
    answer_all(states, agent_numbers(agent, 1)[0], np.empty(engine.MAX_MOVES, np.int64), answers)
    return answers


def agent_numbers(agents: str | Sequence[str], players: int) -> list[int]:
    """The numbers of the agents by seat; raises ValueError for an unknown name or a wrong number of them."""
    names = [agents] * players if isinstance(agents, str) else list(agents)
    if len(names) != players:
        raise ValueError(f"there are {players} seats, but {len(names)} agents: {', '.join(map(str, names))}")
    for name in names:
        if name not in AGENTS:
            raise ValueError(f"there is no agent {name!r}; the agents are {', '.join(AGENTS)}")
    return [AGENTS.index(name) for name in names]


def play_games(
    rules: Rules, agents: str | Sequence[str] = "heuristic", num_games: int = 1000, seed: int = 0, *, threads: int = 1, rotate: bool = False
) -> Any:
    """Play `num_games` whole games and return one RESULT record per game (NumPy structured array).

    agents: one name for all seats or one per seat; with `rotate` game k moves them k seats to the left, so that
    every agent sits everywhere equally often.  Game k depends on (rules, agents, seed, k) only, not on `num_games`
    or `threads`; its deck and the roles laid aside depend on (rules, seed, k) alone.

    Raises ValueError for an unknown agent or an impossible number.
    """
    numbers = agent_numbers(agents, rules.players)
    if num_games < 1:
        raise ValueError(f"num_games must be at least 1, not {num_games}")
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    seats = np.zeros((num_games, MAX_PLAYERS), np.int64)
    shift = np.arange(num_games) if rotate else np.zeros(num_games, np.int64)
    for seat in range(rules.players):
        seats[:, seat] = np.array(numbers)[(seat - shift) % rules.players]
    seeds = game_seeds(seed, num_games)
    results = state.records(num_games, RESULT)
    row = state.rules_row(rules)
    threads = min(threads, os.cpu_count() or 1)
    for start in range(0, num_games, AT_ONCE):
        stop = min(start + AT_ONCE, num_games)
        states = state.records(stop - start)
        states["rules"] = row
        part = results[start:stop]

        def chunk(first: int, last: int, states: Any = states, part: Any = part, start: int = start, stop: int = stop) -> None:
            play(states, seeds[start:stop], seats[start:stop], part, first, last)

        in_chunks(chunk, stop - start, threads)
    return results.view(np.ndarray)

"""Fitting the value estimate of the search: who wins, judged from the state at the start of a round.

Games between copies of a persona are recorded at the first draft question of every round; the chance of winning is
a conditional logit in the figures of `citadels_agents.evaluation` (McFadden 1974), fitted by maximum likelihood.
"""

from pathlib import Path
from typing import Any

import numpy as np

from citadels_agents import arena, evaluation, heuristic, make
from citadels_agents.belief import BELIEF_SHAPE
from citadels_env import engine, hidden, scoring, state
from citadels_env._jit import entry_for
from citadels_env.actions import MAX_PLAYERS
from citadels_env.batch import game_seeds
from citadels_env.checks import seed_number, whole_number
from citadels_env.errors import InvalidArgumentError
from citadels_env.vocabulary import Ask

from . import folders
from .tuning import scenarios

MOST_ROUNDS = 30
GAMES = (10, 100_000)  # of each scenario: 19 kB of figures each
MOST_SEED = 2**53  # a thousand of them apart fit into 64 bits


@entry_for(Path(__file__).parent, Path(arena.__file__).parent)
def record(states: Any, seeds: Any, agent: Any, figures: Any, used: Any, wins: Any) -> None:
    """Play games between copies of `agent` (its weights for three and more players) and record them.

    The figures of all seats are kept at the start of every round but the first.
    figures: (N, MOST_ROUNDS, MAX_PLAYERS, N_FIGURES) float64; used: (N,) int64, rounds recorded; wins: (N, MAX_PLAYERS).
    """
    moves = np.empty(engine.MAX_MOVES, np.int64)
    belief, buffer = np.empty(BELIEF_SHAPE, np.float64), np.empty(hidden.BUFFER, np.int64)
    for i in range(states.shape[0]):
        g = states[i]
        engine.new_game(g, seeds[i])
        while True:
            n = engine.settle(g, moves)
            if n == 0:
                break
            if g.ask[g.depth - 1] == Ask.DRAFT and g.draft_step == 0 and g.round_number > 1 and used[i] < MOST_ROUNDS:
                late = evaluation.progress(g)
                for seat in range(np.int64(g.rules.n_players)):
                    evaluation.figures(g, seat, late, figures[i, used[i], seat])
                used[i] += 1
            engine.apply(g, heuristic.choose(g, moves, n, agent[0].w, belief, buffer))
        scoring.write_rewards(g, scoring.WIN, wins[i])


def sample(persona: str, games: int, seed: int) -> list[tuple[Any, Any]]:
    """(figures, wins) of every scenario: (samples, players, figures) and (samples, players) float64 arrays."""
    agent = make(persona).row
    samples = []
    for number, scenario in enumerate(scenarios()):
        players = scenario.rules.players
        states = state.records(games)
        states["rules"] = state.rules_row(scenario.rules)
        figures = np.zeros((games, MOST_ROUNDS, MAX_PLAYERS, evaluation.N_FIGURES))
        used, wins = np.zeros(games, np.int64), np.zeros((games, MAX_PLAYERS))
        record(states, game_seeds(seed * 1000 + number, games), agent, figures, used, wins)
        there = np.arange(MOST_ROUNDS) < used[:, None]
        samples.append((figures[there][:, :players], np.repeat(wins[:, :players], used, axis=0)))
    return samples


def log_loss(coefficients: Any, samples: list[tuple[Any, Any]]) -> tuple[float, Any]:
    """Mean negative log-likelihood of the winners, and its gradient."""
    total, gradient, count = 0.0, np.zeros(len(coefficients)), 0
    for figures, wins in samples:
        utility = figures @ coefficients
        utility -= utility.max(1, keepdims=True)
        chance = np.exp(utility)
        chance /= chance.sum(1, keepdims=True)
        total -= float((wins * np.log(chance)).sum())
        gradient -= np.einsum("ns,nsf->f", wins - chance, figures)
        count += len(wins)
    return total / count, gradient / count


def fit(persona: str = "expert", games: int = 2000, seed: int = 1, out: Path = evaluation.FILE) -> dict[str, Any]:
    """Fit the coefficients to `games` games of every scenario, write them to `out` and return what was found.

    Half as many fresh games check the fit: the loss of the fitted estimate and that of guessing all players alike.

    Raises AgentSpecError for an unknown persona, InvalidArgumentError for another agent and impossible numbers, and
    `folders.FolderError` if `out` cannot be written, before anything is played (all are ValueErrors).
    """
    whole_number("games", games, *GAMES)
    seed_number(seed, "seed", MOST_SEED)
    agent = make(persona)
    if getattr(agent, "row", None) is None or agent.row["kind"][0] != arena.WEIGHED:
        raise InvalidArgumentError(f"the value estimate is fitted to games of a persona, not of {persona}")
    from scipy.optimize import minimize

    folders.probe(out.parent)
    training, check = sample(persona, games, seed), sample(persona, games // 2, seed + 1)
    found = minimize(log_loss, np.zeros(evaluation.N_FIGURES), args=(training,), jac=True, method="BFGS")
    guess = float(np.average([np.log(wins.shape[1]) for _, wins in check], weights=[len(wins) for _, wins in check]))
    result = {
        "what": "conditional logit of the winner on the figures of each seat at the start of a round",
        "command": f"citadels fit-value --persona {persona} --games {games} --seed {seed}",
        "states": int(sum(len(wins) for _, wins in training)),
        "log loss on fresh games": round(log_loss(found.x, check)[0], 4),
        "log loss of guessing": round(guess, 4),
        "coefficients": {name: round(float(value), 4) for name, value in zip(evaluation.FIGURES, found.x, strict=True)},
    }
    folders.write_json(out, result)
    return result

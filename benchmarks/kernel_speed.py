"""Speed of the kernel on one core: decisions and games per CPU-second, and as ratios to a fixed reference loop.

    python benchmarks/kernel_speed.py            # four players, all new districts

Every figure is the median of several repetitions, interleaved with the reference loop in the same run.
"""

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from citadels_agents import play_games
from citadels_env import GERMAN, Batch, Game, engine, observation, state
from citadels_env._jit import entry_for
from citadels_env.actions import N_ACTIONS
from citadels_env.cards import N_DISTRICTS

REFERENCE_STEPS = 1_000_000


@entry_for(Path(__file__).parent)
def random_decisions(states, templates, masks, observations, rows, width, with_mask, n_decisions):
    """Random play over many games, with or without writing the mask and the actor's observation of every decision."""
    moves = np.empty(engine.MAX_MOVES, np.int64)
    made = 0
    while made < n_decisions:
        for i in range(states.shape[0]):
            g = states[i]
            n = engine.settle(g, moves)
            if n == 0:
                engine.new_game(g, g.rng[3])
                n = engine.settle(g, moves)
            if with_mask:
                mask = masks[i]
                mask[:] = 0
                for k in range(n):
                    mask[moves[k]] = 1
            if observations.shape[1] > 0:
                observation.write(g, np.int64(g.actor[g.depth - 1]), rows, width, templates, observations[i])
            engine.apply(g, moves[state.random_below(g, state.PLAY_STREAM, n)])
            made += 1
    return made


def reference_loop(steps: int = REFERENCE_STEPS) -> int:
    """A fixed pure-Python loop: a generator, a list index, a branch and a dictionary look-up per step."""
    values, table, x, hits = list(range(256)), {k: k for k in range(256)}, 1, 0
    for _ in range(steps):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        if values[x & 255] & 1:
            hits += table[x >> 8 & 255]
    return hits


def cpu(function: Any) -> tuple[float, float]:
    """(result, CPU-seconds) of one call."""
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--repetitions", type=int, default=7)
    args = parser.parse_args()
    rules = GERMAN.with_(players=args.players, add_districts="all")
    rows = args.players
    n = 64
    batch = Batch(rules, n, seed=1, compact=True)
    templates = {r: observation.template(state.rules_row(rules), r)[None, :] for r in (rows, 8)}
    masks = np.zeros((n, N_ACTIONS), np.uint8)
    nothing, seen = np.zeros((n, 0), np.uint8), np.zeros((n, observation.size(rows)), np.uint8)
    full = np.zeros((n, observation.size()), np.uint8)

    def kernel(with_mask: bool, observations: Any, rows: int = rows) -> Any:
        return lambda: random_decisions(batch.states, templates[rows], masks, observations, rows, N_DISTRICTS, with_mask, 300_000)

    def games(agent: str, number: int) -> Any:
        return lambda: len(play_games(rules, agent, number, seed=3))

    def batch_steps(size: int) -> Any:
        b = Batch(rules, size, seed=2, compact=True)
        b.observations()
        rng = np.random.default_rng(0)

        def run() -> tuple[int, float]:
            spent, steps = 0.0, max(1, 40_000 // size)
            for _ in range(steps):
                answers = (rng.random(b.masks().shape, np.float32) * b.masks()).argmax(1)
                start = time.process_time()
                b.step(answers)
                b.masks()
                b.observations()
                spent += time.process_time() - start
            return steps * size, spent

        return run

    def single() -> tuple[int, float]:
        game, made, spent, rng = Game(rules, 5), 0, 0.0, np.random.default_rng(0)
        while made < 3000:
            if game.over:
                game = Game(rules, made)
            index = int(rng.choice(game.legal_indices()))
            start = time.process_time()
            game.step(index)
            spent += time.process_time() - start
            made += 1
        return made, spent

    cases: dict[str, Any] = {
        "random play, answers listed": kernel(False, nothing),
        "random play, mask": kernel(True, nothing),
        "random play, mask and compact observation": kernel(True, seen),
        "random play, mask and full observation": kernel(True, full, 8),
        "random whole games": games("random", 2000),
        "heuristic whole games": games("heuristic", 2000),
        "Batch.step, N=1": batch_steps(1),
        "Batch.step, N=64": batch_steps(64),
        "Batch.step, N=1024": batch_steps(1024),
        "Game.step: index, mask, observation": single,
    }
    rates: dict[str, list[float]] = {name: [] for name in cases}
    ratios: dict[str, list[float]] = {name: [] for name in cases}
    for function in cases.values():
        function()  # compile, warm up
    for _ in range(args.repetitions):
        for name, function in cases.items():
            _, before = cpu(reference_loop)
            result, spent = cpu(function)
            if isinstance(result, tuple):
                result, spent = result
            _, after = cpu(reference_loop)
            rates[name].append(result / spent)
            ratios[name].append(result / spent / (2 * REFERENCE_STEPS / (before + after)))
    print(f"{args.players} players, German rules, all new districts; state record {state.STATE.itemsize} bytes, {N_ACTIONS} actions,")
    print(f"observation {observation.size(rows)} entries compact, {observation.size()} full; medians of {args.repetitions}")
    print(f"{'':44} {'per CPU-second':>15} {'microseconds':>13} {'per reference step':>19}")
    for name in cases:
        rate, ratio = statistics.median(rates[name]), statistics.median(ratios[name])
        print(f"{name:44} {rate:15,.0f} {1e6 / rate:13.3f} {ratio:19.4f}")
    print(f"heuristic over random, games: {statistics.median(a / b for a, b in zip(*(rates[k] for k in GAMES), strict=True)):.2f}")
    print(f"two threads over one, games by the clock: {threads(rules, args.repetitions):.2f}")


GAMES = ("heuristic whole games", "random whole games")


def threads(rules: Any, repetitions: int) -> float:
    """How much faster two threads play whole games than one, by the clock: median of interleaved pairs."""
    gains = []
    for _ in range(repetitions):
        seconds = []
        for number in (1, 2):
            start = time.perf_counter()
            play_games(rules, "heuristic", 8000, seed=4, threads=number)
            seconds.append(time.perf_counter() - start)
        gains.append(seconds[0] / seconds[1])
    return statistics.median(gains)


if __name__ == "__main__":
    main()

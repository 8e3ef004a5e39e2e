"""How fast the vector environment is, as a ratio to the PettingZoo environment in the same run, on one core.

    python benchmarks/vector_speed.py [--rounds 7] [--games 1024] [--steps 200] [--players 4]

All seats play at random, by the same rules, in both.  In the PettingZoo environment (`citadels_v0.env()`) every decision comes from
outside; in the vector environment (`gymnasium.make_vec`, opponents="random", one thread) those of one seat of each game do, and
the kernel makes the others.  The environments take turns, a piece each, in one process; figures are medians of the pieces, in
decisions per CPU second.  Choosing a legal action is in the time: with `random.choice` of the legal ones as in PettingZoo's own
`performance_benchmark` (`choice`) or with `action_space(agent).sample(mask)` (`sample`), and by a compiled loop over all games at once.

Two figures for the vector environment: the decisions from outside alone, which is what a learner gets, and all decisions
of its games, which compares equal work.  Ratios are to `choice`, the faster loop.
"""

import argparse
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from aec_speed import choice, decisions_per_second, sample

from citadels_env import GERMAN, citadels_v0
from citadels_env._jit import entry_for


@entry_for(Path(__file__).parent)
def choose(masks, words, chances, actions):
    """Write a random legal action of every game, 0 where there is none.

    masks: (N * N_ACTIONS,) uint8; words: the same memory as uint64; chances: (N,) float64 in [0, 1); actions: (N,) int64.
    """
    n = actions.size
    width = masks.size // n
    legal = np.empty(width, np.int64)
    place, found = 0, 0
    for block in range(words.size // 8):  # a hundred zeros stand between two legal actions
        w = words[8 * block : 8 * block + 8]
        if w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]:
            for word in range(8 * block, 8 * block + 8):
                if words[word]:
                    for k in range(8 * word, 8 * word + 8):
                        if masks[k]:
                            while k >= (place + 1) * width:
                                actions[place] = legal[int(chances[place] * found)] if found else 0
                                place += 1
                                found = 0
                            legal[found] = k - place * width
                            found += 1
    for last in range(place, n):
        actions[last] = legal[int(chances[last] * found)] if found else 0
        found = 0


class VectorGames:
    """A vector environment that is played at random."""

    def __init__(self, games: int, **options: Any) -> None:
        self.env: Any = gymnasium.make_vec("citadels_env:Citadels-v0", num_envs=games, opponents="random", **options)
        self.made = self.env.unwrapped._batch.games["decisions"]  # in the game being played in each place
        self.rng = np.random.default_rng(0)
        self.actions = np.zeros(games, np.int64)
        self.seen, _ = self.env.reset(seed=0)

    def per_second(self, steps: int) -> tuple[float, float]:
        """Decisions from outside and all decisions, per CPU second."""
        outside, everybody, spent = 0, 0, 0.0
        before = self.made.astype(np.int64)
        for _ in range(steps):
            start = time.process_time()
            masks = self.seen["action_mask"].reshape(-1)
            choose(masks.view(np.uint8), masks.view(np.uint64), self.rng.random(len(before)), self.actions)
            self.seen, _, terminated, truncated, infos = self.env.step(self.actions)
            spent += time.process_time() - start
            dealt = infos.get("_seat", np.zeros(len(before), np.bool_)) & ~(terminated | truncated)
            now = self.made.astype(np.int64)
            outside += len(before) - int(dealt.sum())
            everybody += int(np.where(dealt, now, now - before).sum())
            before = now
        return outside / spent, everybody / spent


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7, help="pieces per environment")
    parser.add_argument("--games", type=int, default=1024, help="a multiple of 64")
    parser.add_argument("--steps", type=int, default=200, help="steps of all games per piece")
    parser.add_argument("--decisions", type=int, default=10_000, help="decisions of the PettingZoo environment per piece")
    parser.add_argument("--players", type=int, default=4)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)
    rules = GERMAN.with_(players=arguments.players, add_districts="all")
    aec = citadels_v0.env(rules=rules)
    vectors = {text: VectorGames(arguments.games, rules=rules, copy=copy) for text, copy in (("copies", True), ("live arrays", False))}
    pieces: list[dict[str, float]] = []
    for number in range(arguments.rounds + 1):
        decisions, steps = (arguments.decisions, arguments.steps) if number else (500, 60)  # the first one compiles and warms up
        piece = {
            f"PettingZoo, {name}": decisions_per_second(aec, loop, decisions) for name, loop in (("choice", choice), ("sample", sample))
        }
        for text, vector in vectors.items():
            piece[f"vector, {text}: from outside"], piece[f"vector, {text}: all decisions"] = vector.per_second(steps)
        if number:
            pieces.append(piece)
    print(f"{arguments.players} players, {arguments.games} games; medians of {arguments.rounds}")
    print(f"{'':36} {'decisions/CPU s':>16} {'ratio':>7}")
    for name in pieces[0]:
        ratio = statistics.median(piece[name] / piece["PettingZoo, choice"] for piece in pieces)
        print(f"{name:36} {statistics.median(piece[name] for piece in pieces):16,.0f} {ratio:7.1f}")


if __name__ == "__main__":
    main()

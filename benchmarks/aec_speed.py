"""How fast the PettingZoo environment is, as a ratio to PettingZoo's own connect_four in the same run.

    python benchmarks/aec_speed.py [--rounds 7] [--decisions 20000] [--players 4]

Both environments are `env()`, with their standard wrappers.  They take turns, a piece each, in one process,
and are measured in decisions per CPU second; the figure printed is the median of the pieces.  Two loops:

* `choice`: the legal action is chosen as PettingZoo's own `performance_benchmark` does it;
* `sample`: it is drawn with `action_space(agent).sample(mask)`, which costs more than most environments.

A decision is one `last()`, one choice and one `step()`; resets and the steps of finished players are in the
time, but are not counted.
"""

import argparse
import importlib
import random
import statistics
import sys
import time
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from citadels_env import GERMAN, citadels_v0

Chooser = Callable[[Any, str, Any], int]


def connect_four() -> Any:
    """PettingZoo's connect_four; pygame, which it needs only to draw, may be absent."""
    try:
        importlib.import_module("pygame")
    except ImportError:
        sys.modules["pygame"] = types.ModuleType("pygame")
    return importlib.import_module("pettingzoo.classic.connect_four.connect_four").env()


def choice(_env: Any, _agent: str, mask: Any) -> int:
    """A random legal action, as in `pettingzoo.test.performance_benchmark`."""
    return random.choice(np.flatnonzero(mask).tolist())


def sample(env: Any, agent: str, mask: Any) -> int:
    """A random legal action from the action space."""
    return env.action_space(agent).sample(mask)


def decisions_per_second(env: Any, choose: Chooser, decisions: int) -> float:
    """Play whole games until `decisions` are made; decisions per CPU second."""
    made = 0
    start = time.process_time()
    while made < decisions:
        env.reset(seed=made)
        for agent in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
            else:
                env.step(choose(env, agent, observation["action_mask"]))
                made += 1
    return made / (time.process_time() - start)


def measure(rounds: int, decisions: int, players: int) -> dict[str, tuple[float, float, float]]:
    """For each loop: decisions per second of Citadels and of connect_four, and the median of their ratios."""
    citadels, peer = citadels_v0.env(rules=GERMAN.with_(players=players, add_districts="all")), connect_four()
    loops: dict[str, Chooser] = {"choice": choice, "sample": sample}
    results = {}
    for name, choose in loops.items():
        for env in (citadels, peer):  # compile and warm up
            decisions_per_second(env, choose, 500)
        pairs = [
            (decisions_per_second(citadels, choose, decisions), decisions_per_second(peer, choose, decisions // 5)) for _ in range(rounds)
        ]
        ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
        results[name] = ours, theirs, statistics.median(a / b for a, b in pairs)
    return results


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7, help="pieces per environment and loop")
    parser.add_argument("--decisions", type=int, default=20_000, help="decisions per piece (connect_four: a fifth)")
    parser.add_argument("--players", type=int, default=4)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)
    print(f"{'loop':8} {'citadels':>12} {'connect_four':>14} {'ratio':>7}   decisions per CPU second, medians of {arguments.rounds}")
    for name, (ours, theirs, ratio) in measure(arguments.rounds, arguments.decisions, arguments.players).items():
        print(f"{name:8} {ours:12,.0f} {theirs:14,.0f} {ratio:7.2f}")


if __name__ == "__main__":
    main()

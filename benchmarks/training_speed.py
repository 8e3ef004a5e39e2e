"""How fast training is: RLlib's own runner, the fast path and the plain loop, in one run on two threads.

    python benchmarks/training_speed.py [--rounds 5] [--epochs 1 4] [--batch 16384] [--minibatch 4096]

Everybody learns the same games (four players, base roles, self-play) with the same network (two layers of 256, shared by policy
and value), the same batch, minibatches and epochs, in one process without remote runners.  An environment step is a decision
answered by the policy.  The contestants take turns, a piece each, after one iteration to warm up; the time is that of whole
iterations by the clock, playing and learning.  Figures are medians over the rounds, ratios medians of the ratios within rounds.

Run it on an idle machine.  bfloat16 is an extra: the ratio to the plain loop is to that with the same precision.
"""

import argparse
import logging
import os
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # read when torch is imported
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
import torch

from citadels_experiments.learning.fast import fast_ppo
from citadels_experiments.learning.multi_agent import stock_ppo
from citadels_experiments.learning.plain_ppo import Settings, iterate
from citadels_experiments.learning.settings import DEFAULTS

GAMES = {"players": 4}
STOCK, PLAIN = "RLlib, its own runner", "plain loop"
FAST = "RLlib, fast path"
TARGETS = {1: (6.0, 0.75), 4: (3.5, 0.75)}  # by epochs: fast path over stock, over the plain loop


def rllib(config: Any) -> Callable[[], int]:
    """One iteration of an RLlib algorithm; returns the environment steps."""
    algorithm = config.debugging(seed=0, log_level="ERROR").build_algo()
    made = 0

    def run() -> int:
        nonlocal made
        before, made = made, int(algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"])
        return made - before

    return run


def plain(settings: Settings) -> Callable[[], int]:
    """One iteration of the plain loop; returns the environment steps."""
    loop = iterate(settings)

    def run() -> int:
        next(loop)
        return settings.num_games * settings.steps

    return run


def contestants(epochs: int, batch: int, minibatch: int, num_games: int) -> dict[tuple[str, str], Callable[[], int]]:
    """What is compared, by name and precision."""
    training = {**DEFAULTS, "train_batch_size_per_learner": batch, "minibatch_size": minibatch, "num_epochs": epochs}
    stock = stock_ppo(GAMES, **training).env_runners(num_env_runners=0, num_envs_per_env_runner=64)
    result = {(STOCK, "float32"): rllib(stock)}
    for precision in ("float32", "bfloat16"):
        rough = precision == "bfloat16"
        sizes = {"num_games": num_games, "steps": batch // num_games, "epochs": epochs, "minibatch_size": minibatch}
        result[FAST, precision] = rllib(fast_ppo(GAMES, num_games=num_games, bfloat16=rough, **training))
        result[PLAIN, precision] = plain(Settings(GAMES, bfloat16=rough, **sizes))
    return result


def per_second(run: Callable[[], int], iterations: int) -> float:
    """Environment steps per second of some iterations."""
    start = time.perf_counter()
    return sum(run() for _ in range(iterations)) / (time.perf_counter() - start)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5, help="pieces of each contestant")
    parser.add_argument("--iterations", type=int, default=3, help="iterations per piece (of RLlib's own runner always one)")
    parser.add_argument("--epochs", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--batch", type=int, default=16_384, help="environment steps per iteration")
    parser.add_argument("--minibatch", type=int, default=4_096)
    parser.add_argument("--games", type=int, default=128, help="games side by side, in the fast path and the plain loop")
    parser.add_argument("--threads", type=int, default=2, help="of torch")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)
    ray.init(include_dashboard=False, logging_level="error", log_to_driver=False, object_store_memory=500 * 10**6)
    logging.getLogger("ray").setLevel(logging.ERROR)
    torch.set_num_threads(arguments.threads)
    cases = {
        (epochs, *key): run
        for epochs in arguments.epochs
        for key, run in contestants(epochs, arguments.batch, arguments.minibatch, arguments.games).items()
    }
    for run in cases.values():
        run()
    rates: dict[Any, list[float]] = {key: [] for key in cases}
    for _ in range(arguments.rounds):
        for key, run in cases.items():
            rates[key].append(per_second(run, 1 if key[1] == STOCK else arguments.iterations))
    sizes = f"batch {arguments.batch:,}, minibatches of {arguments.minibatch:,}"
    print(f"{sizes}, {torch.get_num_threads()} threads; environment steps per second, medians of {arguments.rounds}")
    print(f"{'':34} {'steps/s':>9} {'lowest':>9} {'highest':>9} {'to RLlib':>9} {'to plain':>9}")
    for epochs in arguments.epochs:
        print(f"{epochs} epochs" if epochs > 1 else "1 epoch")
        for key in (key for key in cases if key[0] == epochs):
            own, stock, loop = rates[key], rates[epochs, STOCK, "float32"], rates[epochs, PLAIN, key[2]]
            to_stock, to_plain = (statistics.median(a / b for a, b in zip(own, other, strict=True)) for other in (stock, loop))
            print(
                f"  {key[1]:22} {key[2]:9} {statistics.median(own):9,.0f} {min(own):9,.0f} {max(own):9,.0f} {to_stock:9.2f} {to_plain:9.2f}"
            )
            if key[1:] == (FAST, "float32") and epochs in TARGETS:
                least, least_of_plain = TARGETS[epochs]
                met = "met" if to_stock >= least and to_plain >= least_of_plain else "missed"
                print(f"  {'':32} target: at least {least} of RLlib, {least_of_plain} of the plain loop: {met}")
    ray.shutdown()


if __name__ == "__main__":
    main()

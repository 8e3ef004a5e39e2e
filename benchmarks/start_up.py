"""What a first start costs: CPU-seconds to compile all that the main job needs, and seconds of a warm start.

python benchmarks/start_up.py
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

JOBS = {
    "study (play_games, heuristic)": "from citadels_agents import play_games; from citadels_env import GERMAN; "
    "play_games(GERMAN, num_games=4)",
    "Game, first answer": "from citadels_env import GERMAN, Game; g = Game(GERMAN); g.step(g.legal_indices()[0])",
    "Batch, first step": "from citadels_env import GERMAN, Batch; b = Batch(GERMAN, 64); b.step(b.masks().argmax(1))",
    "search (ismcts)": "from citadels_agents import play_games; from citadels_env import GERMAN; "
    "play_games(GERMAN, ['ismcts:iterations=2', 'random', 'random', 'random'], 1)",
}


def run(code: str, cache: str) -> tuple[float, float]:
    """(CPU-seconds, seconds) of a new process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=dict(os.environ, CITADELS_CACHE_DIR=cache), check=True, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - start


def main() -> None:
    """Measure every job with an empty cache of its own, then three times warm."""
    print(f"{'':34} {'cold CPU s':>11} {'cold s':>8} {'warm CPU s':>11} {'warm s':>8}")
    for name, code in JOBS.items():
        with tempfile.TemporaryDirectory() as cache:
            cold = run(code, cache)
            warm = min(run(code, cache) for _ in range(3))
        print(f"{name:34} {cold[0]:11.1f} {cold[1]:8.1f} {warm[0]:11.2f} {warm[1]:8.2f}")


if __name__ == "__main__":
    main()

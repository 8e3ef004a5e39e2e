"""`citadels warmup` and `citadels cache`: compiling ahead, and what is kept of it."""

import logging
import math
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from citadels_agents import Collector, SeatedBatch, View, make, play_games, registry, rollout
from citadels_agents.networks import Network, NetworkAgent
from citadels_env import GERMAN, Batch, Game, _cache, _jit, observation
from citadels_env.actions import N_ACTIONS


class _InPython:
    """An agent that is asked from outside the kernel."""

    name = "first"

    def act(self, view: View) -> int:
        return int(view.legal_indices()[0])


class NotKeptError(RuntimeError):
    """Compiling ahead is of no use: nothing of it can be kept."""


def _one_game() -> None:
    game = Game(GERMAN)
    game.observation(0)
    game.redeal(0, 1).scores()
    Game.from_position(GERMAN, {"players": [{}] * GERMAN.players})


def _play_outs() -> None:
    Batch(GERMAN, 1).play_out()


def _seats() -> None:
    SeatedBatch(GERMAN, 1, opponents="heuristic")


def _experience() -> None:
    games = SeatedBatch(GERMAN, 1, opponents="heuristic")
    size = games.num_games

    def policy(seen: Any, masks: Any) -> tuple[Any, Any]:
        return np.zeros((size, N_ACTIONS), np.float32), np.zeros(size, np.float32)

    columns, _ = Collector(games, 8).collect([policy])
    rollout.legal_lists(columns[0]["masks"])


def _searches_in_seats() -> None:
    SeatedBatch(GERMAN, 1, opponents="ismcts:iterations=1", own_seat=3)


def _whole_games() -> None:
    play_games(GERMAN, "heuristic", 1)


def _whole_games_with_search() -> None:
    play_games(GERMAN, ["ismcts:iterations=1", "random", "random", "random"], 1)


def _agents_by_question() -> None:
    game = Game(GERMAN)
    make("heuristic").act(View(game, 0))
    make("heuristic").explain(game)
    registry.belief(game, 0)
    play_games(GERMAN, [_InPython()] * GERMAN.players, 1)


def _networks() -> None:
    shapes = {"body.0": (8, observation.size()), "policy": (N_ACTIONS, 8), "value": (1, 8)}
    tensors: dict[str, Any] = {f"{name}.weight": np.zeros(shape, np.float32) for name, shape in shapes.items()}
    tensors |= {f"{name}.bias": np.zeros(shape[0], np.float32) for name, shape in shapes.items()}
    network = NetworkAgent("network", Network(tensors))
    network.act(View(Game(GERMAN), 0))
    network.explain(Game(GERMAN))
    play_games(GERMAN, [network, "random", "random", "random"], 1)


def _one_search() -> None:
    make("ismcts:iterations=1,trees=2").act(View(Game(GERMAN), 0))


# What is compiled, the long ones first, and those that need another one after it.
STEPS: dict[str, Callable[[], None]] = {
    "games and their observations": _one_game,
    "seats for learners": _seats,
    "whole games": _whole_games,
    "whole games with search": _whole_games_with_search,
    "searches in seats": _searches_in_seats,
    "one search": _one_search,
    "random play-outs": _play_outs,
    "agents by question": _agents_by_question,
    "networks": _networks,
    "experience": _experience,
}


def warm_up(processes: int, progress: Callable[[int, str], None], tick: Callable[[], object] = lambda: None) -> None:
    """Compile all entry points of citadels_env and citadels_agents for the calls that the library makes.

    processes: so many compile at the same time.
    progress: called with the number of finished steps and the names of those at work; tick: called every second.

    Raises NotKeptError if the compiled code cannot be kept.
    """
    if not (any(map(_cache.writable, _cache.FOLDERS)) or _cache.kept()):
        named = ", ".join(map(str, _cache.FOLDERS)) or "there is no folder for it"
        raise NotKeptError(f"compiled code cannot be kept ({named}); set CITADELS_CACHE_DIR to a folder that can be written")
    if processes == 1:
        for done, (name, step) in enumerate(STEPS.items()):
            progress(done, name)
            step()
            _check(_cache.REPORTED.get("save"))
        progress(len(STEPS), "")
        return
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=_be_quiet)
    try:
        waiting, working, done = list(STEPS), dict[Future[str | None], str](), 0
        while waiting or working:
            while waiting and len(working) < processes:
                name = waiting.pop(0)
                working[pool.submit(_run, name)] = name
                progress(done, ", ".join(working.values()))
            for future in wait(working, timeout=1, return_when=FIRST_COMPLETED).done:
                del working[future]
                done += 1
                _check(future.result())
            tick()
        progress(done, "")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _be_quiet() -> None:
    """In the processes of `warm_up`, which show their progress themselves."""
    logging.getLogger("citadels_env").setLevel(logging.ERROR)


def _run(name: str) -> str | None:
    STEPS[name]()
    return _cache.REPORTED.get("save")


def _check(problem: str | None) -> None:
    if problem:
        raise NotKeptError(problem)


# --- what is kept -------------------------------------------------------------


def folder() -> Path | None:
    """The folder that compiled code is kept in: the first that can be written."""
    return next(filter(_cache.writable, _cache.FOLDERS), _cache.FOLDERS[0] if _cache.FOLDERS else None)


def clear(unused_days: float | None = None) -> tuple[list[_cache.KeptVersion], list[_cache.KeptVersion]]:
    """Remove all versions, or those that were not used for `unused_days`: those removed, and those that could not be."""
    limit = math.inf if unused_days is None else time.time() - unused_days * _cache.DAY
    found = [version for version in _cache.kept() if version.used <= limit]
    removed = [version for version in found if _cache.remove(version)]
    return removed, [version for version in found if version not in removed]


def cache_text() -> str:
    """The folder and the versions in it, as text."""
    lines = []
    for place in _cache.FOLDERS or ():
        lines.append(f"compiled code is kept in {place}" if _cache.writable(place) else f"{place} cannot be written")
        if _cache.writable(place):
            break
    if not lines:
        return "there is no folder for compiled code; set CITADELS_CACHE_DIR"
    versions, current = _cache.kept(), _jit.versions_in_use()
    if not versions:
        return "\n".join([*lines, "it is empty"])
    lines += ["", f"{'version':18}{'functions':>9}{'size':>11}  {'last used':15}made from"]
    for version in versions:
        used = "now" if version.path.name in current else ""
        lines.append(
            f"{version.path.name:18}{version.entries:>9}{version.size / 1e6:>8.1f} MB  {_ago(version.used):15}{_made_from(version)}"
        )
        lines[-1] += f"  ({used})" if used else ""
    total = sum(version.size for version in versions) / 1e6
    lines += ["", f"{total:.1f} MB in all; a version that nobody uses for {_cache.KEPT_DAYS} days is removed by itself"]
    return "\n".join(lines)


def _ago(used: float) -> str:
    days = int((time.time() - used) / _cache.DAY)
    return "today" if days < 1 else "a day ago" if days == 1 else f"{days} days ago"


def _made_from(version: _cache.KeptVersion) -> str:
    about = version.description
    if about is None:
        return "an older release" if version.entries else "nothing finished"
    try:
        sources = ", ".join(name for name, _ in about["sources"])
        return f"{sources}; {about['python']}, Numba {about['numba']}"
    except (KeyError, TypeError, ValueError):
        return "another release"

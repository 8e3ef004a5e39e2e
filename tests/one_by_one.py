"""Games played answer by answer through `Game` and `View`: slow and plain, to hold the kernel against."""

from typing import Any

import numpy as np

from citadels_agents import View, arena
from citadels_env import Game, Rules, state


def play_one(rules: Rules, lineup: Any, seed: int) -> Any:
    """The RESULT record of one game between agents, each of which has for every answer a seed of its own."""
    game, result = Game(rules, seed), state.records(1, arena.RESULT)
    result["first_crown"] = game.crown
    chance = int(np.random.SeedSequence(seed).generate_state(2, np.uint64)[0] >> np.uint64(1))
    step = 0
    while game.actor is not None:
        seat, agent = game.actor, lineup[game.actor]
        step += 1
        own = chance + step
        answer = agent.best(game._states, own) if getattr(agent, "cheats", False) else agent.act(View(game, own))
        index = game._index(answer)
        if game.question == "DRAFT":
            result["drafted"][0, seat, index] += 1
        result["decisions"] += 1
        result["seat_decisions"][0, seat] += 1
        game.play(index)
    arena.finish(game._states[0], result[0])
    return result.view(np.ndarray)[0]

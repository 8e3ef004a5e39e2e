"""Citadels with The Dark City: an exact, fast rules core with honest hidden information, and environments on it.

`Game` is one game for people, `Batch` thousands for machines, `Rules` (`GERMAN`, `FRENCH`, `AMERICAN`) what they
are played by; `citadels_env.citadels_v0` is the PettingZoo environment.  Importing this package enters `Citadels-v0` into
Gymnasium's registry: `gymnasium.make("citadels_env:Citadels-v0")`, see `citadels_agents.envs`.
"""

import gymnasium

from .batch import Batch
from .cards import DISTRICTS, ROLES
from .errors import (
    AgentSpecError,
    CitadelsError,
    IllegalActionError,
    InvalidArgumentError,
    NotationError,
    PositionError,
    RulesError,
    RulesWarning,
)
from .game import Game
from .rules import AMERICAN, EDITIONS, FRENCH, GERMAN, Rules
from .vocabulary import Ask, Colour, Role

__all__ = [
    "AMERICAN",
    "DISTRICTS",
    "EDITIONS",
    "FRENCH",
    "GERMAN",
    "ROLES",
    "AgentSpecError",
    "Ask",
    "Batch",
    "CitadelsError",
    "Colour",
    "Game",
    "IllegalActionError",
    "InvalidArgumentError",
    "NotationError",
    "PositionError",
    "Role",
    "Rules",
    "RulesError",
    "RulesWarning",
]
__version__ = "0.1.0"


def _register() -> None:
    """Enter the Gymnasium environments into Gymnasium's registry, once; by name, as they are part of `citadels_agents`."""
    if "Citadels-v0" not in gymnasium.registry:
        gymnasium.register(
            "Citadels-v0",
            entry_point="citadels_agents.envs.single:CitadelsEnv",
            vector_entry_point="citadels_agents.envs.vector:CitadelsVectorEnv",
        )


_register()
